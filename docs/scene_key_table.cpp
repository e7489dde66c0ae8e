#include "docs/scene_key_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "sim/scene/scene_keys.hpp"

namespace trocar::reference {
namespace {

template <typename Vector>
std::string three(const Vector& v, double scale) {
  return fmt::format("[{:g}, {:g}, {:g}]", v.x * scale, v.y * scale, v.z * scale);
}

// Lists the keys of a struct and of its tables.
template <typename Struct>
class KeyLister {
 public:
  explicit KeyLister(std::string name = "") : name_(std::move(name)) {}

  void schema(const SceneKey& key) { add(key, "", fmt::format("{}", kSceneSchema)); }
  template <typename Number>
  void number(const SceneKey& key, Number Struct::*member, Limits limits) {
    add(key, fmt::format("{:.6g}", static_cast<double>(usual_.*member)), range(key, limits));
    if (std::is_integral_v<Number>) rows_.back().limits += ", a whole number";
  }
  template <typename Number>
  void scaled(const SceneKey& key, Number Struct::*member, Limits limits) {
    add(key, fmt::format("{:.6g}", static_cast<double>(usual_.*member) * 1e3), range(key, limits));
  }
  template <typename Number>
  void number(const SceneKey& key, std::optional<Number> Struct::*, Limits limits) {
    add(key, "as in the scene", range(key, limits));
  }
  template <typename Number>
  void scaled(const SceneKey& key, std::optional<Number> Struct::*member, Limits limits) {
    number(key, member, limits);
  }
  template <typename Vector>
  void position(const SceneKey& key, std::optional<Vector> Struct::*) {
    add(key, "as in the scene", key.unit);
  }
  template <typename Vector>
  void vector(const SceneKey& key, Vector Struct::*member, Limits limits) {
    add(key, three(usual_.*member, 1.0), range(key, limits, "each "));
  }
  template <typename Vector>
  void position(const SceneKey& key, Vector Struct::*member) {
    add(key, three(usual_.*member, 1e3), key.unit);
  }
  void far_position(const SceneKey& key, glm::vec3 Struct::*member, double) { position(key, member); }
  void text(const SceneKey& key, std::string Struct::*member) {
    const std::string& usual = usual_.*member;
    add(key, usual.empty() ? "empty" : "`" + usual + "`", "text");
  }
  void unique_name(const SceneKey& key, std::string Struct::*) { add(key, "", "a name"); }
  void flag(const SceneKey& key, bool Struct::*member) { add(key, usual_.*member ? "true" : "false", "true or false"); }
  template <typename Value, typename Values>
  void choice(const SceneKey& key, Value Struct::*member, const Values& values) {
    std::vector<std::string> names;
    for (const Value& value : values) names.push_back(fmt::format("`{}`", std::string(name_of(value))));
    add(key, fmt::format("`{}`", std::string(name_of(usual_.*member))), fmt::format("{}", fmt::join(names, ", ")));
  }
  void optional_file(const SceneKey& key, std::filesystem::path Struct::*member) { file(key, member); }
  void file(const SceneKey& key, std::filesystem::path Struct::*) { add(key, "", "a file"); }
  template <typename Condition>
  void file(const SceneKey& key, std::filesystem::path Struct::*member, Condition) {
    file(key, member);
  }
  void outline(const SceneKey& key, std::vector<glm::dvec2> Struct::*) { add(key, "", key.unit); }
  void optional_path(const SceneKey& key, std::vector<glm::dvec3> Struct::*member) { path(key, member); }
  void path(const SceneKey& key, std::vector<glm::dvec3> Struct::*) { add(key, "", key.unit); }
  template <typename Part>
  void part(Part Struct::*) {
    KeyLister<Part> keys;
    declare(keys, std::type_identity<Part>());
    rows_.insert(rows_.end(), keys.rows().begin(), keys.rows().end());
  }
  template <typename Part>
  void table(const char* name, Part Struct::*) {
    list_table<Part>(name, "`[{}]`");
  }
  template <typename Part>
  void table(const char* name, std::optional<Part> Struct::*) {
    list_table<Part>(name, "`[{}]`");
  }
  template <typename Part>
  void list(const char* name, std::vector<Part> Struct::*) {
    list_table<Part>(name, "`[[{}]]`");
  }
  const std::vector<KeyRow>& rows() const { return rows_; }
  const std::vector<KeyBlock>& inner() const { return inner_; }

 private:
  static std::string range(const SceneKey& key, Limits limits, const char* each = "") {
    const std::string unit = key.unit;
    return fmt::format("{}{}{}{:g} to {:g}", unit, unit.empty() ? "" : ", ", each, limits.low, limits.high);
  }
  void add(const SceneKey& key, const std::string& standard, const std::string& limits) {
    rows_.push_back({key.name, key.need == Need::Required ? "required" : standard, limits, key.meaning});
  }
  template <typename Part>
  void list_table(const char* name, fmt::format_string<const std::string&> header) {
    const std::string full = name_.empty() ? name : name_ + "." + name;
    KeyLister<Part> keys(full);
    declare(keys, std::type_identity<Part>());
    inner_.push_back({fmt::format(header, full), keys.rows()});
    inner_.insert(inner_.end(), keys.inner().begin(), keys.inner().end());
  }

  std::string name_;
  std::vector<KeyBlock> inner_;
  std::vector<KeyRow> rows_;
  const Struct usual_ = {};
};

}  // namespace

std::vector<KeyBlock> scene_key_blocks() {
  std::vector<KeyBlock> blocks;
  KeyLister<Scene> keys;
  declare(keys, std::type_identity<Scene>());
  blocks.push_back({"Top of the file", keys.rows()});
  for (const KeyBlock& block : keys.inner()) {
    const auto same =
        std::find_if(blocks.begin(), blocks.end(), [&](const KeyBlock& b) { return b.rows == block.rows; });
    if (same == blocks.end())
      blocks.push_back(block);
    else
      same->table += ", " + block.table;
  }
  return blocks;
}

std::string scene_key_page() {
  std::string text;
  for (const KeyBlock& block : scene_key_blocks()) {
    text += fmt::format("## {}\n\n| key | default | unit and limits | meaning |\n|---|---|---|---|\n", block.table);
    for (const KeyRow& row : block.rows)
      text += fmt::format("| `{}` | {} | {} | {} |\n", row.key, row.standard, row.limits, row.meaning);
    text += '\n';
  }
  return text;
}

}  // namespace trocar::reference
