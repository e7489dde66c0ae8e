// Provides a fixture for tests of the scene reader: scenes as text, and the sentences of their errors.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "geometry/error.hpp"
#include "sim/scene/scene.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::test {

// Returns the text of a scene of this repository, with paths of organs that are valid in any folder.
inline std::string shipped_scene(std::string_view file) {
  const std::string relative = "../../organs/", absolute = repository_file("data/organs/").string();
  std::string text = read_file(repository_file(file));
  for (std::size_t at; (at = text.find(relative)) != std::string::npos;) text.replace(at, relative.size(), absolute);
  return text;
}

// Returns the text with one replacement.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

class SceneText : public ::testing::Test {
 protected:
  // `valid`: a scene that loads, from which with() makes others.
  explicit SceneText(std::string valid) : valid_(std::move(valid)) {}

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
  std::string with(const std::string& from, const std::string& to) const { return replaced(valid_, from, to); }

  TemporaryFolder folder_;

 private:
  std::string valid_;
};

}  // namespace trocar::test
