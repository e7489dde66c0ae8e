// Declares every key of a scene file once: name, unit, limits, meaning, and the member of the struct that holds it. The
// reader (scene.cpp), the writer (scene_writer.cpp) and the table in docs/file-formats.md visit these declarations.
// `Keys` is one of those visitors for one struct; defaults are those of the struct. Lengths are metres in the structs
// and millimetres in the file.   Tested in tests/house/scene_keys_test.cpp
#pragma once

#include <array>
#include <limits>
#include <type_traits>

#include "sim/scene/bleeding_keys.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/task_keys.hpp"
#include "sim/scene/tissue_keys.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/limits.hpp"

namespace trocar {

// Present schema of scenes, stored in the key `schema`; scenes without the key have schema 1. Recordings hold the text
// of their scene, so a default is part of what they mean: a change of a default raises the schema, and read_schema()
// keeps the earlier default for scenes of earlier schemas.
inline constexpr int kSceneSchema = 2;

inline constexpr Limits kAnyNumber{-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
inline constexpr double kFarthestScope = 1e3;  // m, of its eye and its target from the origin

inline constexpr std::array kToolModes{ToolMode::Swept, ToolMode::Static};
inline constexpr std::array kCovers{Cover::Capsule, Cover::Paper};
inline const std::array<std::string, 4> kScripts{"explore", "press", "pull", "burn"};

// The name of a choice that is a text.
inline const std::string& name_of(const std::string& name) { return name; }

template <typename Keys>
void declare(Keys& keys, std::type_identity<TubeShape>) {
  keys.path({"path_mm", "mm, [[x, y, z], ...]", "the line through its middle: both ends and points between them",
             Need::Required},
            &TubeShape::path);
  keys.scaled({"radius_mm", "mm", "of the tube"}, &TubeShape::radius, {0.1, 50.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<OrganScene>) {
  keys.unique_name({"name", "", "unique", Need::Required}, &OrganScene::name);
  keys.table("tube", &OrganScene::tube);
  keys.file({"mesh", "", "path of the mesh, relative to the scene file; an organ has this or `[organ.tube]`"},
            &OrganScene::mesh, [](const OrganScene& organ) { return !organ.tube; });
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
  keys.vector({"colour", "", "linear RGB", Need::Optional, true}, &OrganScene::colour, {0.0, 1.0});
  keys.optional_file(
      {"material", "", "a file of `trocar tissue fit`, relative to the scene file: law, moduli, stiffening"},
      &OrganScene::material);
  keys.table("tissue", &OrganScene::tissue);
  keys.table("contact", &OrganScene::contact);
  keys.table("cut", &OrganScene::cut);
  keys.list("attachment", &OrganScene::attachments);
  keys.table("vessel", &OrganScene::vessel);
  keys.table("blood", &OrganScene::blood);
  keys.table("bile", &OrganScene::bile);
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
  keys.position({"pivot_mm", "mm", "the trocar", Need::Required, true}, &InstrumentScene::pivot);
  keys.position({"tip_mm", "mm", "the tip at the start, not at the trocar", Need::Required, true},
                &InstrumentScene::tip);
  keys.scaled({"radius_mm", "mm", "radius of the shaft", Need::Required}, &InstrumentScene::radius, {0.01, 100.0});
  keys.vector(
      {"axis", "",
       "direction of the shaft at zero pan and tilt, for `mouse`, `gamepad`, `spacemouse` and `igtl`; length at "
       "least 1e-6, or [0, 0, 0]: from pivot to tip",
       Need::Optional, true},
      &InstrumentScene::axis, {-1000.0, 1000.0});
  keys.choice({"device", "", "see [devices.md](devices.md)", Need::Written}, &InstrumentScene::device, device_names());
  keys.text(
      {"source", "",
       "of `gamepad`: its number or part of its name, empty: the first one; of `igtl`: `host:port/tool`, empty: "
       "`localhost:18944`, any tool; of `trajectory` with a recording: the instrument in it, empty: the one of the "
       "same name, or the only one"},
      &InstrumentScene::source);
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
  keys.number({"threads", "", "shared by the organs; the result is bit-identical"}, &SolverScene::threads, {1, 64});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Breathing>) {
  keys.scaled({"amplitude_mm", "mm", "motion of the diaphragm from expiration to inspiration"}, &Breathing::amplitude,
              {0.0, 100.0});
  keys.number({"rate_hz", "Hz", "breaths per second"}, &Breathing::rate, {0.0, 10.0});
  keys.vector({"direction", "", "direction of inspiration, not [0, 0, 0]; its length multiplies the amplitude",
               Need::Optional, true},
              &Breathing::direction, {-10.0, 10.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Scene>) {
  keys.schema({"schema", "", "version of the keys, 2 at present; a scene without it has schema 1"});
  keys.text({"title", "", "shown in the window"}, &Scene::title);
  keys.number({"frame_rate", "Hz", "ticks of the simulation per second; the picture has its own rate"},
              &Scene::frame_rate, {10.0, 1000.0});
  keys.table("scope", &Scene::scope);
  keys.table("query", &Scene::query);
  keys.table("solver", &Scene::solver);
  keys.table("guard", &Scene::guard);
  keys.table("breathing", &Scene::breathing);
  keys.list("organ", &Scene::organs);
  keys.list("layer", &Scene::layers);
  keys.list("band", &Scene::bands);
  keys.list("instrument", &Scene::instruments);
  keys.table("task", &Scene::task);
  keys.table("anatomy", &Scene::anatomy);
}

}  // namespace trocar
