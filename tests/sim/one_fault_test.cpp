// Tests that the score tells faults apart: an expert with one fault loses points mainly in the metrics of this fault,
// and more of them with a larger dose. Seed 1.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "tests/sim/performed_task.hpp"

namespace trocar {
namespace {

using Doses = std::array<double, 2>;

struct FaultCase {
  const char* scene;
  Fault fault;
  const char* name;
  std::vector<std::string> own;  // metrics of this fault
  Doses doses = {0.5, 1.0};
};

void PrintTo(const FaultCase& fault, std::ostream* out) { *out << fault.scene << ' ' << fault.name; }

// Events of a fault also count as errors, so task_errors belongs to each fault that makes events.
std::vector<FaultCase> cases() {
  std::vector<FaultCase> list;
  for (const std::string& scene : test::task_scenes()) {
    const char* name = scene.c_str();
    const bool is_camera = scene == "navigate_camera", many = scene == "touch_targets" || scene == "keep_out";
    // Where nothing is touched, the expert trembles least and the limit is lowest.
    const Doses tremor = is_camera                 ? Doses{0.1, 0.2}
                         : scene == "burn_line"    ? Doses{0.15, 0.25}
                         : scene == "follow_curve" ? Doses{0.5, 1.0}
                                                   : Doses{0.25, 0.5};
    list.push_back({name, Fault::Tremor, "tremor", {"task_tremor"}, tremor});
    list.push_back({name, Fault::Slowness, "slowness", {"task_time"}, many ? Doses{0.25, 0.75} : Doses{0.5, 1.0}});
  }
  // Only where the trainee presses and lets go: burnt tissue does not resist, a grasped organ is pulled, and on a line
  // the tip of a heavy hand bounces, which is measured as tremor.
  for (const char* scene : {"touch_targets", "keep_out"})
    list.push_back(
        {scene, Fault::Force, "force", {"task_peak_force", "task_overload_time", "task_errors"}, {1.0, 2.0}});
  // The targets touched too early cost time.
  for (const char* scene : {"touch_targets", "keep_out"})
    list.push_back({scene, Fault::WrongOrder, "wrong_order", {"task_wrong", "task_errors", "task_time"}});
  for (const char* scene : {"touch_targets", "keep_out", "navigate_camera"})
    list.push_back({scene, Fault::Detour, "detour", {"task_detour", "task_view_detour"}, {0.75, 1.5}});
  list.push_back({"follow_curve",
                  Fault::Detour,
                  "detour",
                  {"task_deviation", "task_worst_deviation", "task_lost_contact", "task_errors"},
                  {0.25, 0.5}});
  list.push_back(
      {"burn_line", Fault::Detour, "detour", {"task_burnt_beside", "task_overshoot", "task_errors"}, {0.4, 0.6}});
  return list;
}

struct Loss {
  double own = 0.0, other = 0.0;  // sums of lost grades
  std::string words;
};

Loss loss_of(const TaskResult& expert, const TaskResult& faulty, const std::vector<std::string>& own) {
  Loss loss;
  for (std::size_t k = 0; k < expert.parts.size(); ++k) {
    const double lost = mark_of(expert.parts[k]).value_or(1.0) - mark_of(faulty.parts[k]).value_or(1.0);
    const bool is_own = std::ranges::find(own, faulty.parts[k].id) != own.end();
    (is_own ? loss.own : loss.other) += std::max(lost, 0.0);
    if (lost > 0.02) loss.words += fmt::format(" {}{} {:.2f}", is_own ? "" : "(other) ", faulty.parts[k].id, lost);
  }
  return loss;
}

// Returns the expert's result, performed once for each scene.
const TaskResult& expert_on(const Scene& scene, const std::string& name) {
  static std::map<std::string, TaskResult> results;
  const auto found = results.find(name);
  if (found != results.end()) return found->second;
  return results[name] = test::perform(scene, style_of(Skill::Expert), 1);
}

class OneFault : public ::testing::TestWithParam<FaultCase> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(OneFault, CostsMainlyItsOwnMetricAndMoreWithALargerDose) {
  const FaultCase& fault = GetParam();
  Scene scene = test::coarse_scene(fault.scene, folder_);
  const TaskResult& expert = expert_on(scene, fault.scene);
  double before = 0.0;
  for (const double dose : fault.doses) {
    const TaskResult faulty = test::perform(scene, style_with(fault.fault, dose), 1);
    const Loss loss = loss_of(expert, faulty, fault.own);
    std::printf("%-18s %-12s dose %.1f  score %3.0f %-12s lost: own %.2f, other %.2f  %s\n", fault.scene, fault.name,
                dose, faulty.score, faulty.finished ? "finished" : "out of time", loss.own, loss.other,
                loss.words.c_str());
    EXPECT_GT(loss.own, before + 0.05) << "dose " << dose;
    EXPECT_GT(loss.own, loss.other) << "dose " << dose;
    before = loss.own;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, OneFault, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.scene) + "_" + info.param.name; });

}  // namespace
}  // namespace trocar
