// Feeds texts to the reader of curricula; it opens no scene here. A step of an accepted curriculum requires earlier
// steps only, its attempts have progress, and reading the text again gives the same steps.
#include "sim/course/course_progress.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Curriculum curriculum, again;
  if (!accepted([&] { curriculum = parse_curriculum(text, "curriculum.toml"); })) return 0;
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
  return 0;
}
