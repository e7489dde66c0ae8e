// Defines the task of a scene and its levels: kind, instrument, targets, limits. Targets are given as positions at
// rest; they move with the tissue (surface marks). Units: metres, seconds; the file is in millimetres. Format:
// docs/file-formats.md.   Tested in tests/sim/scene/scene_test.cpp
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

// Defines a level of a task: what it changes in its scene.   Applied in
// sim/scene/scene_variants.cpp

inline constexpr int kMostLevels = 100;  // of a task

// A value that is absent is that of the scene as written, not that of the level before.
struct TaskLevel {
  std::string name;  // what is harder: "small targets, deep breathing"
  // As in TaskScene.
  std::optional<double> tolerance, hold, lift, most_force, most_tremor, time_good, time_limit;
  std::optional<float> breathing_amplitude, breathing_rate;  // m, Hz
  std::optional<glm::vec3> scope_eye;                        // m
  std::optional<float> scope_angle_deg, scope_spin_deg;      // degrees
  // As in VesselScene, of the vessel that is injured.
  std::optional<glm::vec3> opened;               // m
  std::optional<double> rate_ml_min, pooled_ml;  // ml/min, ml
  bool swap_trocars = false;  // the first two instruments swap pivot, tip and axis: each is in the other hand
};

enum class TaskKind {
  TouchTargets,
  NavigateCamera,
  FollowCurve,
  LiftOrgan,
  BurnLine,
  KeepOut,
  ClipAndCut,
  Operation,
  PegTransfer
};
// An end of the line through a duct or vessel.
enum class TubeSide { Start, End };

// A target on an organ: the point of its surface at rest that is nearest to `place`.
struct TaskTarget {
  std::string organ;
  glm::vec3 location{0.f};         // m, world, at rest
  TubeSide stays = TubeSide::End;  // ClipAndCut, Operation: the part of the duct with this end stays in the patient
};

// A forbidden zone in the scope's picture, in pinhole image coordinates.
struct TaskZone {
  std::vector<glm::dvec2> outline;  // half heights, a simple polygon
};

// A step of an operation.
//   Retract: a point of an organ is moved at least `lift` from its position at rest and held there for `hold`.
//   Dissect: connective tissue is divided.
//   Divide:  the ducts and vessels of the task's targets are clipped and divided, as in ClipAndCut.
//   Remove:  as Retract, towards the trocar, and last: it counts when all other steps are done.
//   Clear:   the window between lines on organs is free of fat and peritoneum (sim/task/clear_window.hpp).
//   StopBleeding: an injured vessel no longer bleeds, by clips or heat, not because something presses on it.
//   Suck:    the blood on the organs is sucked away; it counts when every step StopBleeding is done.
enum class StepKind { Retract, Dissect, Divide, Remove, Clear, StopBleeding, Suck };

// A layer or band of connective tissue, or the part of it that is nearest to a point.
struct StepTissue {
  std::string name;
  glm::vec3 near{0.f};  // m, at rest
  double part = 1.0;    // 1  share of its fibres: those nearest to `near`
};

// Where a grasper moves what it holds before a step, in demonstrations.
struct StepPull {
  std::string instrument;  // empty: the first grasper
  glm::vec3 to{0.f};       // m, from the position of the held target at rest
};

// A side of a window: a line along an organ, on a duct through its middle.
struct StepSide {
  std::string organ;
  glm::vec3 start{0.f}, end{0.f};  // m, at rest: the organ's nearest points between them count
  double clear = 2e-3;             // m  the window begins this far from the line
};

// An organ that must be gone from a window, or open along its middle.
struct StepGone {
  std::string organ;
  bool opened = false;
  bool may_stay = false;  // it may go with the others, and the window does not ask for it
};

