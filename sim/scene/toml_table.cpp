#include "sim/scene/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <toml.hpp>

#include "geometry/error.hpp"

namespace trocar {
namespace {

class Scanner {
 public:
  Scanner(const std::string& file, std::string_view text, const TomlLimits& limits)
      : file_(file), text_(text), limits_(limits) {}

  void scan() {
    if (text_.size() > limits_.bytes) refuse(fmt::format("is longer than {} bytes", limits_.bytes));
    while (at_ < text_.size()) step();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(
        fmt::format("{}:{}: the text {}, more than Trocar accepts in such a file; simplify it", file_, line_, what));
  }

  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      skip_string(c);
      return;
    }
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') advance();
      return;
    }
    count(c);
    advance();
  }

  void count(char c) {
    if (c == '[' || c == '{') {
      if (++depth_ > limits_.depth) refuse(fmt::format("has brackets nested {} deep", depth_));
      if (at_ == line_start_ && ++keys_ > limits_.keys) refuse(fmt::format("has more than {} keys", limits_.keys));
    }
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
    if (c == '=' && ++keys_ > limits_.keys) refuse(fmt::format("has more than {} keys", limits_.keys));
    if (c == ',' && ++values_ > limits_.values) refuse(fmt::format("has more than {} values", limits_.values));
    const bool ends_key = c == '=' || c == ',' || c == '\n' || c == '[' || c == ']' || c == '{' || c == '}';
    parts_ = ends_key ? 1 : parts_ + (c == '.' ? 1 : 0);
    if (parts_ > limits_.key_parts) refuse(fmt::format("has a key of more than {} parts", limits_.key_parts));
  }

  // Advances past the end of the string. In a literal string a backslash is an ordinary character.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool multi_line = text_.substr(at_, 3) == three;
    for (int k = 0; k < (multi_line ? 3 : 1); ++k) advance();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !multi_line) return;  // not closed: the parser reports it
      if (c == '\\' && quote == '"') {
        advance();
        if (at_ < text_.size()) advance();
        continue;
      }
      if (c == quote && (!multi_line || text_.substr(at_, 3) == three)) {
        for (int k = 0; k < (multi_line ? 3 : 1); ++k) advance();
        return;
      }
      advance();
    }
  }

  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
    } else if (at_ - line_start_ > limits_.line) {
      refuse(fmt::format("has a line of more than {} bytes", limits_.line));
    }
  }

  const std::string& file_;
  std::string_view text_;
  TomlLimits limits_;
  std::size_t at_ = 0, line_ = 1, line_start_ = 0, depth_ = 0, parts_ = 1, keys_ = 0, values_ = 0;
};

}  // namespace

void refuse_excess(const std::string& file, std::string_view text, const TomlLimits& limits) {
  Scanner(file, text, limits).scan();
}

struct TomlTable::Content {
  std::string file;
  std::string name;  // "organ.tissue"; empty for the whole file
  toml::value value;
  std::vector<std::string> asked;

  const toml::value* find(std::string_view key) {
    asked.emplace_back(key);
    const auto& table = value.as_table();
    const auto found = table.find(std::string(key));
    return found == table.end() ? nullptr : &found->second;
  }
  std::string full_name(std::string_view key) const {
    return name.empty() ? std::string(key) : fmt::format("{}.{}", name, key);
  }
};

namespace {

std::size_t line_of(const toml::value& value) { return value.location().line(); }

// Returns the Levenshtein distance: the smallest number of insertions, deletions and substitutions between two words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  const auto closer = [&](const auto& a, const auto& b) { return edit_distance(word, a) < edit_distance(word, b); };
  const auto best = std::min_element(words.begin(), words.end(), closer);
  return best == words.end() ? std::string() : *best;
}

[[noreturn]] void fail_at(const std::string& file, std::size_t line, std::string_view key, std::string_view what) {
  throw InputError(
      fmt::format("{}:{}: {}: {}", file, line, printable(key, kLongestQuote), printable(what, kLongestText)));
}

double number_of(const std::string& file, const std::string& key, const toml::value& value) {
  double number = 0.0;
  if (value.is_integer()) {
    number = static_cast<double>(value.as_integer());
  } else if (value.is_floating()) {
    number = value.as_floating();
  } else {
    fail_at(file, line_of(value), key, "must be a number");
  }
  if (!std::isfinite(number)) fail_at(file, line_of(value), key, "must be a finite number");
  return number;
}

