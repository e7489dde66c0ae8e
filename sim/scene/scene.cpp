#include "sim/scene/scene.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>
#include <thread>

#include "geometry/error.hpp"
#include "geometry/planar/polygon.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/material.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_keys.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/text.hpp"

namespace trocar {

// Reads one table of a scene file into its struct, by the declarations of scene_keys.hpp.

struct SceneOrigin {
  std::filesystem::path file;
  const Scene* scene = nullptr;  // the scene that is being read: a task names its organs and instruments
};

// Throws InputError when the text is not a valid name.
std::string read_name(TomlTable& table, std::string_view key);
// Returns the path of a file that the scene names, relative to the scene's folder.
std::filesystem::path read_file_name(const SceneOrigin& origin, TomlTable& table, std::string_view key);
// Returns the index of the text of `key` in `names`. Throws InputError that lists the names when there is none.
std::size_t read_choice(TomlTable& table, std::string_view key, const std::vector<std::string>& names);

template <typename Named>
bool has_name(const std::vector<Named>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const Named& named) { return named.name == name; });
}
// Returns the names in the list, separated by commas.
template <typename Named>
std::string names_of(const std::vector<Named>& list) {
  std::string names;
  for (const Named& named : list) names += (names.empty() ? "" : ", ") + named.name;
  return names;
}
// Throws InputError that lists the scene's organs when it has none of this name.
void refuse_unknown_organ(const SceneOrigin& origin, TomlTable& table, std::string_view key, const std::string& organ);

// Throws InputError unless a scene has the present schema.
void read_schema(TomlTable& table, std::string_view key);

// Checks what the limits of single keys do not express, once all keys of the table are read. Throws InputError for the
// first fault.
template <typename Struct>
void check(const SceneOrigin&, TomlTable&, const Struct&) {}
template <>
void check(const SceneOrigin&, TomlTable&, const LayerScene&);
template <>
void check(const SceneOrigin&, TomlTable&, const BandScene&);
template <>
void check(const SceneOrigin&, TomlTable&, const TubeShape&);
template <>
void check(const SceneOrigin&, TomlTable&, const FatShape&);
template <>
void check(const SceneOrigin&, TomlTable&, const RigidShape&);
template <>
void check(const SceneOrigin&, TomlTable&, const OrganScene&);
template <>
void check(const SceneOrigin&, TomlTable&, const AnatomyScene&);
template <>
void check(const SceneOrigin&, TomlTable&, const JointLimits&);
template <>
void check(const SceneOrigin&, TomlTable&, const ContactParams&);
template <>
void check(const SceneOrigin&, TomlTable&, const GraspParams&);
template <>
void check(const SceneOrigin&, TomlTable&, const BladeParams&);
template <>
void check(const SceneOrigin&, TomlTable&, const ContactModelParams&);
template <>
void check(const SceneOrigin&, TomlTable&, const InstrumentScene&);
template <>
void check(const SceneOrigin&, TomlTable&, const ScopeScene&);
template <>
void check(const SceneOrigin&, TomlTable&, const Breathing&);
template <>
void check(const SceneOrigin&, TomlTable&, const Scene&);
template <>
void check(const SceneOrigin&, TomlTable&, const TaskTarget&);
template <>
void check(const SceneOrigin&, TomlTable&, const TaskZone&);
template <>
void check(const SceneOrigin&, TomlTable&, const StepTissue&);
template <>
void check(const SceneOrigin&, TomlTable&, const StepSide&);
template <>
void check(const SceneOrigin&, TomlTable&, const StepGone&);
template <>
void check(const SceneOrigin&, TomlTable&, const StepPull&);
template <>
void check(const SceneOrigin&, TomlTable&, const TaskStep&);
template <>
void check(const SceneOrigin&, TomlTable&, const TaskLimit&);
template <>
void check(const SceneOrigin&, TomlTable&, const TaskLevel&);
template <>
void check(const SceneOrigin&, TomlTable&, const TaskScene&);

template <typename Struct>
class KeyReader {
 public:
  KeyReader(const SceneOrigin& origin, TomlTable& table, Struct& object)
      : origin_(origin), table_(table), object_(object) {}

