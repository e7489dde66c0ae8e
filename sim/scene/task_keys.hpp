// Declares the keys of a scene's task, like scene_keys.hpp.   Tested in tests/house/scene_keys_test.cpp
#pragma once

#include <array>
#include <type_traits>

#include "sim/scene/scene_key.hpp"
#include "sim/scene/task_reader.hpp"

namespace trocar {

inline constexpr std::array kTaskKinds{TaskKind::TouchTargets, TaskKind::NavigateCamera, TaskKind::FollowCurve,
                                       TaskKind::LiftOrgan,    TaskKind::BurnLine,       TaskKind::KeepOut,
                                       TaskKind::ClipAndCut,   TaskKind::Operation};
inline constexpr std::array kStepKinds{StepKind::Retract, StepKind::Dissect, StepKind::Divide, StepKind::Remove};
inline constexpr std::array kTubeSides{TubeSide::Start, TubeSide::End};

template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskTarget>) {
  keys.text({"organ", "",
             "organ of this target: targets in order, or the corners of a line (two or more, on one organ); "
             "`lift-organ` takes one target",
             Need::Required},
            &TaskTarget::organ);
  keys.position({"at_mm", "mm", "the nearest point of the organ at rest is the target", Need::Required},
                &TaskTarget::location);
  keys.choice({"stays", "",
               "`clip-and-cut`, `operation`: the end of the duct's `path_mm` on the side that stays in the patient"},
              &TaskTarget::stays, kTubeSides);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskZone>) {
  keys.outline(
      {"outline", "half heights",
       "`[[x, y], ...]`, a forbidden zone in the picture: a simple polygon, before lens distortion; `keep-out` "
       "needs a zone, every kind may have some",
       Need::Required},
      &TaskZone::outline);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<StepTissue>) {
  keys.text({"name", "", "a layer or band of the scene", Need::Required}, &StepTissue::name);
  keys.position({"near_mm", "mm", "with `part`: a point at rest"}, &StepTissue::near);
  keys.number({"part", "", "the share of its fibres that are nearest to `near_mm`"}, &StepTissue::part, {0.01, 1.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<StepPull>) {
  keys.text({"instrument", "", "a grasper that has retracted an organ; empty: the first one"}, &StepPull::instrument);
  keys.position({"to_mm", "mm",
                 "before a step of the kind `dissect` or `divide`, scripted trainees move what it holds here, from "
                 "its position at rest",
                 Need::Required},
                &StepPull::to);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskStep>) {
  keys.choice({"kind", "", "see [tasks.md](tasks.md)", Need::Required}, &TaskStep::kind, kStepKinds);
  keys.text({"title", "", "shown as the hint"}, &TaskStep::title);
  keys.text({"organ", "", "`retract`, `remove`: the organ that is moved"}, &TaskStep::organ);
  keys.position({"at_mm", "mm", "the nearest point of this organ at rest is the target"}, &TaskStep::location);
  keys.scaled({"lift_mm", "mm", "distance of the target from its position at rest; of `remove`, towards the trocar"},
              &TaskStep::lift, {1.0, 500.0});
  keys.number({"hold_s", "s", "time to hold it there"}, &TaskStep::hold, {0.0, 60.0});
  keys.text({"instrument", "", "`retract`, `remove`: the grasper that scripted trainees use; empty: the first one"},
            &TaskStep::instrument);
  keys.vector({"direction", "", "`retract`: in which scripted trainees pull"}, &TaskStep::direction, {-1e3, 1e3});
  keys.number({"share", "", "`dissect`: share of the fibres that must be divided"}, &TaskStep::share, {0.01, 1.0});
  keys.flag({"before_division", "", "to divide a duct before this step is done is a critical error"},
            &TaskStep::before_division);
  keys.optional_file({"picture", "", "a PNG file that the window shows during this step, relative to the scene file"},
                     &TaskStep::picture);
  keys.list("tissue", &TaskStep::tissue);
  keys.list("pull", &TaskStep::pulls);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskLimit>) {
  keys.text({"organ", "", "the organ to protect", Need::Required}, &TaskLimit::organ);
  keys.scaled({"deepest_burn_mm", "mm", "a deeper burn is a critical error; 0: unlimited"}, &TaskLimit::deepest_burn,
              {0.0, 100.0});
  keys.flag({"no_diathermy", "", "hot metal on this organ is a critical error"}, &TaskLimit::no_diathermy);
  keys.number({"most_blood_ml", "ml", "a larger loss of blood of this organ is a critical error; 0: unlimited"},
              &TaskLimit::most_blood_ml, {0.0, 1e4});
  keys.number({"most_bile_ml", "ml", "more spilt bile of this organ is a critical error; 0: unlimited"},
              &TaskLimit::most_bile_ml, {0.0, 1e4});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskRules>) {
  keys.number({"readable", "half heights",
               "`navigate-camera`: radius in the picture of a disc of `tolerance_mm`, from which it is near enough"},
              &TaskRules::readable, {0.01, 1.0});
  keys.scaled({"too_near_mm", "mm", "`navigate-camera`: closer than this, tissue soils the lens"}, &TaskRules::too_near,
              {0.0, 200.0});
  keys.number({"deliberate_s", "s", "a wrong target counts when it is touched for this long"}, &TaskRules::deliberate,
              {0.0, 60.0});
  keys.number({"off_tissue_after_s", "s", "`burn-line`: a hook without contact for longer is off the tissue"},
              &TaskRules::off_tissue_after, {0.0, 60.0});
  keys.number({"removal_lasts_s", "s", "`burn-line`: longest time between two removals of one burn"},
              &TaskRules::removal_lasts, {0.0, 60.0});
  keys.number({"enough", "", "`burn-line`: share of the line's points that must burn"}, &TaskRules::enough,
              {0.01, 1.0});
  keys.scaled({"lifted_mm", "mm", "`lift-organ`: a release above this height is a drop"}, &TaskRules::lifted,
              {0.0, 200.0});
  keys.scaled({"slipped_mm", "mm", "`lift-organ`: the target slipped out when its distance from the tip grew by this"},
              &TaskRules::slipped, {0.1, 200.0});
  keys.number({"clips_staying", "",
               "`clip-and-cut`, `operation`: clips on the side of a duct that stays; 0: it is cut without clips"},
              &TaskRules::clips_staying, {0.0, 10.0});
  keys.number({"many_errors", "", "with this many errors the grade for errors is 0"}, &TaskRules::many_errors,
              {1.0, 1000.0});
}

// The limits of a value are those of the key that it replaces.
template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskLevel>) {
  keys.text({"name", "", "what is harder: `small targets`, `left hand` ...", Need::Required}, &TaskLevel::name);
  keys.scaled({"tolerance_mm", "mm", "instead of `tolerance_mm` of the task"}, &TaskLevel::tolerance, {0.1, 100.0});
  keys.number({"hold_s", "s", "instead of `hold_s` of the task"}, &TaskLevel::hold, {0.0, 60.0});
  keys.scaled({"lift_mm", "mm", "instead of `lift_mm` of the task"}, &TaskLevel::lift, {0.1, 200.0});
  keys.number({"most_force_n", "N", "instead of `most_force_n` of the task"}, &TaskLevel::most_force, {0.01, 100.0});
  keys.scaled({"most_tremor_mm", "mm", "instead of `most_tremor_mm` of the task"}, &TaskLevel::most_tremor,
              {0.0, 10.0});
  keys.number({"time_good_s", "s", "instead of `time_good_s` of the task"}, &TaskLevel::time_good, {0.1, 36000.0});
  keys.number({"time_limit_s", "s", "instead of `time_limit_s` of the task"}, &TaskLevel::time_limit, {0.1, 36000.0});
  keys.scaled({"breathing_mm", "mm", "instead of `amplitude_mm` of `[breathing]`"}, &TaskLevel::breathing_amplitude,
              {0.0, 100.0});
  keys.number({"breathing_hz", "Hz", "instead of `rate_hz` of `[breathing]`"}, &TaskLevel::breathing_rate, {0.0, 10.0});
  keys.position({"scope_eye_mm", "mm",
                 "instead of `eye_mm` of `[scope]`: the same target from another side; refused for a task with zones, "
                 "which lie in the picture"},
                &TaskLevel::scope_eye);
  keys.number({"scope_angle_deg", "degrees", "instead of `angle_deg` of `[scope]`: 0 or 30"},
              &TaskLevel::scope_angle_deg, {0.0, 30.0});
  keys.number({"scope_spin_deg", "degrees", "instead of `spin_deg` of `[scope]`"}, &TaskLevel::scope_spin_deg,
              {-360.0, 360.0});
  keys.flag(
      {"swap_trocars", "", "the first two instruments swap `pivot_mm`, `tip_mm` and `axis`: each is in the other hand"},
      &TaskLevel::swap_trocars);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskScene>) {
  keys.choice({"kind", "", "see [tasks.md](tasks.md)", Need::Required}, &TaskScene::kind, kTaskKinds);
  keys.text({"title", "", "shown before the start"}, &TaskScene::title);
  keys.text({"instructions", "", "shown before the start"}, &TaskScene::instructions);
  keys.text({"instrument", "",
             "the instrument whose tip counts, empty: any; required for `lift-organ` (a grasper) and `burn-line` (a "
             "hook); refused for `navigate-camera`"},
            &TaskScene::instrument);
  keys.scaled({"tolerance_mm", "mm", "largest distance from a target; half the width of a line"}, &TaskScene::tolerance,
              {0.1, 100.0});
  keys.number({"hold_s", "s", "time to hold a target"}, &TaskScene::hold, {0.0, 60.0});
  keys.scaled({"lift_mm", "mm", "height of `lift-organ`"}, &TaskScene::lift, {0.1, 200.0});
  keys.number({"most_force_n", "N", "force limit; more force on the tissue is an error"}, &TaskScene::most_force,
              {0.01, 100.0});
  keys.scaled({"most_tremor_mm", "mm", "tremor limit, root mean square; 0: tremor is not graded"},
              &TaskScene::most_tremor, {0.0, 10.0});
  keys.number({"time_good_s", "s", "target time: full grade up to it"}, &TaskScene::time_good, {0.1, 36000.0});
  keys.number({"time_limit_s", "s", "the task ends unfinished at this time; more than `time_good_s`"},
              &TaskScene::time_limit, {0.1, 36000.0});
  keys.number({"at_level", "", "the level that these values have; `--level` writes it"}, &TaskScene::at_level,
              {1.0, kMostLevels});
  keys.table("rules", &TaskScene::rules);
  keys.list("place", &TaskScene::locations);
  keys.list("zone", &TaskScene::zones);
  keys.list("step", &TaskScene::steps);
  keys.list("limit", &TaskScene::limits);
  keys.list("level", &TaskScene::levels);
}

}  // namespace trocar
