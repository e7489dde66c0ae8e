// Times the stages of a frame. Units: milliseconds of wall clock.
#pragma once

#include <chrono>

namespace trocar {

// Adds the lifetime of this object to a stage.
class StageTimer {
 public:
  explicit StageTimer(float& stage_ms) : stage_ms_(stage_ms), start_(std::chrono::steady_clock::now()) {}
  ~StageTimer() {
    stage_ms_ += std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  float& stage_ms_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace trocar