  void schema(const SceneKey& key) { read_schema(table_, key.name); }
  template <typename Number>
  void number(const SceneKey& key, Number Struct::*member, Limits limits) {
    if (!present(key)) return;
    const double value = table_.number(key.name, limits);
    if (std::is_integral_v<Number> && value != std::floor(value)) table_.fail(key.name, "must be a whole number");
    object_.*member = static_cast<Number>(value);
  }
  template <typename Number>
  void scaled(const SceneKey& key, Number Struct::*member, Limits limits) {
    if (present(key)) object_.*member = static_cast<Number>(table_.number(key.name, limits) * 1e-3);
  }
  // A value that is absent stays absent.
  template <typename Number>
  void number(const SceneKey& key, std::optional<Number> Struct::*member, Limits limits) {
    if (present(key)) object_.*member = static_cast<Number>(table_.number(key.name, limits));
  }
  template <typename Number>
  void scaled(const SceneKey& key, std::optional<Number> Struct::*member, Limits limits) {
    if (present(key)) object_.*member = static_cast<Number>(table_.number(key.name, limits) * 1e-3);
  }
  template <typename Vector>
  void position(const SceneKey& key, std::optional<Vector> Struct::*member) {
    const Limits limits{-kFarthestPosition * 1e3, kFarthestPosition * 1e3};
    if (present(key)) object_.*member = Vector(table_.vector(key.name, limits) * 1e-3);
  }
  template <typename Vector>
  void vector(const SceneKey& key, Vector Struct::*member, Limits limits) {
    if (present(key)) object_.*member = Vector(table_.vector(key.name, limits));
  }
  template <typename Vector>
  void position(const SceneKey& key, Vector Struct::*member) {
    const Limits limits{-kFarthestPosition * 1e3, kFarthestPosition * 1e3};
    if (present(key)) object_.*member = Vector(table_.vector(key.name, limits) * 1e-3);
  }
  void far_position(const SceneKey& key, glm::vec3 Struct::*member, double farthest) {
    if (!present(key)) return;
    const glm::dvec3 metres = table_.vector(key.name) * 1e-3;
    if (!(glm::length(metres) <= farthest))
      table_.fail(key.name, "is more than 1000 m from the origin; check the unit");
    object_.*member = glm::vec3(metres);
  }
  void text(const SceneKey& key, std::string Struct::*member) {
    if (present(key)) object_.*member = table_.text(key.name);
  }
  void unique_name(const SceneKey& key, std::string Struct::*member) { object_.*member = read_name(table_, key.name); }
  void flag(const SceneKey& key, bool Struct::*member) { table_.optional(key.name, object_.*member); }
  template <typename Value, typename Values>
  void choice(const SceneKey& key, Value Struct::*member, const Values& values) {
    if (!present(key)) return;
    std::vector<std::string> names;
    for (const Value& value : values) names.emplace_back(name_of(value));
    object_.*member = values[read_choice(table_, key.name, names)];
  }
  void file(const SceneKey& key, std::filesystem::path Struct::*member) {
    object_.*member = read_file_name(origin_, table_, key.name);
  }
  template <typename Condition>
  void file(const SceneKey& key, std::filesystem::path Struct::*member, Condition condition) {
    if (condition(object_)) file(key, member);
  }
  void optional_file(const SceneKey& key, std::filesystem::path Struct::*member) {
    if (present(key)) file(key, member);
  }
  void outline(const SceneKey& key, std::vector<glm::dvec2> Struct::*member) {
    object_.*member = table_.points(key.name);
  }
  void optional_path(const SceneKey& key, std::vector<glm::dvec3> Struct::*member) {
    if (present(key)) path(key, member);
  }
  void path(const SceneKey& key, std::vector<glm::dvec3> Struct::*member) {
    object_.*member = table_.path(key.name, {-kFarthestPosition * 1e3, kFarthestPosition * 1e3});
    for (glm::dvec3& point : object_.*member) point *= 1e-3;
  }
  template <typename Part>
  void part(Part Struct::*member) {
    KeyReader<Part> keys(origin_, table_, object_.*member);
    declare(keys, std::type_identity<Part>());
  }
  template <typename Part>
  void table(const char* name, Part Struct::*member);
  template <typename Part>
  void table(const char* name, std::optional<Part> Struct::*member);
  template <typename Part>
  void list(const char* name, std::vector<Part> Struct::*member);

 private:
  bool present(const SceneKey& key) { return table_.find(key.name) || key.need == Need::Required; }

  const SceneOrigin& origin_;
  TomlTable& table_;
  Struct& object_;
};