double limited_number(const std::string& file, const std::string& key, const toml::value& value, Limits limits) {
  const double number = number_of(file, key, value);
  if (number < limits.low || number > limits.high) {
    fail_at(file, line_of(value), key,
            fmt::format("{} is outside its limits {:g} to {:g}", number, limits.low, limits.high));
  }
  return number;
}

glm::dvec3 vector_of(const std::string& file, const std::string& key, const toml::value& value) {
  if (!value.is_array() || value.as_array().size() != 3) {
    fail_at(file, line_of(value), key, "must be three numbers in brackets, as in [0, 10, 20]");
  }
  const auto& cells = value.as_array();
  return {number_of(file, key, cells[0]), number_of(file, key, cells[1]), number_of(file, key, cells[2])};
}

// TOML is UTF-8; the parser aborts on other bytes in a string.
void refuse_other_encodings(const std::string& file, std::string_view text) {
  const std::size_t at = first_invalid_utf8(text);
  if (at == std::string_view::npos) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw InputError(fmt::format("{}:{}: is not UTF-8 text; save the file as UTF-8", file, line));
}

// The format ends a line with LF or CRLF; a parser takes a text with CR alone as one line, perhaps all of it a comment.
void refuse_lone_carriage_returns(const std::string& file, std::string_view text) {
  if (text.find('\n') != text.npos || text.find('\r') >= text.size() - std::min<std::size_t>(text.size(), 1)) return;
  throw InputError(
      fmt::format("{}: its lines end with carriage returns, which TOML does not know; save it with line feeds", file));
}

std::string text_of(const std::string& file, const std::string& key, const toml::value& value) {
  if (!value.is_string()) fail_at(file, line_of(value), key, "must be text in quotes");
  return value.as_string().str;
}

}  // namespace

TomlTable::TomlTable(std::unique_ptr<Content> content) : content_(std::move(content)) {}
TomlTable::~TomlTable() = default;
TomlTable::TomlTable(TomlTable&&) noexcept = default;

TomlTable TomlTable::parse(const std::filesystem::path& file, const std::string& text) {
  auto content = std::make_unique<Content>();
  content->file = file.string();
  refuse_other_encodings(content->file, text);
  refuse_lone_carriage_returns(content->file, text);
  refuse_excess(content->file, text);
  try {
    std::istringstream in(text);
    content->value = toml::parse(in, content->file);
  } catch (const toml::exception& error) {
    // toml11's message has several lines; the first one states the error.
    std::string what = error.what();
    what = what.substr(0, what.find('\n'));
    what.erase(0, what.starts_with("[error] ") ? 8 : 0);
    throw InputError(fmt::format("{}:{}: not valid TOML: {}", content->file, error.location().line(),
                                 printable(what, kLongestText)));
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: not valid TOML: {}", content->file, printable(error.what(), kLongestText)));
  }
  return TomlTable(std::move(content));
}

bool TomlTable::has(std::string_view key) const { return content_->value.as_table().contains(std::string(key)); }

bool TomlTable::find(std::string_view key) { return content_->find(key) != nullptr; }

void TomlTable::fail(std::string_view key, std::string_view what) const {
  const auto& table = content_->value.as_table();
  const auto found = table.find(std::string(key));
  const std::size_t line = line_of(found == table.end() ? content_->value : found->second);
  fail_at(content_->file, line, content_->full_name(key), what);
}

std::string TomlTable::text(std::string_view key) {
  const toml::value* value = content_->find(key);
  if (!value) fail(key, "is missing");
  return text_of(content_->file, content_->full_name(key), *value);
}

double TomlTable::number(std::string_view key, Limits limits) {
  const toml::value* value = content_->find(key);
  if (!value) fail(key, "is missing");
  return limited_number(content_->file, content_->full_name(key), *value, limits);
}

glm::dvec3 TomlTable::vector(std::string_view key) {
  const toml::value* value = content_->find(key);
  if (!value) fail(key, "is missing");
  return vector_of(content_->file, content_->full_name(key), *value);
}

glm::dvec3 TomlTable::vector(std::string_view key, Limits limits) {
  const glm::dvec3 values = vector(key);
  for (int axis = 0; axis < 3; ++axis)
    if (values[axis] < limits.low || values[axis] > limits.high)
      fail(key, fmt::format("{} is outside its limits {:g} to {:g}", values[axis], limits.low, limits.high));
  return values;
}

