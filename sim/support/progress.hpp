// Shows a progress bar on stderr for work that takes more than two seconds, and nothing before that.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace trocar {

class Progress {
 public:
  Progress(std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance_to(std::size_t done);

 private:
  void draw(std::size_t done);

  std::string what_;
  std::size_t total_;
  bool terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_, last_drawn_;
};

}  // namespace trocar
