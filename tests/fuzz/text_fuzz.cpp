// The fuzz targets whose input is a text. The entry of each program calls its own (tests/fuzz/CMakeLists.txt).
#include <algorithm>
#include <cmath>

#include "app/sweep/plan.hpp"
#include "sim/course/course_progress.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/inputs/attempt_file.hpp"
#include "sim/scene/scene.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace trocar::fuzz {

// Feeds texts to the reader of attempts from the browser. An accepted attempt is written and read again without a
// change, and its devices give a pose for every frame.
void fuzz_attempt(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  AttemptFile attempt;
  if (!accepted([&] { attempt = parse_attempt(text, "input.json"); })) return;
  const std::string written = attempt_text(attempt);
  AttemptFile again;
  require(accepted([&] { again = parse_attempt(written, "input.json"); }), "what was written is refused");
  require(attempt_text(again) == written, "the second reading differs");
  require(again.log.devices.size() == attempt.log.devices.size(), "the second reading has other devices");
  for (std::size_t k = 0; k < attempt.log.devices.size(); ++k) {
    const auto device = replayed(attempt.log, k);
    std::size_t next = 0;
    const std::vector<LoggedPose>& poses = attempt.log.devices[k].poses;
    for (std::uint32_t frame = 0; frame < attempt.log.frames.size(); ++frame) {
      if (next + 1 < poses.size() && poses[next + 1].frame == frame) ++next;
      require(same_bits(device->pose(attempt.log.frames[frame].clock), poses[next].pose),
              "a device gives another pose");
      require(device->health() == poses[next].health, "a device has another health");
    }
  }
}

// Feeds texts to the reader of curricula; it opens no scene here. A step of an accepted curriculum requires earlier
// steps only, its attempts have progress, and reading the text again gives the same steps.
void fuzz_curriculum(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Curriculum curriculum, again;
  if (!accepted([&] { curriculum = parse_curriculum(text, "curriculum.toml"); })) return;
  require(!curriculum.steps.empty(), "an accepted curriculum has no steps");
  std::vector<CourseAttempt> attempts;
  for (std::size_t k = 0; k < curriculum.steps.size(); ++k) {
    const CourseStep& step = curriculum.steps[k];
    for (const std::size_t earlier : step.after) require(earlier < k, "a step requires a later one");
    require(step.in_a_row >= 1 && step.in_all >= step.in_a_row, "a step asks for no passes");
    CourseAttempt attempt;
    attempt.scene = scene_key(step.scene), attempt.level = step.level, attempt.score = 100.0, attempt.finished = true;
    for (const MetricLimit& limit : step.pass.limits) attempt.metrics[limit.metric] = limit.value;
    attempts.push_back(attempt);
  }
  const std::vector<StepProgress> progress = course_progress(curriculum, attempts, 0.0);
  require(progress.size() == curriculum.steps.size(), "a step has no progress");
  for (std::size_t k = 0; k < progress.size(); ++k)
    require(progress[k].attempts >= 1 && progress[k].in_all <= progress[k].attempts, "an attempt is missing");
  require(accepted([&] { again = parse_curriculum(text, "curriculum.toml"); }),
          "a curriculum is refused the second time");
  require(again.steps.size() == curriculum.steps.size(), "the second reading differs");
}

// Feeds files to the reader of sweep plans. Every case of an accepted plan has a command line; reading the plan again
// gives the same cases.
void fuzz_plan(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path file = as_file({data, size}, ".toml");
  Plan plan;
  if (!accepted([&] { plan = load_plan(file); })) return;
  require(plan.cases > 0 && plan.cases <= kMostCases, "an accepted plan has no cases, or too many");
  std::uint64_t sum = 0;
  for (const CaseGroup& group : plan.groups) sum += group.count;
  require(sum == plan.cases, "the groups do not add up to the plan");
  const std::uint64_t step = std::max<std::uint64_t>(1, plan.cases / 50);
  for (std::uint64_t number = 0; number < plan.cases; number += step)
    require(!case_of(plan, number).commands.empty(), "a case without a command");
  Plan again;
  require(accepted([&] { again = load_plan(file); }), "a plan that was accepted is refused");
  require(again.cases == plan.cases && checksum_of(again) == checksum_of(plan), "the second reading differs");
}

// Feeds files to the scene reader. An accepted scene is written and read again; both texts must be equal.
void fuzz_scene(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path file = "scenes/fuzz.toml";
  std::string text(reinterpret_cast<const char*>(data), size);
  Scene scene;
  if (!accepted([&] { scene = parse_scene(text, file); })) return;
  std::string written, again;
  if (!accepted([&] { written = scene_text(scene, file); })) return;
  require(accepted([&] { again = scene_text(parse_scene(written, file), file); }), "a written scene is refused");
  require(written == again, "a scene that was written and read again is different");
}

// Feeds files to the trajectory reader. Every row of an accepted trajectory is a valid pose, and time never decreases.
void fuzz_trajectory(const std::uint8_t* data, std::size_t size) {
  Trajectory trajectory;
  const auto file = as_file({data, size}, "csv");
  if (!accepted([&] { trajectory = load_trajectory(file); })) return;
  require(!trajectory.rows.empty(), "a trajectory without rows was accepted");
  double last = trajectory.rows.front().time;
  for (std::size_t k = 0; k < trajectory.rows.size(); ++k) {
    require(pose_fault(trajectory.pose(k, 0.0025)).empty(), "a row is not a valid pose");
    require(std::isfinite(trajectory.rows[k].time) && trajectory.rows[k].time >= last, "time decreases");
    last = trajectory.rows[k].time;
  }
}

}  // namespace trocar::fuzz
