// Makes films beside the window, in a child process, because only one thread reads recordings, and drawing a film takes
// the machine. One film at a time.   Driven in tests/app/window_path_test.sh
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/support/process.hpp"

namespace trocar {

class FilmMaker {
 public:
  // Looks how far the film is. Call once a frame. `waits`: the film gets no processor time, so that a session loses
  // none.
  void step(bool waits);
  // Draws the button that begins the film of a recording, beside it and with its name, or ends the one that is made.
  void button(const std::filesystem::path& recording, float width);
  // "Film: 43 %", "Film written to ...", or why it was not; empty: none was begun.
  const std::string& text() const { return text_; }

 private:
  void start(const std::filesystem::path& recording);

  std::optional<ChildProcess> child_;
  std::filesystem::path film_;
  std::string text_;
  bool waits_ = false;
};

}  // namespace trocar
