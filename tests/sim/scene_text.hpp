// Provides a fixture for tests of the scene reader: scenes as text, and the sentences of their errors.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "geometry/error.hpp"
#include "sim/scene/scene.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

class SceneText : public ::testing::Test {
 protected:
  // `valid`: a scene that loads, from which with() makes others.
  explicit SceneText(const char* valid) : valid_(valid) {}

  Scene load(const std::string& content) { return load_scene(folder_.write("s.toml", content)); }

  void expect_sentence(const std::string& content, const std::string& part) {
    std::string text = "no error";
    try {
      load(content);
    } catch (const InputError& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }

  // The valid scene with one replacement.
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = valid_;
    return text.replace(text.find(from), from.size(), to);
  }

  TemporaryFolder folder_;

 private:
  const char* valid_;
};

}  // namespace trocar::test
