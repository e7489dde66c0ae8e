// Reads one table of a scene file into its struct, by the declarations of scene_keys.hpp.
// Tested in tests/sim/scene_test.cpp and tests/sim/task_reader_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scene/scene_keys.hpp"
#include "sim/scene/toml_table.hpp"

namespace trocar {

// The origin of the text. A recorded text was valid for the version that recorded it, so some limits do not apply.
struct SceneOrigin {
  std::filesystem::path file;
  bool recorded = false;
  const Scene* scene = nullptr;  // the scene that is being read: a task names its organs and instruments
};

// Throws InputError when the text is not a valid name. Recorded names are not checked.
std::string read_name(const SceneOrigin& origin, TomlTable& table, std::string_view key);
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

// Reads the schema of a scene. Throws InputError when it is later than the present one.
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
    if (present(key)) object_.*member = Vector(table_.vector(key.name, applied(key, limits)) * 1e-3);
  }
  template <typename Vector>
  void vector(const SceneKey& key, Vector Struct::*member, Limits limits) {
    if (present(key)) object_.*member = Vector(table_.vector(key.name, applied(key, limits)));
  }
  template <typename Vector>
  void position(const SceneKey& key, Vector Struct::*member) {
    const Limits limits{-kFarthestPosition * 1e3, kFarthestPosition * 1e3};
    if (present(key)) object_.*member = Vector(table_.vector(key.name, applied(key, limits)) * 1e-3);
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
  void unique_name(const SceneKey& key, std::string Struct::*member) {
    object_.*member = read_name(origin_, table_, key.name);
  }
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
  Limits applied(const SceneKey& key, Limits limits) const {
    return origin_.recorded && key.any_when_recorded ? kAnyNumber : limits;
  }

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

}  // namespace trocar