template <typename Point>
std::vector<Point> TomlTable::list_of_points(std::string_view key, Limits limits, const char* what) {
  const toml::value* value = content_->find(key);
  if (!value) fail(key, "is missing");
  constexpr auto kNumbers = static_cast<std::size_t>(Point::length());
  const auto is_point = [](const toml::value& cell) { return cell.is_array() && cell.as_array().size() == kNumbers; };
  if (!value->is_array() || !std::all_of(value->as_array().begin(), value->as_array().end(), is_point))
    fail(key, fmt::format("must be a list of {}", what));
  const std::string name = content_->full_name(key);
  std::vector<Point> points;
  for (const toml::value& cell : value->as_array()) {
    Point& point = points.emplace_back();
    for (std::size_t i = 0; i < kNumbers; ++i)
      point[static_cast<int>(i)] = limited_number(content_->file, name, cell.as_array()[i], limits);
  }
  return points;
}

std::vector<glm::dvec2> TomlTable::points(std::string_view key) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return list_of_points<glm::dvec2>(key, {-kMost, kMost}, "pairs of numbers, as in [[0, 0], [0.5, 0], [0, 0.5]]");
}

std::vector<glm::dvec3> TomlTable::path(std::string_view key, Limits limits) {
  return list_of_points<glm::dvec3>(key, limits, "points, as in [[0, 0, 0], [10, 0, 0], [20, 5, 0]]");
}

std::vector<std::variant<std::string, double>> TomlTable::list(std::string_view key) {
  const toml::value* value = content_->find(key);
  if (!value) fail(key, "is missing");
  const std::string name = content_->full_name(key);
  std::vector<std::variant<std::string, double>> elements;
  const auto add = [&](const toml::value& element) {
    if (element.is_string())
      elements.emplace_back(element.as_string().str);
    else
      elements.emplace_back(number_of(content_->file, name, element));
  };
  if (!value->is_array()) {
    add(*value);
    return elements;
  }
  for (const toml::value& element : value->as_array()) add(element);
  if (elements.empty()) fail(key, "is an empty list; give it an element or remove the key");
  return elements;
}

void TomlTable::optional(std::string_view key, std::string& value) {
  if (const toml::value* found = content_->find(key)) {
    value = text_of(content_->file, content_->full_name(key), *found);
  }
}

void TomlTable::optional(std::string_view key, double& value, Limits limits) {
  if (const toml::value* found = content_->find(key)) {
    value = limited_number(content_->file, content_->full_name(key), *found, limits);
  }
}

void TomlTable::optional(std::string_view key, float& value, Limits limits) {
  double number = value;
  optional(key, number, limits);
  value = static_cast<float>(number);
}

void TomlTable::optional(std::string_view key, int& value, Limits limits) {
  double number = value;
  optional(key, number, limits);
  if (number != std::floor(number)) fail(key, "must be a whole number");
  value = static_cast<int>(number);
}

void TomlTable::optional(std::string_view key, bool& value) {
  if (const toml::value* found = content_->find(key)) {
    if (!found->is_boolean()) fail(key, "must be true or false");
    value = found->as_boolean();
  }
}

void TomlTable::optional(std::string_view key, glm::vec3& value, Limits limits) {
  if (has(key))
    value = glm::vec3(vector(key, limits));
  else
    content_->find(key);
}

TomlTable TomlTable::table(std::string_view key) {
  auto content = std::make_unique<Content>();
  content->file = content_->file;
  content->name = content_->full_name(key);
  content->value = toml::table{};
  if (const toml::value* found = content_->find(key)) {
    if (!found->is_table()) fail(key, "must be a table, as in [scope]");
    content->value = *found;
  }
  return TomlTable(std::move(content));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  std::vector<TomlTable> list;
  const toml::value* found = content_->find(key);
  if (!found) return list;
  const auto is_table = [](const toml::value& value) { return value.is_table(); };
  if (!found->is_array() || !std::all_of(found->as_array().begin(), found->as_array().end(), is_table)) {
    fail(key, fmt::format("must be a list of tables, as in [[{}]]", key));
  }
  for (const auto& value : found->as_array()) {
    auto content = std::make_unique<Content>();
    content->file = content_->file;
    content->name = content_->full_name(key);
    content->value = value;
    list.push_back(TomlTable(std::move(content)));
  }
  return list;
}

void TomlTable::refuse_unknown_keys() const {
  for (const auto& [key, value] : content_->value.as_table()) {
    if (std::find(content_->asked.begin(), content_->asked.end(), key) != content_->asked.end()) continue;
    fail_at(content_->file, line_of(value), content_->full_name(key),
            fmt::format("is not a key of this table; did you mean '{}'?", nearest(key, content_->asked)));
  }
}

}  // namespace trocar
