// Defines the stages of a frame. Recordings, the overlay and the session use the same names. Units: milliseconds of
// wall clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace trocar {

enum Stage : std::size_t {
  kDevices,
  kPairs,
  kUpdate,
  kQuery,
  kContacts,
  kCut,
  kTissue,
  kSurface,
  kCheck,
  kRecord,
  kStages
};
const std::vector<std::string>& stage_names();

using StageMs = std::array<float, kStages>;  // of one frame

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