struct TaskStep {
  StepKind kind = StepKind::Retract;
  std::string title;                   // "retract the fundus"; shown as the hint
  std::string organ;                   // Retract, Remove; StopBleeding: a vessel with `opened`
  glm::vec3 location{0.f};             // m, world, at rest: the nearest point of the organ's surface counts
  double lift = 0.020;                 // m  distance from rest; of Remove, towards the trocar
  std::string instrument;              // Retract, Remove: holds the tissue in demonstrations; empty: the first grasper
  glm::vec3 direction{0.f, 1.f, 1.f};  // 1  of the pull in demonstrations
  double hold = 1.0;                   // s
  double left_ml = 1.0;                // ml  Suck: blood that may be left on all organs
  std::vector<StepTissue> tissue;      // Dissect
  std::vector<StepSide> sides;         // Clear: at least two, in order across the window
  std::vector<StepGone> gone;          // Clear
  std::vector<StepPull> pulls;         // Dissect, Divide, Clear
  double share = 0.95;                 // 1  of the fibres that must be divided, or of the window that must be free
  std::filesystem::path picture;       // PNG, shown while this step is the current one; empty: none
  bool before_division = false;        // dividing a duct before this step is done is a critical error
};

// What must not happen to an organ. Exceeding a limit is a critical error, that of bile an error.
struct TaskLimit {
  std::string organ;
  double deepest_burn = 0.0;  // m  largest depth of burnt holes below the surface at rest; 0: unlimited
  bool no_diathermy = false;  // hot metal must not act on it
  double most_blood_ml = 0.0, most_bile_ml = 0.0;  // ml  that it may lose; 0: unlimited
};

// The thresholds of the tasks' rules (docs/tasks.md).
struct TaskRules {
  double readable = 0.15;    // half heights  radius in the picture of a disc of the tolerance's radius: near enough
  double too_near = 0.015;   // m  closer than this, tissue soils the lens
  double deliberate = 0.25;  // s  a wrong target counts when touched for this long; shorter contact is accidental
  double off_tissue_after =
      0.5;                      // s  a burning hook touches tissue intermittently; without contact for longer it is off
  double removal_lasts = 0.15;  // s  burning tissue is removed voxel by voxel, not in every frame
  double enough = 0.95;         // 1  share of the line's points that must burn: the ends of a burn are round
  double lifted = 0.004;        // m  more than breathing moves tissue: a release above this height is a drop
  double slipped = 0.01;        // m  the target slipped out when its distance from the tip has grown by this
  double clips_staying = 2.0;   // 1  clips on the part of a duct that stays in the patient; 0: it is cut without clips
  double many_errors = 6.0;     // 1  with this many errors the grade for errors is 0
};

struct TaskScene {
  TaskKind kind = TaskKind::TouchTargets;
  std::string title, instructions;    // shown before the start
  std::string instrument;             // the instrument that counts; empty: any. The scope for NavigateCamera
  std::vector<TaskTarget> locations;  // targets in order, or the corners of the curve or the line
  std::vector<TaskZone> zones;        // forbidden, in every kind of task
  std::vector<TaskStep> steps;        // of Operation, in the usual order; any order is accepted
  std::vector<TaskLimit> limits;      // of Operation
  double tolerance = 0.004;           // m  distance that counts as on target; half the width of a line
  double hold = 0.5;                  // s  time on each target
  double lift = 0.015;                // m  of LiftOrgan: height above rest
  double most_force = 2.0;            // N  force limit: more on the tissue is an error
  double most_tremor = 0.0;           // m  tremor limit, root mean square; 0: tremor is not graded
  double time_good = 30.0;            // s  target time: full grade up to here
  double time_limit = 180.0;          // s  the task ends unfinished at this time, > time_good
  int at_level = 1;                   // the level that these values have; --level writes it
  TaskRules rules;
  std::vector<TaskLevel> levels;  // from level 2 on; level 1 is the scene as written
};

// Returns the names in the file, in the order of TaskKind.
const std::vector<std::string>& task_kind_names();
std::string_view name_of(TaskKind kind);
std::string_view name_of(TubeSide side);
std::string_view name_of(StepKind kind);
// Returns whether the task divides ducts or vessels.
bool divides_ducts(const TaskScene& task);

}  // namespace trocar
