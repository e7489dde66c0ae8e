// Follows the steps of an operation: which are done, and what is missing. Any order is accepted. A step that is done
// stays done. Rules: docs/tasks.md.   Units: metres, seconds.   Tested in tests/sim/task/task_run_test.cpp
#pragma once

#include <optional>
#include <vector>

#include "sim/scene/task_scene.hpp"
#include "sim/task/clear_window.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// The critical view of safety, as it is scored from its photographs: 0 to 2 points for each of its three criteria; 5 of
// 6 are a satisfactory view (Sanford, Strasberg, "A simple effective method for generation of a permanent record of the
// critical view of safety during laparoscopic cholecystectomy by intraoperative 'doublet' photography", J. Am. Coll.
// Surg. 2014). Here the points come from the tissue as it lies, seen from both sides at once.
struct CriticalView {
  int structures = 0;  // two structures, and only two, enter the gallbladder: those with free tissue beside them
  int plate = 0;       // its lower third has come off the liver
  int triangle = 0;    // the hepatocystic triangle is cleared of fat and peritoneum
  int points() const { return structures + plate + triangle; }
};

// Returns the state of an open vessel: Flows, Pressed or, when its bleeding has ended, Closed; nothing before it
// bleeds.
std::optional<BleedState> bleeding_of(const SeenBleeding& seen, std::uint32_t vessel);

class OperationSteps {
 public:
  // Throws InputError naming an organ or tissue that the stage does not have.
  OperationSteps(const TaskScene& task, const TaskStage& stage);

  // Returns the points that the steps watch, and two on each duct, kDuctSpan before and after its target; the injuries
  // of StopBleeding are further targets. The observation has them after the targets of the task.
  const std::vector<SurfaceMark>& marks() const { return marks_; }
  // Observes the next frame. `divided`: 0 .. 1, progress with the ducts.
  void step(const Observation& seen, double dt, double divided);

  std::size_t size() const { return steps_.size(); }
  const TaskStep& at(std::size_t step) const { return steps_[step].scene; }
  bool done(std::size_t step) const { return steps_[step].done; }
  double progress(std::size_t step) const { return steps_[step].progress; }  // 0 .. 1, the largest so far
  std::optional<std::size_t> current() const;                                // the first step that is not done
  // Scores the critical view of an operation that clears a window and dissects before a division; nothing in others.
  std::optional<CriticalView> view(const Observation& seen);
  bool has_view() const;
  // Returns whether every step that must come before a division is done.
  bool may_divide() const;
  // Returns how far the point of a step is from its position in the first frame, m; of Remove, how much nearer to the
  // trocar of the jaws that hold it, 0 when none do.
  double moved(std::size_t step) const { return steps_[step].moved; }
  // Of Retract and Remove: do closed jaws hold tissue near the point?
  bool grasped(std::size_t step) const { return steps_[step].grasped; }
  // Of Retract and Remove: how far the nearest closed jaws are from the point, m; nothing when none are closed.
  std::optional<double> away(std::size_t step) const { return steps_[step].away; }
  // Returns the share of the time for which a step's point, or an artery, must be held, 0 .. 1; nothing when it is not.
  std::optional<double> hold(std::size_t step) const;
  static constexpr double kDuctSpan = 0.008;  // m
  // Returns the index in seen.marks of the point before the target on a duct; the point after it is the next one.
  std::size_t duct_mark(std::size_t target) const { return first_duct_mark_ + 2 * target; }
  std::size_t mark_of(std::size_t step) const {
    return steps_[step].mark;
  }  // of Retract, Remove and StopBleeding: index in seen.marks
  // Of StopBleeding, bleeding_of() its vessel.
  std::optional<BleedState> bleeding(std::size_t step) const { return steps_[step].bleeding; }
  double left_ml() const { return left_ml_; }  // ml, blood on all organs
  // Of Clear: looks through every line of its window now.
  const ClearWindow& look_through(std::size_t step, const Observation& seen) {
    steps_[step].window->look_at_all(seen);
    return *steps_[step].window;
  }
  const ClearWindow* window(std::size_t step) const { return steps_[step].window ? &*steps_[step].window : nullptr; }
  // Returns the fibres that a step divides.
  std::span<const std::uint32_t> fibres(std::size_t step) const { return steps_[step].fibres; }

 private:
  struct Step {
    TaskStep scene;
    std::size_t mark = 0;
    std::vector<std::uint32_t> fibres = {};
    std::optional<ClearWindow> window = {};
    std::vector<std::size_t> tubes = {};      // sides of the window that are ducts or vessels
    std::uint32_t vessel = 0;                 // of StopBleeding: organ
    std::optional<BleedState> bleeding = {};  // of StopBleeding
    double most_ml = 0.0;                     // ml, of Suck: the most blood so far
    std::optional<glm::dvec3> rest = {};      // m
    double moved = 0.0, held = 0.0;           // m, s
    bool grasped = false;                     // of Retract and Remove: jaws hold tissue near the point
    std::optional<double> away = {};          // m, of Retract and Remove
    double progress = 0.0;
    bool done = false;
  };
  template <typename See>
  void for_closed(const Observation& seen, const glm::dvec3& point, const See& see) const;
  void follow_motion(const Observation& seen, double dt, bool last, Step& step);
  void follow_bleeding(const Observation& seen, double dt, Step& step);
  void follow_blood(Step& step);

  std::vector<Step> steps_;
  std::vector<SurfaceMark> marks_;
  double left_ml_ = 0.0;  // ml
  std::size_t first_duct_mark_ = 0;
  std::vector<GraspParams> jaws_;      // [instrument]
  std::vector<InstrumentKind> kinds_;  // [instrument]
};

}  // namespace trocar
