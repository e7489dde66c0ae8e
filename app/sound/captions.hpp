// Captions: a line for each sound of a session, for those who do not hear it. They read the cues of sound.hpp, so that
// a sound never has no caption.   Units: seconds.   Tested in tests/app/practice_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "app/sound/sound.hpp"

namespace trocar {

class Captions {
 public:
  static constexpr double kShown = 2.5;  // s  how long the line of a tone stays

  // Follows the cues of the next picture, `elapsed` s after the one before.
  void hear(const SoundCues& cues, double elapsed);
  // Returns the lines of what sounds now or has sounded just now, newest last: "[high hum: cutting]".
  std::span<const std::string_view> lines() const { return {lines_.data(), count_}; }

 private:
  SoundCues cues_;
  double error_left_ = 0.0, reached_left_ = 0.0;  // s
  std::array<std::string_view, 5> lines_;
  std::size_t count_ = 0;
};

}  // namespace trocar
