// Reads a TOML table strictly: the caller asks for every key by name, any other key is an error, and every error names
// file, line and key. Accepts integers for real numbers.
// Tested in tests/sim/scene/scene_test.cpp and tests/app/files_test.cpp
#pragma once

#include <cstddef>
#include <filesystem>
#include <glm/glm.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trocar {

// Checks the limits of a TOML text before the parser reads it, because the parser recurses into brackets, and its time
// grows with the square of the number of parts of a key. Brackets and keys inside strings and comments do not count.

struct TomlLimits {
  std::size_t bytes = std::size_t{1} << 20;  // of the whole text
  std::size_t line = std::size_t{64} << 10;  // bytes of a line
  std::size_t depth = 16;                    // nesting of brackets and braces
  std::size_t key_parts = 16;                // of a dotted key
  std::size_t keys = 20000;                  // keys and headers
  std::size_t values = 100000;               // elements of lists and inline tables
};

// Throws InputError with file, line and limit when the text exceeds a limit.
void refuse_excess(const std::string& file, std::string_view text, const TomlLimits& limits = {});

struct Limits {
  double low, high;
};

class TomlTable {
 public:
  // Parses a text. Throws InputError when the text is not UTF-8, exceeds TomlLimits or is not valid TOML. `file`: for
  // error messages.
  static TomlTable parse(const std::filesystem::path& file, const std::string& text);
  ~TomlTable();
  TomlTable(TomlTable&&) noexcept;

  bool has(std::string_view key) const;
  // The same, and makes the key known to refuse_unknown_keys().
  bool find(std::string_view key);
  // These functions read required keys, which have no default. They throw InputError when the key is missing.
  std::string text(std::string_view key);
  double number(std::string_view key, Limits limits);
  glm::dvec3 vector(std::string_view key);
  glm::dvec3 vector(std::string_view key, Limits limits);  // limits of each number
  // Returns a list of points in the plane: [[x, y], ...].
  std::vector<glm::dvec2> points(std::string_view key);
  // Returns a list of points in space: [[x, y, z], ...], each number within the limits.
  std::vector<glm::dvec3> path(std::string_view key, Limits limits);
  // Returns the elements of a list of texts and numbers; a single text or number is a list of one. Throws InputError
  // for an empty list.
  std::vector<std::variant<std::string, double>> list(std::string_view key);
  // These functions read optional keys: `value` keeps its default when the key is absent.
  void optional(std::string_view key, std::string& value);
  void optional(std::string_view key, double& value, Limits limits);
  void optional(std::string_view key, float& value, Limits limits);
  void optional(std::string_view key, int& value, Limits limits);
  void optional(std::string_view key, bool& value);
  void optional(std::string_view key, glm::vec3& value, Limits limits);  // limits of each number

  // These functions return subtables: one table, which is empty when absent, or a list of tables.
  TomlTable table(std::string_view key);
  std::vector<TomlTable> tables(std::string_view key);

  // Throws InputError if the table has a key that the caller did not ask for. The message names the first such key and
  // the most similar known key.
  void refuse_unknown_keys() const;
  // Throws InputError "FILE:LINE: KEY: WHAT" for `key` of this table.
  [[noreturn]] void fail(std::string_view key, std::string_view what) const;

 private:
  struct Content;
  explicit TomlTable(std::unique_ptr<Content> content);
  template <typename Point>
  std::vector<Point> list_of_points(std::string_view key, Limits limits, const char* what);
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
