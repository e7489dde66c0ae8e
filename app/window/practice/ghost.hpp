// The ghost: the expert's motion of the same task, as transparent instruments in the picture of a trainee. It is shown
// in time, at the same time since the start, or by progress: where the expert was when the task had got as far and the
// tips were nearest, a moment ahead. A ghost only draws: session, recording and score do not know it.
// Units: metres, degrees, seconds, world frame.   Tested in tests/app/practice_test.cpp; driven in
// tests/app/window_path_test.sh
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <glm/glm.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/view/drawn.hpp"
#include "app/window/practice/practice.hpp"
#include "sim/scene/scene.hpp"
#include "sim/support/task.hpp"

namespace trocar {

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

// Keeps ghosts in the user's cache folder, one small file for each scene, level and version of the model. A file that
// is damaged, or of another scene or version, counts as absent.

// Returns a key of the scene's text, which names its level and anatomy, and of the model's version.
std::uint64_t ghost_key(const Scene& scene);

// Returns $XDG_CACHE_HOME/trocar/ghosts, or the same in ~/.cache; empty when neither is set.
std::filesystem::path ghost_folder();

// Returns the file of a key in a folder.
std::filesystem::path ghost_file(const std::filesystem::path& folder, std::uint64_t key);

// Returns nothing when there is no such file, or it does not fit the key.
std::optional<Ghost> load_ghost(const std::filesystem::path& folder, std::uint64_t key);

// Returns whether the file was written. Without a folder, or where none can be written, nothing is.
bool save_ghost(const std::filesystem::path& folder, std::uint64_t key, const Ghost& ghost);

// Provides the ghost of a scene's task: from the user's cache folder or, where that has none, by letting the scripted
// expert perform the task without a picture, in a thread of low priority. What is ready can be shown at once: the
// expert performs faster than the trainee, so there is no wait.
class GhostMaker {
 public:
  // Begins at once. The scene must have a task with an instrument; `folder`: the cache, empty: none.
  GhostMaker(const Scene& scene, std::filesystem::path folder);

  // Overwrites `poses` with those of the mode; empty: what is asked for is not computed yet. `time`: s since the start;
  // `progress`, `tips`: of the trainee.
  void pose(GhostMode mode, double time, double progress, std::span<const glm::vec3> tips,
            std::vector<GhostPose>& poses) const;
  // Whether the whole motion is known.
  bool complete() const;
  // Whether the thread has nothing more to add: the motion is complete, or the scene cannot be performed.
  bool ended() const;
  // Waits until the thread has ended.
  void wait();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive the maker by a frame
  Task<bool> task_;
};

// Returns whether a scene's task can have a ghost: a task of the camera has none, because the ghost would be the eye.
bool can_have_ghost(const Scene& scene);

// Makes the ghost's instruments for the picture of practice sessions, one after the other. The ghost of a task lasts
// until another task needs one, so a restart does not compute it again.
class GhostShow {
 public:
  // Begins to compute the ghost of a scene that can have one, unless it is this scene's already. Never waits.
  void prepare(const Scene& scene);
  // Returns the instruments to draw now, valid until the next call. Where the ghost and an instrument coincide, the
  // ghost is not drawn. Never waits. Empty while it is off, in a demonstration, and for a task that can have none.
  std::span<const DrawnTool> tools(const Practice& practice, GhostMode mode);
  // Returns whether the last call asked for a part of the motion that is still being computed.
  bool waits() const { return waits_; }
  // Returns why there is no ghost although it is switched on, as a sentence; empty: there is one, or it is off.
  static std::string why_none(const Practice& practice, GhostMode mode);

 private:
  std::unique_ptr<GhostMaker> maker_;  // once a ghost was asked for
  std::string scene_;                  // text of its scene
  std::vector<glm::vec3> tips_;        // [instrument] m, of the trainee
  std::vector<GhostPose> poses_;       // [instrument]
  std::vector<DrawnTool> tools_;
  bool waits_ = false;
};

}  // namespace trocar
