// A TOML table read strictly: every key is asked for by name, a key nobody asked for is an error, and every error names
// file, line and key. Whole numbers are taken where a real number is meant.
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

struct Limits {
  double low, high;
};

class TomlTable {
 public:
  // Error: InputError when the file cannot be read or is not TOML.
  static TomlTable parse(const std::filesystem::path& file, const std::string& text);
  ~TomlTable();
  TomlTable(TomlTable&&) noexcept;

  bool has(std::string_view key) const;
  // Required when `value` holds nothing to fall back on: use these for keys without default.
  std::string text(std::string_view key);
  double number(std::string_view key, Limits limits);
  glm::dvec3 vector(std::string_view key);
  glm::dvec3 vector(std::string_view key, Limits limits);  // of each number
  // A list of places in a plane: [[x, y], ...].
  std::vector<glm::dvec2> points(std::string_view key);
  // Optional: `value` keeps its default when the key is absent.
  void optional(std::string_view key, std::string& value);
  void optional(std::string_view key, double& value, Limits limits);
  void optional(std::string_view key, float& value, Limits limits);
  void optional(std::string_view key, int& value, Limits limits);
  void optional(std::string_view key, bool& value);
  void optional(std::string_view key, glm::vec3& value, Limits limits);  // of each number

  // Tables below this one: one (empty when absent) and a list.
  TomlTable table(std::string_view key);
  std::vector<TomlTable> tables(std::string_view key);

  // Error: InputError naming the first key that was never asked for, with the nearest known one.
  void refuse_unknown_keys() const;
  // An error at `key` of this table: "FILE:LINE: KEY: WHAT".
  [[noreturn]] void fail(std::string_view key, std::string_view what) const;

 private:
  struct Content;
  explicit TomlTable(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
