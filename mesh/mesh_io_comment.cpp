// Reads the comments and titles of mesh files: the unit and the axes that some programs write there.
#include <algorithm>
#include <array>
#include <string>

#include "mesh/mesh_io_formats.hpp"

namespace trocar::mesh_io {
namespace {

struct UnitName {
  std::string_view name;
  double millimetres;
};
constexpr std::array<UnitName, 21> kUnits = {
    {{"mm", 1.0},      {"millimeter", 1.0},  {"millimeters", 1.0},  {"millimetre", 1.0},   {"millimetres", 1.0},
     {"cm", 10.0},     {"centimeter", 10.0}, {"centimeters", 10.0}, {"centimetre", 10.0},  {"centimetres", 10.0},
     {"m", 1e3},       {"meter", 1e3},       {"meters", 1e3},       {"metre", 1e3},        {"metres", 1e3},
     {"inch", 25.4},   {"inches", 25.4},     {"um", 1e-3},          {"micrometers", 1e-3}, {"micrometres", 1e-3},
     {"microns", 1e-3}}};
// Words that may stand between "unit" and its name, as in "1 unit = 1 mm", "Units are in inches".
constexpr std::array<std::string_view, 6> kBetween = {"is", "are", "in", "a", "an", "one"};

// The words of a comment: letters and digits, in lower case.
std::vector<std::string> words_of(std::string_view comment) {
  std::vector<std::string> words(1);
  for (char c : comment) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (part) words.back() += c;
    if (!part && !words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_one(std::string_view word) { return word == "1"; }

// Returns the unit that is named right after the word "unit" or "units"; 0 when there is none.
double unit_in(const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] != "unit" && words[k] != "units") continue;
    std::size_t next = k + 1;
    while (next < words.size() &&
           (is_one(words[next]) || std::find(kBetween.begin(), kBetween.end(), words[next]) != kBetween.end()))
      ++next;
    if (next == words.size()) continue;
    for (const UnitName& unit : kUnits)
      if (unit.name == words[next]) return unit.millimetres;
  }
  return 0.0;
}

}  // namespace

void read_comment(std::string_view comment, MeshFacts& facts) {
  const std::vector<std::string> words = words_of(comment.substr(0, 1000));
  if (facts.mm_per_unit == 0.0) facts.mm_per_unit = unit_in(words);
  for (std::size_t k = 0; k + 1 < words.size() && facts.axes.empty(); ++k)
    if (words[k] == "space" && (words[k + 1] == "lps" || words[k + 1] == "ras"))
      facts.axes = words[k + 1] == "lps" ? "LPS" : "RAS";
}

}  // namespace trocar::mesh_io
