#include "sim/scene/scene.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/task_reader.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/names.hpp"

namespace trocar {
namespace {

constexpr float kMetresPerMillimetre = 1e-3f;
constexpr double kFarthest = 1e3;  // m
constexpr FileKind kSceneFile{"scene", std::uint64_t{1} << 20};
constexpr std::size_t kLongestTitle = 200, kLongestInstructions = 4000;  // characters
constexpr Limits kPositionMm{-kFarthestPlace * 1e3, kFarthestPlace * 1e3};
constexpr Limits kAnyNumber{-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};

// The origin of the text. A recorded text was valid for the version that recorded it, so some limits do not apply.
struct Reading {
  std::filesystem::path file;
  bool recorded = false;

  Limits limits(Limits of_today) const { return recorded ? kAnyNumber : of_today; }
  std::string name(TomlTable& table) const {
    const std::string name = table.text("name");
    if (const std::string fault = name_fault(name); !fault.empty() && !recorded) table.fail("name", fault);
    return name;
  }
};
// Indexed by InstrumentKind.
constexpr const char* kKindNames[] = {"probe", "grasper", "hook", "scissors"};

// A file that the scene names, relative to the scene's folder.
std::filesystem::path file_named(const Reading& reading, TomlTable& table, std::string_view key) {
  const std::string name = table.text(key);
  if (!reading.recorded && (name.empty() || name.find('\0') != name.npos)) table.fail(key, "must name a file");
  return reading.file.parent_path() / name;
}

// Reads a length: millimetres in the file, metres in `value`.
void optional_mm(TomlTable& table, std::string_view key, float& value, Limits limits_mm) {
  double mm = value / kMetresPerMillimetre;
  table.optional(key, mm, limits_mm);
  if (table.has(key)) value = static_cast<float>(mm * 1e-3);
}

void optional_mm(TomlTable& table, std::string_view key, glm::vec3& value) {
  if (!table.has(key)) return;
  const glm::dvec3 metres = table.vector(key) * 1e-3;
  if (!(glm::length(metres) <= kFarthest)) table.fail(key, "is more than 1000 m from the origin; check the unit");
  value = glm::vec3(metres);
}

TissueParams read_tissue(const Reading& reading, TomlTable table) {
  TissueParams tissue;
  table.optional("youngs_modulus", tissue.youngs_modulus, {1.0, 1e9});
  table.optional("density", tissue.density, {1.0, 1e5});
  table.optional("poisson_ratio", tissue.poisson_ratio, {0.25, 0.49});
  double damping_ms = tissue.damping_time * 1e3;
  table.optional("damping_ms", damping_ms, {0.0, 100.0});
  tissue.damping_time = static_cast<float>(damping_ms * 1e-3);
  table.optional("drag", tissue.drag, {0.0, 1e4});
  table.optional("friction", tissue.friction, {0.0, 10.0});
  optional_mm(table, "node_spacing_mm", tissue.node_spacing, {0.1, 1000.0});
  table.optional("substeps", tissue.substeps, {1, 1000});
  table.optional("gravity", tissue.gravity, reading.limits({-100.0, 100.0}));
  table.refuse_unknown_keys();
  return tissue;
}

OrganScene read_organ(const Reading& reading, TomlTable& table) {
  OrganScene organ;
  organ.name = reading.name(table);
  organ.mesh = file_named(reading, table, "mesh");
  table.optional("mm_per_unit", organ.mm_per_unit, {1e-6, 1e6});
  table.optional("colour", organ.colour, reading.limits({0.0, 1.0}));
  organ.tissue = read_tissue(reading, table.table("tissue"));
  for (TomlTable& attached : table.tables("attachment")) {
    Attachment attachment;
    attachment.centre = glm::vec3(attached.vector("centre_mm", reading.limits(kPositionMm)) * 1e-3);
    attachment.radius = static_cast<float>(attached.number("radius_mm", {0.1, 1000.0}) * 1e-3);
    attached.optional("stiffness", attachment.stiffness, {0.0, 1e6});
    attached.optional("diaphragm", attachment.diaphragm);
    attached.refuse_unknown_keys();
    organ.attachments.push_back(attachment);
  }
  table.refuse_unknown_keys();
  return organ;
}

InstrumentKind read_kind(TomlTable& table) {
  std::string name = "probe";
  table.optional("kind", name);
  const auto kind = instrument_kind(name);
  if (!kind) table.fail("kind", "must be probe, grasper, hook or scissors");
  return *kind;
}

// Joint limits for hand-held devices: [instrument.limits], [scope.limits].
JointLimits read_limits(TomlTable table) {
  JointLimits limits;
  table.optional("pan_deg", limits.pan_deg, {0.0, 89.0});
  table.optional("lowest_tilt_deg", limits.lowest_tilt_deg, {-89.0, 0.0});
  table.optional("highest_tilt_deg", limits.highest_tilt_deg, {0.0, 89.0});
  double shallowest_mm = limits.shallowest * 1e3, deepest_mm = limits.deepest * 1e3;
  table.optional("shallowest_mm", shallowest_mm, {1.0, 1000.0});
  table.optional("deepest_mm", deepest_mm, {1.0, 1000.0});
  if (shallowest_mm >= deepest_mm) table.fail("deepest_mm", "must be more than shallowest_mm");
  limits.shallowest = shallowest_mm * 1e-3;
  limits.deepest = deepest_mm * 1e-3;
  table.optional("widest_grip_deg", limits.widest_grip_deg, {1.0, 120.0});
  table.refuse_unknown_keys();
  return limits;
}

void read_device(TomlTable& table, std::string& device, std::string& source) {
  table.optional("device", device);
  const auto& names = device_names();
  if (std::find(names.begin(), names.end(), device) == names.end())
    table.fail("device", fmt::format("must be one of {}", fmt::join(names, ", ")));
  table.optional("source", source);
}

glm::dvec3 read_axis(const Reading& reading, TomlTable& table) {
  const glm::dvec3 axis = table.vector("axis", reading.limits({-1000.0, 1000.0}));
  const double length = glm::length(axis);
  if (length > 0.0 && length < 1e-6 && !reading.recorded)
    table.fail("axis", "is too short for a direction; write a unit vector, as in [0, 0, -1]");
  return axis;
}

InstrumentScene read_instrument(const Reading& reading, TomlTable& table) {
  InstrumentScene instrument;
  instrument.name = reading.name(table);
  instrument.pivot = table.vector("pivot_mm", reading.limits(kPositionMm)) * 1e-3;
  instrument.tip = table.vector("tip_mm", reading.limits(kPositionMm)) * 1e-3;
  instrument.radius = table.number("radius_mm", {0.01, 100.0}) * 1e-3;
  instrument.kind = read_kind(table);
  read_device(table, instrument.device, instrument.source);
  if (table.has("axis")) instrument.axis = read_axis(reading, table);
  instrument.limits = read_limits(table.table("limits"));
  static const std::set<std::string> scripts = {"explore", "press", "pull", "burn"};
  table.optional("script", instrument.script);
  if (!scripts.contains(instrument.script)) table.fail("script", "must be explore, press, pull or burn");
  if (instrument.device == "trajectory") instrument.trajectory = file_named(reading, table, "trajectory");
  if (instrument.tip == instrument.pivot)
    table.fail("tip_mm", "is the same point as pivot_mm, so the tool has no direction");
  table.refuse_unknown_keys();
  return instrument;
}

ScopeScene read_scope(TomlTable table) {
  ScopeScene scope;
  optional_mm(table, "eye_mm", scope.eye);
  optional_mm(table, "target_mm", scope.target);
  table.optional("field_of_view_deg", scope.field_of_view_deg, {20.0, 120.0});
  float angle = scope.angle_deg;
  table.optional("angle_deg", angle, {0.0, 30.0});
  if (angle != 0.f && angle != 30.f) table.fail("angle_deg", "must be 0 or 30");
  scope.angle_deg = angle;
  table.optional("spin_deg", scope.spin_deg, {-360.0, 360.0});
  optional_mm(table, "rod_mm", scope.rod, {10.0, 400.0});
  table.optional("barrel", scope.lens.barrel, {0.0, 0.3});
  table.optional("field", scope.lens.field, {0.2, 2.0});
  // The lens maps even points at infinity to within 1 / sqrt(barrel), so a wider field would show nothing there.
  if (scope.lens.barrel * scope.lens.field * scope.lens.field >= 1.0)
    table.fail("field", fmt::format("must be below {:.3g}, the edge of the picture of a lens with barrel = {:g}",
                                    1.0 / std::sqrt(scope.lens.barrel), scope.lens.barrel));
  read_device(table, scope.device, scope.source);
  scope.limits = read_limits(table.table("limits"));
  if (scope.eye == scope.target)
    table.fail("target_mm", "is the same point as eye_mm, so the scope has no viewing direction");
  table.refuse_unknown_keys();
  return scope;
}

QueryScene read_query(TomlTable table) {
  QueryScene query;
  std::string mode = "swept", cover = "capsule";
  table.optional("backend", query.backend);
  table.optional("mode", mode);
  table.optional("cover", cover);
  if (mode != "swept" && mode != "static") table.fail("mode", "must be swept or static");
  if (cover != "capsule" && cover != "paper") table.fail("cover", "must be capsule or paper");
  query.mode = mode == "static" ? ToolMode::Static : ToolMode::Swept;
  query.cover = cover == "paper" ? Cover::Paper : Cover::Capsule;
  table.refuse_unknown_keys();
  return query;
}

SolverScene read_solver(TomlTable table) {
  SolverScene solver;
  table.optional("threads", solver.threads, {1, 64});
  table.refuse_unknown_keys();
  return solver;
}

Breathing read_breathing(const Reading& reading, TomlTable table) {
  Breathing breathing;
  optional_mm(table, "amplitude_mm", breathing.amplitude, {0.0, 100.0});
  table.optional("rate_hz", breathing.rate, {0.0, 10.0});
  table.optional("direction", breathing.direction, reading.limits({-10.0, 10.0}));
  if (breathing.direction == glm::vec3(0.f)) table.fail("direction", "has length 0, so the diaphragm cannot move");
  table.refuse_unknown_keys();
  return breathing;
}

void refuse_unshowable_words(TomlTable& root, const TaskScene& task) {
  if (printable(task.title, kLongestTitle) != task.title)
    root.fail("task", fmt::format("its title must be at most {} printable characters on one line", kLongestTitle));
  std::string line = task.instructions;
  std::replace(line.begin(), line.end(), '\n', ' ');
  if (printable(line, kLongestInstructions) != line)
    root.fail("task", fmt::format("its instructions must be at most {} printable characters", kLongestInstructions));
}

template <typename Named>
void refuse_same_names(const TomlTable& root, std::string_view key, const std::vector<Named>& list) {
  std::set<std::string> seen;
  for (const auto& named : list) {
    if (!seen.insert(named.name).second)
      root.fail(key, fmt::format("two have the name '{}'; give each its own name", printable(named.name)));
  }
}

std::string read_text(const std::filesystem::path& file) {
  std::string text = read_whole_file(file, kSceneFile);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

}  // namespace

std::string_view name_of(ToolMode mode) { return mode == ToolMode::Static ? "static" : "swept"; }
std::string_view name_of(Cover cover) { return cover == Cover::Paper ? "paper" : "capsule"; }
std::string_view name_of(TouchSet set) { return set == TouchSet::Volume ? "volume" : "exact"; }

const char* name_of(InstrumentKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<InstrumentKind> instrument_kind(std::string_view name) {
  const auto found = std::find(std::begin(kKindNames), std::end(kKindNames), name);
  if (found == std::end(kKindNames)) return {};
  return static_cast<InstrumentKind>(found - std::begin(kKindNames));
}

const std::vector<std::string>& device_names() {
  static const std::vector<std::string> names = {"mouse",  "gamepad", "spacemouse", "igtl",
                                                 "haptic", "script",  "trajectory"};
  return names;
}

namespace {

Scene read_scene(std::string text, const Reading& reading) {
  const std::filesystem::path& file = reading.file;
  Scene scene;
  scene.file = file;
  scene.text = std::move(text);
  TomlTable root = TomlTable::parse(file, scene.text);
  root.optional("title", scene.title);
  if (!reading.recorded && printable(scene.title, kLongestTitle) != scene.title)
    root.fail("title", fmt::format("must be at most {} printable characters on one line", kLongestTitle));
  root.optional("frame_rate", scene.frame_rate, {10.0, 1000.0});
  for (TomlTable& table : root.tables("organ")) scene.organs.push_back(read_organ(reading, table));
  for (TomlTable& table : root.tables("instrument")) scene.instruments.push_back(read_instrument(reading, table));
  scene.scope = read_scope(root.table("scope"));
  scene.query = read_query(root.table("query"));
  scene.solver = read_solver(root.table("solver"));
  scene.breathing = read_breathing(reading, root.table("breathing"));
  scene.task = read_task(root, scene.organs, scene.instruments);
  if (scene.task && !reading.recorded) refuse_unshowable_words(root, *scene.task);
  root.refuse_unknown_keys();
  if (scene.organs.empty()) root.fail("organ", "is missing; a scene needs at least one [[organ]]");
  if (scene.instruments.empty()) root.fail("instrument", "is missing; a scene needs at least one [[instrument]]");
  refuse_same_names(root, "organ", scene.organs);
  refuse_same_names(root, "instrument", scene.instruments);
  return scene;
}

}  // namespace

Scene load_scene(const std::filesystem::path& file) { return load_scene(file, SceneAccess{}); }

Scene load_scene(const std::filesystem::path& file, const SceneAccess& access) {
  Scene scene = parse_scene(read_text(file), file);
  refuse_outside_files(scene, access);
  return scene;
}

Scene parse_scene(std::string text, const std::filesystem::path& file) {
  return read_scene(std::move(text), {file, false});
}

Scene parse_recorded_scene(std::string text, const std::filesystem::path& file) {
  return read_scene(std::move(text), {file, true});
}

}  // namespace trocar