// Reads all keys of the table into `object` and refuses any other key.
template <typename Struct>
void read_keys(const SceneOrigin& origin, TomlTable& table, Struct& object) {
  KeyReader<Struct> keys(origin, table, object);
  declare(keys, std::type_identity<Struct>());
  check(origin, table, object);
  table.refuse_unknown_keys();
}

template <typename Struct>
template <typename Part>
void KeyReader<Struct>::table(const char* name, Part Struct::*member) {
  TomlTable table = table_.table(name);
  read_keys(origin_, table, object_.*member);
}

template <typename Struct>
template <typename Part>
void KeyReader<Struct>::table(const char* name, std::optional<Part> Struct::*member) {
  if (table_.find(name)) {
    TomlTable table = table_.table(name);
    read_keys(origin_, table, (object_.*member).emplace());
  }
}

template <typename Struct>
template <typename Part>
void KeyReader<Struct>::list(const char* name, std::vector<Part> Struct::*member) {
  for (TomlTable& table : table_.tables(name)) read_keys(origin_, table, (object_.*member).emplace_back());
}

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

std::string_view name_of(TissueLook look) {
  constexpr std::array<std::string_view, kTissueLooks.size()> kNames{"serosa", "liver",  "gallbladder", "peritoneum",
                                                                     "fat",    "artery", "vein",        "duct"};
  return kNames[static_cast<std::size_t>(look)];
}
std::string_view name_of(BackdropShape shape) {
  constexpr std::array<std::string_view, kBackdropShapes.size()> kNames{"colon", "omentum", "lesser-omentum",
                                                                        "retroperitoneum", "diaphragm"};
  return kNames[static_cast<std::size_t>(shape)];
}
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

std::string read_name(TomlTable& table, std::string_view key) {
  const std::string name = table.text(key);
  if (const std::string fault = name_fault(name); !fault.empty()) table.fail(key, fault);
  return name;
}

std::filesystem::path read_file_name(const SceneOrigin& origin, TomlTable& table, std::string_view key) {
  const std::string name = table.text(key);
  if (name.empty() || name.find('\0') != name.npos) table.fail(key, "must name a file");
  return file_of_scene(origin.file, bytes_of_text(name));
}

