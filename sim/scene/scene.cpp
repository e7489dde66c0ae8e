#include "sim/scene/scene.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/diathermy_mode.hpp"
#include "sim/scene/key_reader.hpp"
#include "sim/scene/material.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_writer.hpp"
#include "sim/support/byte_text.hpp"
#include "sim/support/names.hpp"

namespace trocar {
namespace {

constexpr FileKind kSceneFile{"scene", std::uint64_t{1} << 20};
constexpr std::size_t kLongestTitle = 200, kLongestInstructions = 4000;  // characters
constexpr double kShortestAxis = 1e-6;

// Indexed by InstrumentKind.
constexpr const char* kKindNames[] = {"probe", "grasper", "hook", "scissors", "clip-applier", "suction"};

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

std::string read_name(const SceneOrigin& origin, TomlTable& table, std::string_view key) {
  const std::string name = table.text(key);
  if (const std::string fault = name_fault(name); !fault.empty() && !origin.recorded) table.fail(key, fault);
  return name;
}

std::filesystem::path read_file_name(const SceneOrigin& origin, TomlTable& table, std::string_view key) {
  const std::string name = table.text(key);
  if (!origin.recorded && (name.empty() || name.find('\0') != name.npos)) table.fail(key, "must name a file");
  const std::string given = bytes_of_text(name);
  return origin.recorded ? origin.file.parent_path() / given : file_of_scene(origin.file, given);
}

std::size_t read_choice(TomlTable& table, std::string_view key, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), table.text(key));
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  if (names.size() > 4) table.fail(key, fmt::format("must be one of {}", fmt::join(names, ", ")));
  table.fail(key, fmt::format("must be {} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back()));
}

// Schema 2 adds the key itself; the other keys of a scene of schema 1 have the same meaning in schema 2.
void read_schema(TomlTable& table, std::string_view key) {
  if (!table.find(key)) return;
  const double schema = table.number(key, {1.0, 1e6});
  if (schema != std::floor(schema)) table.fail(key, "must be a whole number");
  if (schema > kSceneSchema)
    table.fail(key, fmt::format("is {}, but this version reads schemas up to {}; use a later version of Trocar", schema,
                                kSceneSchema));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const JointLimits& limits) {
  if (limits.shallowest >= limits.deepest) table.fail("deepest_mm", "must be more than shallowest_mm");
}

template <>
void check(const SceneOrigin&, TomlTable& table, const ContactParams& contact) {
  if (contact.candidate_reach < contact.reach) table.fail("candidate_reach_mm", "must be at least reach_mm");
  if (contact.most_substeps < contact.least_substeps) table.fail("most_substeps", "must be at least least_substeps");
}

template <>
void check(const SceneOrigin&, TomlTable& table, const GraspParams& grasp) {
  if (grasp.open_above <= grasp.close_below) table.fail("open_above", "must be more than close_below");
}

template <>
void check(const SceneOrigin&, TomlTable& table, const BladeParams& blades) {
  if (blades.open <= blades.meet) table.fail("open", "must be more than meet");
}

template <>
void check(const SceneOrigin&, TomlTable& table, const ClipParams& clip) {
  if (clip.loads <= clip.closes) table.fail("loads", "must be more than closes");
}

template <>
void check(const SceneOrigin&, TomlTable& table, const ContactModelParams& haptic) {
  if (haptic.greatest_stiffness < haptic.least_stiffness)
    table.fail("greatest_stiffness", "must be at least least_stiffness");
  if (haptic.longest_interval <= haptic.shortest_interval)
    table.fail("longest_interval_s", "must be more than shortest_interval_s");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const InstrumentScene& instrument) {
  const double length = glm::length(instrument.axis);
  if (length > 0.0 && length < kShortestAxis && !origin.recorded)
    table.fail("axis", "is too short for a direction; write a unit vector, as in [0, 0, -1]");
  if (instrument.kind == InstrumentKind::ClipApplier && instrument.clip.length > kApplierJaws * instrument.radius)
    table.fail("clip", fmt::format("length_mm = {:g} is more than the jaws, which are {:g} mm long with this radius_mm",
                                   1e3 * instrument.clip.length, 1e3 * kApplierJaws * instrument.radius));
  if (instrument.tip == instrument.pivot)
    table.fail("tip_mm", "is the same point as pivot_mm, so the tool has no direction");
}

template <>
void check(const SceneOrigin&, TomlTable& table, const ScopeScene& scope) {
  if (scope.angle_deg != 0.f && scope.angle_deg != 30.f) table.fail("angle_deg", "must be 0 or 30");
  // The lens maps even points at infinity to within 1 / sqrt(barrel), so a wider field would show nothing there.
  if (scope.lens.barrel * scope.lens.field * scope.lens.field >= 1.0)
    table.fail("field", fmt::format("must be below {:.3g}, the edge of the picture of a lens with barrel = {:g}",
                                    1.0 / std::sqrt(scope.lens.barrel), scope.lens.barrel));
  if (scope.eye == scope.target)
    table.fail("target_mm", "is the same point as eye_mm, so the scope has no viewing direction");
}

template <>
void check(const SceneOrigin&, TomlTable& table, const Breathing& breathing) {
  if (breathing.direction == glm::vec3(0.f)) table.fail("direction", "has length 0, so the diaphragm cannot move");
}

template <>
void check(const SceneOrigin& origin, TomlTable& root, const Scene& scene) {
  if (!origin.recorded && printable(scene.title, kLongestTitle) != scene.title)
    root.fail("title", fmt::format("must be at most {} printable characters on one line", kLongestTitle));
  if (scene.task && !origin.recorded) refuse_unshowable_words(root, *scene.task);
  root.refuse_unknown_keys();
  if (scene.organs.empty()) root.fail("organ", "is missing; a scene needs at least one [[organ]]");
  if (scene.instruments.empty()) root.fail("instrument", "is missing; a scene needs at least one [[instrument]]");
  if (scene.task && scene.organs.size() > kMostTaskOrgans)
    root.fail("organ",
              fmt::format("a scene with a [task] has at most {} organs, so that the task can tell which one an "
                          "instrument burns; this one has {}: join some into one mesh",
                          kMostTaskOrgans, scene.organs.size()));
  refuse_same_names(root, "organ", scene.organs);
  refuse_same_names(root, "instrument", scene.instruments);
  refuse_same_names(root, "layer", scene.layers);
  refuse_same_names(root, "band", scene.bands);
}

namespace {

// A recording holds the text of its scene alone, so the text gets the values of the materials.
void apply_materials(Scene& scene) {
  bool any = false;
  for (OrganScene& organ : scene.organs) {
    if (organ.material.empty()) continue;
    load_material(organ.material, organ.tissue);
    organ.material.clear();
    any = true;
  }
  if (any) scene.text = scene_text(scene, scene.file);
}

Scene read_scene(std::string text, const std::filesystem::path& file, bool recorded) {
  Scene scene;
  scene.file = file;
  scene.text = std::move(text);
  TomlTable root = TomlTable::parse(file, scene.text);
  read_keys({file, recorded, &scene}, root, scene);
  return scene;
}

}  // namespace

Scene load_scene(const std::filesystem::path& file) { return load_scene(file, SceneAccess{}); }

Scene load_scene(const std::filesystem::path& file, const SceneAccess& access) {
  Scene scene = parse_scene(read_text(file), file);
  refuse_outside_files(scene, access);
  apply_materials(scene);
  return scene;
}

Scene parse_scene(std::string text, const std::filesystem::path& file) {
  return read_scene(std::move(text), file, false);
}

Scene parse_recorded_scene(std::string text, const std::filesystem::path& file) {
  return read_scene(std::move(text), file, true);
}

}  // namespace trocar
