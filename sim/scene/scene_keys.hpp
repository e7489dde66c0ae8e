// Declares every key of a scene file once: name, unit, limits, meaning, and the member of the struct that holds it. The
// reader (scene.cpp), the writer (scene_writer.cpp) and the table in docs/file-formats.md visit these declarations.
// `Keys` is one of those visitors for one struct; defaults are those of the struct. Lengths are metres in the structs
// and millimetres in the file.   Tested in tests/house/scene_keys_test.cpp
#pragma once

#include <array>
#include <limits>
#include <type_traits>

#include "deform/contact/contact.hpp"
#include "deform/cut/sculpt.hpp"
#include "deform/solid/elasticity.hpp"
#include "deform/solid/tissue.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/limits.hpp"

namespace trocar {

enum class Need {
  Optional,  // the default when absent; written when it differs from the default
  Written,   // the default when absent; always written
  Required
};

struct SceneKey {
  const char *name, *unit, *meaning;
  Need need = Need::Optional;
};

inline constexpr std::array kTaskKinds{TaskKind::TouchTargets, TaskKind::NavigateCamera, TaskKind::FollowCurve,
                                       TaskKind::LiftOrgan,    TaskKind::BurnLine,       TaskKind::KeepOut,
                                       TaskKind::ClipAndCut,   TaskKind::Operation,      TaskKind::PegTransfer};
inline constexpr std::array kStepKinds{StepKind::Retract, StepKind::Dissect,      StepKind::Divide, StepKind::Remove,
                                       StepKind::Clear,   StepKind::StopBleeding, StepKind::Suck};
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
void declare(Keys& keys, std::type_identity<StepSide>) {
  keys.text({"organ", "", "the organ on which this side of the window lies", Need::Required}, &StepSide::organ);
  keys.position({"start_mm", "mm", "one end of the side, at rest; on a duct the nearest point of its middle counts",
                 Need::Required},
                &StepSide::start);
  keys.position({"end_mm", "mm", "its other end, in the same direction for all sides", Need::Required}, &StepSide::end);
  keys.scaled({"clear_mm", "mm", "the window begins this far from the side"}, &StepSide::clear, {0.0, 50.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<StepGone>) {
  keys.text({"organ", "", "an organ that must be gone from the window, in front and behind", Need::Required},
            &StepGone::organ);
  keys.flag(
      {"opened", "", "true: it must be open along the middle of the window, as a sheet whose edges lie beside it"},
      &StepGone::opened);
  keys.flag({"may_stay", "", "true: it may be taken away with the others, such as a lymph node, or stay"},
            &StepGone::may_stay);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<TaskStep>) {
  keys.choice({"kind", "", "see [tasks.md](tasks.md)", Need::Required}, &TaskStep::kind, kStepKinds);
  keys.text({"title", "", "shown as the hint"}, &TaskStep::title);
  keys.text({"organ", "", "`retract`, `remove`: the organ that is moved; `stop-bleeding`: the vessel"},
            &TaskStep::organ);
  keys.position({"at_mm", "mm", "the nearest point of this organ at rest is the target"}, &TaskStep::location);
  keys.scaled({"lift_mm", "mm", "distance of the target from its position at rest; of `remove`, towards the trocar"},
              &TaskStep::lift, {1.0, 500.0});
  keys.number({"hold_s", "s", "time to hold it there; `stop-bleeding`: for which it must not bleed"}, &TaskStep::hold,
              {0.0, 60.0});
  keys.number({"left_ml", "ml", "`suck`: blood that may be left on all organs"}, &TaskStep::left_ml, {0.0, 1e3});
  keys.text({"instrument", "", "`retract`, `remove`: the grasper that scripted trainees use; empty: the first one"},
            &TaskStep::instrument);
  keys.vector({"direction", "", "`retract`: in which scripted trainees pull"}, &TaskStep::direction, {-1e3, 1e3});
  keys.number(
      {"share", "", "`dissect`: share of the fibres that must be divided; `clear`: of the window that must be free"},
      &TaskStep::share, {0.01, 1.0});
  keys.flag({"before_division", "", "to divide a duct before this step is done is a critical error"},
            &TaskStep::before_division);
  keys.optional_file({"picture", "", "a PNG file that the window shows during this step, relative to the scene file"},
                     &TaskStep::picture);
  keys.list("tissue", &TaskStep::tissue);
  keys.list("side", &TaskStep::sides);
  keys.list("gone", &TaskStep::gone);
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
  keys.number({"most_bile_ml", "ml", "more spilt bile of this organ is an error; 0: unlimited"},
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
  keys.position({"opened_mm", "mm", "instead of `opened_mm` of the `[organ.vessel]` that has it"}, &TaskLevel::opened);
  keys.number({"rate_ml_min", "ml/min", "instead of `rate_ml_min` of that vessel"}, &TaskLevel::rate_ml_min,
              {0.001, 1e4});
  keys.number({"pooled_ml", "ml", "instead of `pooled_ml` of that vessel"}, &TaskLevel::pooled_ml, {0.0, 1e3});
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
             "the instrument whose tip counts, empty: any; required for `lift-organ` (a grasper), `burn-line` (a "
             "hook) and `peg-transfer` (the grasper that lifts first); refused for `navigate-camera`"},
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

template <typename Keys>
void declare(Keys& keys, std::type_identity<TissueParams>) {
  keys.choice({"law", "", "`rising`: it stiffens with strain, see [tissue.md](tissue.md)"}, &TissueParams::law,
              kTissueLaws);
  keys.number({"youngs_modulus", "Pa", "Young's modulus at small strain"}, &TissueParams::youngs_modulus, {1.0, 1e9});
  keys.number({"poisson_ratio", "", "0.25: springs only, 0.49: nearly incompressible"}, &TissueParams::poisson_ratio,
              {0.25, 0.49});
  keys.number({"stiffening", "", "of the law `rising`, from the start; below 0 it softens"}, &TissueParams::stiffening,
              {kLeastStiffening, kMostStiffening});
  keys.number({"late_stiffening", "", "of the law `rising`, at large strain"}, &TissueParams::late_stiffening,
              {0.0, kMostLateStiffening});
  keys.number({"density", "kg/m^3", "of the tissue"}, &TissueParams::density, {1.0, 1e5});
  keys.scaled({"damping_ms", "ms", "Rayleigh's beta, losses in the tissue"}, &TissueParams::damping_time, {0.0, 100.0});
  keys.number({"drag", "1/s", "Rayleigh's alpha, losses to fat, fluid and neighbours"}, &TissueParams::drag,
              {0.0, 1e4});
  keys.number({"friction", "", "Coulomb friction of a tool on wet tissue"}, &TissueParams::friction, {0.0, 10.0});
  keys.scaled({"node_spacing_mm", "mm", "spacing of the lattice, at most the organ's longest side"},
              &TissueParams::node_spacing, {0.1, 1000.0});
  keys.number({"substeps", "", "smallest number of substeps of a step; stability may require more"},
              &TissueParams::substeps, {1, 1000});
  keys.number({"fastest_tool", "m/s", "contacts push tissue away no faster than this"}, &TissueParams::fastest_tool,
              {0.01, 100.0});
  keys.number({"unfolding", "", "stiffness of a crushed cell, relative to Young's modulus times spacing"},
              &TissueParams::unfolding, {0.0, 10.0});
  keys.number({"crush_damping", "1/s", "damping rate of the corners of a crushed cell"}, &TissueParams::crush_damping,
              {0.0, 1e4});
  keys.vector({"gravity", "m/s^2", "without gravity the mesh is the shape at rest"}, &TissueParams::gravity,
              {-100.0, 100.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<ContactParams>) {
  keys.scaled(
      {"reach_mm", "mm", "points within this distance of a tool may get a contact, if the tissue is fast enough"},
      &ContactParams::reach, {0.01, 100.0});
  keys.scaled({"candidate_reach_mm", "mm",
               "faces within this distance of a tool's path are tested in every contact substep; at least `reach_mm`"},
              &ContactParams::candidate_reach, {0.01, 100.0});
  keys.number({"least_substeps", "", "contact substeps of a frame with contact"}, &ContactParams::least_substeps,
              {1, 100});
  keys.number({"most_substeps", "", "at least `least_substeps`"}, &ContactParams::most_substeps, {1, 100});
  keys.number({"smallest_area_m2", "m^2", "pressure is a mean over a patch of this area"}, &ContactParams::patch_area,
              {1e-9, 1.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<SculptParams>) {
  keys.number({"voxels_per_cell", "", "voxels along a lattice cell; cuts remove whole voxels"},
              &SculptParams::voxels_per_cell, {1, 8});
  keys.number({"smallest_piece", "voxels", "smaller separated pieces are removed too"}, &SculptParams::smallest_piece,
              {0, 1e6});
  keys.vector({"fall", "m/s^2", "gravity of loose parts of tissue without gravity"}, &SculptParams::fall,
              {-100.0, 100.0});
  keys.scaled({"floor_mm", "mm",
               "loose parts come to rest at this distance along `fall` from the origin, as on bowel; nothing is drawn "
               "there; 100000: they do not"},
              &SculptParams::floor, {-1e5, 1e5});
  keys.scaled({"melt_mm", "mm", "hot metal that cuts removes this much more tissue around it, as fat melts"},
              &SculptParams::melt, {0.0, 20.0});
  keys.number({"tears_at", "",
               "tissue stretched to this many times its length, or crushed so far, comes apart, as fat does; 0: never"},
              &SculptParams::tears_at, {0.0, 100.0});
  keys.scaled({"out_of_sight_mm", "mm", "loose parts stop at this distance from where they were at rest"},
              &SculptParams::out_of_sight, {1.0, 1e5});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Attachment>) {
  keys.position({"centre_mm", "mm", "centre of a ball; the tissue in it is attached", Need::Required},
                &Attachment::centre);
  keys.scaled({"radius_mm", "mm", "radius of the ball", Need::Required}, &Attachment::radius, {0.1, 1000.0});
  keys.number({"stiffness", "N/m", "0: rigid; otherwise a ligament, all its fibres together"}, &Attachment::stiffness,
              {0.0, 1e6});
  keys.flag({"diaphragm", "", "true: it moves with the diaphragm"}, &Attachment::diaphragm);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<VesselParams>) {
  keys.number({"rate_ml_min", "ml/min", "flow from the open end at first"}, &VesselParams::rate_ml_min, {0.001, 1e4});
  keys.number({"half_time_s", "s", "the flow halves in this time, because blood clots; 0: it does not"},
              &VesselParams::half_time, {0.0, 1e5});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<VesselScene>) {
  keys.choice({"supplied_from", "", "the end of `path_mm` from which the blood comes"}, &VesselScene::supplied_from,
              kTubeSides);
  keys.part(&VesselScene::flow);
  keys.position({"opened_mm", "mm", "it is injured: from the start on it bleeds at its nearest point at rest"},
                &VesselScene::opened);
  keys.number({"pooled_ml", "ml", "with `opened_mm`: blood that it has lost before the start"}, &VesselScene::pooled_ml,
              {0.0, 1e3});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BloodParams>) {
  keys.number({"rate_ml_min_cm2", "ml/min", "flow at first from each cm^2 that was cut or torn"},
              &BloodParams::rate_ml_min_cm2, {0.001, 1e4});
  keys.number({"half_time_s", "s", "the flow halves in this time, because blood clots; 0: it does not"},
              &BloodParams::half_time, {0.0, 1e5});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BileParams>) {
  keys.number({"volume_ml", "ml", "content of the organ"}, &BileParams::volume_ml, {0.001, 1e4});
  keys.number({"rate_ml_min", "ml/min", "flow from each perforation until the organ is empty"},
              &BileParams::rate_ml_min, {0.001, 1e4});
  keys.scaled({"wall_mm", "mm", "thickness of the wall; a deeper burn, cut or tear perforates it"}, &BileParams::wall,
              {0.01, 50.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<SuctionParams>) {
  keys.number({"suck_ml_min", "ml/min", "removed from the fluid near the tip"}, &SuctionParams::suck_ml_min,
              {0.0, 1e5});
  keys.number({"rinse_ml_min", "ml/min", "water on the tissue at the tip"}, &SuctionParams::rinse_ml_min, {0.0, 1e5});
  keys.scaled({"reach_mm", "mm", "fluid within this distance of the tip is removed"}, &SuctionParams::reach,
              {0.1, 100.0});
}

// The schema of scenes, stored in the key `schema`. Recordings hold the text of their scene, so a default is part of
// what they mean: a change of a default raises the schema.
inline constexpr int kSceneSchema = 2;

inline constexpr double kFarthestScope = 1e3;  // m, of its eye and its target from the origin

inline constexpr std::array kToolModes{ToolMode::Swept, ToolMode::Static};
inline constexpr std::array kCovers{Cover::Capsule, Cover::Paper};
inline const std::array<std::string, 4> kScripts{"explore", "press", "pull", "burn"};

// The name of a choice that is a text.
inline const std::string& name_of(const std::string& name) { return name; }

template <typename Keys>
void declare(Keys& keys, std::type_identity<AnatomyScene>) {
  keys.text({"duct", "", "the cystic duct, a tube whose path starts at the gallbladder", Need::Required},
            &AnatomyScene::duct);
  keys.text({"artery", "", "the cystic artery, a tube whose path ends at the gallbladder", Need::Required},
            &AnatomyScene::artery);
  keys.text({"main_duct", "", "the common duct, a tube whose path starts at the liver", Need::Required},
            &AnatomyScene::main_duct);
  keys.text({"bed", "", "the layer between gallbladder and liver", Need::Required}, &AnatomyScene::bed);
  keys.position(
      {"artery_in_front_mm", "mm",
       "a point in the liver: the origin of an artery that crosses in front of the common duct", Need::Required},
      &AnatomyScene::front);
  keys.position({"short_artery_mm", "mm", "a point in the liver: the origin of a short artery", Need::Required},
                &AnatomyScene::near);
  keys.text({"node", "", "a lymph node, with a mesh, that goes with the artery; empty: none"}, &AnatomyScene::node);
  keys.position({"node_mm", "mm", "the middle of this node"}, &AnatomyScene::node_at);
  keys.optional_path({"adhesion_from_mm", "mm, [[x, y, z], ...]",
                      "where fat of the omentum begins that may be stuck to the gallbladder; needs an `[organ.fat]`"},
                     &AnatomyScene::adhesion_from);
  keys.optional_path({"adhesion_to_mm", "mm, [[x, y, z], ...]", "where it ends, on the gallbladder"},
                     &AnatomyScene::adhesion_to);
  keys.optional_path({"second_artery_mm", "mm, [[x, y, z], ...]",
                      "the path of a second cystic artery that some patients have, to the gallbladder"},
                     &AnatomyScene::second_artery);
  keys.optional_file({"stone_mesh", "", "the mesh of the gallbladder with a stone in its neck"},
                     &AnatomyScene::stone_mesh);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<TubeShape>) {
  keys.path({"path_mm", "mm, [[x, y, z], ...]", "the line through its middle: both ends and points between them",
             Need::Required},
            &TubeShape::path);
  keys.scaled({"radius_mm", "mm", "of the tube"}, &TubeShape::radius, {0.1, 50.0});
  keys.scaled({"wall_mm", "mm", "thickness of its wall: rods move the tube; 0: springs fill it, as any organ"},
              &TubeShape::wall, {0.0, 50.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<SheetShape>) {
  keys.optional_path({"corners_mm", "mm, [[x, y, z], ...]",
                      "three or four corners of a patch, counter-clockwise seen from its front; four span a bilinear "
                      "surface; without them the organ's `mesh` is a surface with a border, as it is"},
                     &SheetShape::corners);
  keys.scaled({"spacing_mm", "mm", "distance of the nodes of a patch"}, &SheetShape::spacing, {0.5, 100.0});
  keys.scaled({"thickness_mm", "mm", "of the sheet; it is drawn and touched at least 0.8 mm thick"},
              &SheetShape::thickness, {0.01, 10.0});
  keys.number({"bending", "", "bending stiffness over that of a plate of this thickness; woven: below 1"},
              &SheetShape::bending, {1e-3, 100.0});
  keys.number({"strength", "Pa", "nominal stress at which it tears"}, &SheetShape::strength, {1.0, 1e9});
  keys.number({"toughness", "J/m^2", "of a tear"}, &SheetShape::toughness, {0.1, 1e6});
  keys.number({"cut_toughness", "J/m^2", "of a cut by a blade"}, &SheetShape::cut_toughness, {0.0, 1e6});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<FatShape>) {
  keys.path({"from_mm", "mm, [[x, y, z], ...]", "a line, such as that of a duct, which the fat wraps", Need::Required},
            &FatShape::from);
  keys.optional_path({"through_mm", "mm, [[x, y, z], ...]", "a line between the two others that the fat wraps too"},
                     &FatShape::through);
  keys.path({"to_mm", "mm, [[x, y, z], ...]", "the line up to which it reaches, in the same direction", Need::Required},
            &FatShape::to);
  keys.scaled({"thickness_mm", "mm", "of the body"}, &FatShape::thickness, {1.0, 100.0});
  keys.scaled({"lobule_mm", "mm", "between the middles of neighbouring lobules"}, &FatShape::lobule, {0.5, 50.0});
  keys.scaled({"spacing_mm", "mm", "between neighbouring vertices"}, &FatShape::spacing, {0.2, 20.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<RigidShape>) {
  keys.choice({"form", "", "box; ring, with a triangular outline; board, with pegs, which never moves", Need::Required},
              &RigidShape::form, kRigidForms);
  keys.position({"at_mm", "mm", "its middle at the start; of a board, the middle of its upper side", Need::Required},
                &RigidShape::at);
  keys.vector({"turn_deg", "degrees", "turns it at the start about x, then y, then z"}, &RigidShape::turn_deg,
              {-360.0, 360.0});
  keys.position({"size_mm", "mm", "of a box or a board along x, y, z"}, &RigidShape::size);
  keys.scaled({"side_mm", "mm", "of a ring: side of the triangle that its long outer sides span"}, &RigidShape::side,
              {1.0, 200.0});
  keys.scaled({"wall_mm", "mm", "thickness of a ring's wall"}, &RigidShape::wall, {0.3, 50.0});
  keys.scaled({"height_mm", "mm", "of a ring"}, &RigidShape::height, {0.3, 100.0});
  keys.scaled({"round_mm", "mm", "radius of the edges"}, &RigidShape::round, {0.1, 20.0});
  keys.optional_path(
      {"pegs_mm", "mm, [[x, y, 0], ...]", "feet of the pegs of a board, from the middle of its upper side"},
      &RigidShape::pegs);
  keys.scaled({"peg_radius_mm", "mm", "of a peg"}, &RigidShape::peg_radius, {0.2, 20.0});
  keys.scaled({"peg_height_mm", "mm", "of a peg, with its round end"}, &RigidShape::peg_height, {1.0, 200.0});
  keys.number({"density", "kg/m^3", "of a body that moves"}, &RigidShape::density, {1.0, 3e4});
  keys.number({"friction", "", "Coulomb; two surfaces rub with the geometric mean of theirs"}, &RigidShape::friction,
              {0.0, 10.0});
  keys.number({"restitution", "", "share of the speed of an impact that returns; of two, the larger"},
              &RigidShape::restitution, {0.0, 1.0});
  keys.flag({"fixed", "", "true: it never moves"}, &RigidShape::fixed);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<OrganScene>) {
  keys.unique_name({"name", "", "unique", Need::Required}, &OrganScene::name);
  keys.table("tube", &OrganScene::tube);
  keys.table("sheet", &OrganScene::sheet);
  keys.table("fat", &OrganScene::fat);
  keys.table("rigid", &OrganScene::rigid);
  keys.file({"mesh", "",
             "path of the mesh, relative to the scene file; an organ has this, `[organ.tube]`, `[organ.fat]`, "
             "`[organ.rigid]` or the corners of `[organ.sheet]`"},
            &OrganScene::mesh, [](const OrganScene& organ) { return has_mesh_file(organ); });
  keys.text({"part", "", "of a glTF file with several: the name of the nodes to read; `trocar mesh parts` lists them"},
            &OrganScene::part);
  keys.number({"mm_per_unit", "mm", "per unit of the mesh file"}, &OrganScene::mm_per_unit, {1e-6, 1e6});
  keys.choice({"axes", "",
               "of the mesh file: `LPS` is x left, y back, z head (3D Slicer, DICOM), `RAS` x right, y front, z head "
               "(NIfTI); the mesh is turned to those of a scene, x left, y head, z front"},
              &OrganScene::axes, kMeshAxes);
  keys.vector({"rotate_deg", "degrees",
               "turns the mesh, after `axes`, about the scene's x axis, then y, then z; attachments are not turned"},
              &OrganScene::rotate_deg, {-360.0, 360.0});
  keys.position({"offset_mm", "mm", "moves the mesh; attachments are not moved with it"}, &OrganScene::offset);
  keys.vector({"colour", "", "linear RGB"}, &OrganScene::colour, {0.0, 1.0});
  keys.choice({"look", "",
               "what it looks like beside its colour: how light spreads in it, its film of fluid, vessels, fat; it "
               "changes the picture only"},
              &OrganScene::look, kTissueLooks);
  keys.optional_file(
      {"material", "", "a file of `trocar tissue fit`, relative to the scene file: law, moduli, stiffening"},
      &OrganScene::material);
  keys.flag({"only_joined", "",
             "true: it has no contact with other organs; layers and bands alone hold it to them, as fat that clings to "
             "all its neighbours"},
            &OrganScene::only_joined);
  keys.table("tissue", &OrganScene::tissue);
  keys.table("contact", &OrganScene::contact);
  keys.table("cut", &OrganScene::cut);
  keys.list("attachment", &OrganScene::attachments);
  keys.table("vessel", &OrganScene::vessel);
  keys.table("blood", &OrganScene::blood);
  keys.table("bile", &OrganScene::bile);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BackdropScene>) {
  keys.choice(
      {"shape", "", "which neighbour; it is drawn and lit, but does not move, and nothing touches it", Need::Required},
      &BackdropScene::shape, kBackdropShapes);
  keys.position({"offset_mm", "mm", "moves it"}, &BackdropScene::offset);
  keys.vector({"colour", "", "linear RGB"}, &BackdropScene::colour, {0.0, 1.0});
  keys.choice({"look", "", "as that of an organ"}, &BackdropScene::look, kTissueLooks);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<LayerParams>) {
  keys.scaled({"reach_mm", "mm", "faces nearer than this to the other organ at rest, or inside it, are joined"},
              &LayerParams::reach, {0.0, 100.0});
  keys.position({"centre_mm", "mm", "only faces within `radius_mm` of this point are joined"}, &LayerParams::centre);
  keys.scaled({"radius_mm", "mm", "see `centre_mm`"}, &LayerParams::radius, {0.1, 1e6});
  keys.number({"modulus", "Pa", "Young's modulus of the layer in tension and shear"}, &LayerParams::modulus,
              {1.0, 1e8});
  keys.scaled({"thickness_mm", "mm", "of the layer"}, &LayerParams::thickness, {0.1, 20.0});
  keys.number({"break_strain", "", "a fibre of the layer stretched by more than this times the thickness breaks"},
              &LayerParams::break_strain, {0.01, 100.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<LayerScene>) {
  keys.unique_name({"name", "", "unique among the layers", Need::Required}, &LayerScene::name);
  keys.text({"organ", "", "the organ whose faces are joined to another organ", Need::Required}, &LayerScene::organ);
  keys.text({"to", "", "the other organ", Need::Required}, &LayerScene::to);
  keys.part(&LayerScene::params);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BandParams>) {
  keys.position({"from_start_mm", "mm", "the line on `organ` where the strands begin", Need::Required},
                &BandParams::from_start);
  keys.position({"from_end_mm", "mm", "its other end", Need::Required}, &BandParams::from_end);
  keys.position({"to_start_mm", "mm", "the line where the strands end", Need::Required}, &BandParams::to_start);
  keys.position({"to_end_mm", "mm", "its other end", Need::Required}, &BandParams::to_end);
  keys.number({"strands", "", "evenly along the lines"}, &BandParams::strands, {1, 200});
  keys.number({"modulus", "Pa", "Young's modulus of the band"}, &BandParams::modulus, {1.0, 1e9});
  keys.number({"section_mm2", "mm^2", "cross-section of the whole band"}, &BandParams::section_mm2, {0.01, 1e4});
  keys.number({"rest_strain", "", "strain at rest; negative: slack"}, &BandParams::rest_strain, {-0.9, 1.0});
  keys.number({"break_strain", "", "a strand breaks above this strain"}, &BandParams::break_strain, {0.01, 100.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BandScene>) {
  keys.unique_name({"name", "", "unique among the bands", Need::Required}, &BandScene::name);
  keys.text({"organ", "", "the organ at one end", Need::Required}, &BandScene::organ);
  keys.text({"to", "", "the organ at the other end, empty: the abdominal wall"}, &BandScene::to);
  keys.part(&BandScene::params);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<JointLimits>) {
  keys.number({"pan_deg", "degrees", "largest pan to either side"}, &JointLimits::pan_deg, {0.0, 89.0});
  keys.number({"lowest_tilt_deg", "degrees", "lowest tilt of the shaft"}, &JointLimits::lowest_tilt_deg, {-89.0, 0.0});
  keys.number({"highest_tilt_deg", "degrees", "highest tilt of the shaft"}, &JointLimits::highest_tilt_deg,
              {0.0, 89.0});
  keys.scaled({"shallowest_mm", "mm", "smallest depth of the tip beyond the trocar"}, &JointLimits::shallowest,
              {1.0, 1000.0});
  keys.scaled({"deepest_mm", "mm", "largest depth, more than `shallowest_mm`"}, &JointLimits::deepest, {1.0, 1000.0});
  keys.number({"widest_grip_deg", "degrees", "angle between fully open jaws"}, &JointLimits::widest_grip_deg,
              {1.0, 120.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<AxisScale>) {
  keys.number({"right", "", "of `mouse`, `gamepad`, `spacemouse`: motion to the right, times this; negative: reversed"},
              &AxisScale::right, {-4.0, 4.0});
  keys.number({"up", "", "the same for motion up"}, &AxisScale::up, {-4.0, 4.0});
  keys.number({"in", "", "the same for insertion"}, &AxisScale::in, {-4.0, 4.0});
  keys.number({"roll", "", "the same for rotation about the shaft"}, &AxisScale::roll, {-4.0, 4.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Registration>) {
  keys.position({"move_mm", "mm", "of `igtl`: a point of the tracker's world is first turned, then moved by this"},
                &Registration::move);
  keys.vector({"turn_deg", "degrees", "rotation vector: its direction is the axis, its length the angle"},
              &Registration::turn_deg, {-360.0, 360.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<GraspParams>) {
  keys.scaled({"reach_mm", "mm", "length of the jaws, from the tip, that holds tissue"}, &GraspParams::reach,
              {0.1, 100.0});
  keys.number({"close_below", "", "aperture (0 closed, 1 open) below which jaws count as closed in tasks"},
              &GraspParams::close_below, {0.0, 1.0});
  keys.number({"open_above", "", "aperture above which they count as open in tasks, more than `close_below`"},
              &GraspParams::open_above, {0.0, 1.0});
  keys.number({"grip_below", "", "aperture of the handle below which closing jaws grip what both touch"},
              &GraspParams::grip_below, {0.01, 1.0});
  keys.number({"squeeze_n", "N", "largest force of the handle on the jaws"}, &GraspParams::squeeze, {0.0, 100.0});
  keys.number({"handle_stiffness_n", "N", "force per unit of aperture by which held tissue keeps the jaws open"},
              &GraspParams::handle_stiffness, {0.1, 1000.0});
  keys.number({"friction", "", "Coulomb friction of the jaws"}, &GraspParams::friction, {0.0, 10.0});
  keys.number({"damage_from_n", "N", "squeeze above which tissue is damaged"}, &GraspParams::damage_from,
              {0.0, 1000.0});
  keys.number({"tear_from_n", "N", "pull above which tissue tears"}, &GraspParams::tear_from, {0.0, 1000.0});
  keys.number({"settling_s", "s", "time constant with which the jaws follow the force of held tissue"},
              &GraspParams::settling, {0.001, 10.0});
  keys.scaled({"slip_mm", "mm", "a point farther than this from its target between the jaws has slipped"},
              &GraspParams::slip, {0.001, 100.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<HookParams>) {
  keys.scaled({"length_mm", "mm", "bare wire along the shaft, at most up to the ceramic collar"}, &HookParams::length,
              {0.0, 100.0});
  keys.scaled({"reach_mm", "mm", "cut: tissue within this distance of the metal is removed"}, &HookParams::reach,
              {0.0, 100.0});
  keys.scaled({"spark_mm", "mm", "diathermy acts on tissue within this distance of the metal"}, &HookParams::spark,
              {0.0, 10.0});
  keys.scaled({"spread_mm", "mm", "depth of the coagulated zone after one second; it grows with the root of time"},
              &HookParams::spread, {0.01, 100.0});
  keys.scaled({"deepest_mm", "mm", "limit of that depth"}, &HookParams::deepest, {0.0, 100.0});
  keys.number({"char_dose", "", "multiple of the coagulating dose at which tissue is black"}, &HookParams::char_dose,
              {1.01, 1000.0});
  keys.number({"tears_from_n", "N", "force above which the wire tears out of tissue"}, &HookParams::tears_from,
              {0.01, 1000.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BladeParams>) {
  keys.scaled({"length_mm", "mm", "length of the cutting part, from the tips towards the hinge"}, &BladeParams::length,
              {0.0, 100.0});
  keys.scaled(
      {"reach_mm", "mm", "the slit goes this far beyond the tips and edges, because tissue yields to the blades"},
      &BladeParams::reach, {0.0, 100.0});
  keys.number({"bite", "",
               "aperture, relative to the widest since the last cut, below which closing blades cut what both touch"},
              &BladeParams::bite, {0.0, 1.0});
  keys.number({"meet", "", "aperture (0 closed, 1 open) below which the blades have cut"}, &BladeParams::meet,
              {0.0, 1.0});
  keys.number({"open", "", "aperture above which they can cut again, more than `meet`"}, &BladeParams::open,
              {0.0, 1.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<ClipParams>) {
  keys.scaled({"length_mm", "mm", "length of the legs, from the tips of the jaws; at most the length of the jaws"},
              &ClipParams::length, {1.0, 50.0});
  keys.number({"closes", "", "aperture (0 closed, 1 open) below which a clip has closed"}, &ClipParams::closes,
              {0.01, 0.5});
  keys.number({"loads", "", "aperture above which the next clip slides between the jaws, more than `closes`"},
              &ClipParams::loads, {0.02, 1.0});
  keys.number({"magazine", "", "number of clips"}, &ClipParams::magazine, {0, 1000});
  keys.number({"squeeze_n", "N", "largest force of the handle on the jaws"}, &ClipParams::squeeze, {0.0, 500.0});
  keys.number({"stiffness", "N/m", "of a closed clip"}, &ClipParams::stiffness, {1.0, 1e5});
  keys.number({"holds_n", "N", "a clip that tissue forces open with more comes off"}, &ClipParams::holds,
              {0.01, 1000.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<GuardParams>) {
  keys.scaled({"tip_speed_mm_s", "mm/s", "speed of the return to the device's pose after a failure"},
              &GuardParams::tip_speed, {1.0, 1e4});
  keys.number({"roll_speed_deg_s", "degrees/s", "speed of the rotation about the shaft meanwhile"},
              &GuardParams::roll_speed_deg, {1.0, 1e4});
  keys.number({"longest_return_s", "s", "upper limit of the duration of the return"}, &GuardParams::longest_way_back,
              {0.001, 60.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<ContactModelParams>) {
  keys.number({"start_stiffness", "N/m", "before the first fit"}, &ContactModelParams::start_stiffness, {0.0, 1e4});
  keys.number({"least_stiffness", "N/m", "lower limit of the fit"}, &ContactModelParams::least_stiffness, {0.0, 1e4});
  keys.number({"greatest_stiffness", "N/m", "upper limit of the fit; the device must be stable against it"},
              &ContactModelParams::greatest_stiffness, {0.0, 1e4});
  keys.number({"forgetting", "", "weight of older pairs of frames, per frame"}, &ContactModelParams::forgetting,
              {0.0, 1.0});
  keys.scaled({"trusted_motion_mm", "mm", "much smaller changes of depth do not affect the fit"},
              &ContactModelParams::trusted_motion, {1e-4, 10.0});
  keys.number({"hold_intervals", "", "number of frame intervals for which a force is held"},
              &ContactModelParams::hold_intervals, {1.0, 100.0});
  keys.number({"shortest_hold_s", "s", "minimum hold"}, &ContactModelParams::shortest_hold, {0.0, 10.0});
  keys.number({"longest_interval_s", "s", "upper limit of the interval; more than `shortest_interval_s`"},
              &ContactModelParams::longest_interval, {0.001, 10.0});
  keys.number({"fade_s", "s", "from the end of the hold to zero"}, &ContactModelParams::fade, {0.0, 10.0});
  keys.number({"largest_force_n", "N", "limit of the motors"}, &ContactModelParams::largest_force, {0.0, 100.0});
  keys.number({"weakest_force_n", "N", "the direction of a weaker force is undefined"},
              &ContactModelParams::weakest_force, {1e-12, 1.0});
  keys.number({"shortest_interval_s", "s", "the transition to a new frame takes at least this time"},
              &ContactModelParams::shortest_interval, {1e-4, 1.0});
  keys.number({"interval_memory_s", "s", "time constant with which a long interval decays"},
              &ContactModelParams::interval_memory, {1e-3, 100.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<InstrumentScene>) {
  keys.unique_name({"name", "", "unique", Need::Required}, &InstrumentScene::name);
  keys.choice({"kind", "",
               "a probe presses, the jaws of a grasper hold, the tip of a hook burns, scissors cut each time their "
               "blades close, a clip applier leaves a clip on what its jaws close on, suction removes fluid or rinses"},
              &InstrumentScene::kind, kInstrumentKinds);
  keys.position({"pivot_mm", "mm", "the trocar", Need::Required}, &InstrumentScene::pivot);
  keys.position({"tip_mm", "mm", "the tip at the start, not at the trocar", Need::Required}, &InstrumentScene::tip);
  keys.scaled({"radius_mm", "mm", "radius of the shaft", Need::Required}, &InstrumentScene::radius, {0.01, 100.0});
  keys.vector(
      {"axis", "",
       "direction of the shaft at zero pan and tilt, for `mouse`, `gamepad`, `spacemouse` and `igtl`; length at "
       "least 1e-6, or [0, 0, 0]: from pivot to tip"},
      &InstrumentScene::axis, {-1000.0, 1000.0});
  keys.choice({"device", "", "see [devices.md](devices.md)", Need::Written}, &InstrumentScene::device, device_names());
  keys.text(
      {"source", "",
       "of `gamepad`: its number or part of its name, empty: the first one; of `igtl`: `host:port/tool`, empty: "
       "`localhost:18944`, any tool; of `trajectory` with a recording: the instrument in it, empty: the one of the "
       "same name, or the only one"},
      &InstrumentScene::source);
  keys.text(
      {"port", "",
       "the port that instruments with the same text share: while a trainee moves them, one of them is in the body; "
       "empty: a port of its own"},
      &InstrumentScene::port);
  keys.choice(
      {"script", "", "motion about `tip_mm`, one cycle in 4 s, of `script`, of the haptic stub and of `trocar demo`"},
      &InstrumentScene::script, kScripts);
  keys.file({"trajectory", "",
             "with `device = \"trajectory\"`, otherwise refused: `T.csv` or a recording `S.h5`, relative to the scene "
             "file",
             Need::Required},
            &InstrumentScene::trajectory,
            [](const InstrumentScene& instrument) { return instrument.device == "trajectory"; });
  keys.table("grasp", &InstrumentScene::grasp);
  keys.table("clip", &InstrumentScene::clip);
  keys.table("hook", &InstrumentScene::hook);
  keys.table("blades", &InstrumentScene::blades);
  keys.table("suction", &InstrumentScene::suction);
  keys.table("haptic", &InstrumentScene::haptic);
  keys.table("limits", &InstrumentScene::limits);
  keys.table("axes", &InstrumentScene::axes);
  keys.table("registration", &InstrumentScene::registration);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Lens>) {
  keys.number({"barrel", "",
               "barrel distortion k of the lens, r_u = r_d / (1 - k r_d^2) with radii before (r_u) and after (r_d) "
               "distortion"},
              &Lens::barrel, {0.0, 0.3});
  keys.number({"field", "half heights", "radius of the round field in the picture, below 1 / sqrt(`barrel`)"},
              &Lens::field, {0.2, 2.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<ScopeScene>) {
  keys.far_position({"eye_mm", "mm", "tip of the scope at the start, at most 1000 m from the origin", Need::Written},
                    &ScopeScene::eye, kFarthestScope);
  keys.far_position({"target_mm", "mm",
                     "the point that the scope looks at, at most 1000 m from the origin, not `eye_mm`", Need::Written},
                    &ScopeScene::target, kFarthestScope);
  keys.number({"field_of_view_deg", "degrees", "vertical, before distortion"}, &ScopeScene::field_of_view_deg,
              {20.0, 120.0});
  keys.number({"angle_deg", "degrees", "viewing angle against the rod: 0 or 30, nothing between"},
              &ScopeScene::angle_deg, {0.0, 30.0});
  keys.number({"spin_deg", "degrees", "rotation of the light post at the start"}, &ScopeScene::spin_deg,
              {-360.0, 360.0});
  keys.scaled({"rod_mm", "mm", "distance from the scope's port to its tip at the start"}, &ScopeScene::rod,
              {10.0, 400.0});
  keys.part(&ScopeScene::lens);
  keys.choice({"device", "", "not `haptic`; with `script` the scope does not move"}, &ScopeScene::device,
              device_names());
  keys.text({"source", "", "as for an instrument; with `device = \"trajectory\"` required: a recording `S.h5`"},
            &ScopeScene::source);
  keys.flag({"fogs", "", "the lens fogs in attempts, until it is wiped"}, &ScopeScene::fogs);
  keys.table("limits", &ScopeScene::limits);
  keys.table("axes", &ScopeScene::axes);
  keys.table("registration", &ScopeScene::registration);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<QueryScene>) {
  keys.text({"backend", "", "`auto` or any backend of [collision.md](collision.md): `compute`, `scan`, `obb` ..."},
            &QueryScene::backend);
  keys.choice({"mode", "", "see [method.md](method.md)"}, &QueryScene::mode, kToolModes);
  keys.choice({"cover", "", "see [method.md](method.md)"}, &QueryScene::cover, kCovers);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<SolverScene>) {
  keys.number({"threads", "",
               "shared by the organs; the result is bit-identical; 0: two where the machine has two cores, and one "
               "where a program runs many sessions"},
              &SolverScene::threads, {0, 64});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Breathing>) {
  keys.scaled({"amplitude_mm", "mm", "motion of the diaphragm from expiration to inspiration"}, &Breathing::amplitude,
              {0.0, 100.0});
  keys.number({"rate_hz", "Hz", "breaths per second"}, &Breathing::rate, {0.0, 10.0});
  keys.vector({"direction", "", "direction of inspiration, not [0, 0, 0]; its length multiplies the amplitude"},
              &Breathing::direction, {-10.0, 10.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Scene>) {
  keys.schema({"schema", "", "version of the keys", Need::Required});
  keys.text({"title", "", "shown in the window"}, &Scene::title);
  keys.number({"frame_rate", "Hz", "ticks of the simulation per second; the picture has its own rate"},
              &Scene::frame_rate, {10.0, 1000.0});
  keys.table("scope", &Scene::scope);
  keys.table("query", &Scene::query);
  keys.table("solver", &Scene::solver);
  keys.table("guard", &Scene::guard);
  keys.table("breathing", &Scene::breathing);
  keys.list("organ", &Scene::organs);
  keys.list("backdrop", &Scene::backdrops);
  keys.list("layer", &Scene::layers);
  keys.list("band", &Scene::bands);
  keys.list("instrument", &Scene::instruments);
  keys.table("task", &Scene::task);
  keys.table("anatomy", &Scene::anatomy);
}

}  // namespace trocar