std::size_t read_choice(TomlTable& table, std::string_view key, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), table.text(key));
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  if (names.size() > 4) table.fail(key, fmt::format("must be one of {}", fmt::join(names, ", ")));
  table.fail(key, fmt::format("must be {} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back()));
}

void read_schema(TomlTable& table, std::string_view key) {
  const double schema = table.find(key) ? table.number(key, {1.0, 1e6}) : 1.0;
  if (schema < kSceneSchema)
    table.fail(key,
               fmt::format("must be {0}: scenes of schema 1 are no longer read, but their keys mean the same; write "
                           "schema = {0} in the first line",
                           kSceneSchema));
  if (schema > kSceneSchema)
    table.fail(key, fmt::format("is {}, but this version reads schema {}; use a later version of Trocar", schema,
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
void check(const SceneOrigin&, TomlTable& table, const InstrumentScene& instrument) {
  const double length = glm::length(instrument.axis);
  if (length > 0.0 && length < kShortestAxis)
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
void check(const SceneOrigin&, TomlTable& root, const Scene& scene) {
  if (printable(scene.title, kLongestTitle) != scene.title)
    root.fail("title", fmt::format("must be at most {} printable characters on one line", kLongestTitle));
  if (scene.task) refuse_unshowable_words(root, *scene.task);
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

}  // namespace

Scene load_scene(const std::filesystem::path& file) { return load_scene(file, SceneAccess{}); }

Scene load_scene(const std::filesystem::path& file, const SceneAccess& access) {
  Scene scene = parse_scene(read_text(file), file);
  refuse_outside_files(scene, access);
  apply_materials(scene);
  return scene;
}

Scene parse_scene(std::string text, const std::filesystem::path& file) {
  Scene scene;
  scene.file = file;
  scene.text = std::move(text);
  TomlTable root = TomlTable::parse(file, scene.text);
  read_keys({file, &scene}, root, scene);
  return scene;
}

// Checks the organs and the connective tissue of a scene beyond the limits of single keys.

void refuse_unknown_organ(const SceneOrigin& origin, TomlTable& table, std::string_view key, const std::string& organ) {
  if (!has_name(origin.scene->organs, organ))
    table.fail(key,
               fmt::format("the scene has no organ '{}'; it has {}", printable(organ), names_of(origin.scene->organs)));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const TubeShape& tube) {
  if (const std::string fault = tube_fault(tube); !fault.empty())
    table.fail("path_mm", fmt::format("makes no tube: {}", fault));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const FatShape& fat) {
  if (const std::string fault = fat_fault(fat); !fault.empty())
    table.fail("from_mm", fmt::format("makes no fat: {}", fault));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const RigidShape& rigid) {
  if (const std::string fault = rigid_fault(rigid); !fault.empty())
    table.fail("form", fmt::format("makes no rigid body: {}", fault));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const SheetShape& sheet) {
  if (const std::string fault = sheet.corners.empty() ? "" : sheet_fault(sheet); !fault.empty())
    table.fail("corners_mm", fmt::format("makes no sheet: {}", fault));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const OrganScene& organ) {
  if (organ.tube && organ.sheet) table.fail("sheet", "is of no use beside [organ.tube]; remove one of them");
  for (const char* key : {"mesh", "part", "mm_per_unit", "axes", "rotate_deg"})
    if (organ.sheet && !has_mesh_file(organ) && table.find(key))
      table.fail(key, "is of no use beside the corners of [organ.sheet]; remove one of them");
  for (const char* key : {"blood", "bile", "vessel"})
    if (organ.sheet && table.has(key)) table.fail(key, "is not for an organ with [organ.sheet]; remove it");
  if (organ.sheet && organ.tissue.law != TissueLaw::Springs)
    table.table("tissue").fail("law", "has no effect on an organ with [organ.sheet]; remove it");
  for (const char* key : {"mesh", "part", "mm_per_unit", "axes", "rotate_deg"})
    if (organ.tube && table.find(key)) table.fail(key, "is of no use beside [organ.tube]; remove one of them");
  for (const char* key : {"mesh", "part", "mm_per_unit", "axes", "rotate_deg", "tube", "sheet", "vessel"})
    if (organ.fat && table.has(key)) table.fail(key, "is of no use beside [organ.fat]; remove one of them");
  for (const char* key :
       {"mesh", "part", "mm_per_unit", "axes", "rotate_deg", "offset_mm", "tube", "sheet", "fat", "vessel", "blood",
        "bile", "material", "tissue", "contact", "cut", "attachment", "only_joined"})
    if (organ.rigid && table.has(key)) table.fail(key, "is of no use beside [organ.rigid]; remove it");
  for (const char* key : {"law", "youngs_modulus", "poisson_ratio", "stiffening", "late_stiffening"})
    if (!organ.material.empty() && table.table("tissue").has(key))
      table.fail("material", fmt::format("sets {}, which [organ.tissue] sets too; remove one of them", key));
  if (organ.vessel && !organ.tube)
    table.fail("vessel", "needs an [organ.tube]; an organ with a mesh bleeds with [organ.blood]");
  if (organ.vessel && !organ.vessel->opened && table.table("vessel").has("pooled_ml"))
    table.table("vessel").fail("pooled_ml", "is of no use without opened_mm; add it or remove this key");
  if (organ.blood && organ.tube) table.fail("blood", "is for an organ with a mesh; a tube bleeds with [organ.vessel]");
  if (organ.bile && organ.tube) table.fail("bile", "is for an organ with a mesh; tissue fills a tube");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const LayerScene& layer) {
  refuse_unknown_organ(origin, table, "organ", layer.organ);
  refuse_unknown_organ(origin, table, "to", layer.to);
  if (layer.organ == layer.to) table.fail("to", "is the same organ as `organ`; a layer joins two organs");
  for (const std::string& name : {layer.organ, layer.to})
    if (std::ranges::find(origin.scene->organs, name, &OrganScene::name)->rigid)
      table.fail(name == layer.to ? "to" : "organ",
                 fmt::format("is the rigid body {}; connective tissue joins soft organs", printable(name)));
  if (std::ranges::find(origin.scene->organs, layer.to, &OrganScene::name)->sheet)
    table.fail("to", fmt::format("is a sheet; name {} as `organ` and the other organ as `to`", printable(layer.to)));
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const BandScene& band) {
  refuse_unknown_organ(origin, table, "organ", band.organ);
  if (!band.to.empty()) refuse_unknown_organ(origin, table, "to", band.to);
  for (const std::string& name : {band.organ, band.to})
    if (const auto organ = std::ranges::find(origin.scene->organs, name, &OrganScene::name);
        organ != origin.scene->organs.end() && organ->rigid)
      table.fail(name == band.to ? "to" : "organ",
                 fmt::format("is the rigid body {}; connective tissue joins soft organs", printable(name)));
  if (band.organ == band.to) table.fail("to", "is the same organ as `organ`; a band joins two organs");
  if (band.params.from_start == band.params.to_start || band.params.from_end == band.params.to_end)
    table.fail("to_start_mm",
               "and to_end_mm must differ from from_start_mm and from_end_mm, or strands have no length");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const AnatomyScene& anatomy) {
  for (const auto& [key, name] :
       {std::pair{"duct", &anatomy.duct}, {"artery", &anatomy.artery}, {"main_duct", &anatomy.main_duct}}) {
    refuse_unknown_organ(origin, table, key, *name);
    const auto organ = std::ranges::find(origin.scene->organs, *name, &OrganScene::name);
    if (!organ->tube)
      table.fail(key, fmt::format("must be a duct or vessel, but {} has no [organ.tube]", printable(*name)));
  }
  if (anatomy.duct == anatomy.artery || anatomy.duct == anatomy.main_duct || anatomy.artery == anatomy.main_duct)
    table.fail("duct", "artery and main_duct must be three different organs");
  if (!anatomy.node.empty()) {
    refuse_unknown_organ(origin, table, "node", anatomy.node);
    if (!has_mesh_file(*std::ranges::find(origin.scene->organs, anatomy.node, &OrganScene::name)))
      table.fail("node", fmt::format("must be an organ with a mesh, but {} has none", printable(anatomy.node)));
  }
  if (anatomy.adhesion_from.size() != anatomy.adhesion_to.size() || anatomy.adhesion_from.size() == 1)
    table.fail("adhesion_to_mm", "must have as many points as adhesion_from_mm, at least two");
  if (!anatomy.adhesion_from.empty() &&
      std::ranges::none_of(origin.scene->organs, [](const OrganScene& organ) { return organ.fat.has_value(); }))
    table.fail("adhesion_from_mm", "needs an organ with [organ.fat], of whose tissue the adhesion is");
  if (anatomy.second_artery.size() == 1) table.fail("second_artery_mm", "must have two points or more");
  if (!has_name(origin.scene->layers, anatomy.bed))
    table.fail("bed", fmt::format("the scene has no layer '{}'; it has {}", printable(anatomy.bed),
                                  names_of(origin.scene->layers)));
}

namespace {

void check_instrument(TomlTable& table, const std::vector<InstrumentScene>& instruments, const TaskScene& task) {
  if (task.instrument.empty() && task.kind == TaskKind::LiftOrgan)
    table.fail("instrument", "is missing; name a grasper");
  if (task.instrument.empty() && task.kind == TaskKind::BurnLine) table.fail("instrument", "is missing; name a hook");
  if (task.instrument.empty() && task.kind == TaskKind::PegTransfer)
    table.fail("instrument", "is missing; name the grasper that lifts the rings first");
  if (task.instrument.empty()) return;
  if (task.kind == TaskKind::NavigateCamera)
    table.fail("instrument", "must be absent for navigate-camera, which uses the scope");
  const auto named = [&](const InstrumentScene& instrument) { return instrument.name == task.instrument; };
  const auto found = std::find_if(instruments.begin(), instruments.end(), named);
  if (found == instruments.end())
    table.fail("instrument", fmt::format("the scene has no instrument '{}'; it has {}", printable(task.instrument),
                                         names_of(instruments)));
  if (task.kind == TaskKind::LiftOrgan && found->kind != InstrumentKind::Grasper)
    table.fail("instrument", "must be a grasper to lift an organ");
  if (task.kind == TaskKind::PegTransfer &&
      (found->kind != InstrumentKind::Grasper ||
       std::ranges::count(instruments, InstrumentKind::Grasper, &InstrumentScene::kind) < 2))
    table.fail("instrument", "must be one of two graspers, which hand the rings over");
  if (task.kind == TaskKind::BurnLine && found->kind != InstrumentKind::Hook)
    table.fail("instrument", "must be a hook to burn");
}

void refuse_targets_without_tube(TomlTable& table, const std::vector<OrganScene>& organs, const TaskScene& task) {
  for (const TaskTarget& target : task.locations) {
    const auto organ = std::ranges::find(organs, target.organ, &OrganScene::name);
    if (organ != organs.end() && !organ->tube)
      table.fail("place", fmt::format("{} needs a duct or vessel, but {} has no [organ.tube]", name_of(task.kind),
                                      printable(target.organ)));
    if (std::ranges::count(task.locations, target.organ, &TaskTarget::organ) > 1)
      table.fail("place", fmt::format("{} divides {} only once; remove one [[task.place]]", name_of(task.kind),
                                      printable(target.organ)));
  }
}

void refuse_missing_kinds(TomlTable& table, const std::vector<InstrumentScene>& instruments, const TaskScene& task) {
  const auto require = [&](InstrumentKind kind) {
    if (std::ranges::count(instruments, kind, &InstrumentScene::kind) == 0)
      table.fail("kind", fmt::format("{} needs an instrument of the kind {}", name_of(task.kind), name_of(kind)));
  };
  for (const StepKind kind : {StepKind::Dissect, StepKind::Clear})
    if (std::ranges::count(task.steps, kind, &TaskStep::kind) > 0) require(InstrumentKind::Hook);
  if (std::ranges::count(task.steps, StepKind::StopBleeding, &TaskStep::kind) > 0) require(InstrumentKind::ClipApplier);
  if (std::ranges::count(task.steps, StepKind::Suck, &TaskStep::kind) > 0) require(InstrumentKind::Suction);
  if (!divides_ducts(task)) return;
  if (task.rules.clips_staying > 0.0) require(InstrumentKind::ClipApplier);
  require(InstrumentKind::Scissors);
}

void check_steps(TomlTable& table, const TaskScene& task) {
  const bool operation = task.kind == TaskKind::Operation;
  if (operation && task.steps.empty()) table.fail("step", "is missing; an operation needs at least one [[task.step]]");
  if (!operation && !task.steps.empty()) table.fail("step", "must be absent; only an operation has steps");
  const bool clips = task.kind == TaskKind::ClipAndCut;
  if (!operation && !clips && !task.limits.empty())
    table.fail("limit", "must be absent; only an operation and clip-and-cut have limits");
  for (const TaskLimit& limit : task.limits)
    if (clips && (limit.deepest_burn > 0.0 || limit.no_diathermy || limit.most_bile_ml > 0.0))
      table.fail("limit", "has only most_blood_ml in clip-and-cut; the other limits are those of an operation");
  if (operation && !divides_ducts(task) && !task.locations.empty())
    table.fail("place", "must be absent; an operation has targets only for a step of the kind divide");
  for (const StepKind kind : {StepKind::Divide, StepKind::Remove, StepKind::Suck})
    if (std::ranges::count(task.steps, kind, &TaskStep::kind) > 1)
      table.fail("step", fmt::format("an operation has at most one step of the kind {}", name_of(kind)));
}

void refuse_missing_pegs(TomlTable& table, const std::vector<OrganScene>& organs, const TaskScene& task) {
  const auto has_pegs = [](const OrganScene& organ) { return organ.rigid && !organ.rigid->pegs.empty(); };
  if (std::ranges::none_of(organs, has_pegs))
    table.fail("kind", "peg-transfer needs an organ with [organ.rigid] of the form board with pegs_mm");
  for (const TaskTarget& target : task.locations) {
    const auto organ = std::ranges::find(organs, target.organ, &OrganScene::name);
    if (organ != organs.end() && !(organ->rigid && organ->rigid->form == RigidForm::Ring && !organ->rigid->fixed))
      table.fail("place", fmt::format("peg-transfer moves rings, but {} is not an [organ.rigid] of the form ring",
                                      printable(target.organ)));
    if (std::ranges::count(task.locations, target.organ, &TaskTarget::organ) > 1)
      table.fail("place",
                 fmt::format("peg-transfer moves {} once; remove one [[task.place]]", printable(target.organ)));
  }
}

void refuse_wrong_targets(TomlTable& table, const std::vector<OrganScene>& organs, const TaskScene& task) {
  const bool along = task.kind == TaskKind::FollowCurve || task.kind == TaskKind::BurnLine;
  if (divides_ducts(task)) refuse_targets_without_tube(table, organs, task);
  if (task.locations.empty() && (task.kind != TaskKind::Operation || divides_ducts(task)))
    table.fail("place", "is missing; a task needs at least one [[task.place]]");
  if (along && task.locations.size() < 2) table.fail("place", "a line needs at least two [[task.place]]");
  if (task.kind == TaskKind::LiftOrgan && task.locations.size() > 1)
    table.fail("place", "lift-organ takes one [[task.place]], the point to grasp");
  for (const TaskTarget& target : task.locations)
    if (along && target.organ != task.locations.front().organ)
      table.fail("place", fmt::format("a line must lie on one organ, but this one lies on {} and {}",
                                      task.locations.front().organ, target.organ));
  if (task.kind == TaskKind::PegTransfer) refuse_missing_pegs(table, organs, task);
  if (task.kind == TaskKind::KeepOut && task.zones.empty())
    table.fail("zone", "is missing; keep-out needs at least one [[task.zone]]");
}

}  // namespace

const std::vector<std::string>& task_kind_names() {
  static const std::vector<std::string> names = {"touch-targets", "navigate-camera", "follow-curve",
                                                 "lift-organ",    "burn-line",       "keep-out",
                                                 "clip-and-cut",  "operation",       "peg-transfer"};
  return names;
}

std::string_view name_of(StepKind kind) {
  constexpr std::array<std::string_view, 7> kNames{"retract", "dissect",       "divide", "remove",
                                                   "clear",   "stop-bleeding", "suck"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(TubeSide side) { return side == TubeSide::Start ? "start" : "end"; }

bool divides_ducts(const TaskScene& task) {
  return task.kind == TaskKind::ClipAndCut ||
         (task.kind == TaskKind::Operation && std::ranges::count(task.steps, StepKind::Divide, &TaskStep::kind) > 0);
}

std::string_view name_of(TaskKind kind) { return task_kind_names()[static_cast<std::size_t>(kind)]; }

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskTarget& target) {
  refuse_unknown_organ(origin, table, "organ", target.organ);
}

template <>
void check(const SceneOrigin&, TomlTable& table, const TaskZone& zone) {
  if (const std::string fault = planar::simple_fault(zone.outline); !fault.empty())
    table.fail("outline", fmt::format("is not a simple polygon: {}", fault));
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const StepTissue& tissue) {
  if (has_name(origin.scene->layers, tissue.name) || has_name(origin.scene->bands, tissue.name)) return;
  const std::string layers = names_of(origin.scene->layers), bands = names_of(origin.scene->bands);
  table.fail("name", fmt::format("the scene has no layer or band '{}'; it has {}{}{}", printable(tissue.name), layers,
                                 layers.empty() || bands.empty() ? "" : ", ", bands));
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const StepSide& side) {
  refuse_unknown_organ(origin, table, "organ", side.organ);
  if (side.start == side.end) table.fail("end_mm", "must differ from start_mm; a side of a window has a length");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const StepGone& gone) {
  refuse_unknown_organ(origin, table, "organ", gone.organ);
  if (gone.opened && gone.may_stay) table.fail("may_stay", "must be absent beside opened = true; remove one of them");
}

void refuse_no_grasper(const SceneOrigin& origin, TomlTable& table, const std::string& name) {
  const auto grasper = std::ranges::find(origin.scene->instruments, name, &InstrumentScene::name);
  if (!name.empty() && (grasper == origin.scene->instruments.end() || grasper->kind != InstrumentKind::Grasper))
    table.fail("instrument", "must name a grasper of the scene");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const StepPull& pull) {
  refuse_no_grasper(origin, table, pull.instrument);
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskStep& step) {
  const bool moves = step.kind == StepKind::Retract || step.kind == StepKind::Remove;
  if (moves && step.organ.empty()) table.fail("organ", "is missing; name the organ that is moved");
  if (step.kind == StepKind::StopBleeding) {
    if (step.organ.empty()) table.fail("organ", "is missing; name the vessel that bleeds");
    refuse_unknown_organ(origin, table, "organ", step.organ);
    const auto organ = std::ranges::find(origin.scene->organs, step.organ, &OrganScene::name);
    if (!organ->vessel || !organ->vessel->opened)
      table.fail("organ",
                 fmt::format("{} does not bleed; give it opened_mm in an [organ.vessel]", printable(step.organ)));
  } else if (!moves && !step.organ.empty()) {
    table.fail("organ", "must be absent; only retract and remove move an organ, and stop-bleeding names a vessel");
  }
  if (moves) refuse_unknown_organ(origin, table, "organ", step.organ);
  refuse_no_grasper(origin, table, step.instrument);
  if (moves && std::ranges::count(origin.scene->instruments, InstrumentKind::Grasper, &InstrumentScene::kind) == 0)
    table.fail("kind", "to move an organ the scene needs a grasper");
  if (!(glm::length(step.direction) > 0.f)) table.fail("direction", "must not be zero");
  if (step.kind == StepKind::Dissect && step.tissue.empty())
    table.fail("tissue", "is missing; a step of the kind dissect needs at least one [[task.step.tissue]]");
  if (step.kind != StepKind::Dissect && !step.tissue.empty())
    table.fail("tissue", "must be absent; only dissect divides connective tissue");
  if (step.kind == StepKind::Clear && step.sides.size() < 2)
    table.fail("side", "is missing; a step of the kind clear needs two [[task.step.side]] or more");
  if (step.kind == StepKind::Clear && std::ranges::all_of(step.gone, &StepGone::may_stay))
    table.fail("gone",
               "is missing; a step of the kind clear needs at least one [[task.step.gone]] without may_stay = true");
  for (const auto& [key, count] : {std::pair{"side", step.sides.size()}, {"gone", step.gone.size()}})
    if (step.kind != StepKind::Clear && count > 0) table.fail(key, "must be absent; only clear has a window");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskLimit& limit) {
  refuse_unknown_organ(origin, table, "organ", limit.organ);
  const auto organ = std::ranges::find(origin.scene->organs, limit.organ, &OrganScene::name);
  if (organ == origin.scene->organs.end()) return;
  if (limit.most_blood_ml > 0.0 && !organ->vessel && !organ->blood)
    table.fail("most_blood_ml",
               fmt::format("{} cannot bleed; give it an [organ.vessel] or [organ.blood]", printable(limit.organ)));
  if (limit.most_bile_ml > 0.0 && !organ->bile)
    table.fail("most_bile_ml", fmt::format("{} holds no bile; give it an [organ.bile]", printable(limit.organ)));
}

// The task's own values are read already, because its levels are declared last.
template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskLevel& level) {
  const TaskScene& task = *origin.scene->task;
  if (level.name.empty() || printable(level.name) != level.name)
    table.fail("name", "must be 1 to 60 printable characters on one line");
  const double good = level.time_good.value_or(task.time_good), limit = level.time_limit.value_or(task.time_limit);
  if (limit <= good)
    table.fail(level.time_limit ? "time_limit_s" : "time_good_s",
               fmt::format("time_limit_s = {:g} must be more than time_good_s = {:g} in this level too", limit, good));
  if (level.lift && task.kind != TaskKind::LiftOrgan)
    table.fail("lift_mm", "must be absent; only lift-organ has this height");
  if (level.scope_angle_deg && *level.scope_angle_deg != 0.f && *level.scope_angle_deg != 30.f)
    table.fail("scope_angle_deg", "must be 0 or 30");
  if (level.scope_eye && *level.scope_eye == origin.scene->scope.target)
    table.fail("scope_eye_mm", "is the same point as target_mm of [scope], so the scope has no viewing direction");
  if (level.scope_eye && !task.zones.empty())
    table.fail("scope_eye_mm",
               "must be absent; the zones of this task lie in the picture and would cover other tissue");
  const auto bleeds = [](const OrganScene& organ) { return organ.vessel && organ.vessel->opened; };
  if (std::ranges::none_of(origin.scene->organs, bleeds))
    for (const auto& [key, given] : {std::pair{"opened_mm", level.opened.has_value()},
                                     {"rate_ml_min", level.rate_ml_min.has_value()},
                                     {"pooled_ml", level.pooled_ml.has_value()}})
      if (given) table.fail(key, "must be absent; no [organ.vessel] of the scene has opened_mm");
  if (level.swap_trocars && origin.scene->instruments.size() < 2)
    table.fail("swap_trocars", "needs two instruments; the scene has one");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskScene& task) {
  check_instrument(table, origin.scene->instruments, task);
  if (task.time_limit <= task.time_good)
    table.fail(
        table.has("time_limit_s") ? "time_limit_s" : "time_good_s",
        fmt::format("time_limit_s = {:g} must be more than time_good_s = {:g}", task.time_limit, task.time_good));
  if (task.levels.size() >= std::size_t{kMostLevels})
    table.fail("level", fmt::format("a task has at most {} levels", kMostLevels));
  check_steps(table, task);
  refuse_missing_kinds(table, origin.scene->instruments, task);
  refuse_wrong_targets(table, origin.scene->organs, task);
}

void share_cores(Scene& scene) {
  if (scene.solver.threads != 0) return;
  const char* most = std::getenv("TROCAR_THREADS");
  const bool alone = most == nullptr || std::string_view(most) != "1";
  scene.solver.threads = alone && std::thread::hardware_concurrency() >= 2 ? 2 : 1;
}

}  // namespace trocar
