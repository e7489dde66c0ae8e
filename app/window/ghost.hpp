// The ghost: the expert's motion of the same task, as transparent instruments in the picture of a trainee. It is shown
// in time, at the same time since the start, or by progress: where the expert was when the task had got as far and the
// tips were nearest, a moment ahead. A ghost only draws: session, recording and score do not know it.
// Units: metres, degrees, seconds, world frame.   Tested in tests/app/ghost_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

enum class GhostMode { Off, InTime, ByProgress };
const char* name_of(GhostMode mode);  // "off", "in time", "by progress"
GhostMode next(GhostMode mode);

struct GhostPose {
  glm::vec3 tip{0.f};  // m
  float roll_deg = 0.f, grip = 1.f;
};

// The motion of all instruments, sampled every `step` seconds since the start.
struct Ghost {
  double step = 0.05;            // s
  std::uint32_t tools = 0;       // instruments of the scene
  std::vector<float> progress;   // [sample] 1   of the task so far, never falling
  std::vector<GhostPose> poses;  // [sample, tool]

  std::size_t samples() const { return progress.size(); }
  std::span<const GhostPose> at(std::size_t sample) const { return std::span(poses).subspan(sample * tools, tools); }
};

// Appends a sample. Progress that falls counts as the highest so far.
void add_sample(std::span<const GhostPose> poses, double progress, Ghost& ghost);

// Overwrites `poses` with those at a time since the start, interpolated; after its end the ghost stays. Empty for a
// ghost without samples.
void pose_in_time(const Ghost& ghost, double time, std::vector<GhostPose>& poses);

struct ProgressParams {
  double around = 0.05;  // 1  samples whose progress differs by at most this are compared
  double ahead = 1.0;    // s  the ghost is this far ahead of the nearest of them
};
// Overwrites `poses` with those at one's own position on the path: `progress` of the trainee's task, `tips` [tool] m.
// Samples with the nearest progress are compared by the sum of the squared distances of the tips.
void pose_by_progress(const Ghost& ghost, double progress, std::span<const glm::vec3> tips,
                      std::vector<GhostPose>& poses, const ProgressParams& params = {});

}  // namespace trocar
