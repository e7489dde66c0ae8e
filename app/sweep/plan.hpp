// The plan of a sweep, a TOML file: groups of cases, each a command and lists of parameters that are crossed. A plan is
// checked completely before its first case runs. Paths are relative to the plan's folder, where the cases also run.
// Format: docs/file-formats.md   Tested in tests/app/sweep_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/sweep/sweep_case.hpp"
#include "sim/scene/toml_table.hpp"

namespace trocar {

// * stands for any characters, also none. A name that begins with a dot matches only a pattern that does.
bool matches(std::string_view pattern, std::string_view name);

// Returns the regular files below `folder` that match, as paths relative to it, sorted by their bytes.
std::vector<std::string> matching_files(const std::filesystem::path& folder, const std::string& pattern);

enum class ParameterKind {
  File,      // a path relative to the plan's folder, or a pattern with * in its last part
  Word,      // a text
  Number,    // a real number
  Whole,     // a whole number, or a range such as "1..100"
  Backends,  // names separated by commas
  Flag       // true or false, not a list
};

struct ParameterRow {
  std::string_view key;     // in the plan
  std::string_view column;  // of the results
  std::string_view option;  // of the command; empty: an argument without one
  ParameterKind kind = ParameterKind::Word;
  Limits limits = {0.0, 0.0};                    // of a number
  std::span<const std::string_view> words = {};  // allowed words; empty: any word
  bool required = false;
};

struct RunRow {
  std::string_view name;     // value of `run`
  std::string_view command;  // words separated by spaces
  ResultKind results;
  std::span<const ParameterRow> parameters;  // crossed in this order: the last one varies fastest
};

std::span<const RunRow> run_table();

constexpr std::uint64_t kMostCases = 1'000'000;

// The value of a parameter in a case: a text, or a number.
using PlanValue = std::variant<std::string, double>;

struct PlanList {
  const ParameterRow* row = nullptr;
  std::vector<PlanValue> values;  // at least one
};

struct CaseGroup {
  const RunRow* run = nullptr;
  std::vector<PlanList> lists;         // crossed: the last one varies fastest
  std::uint64_t first = 0, count = 0;  // case numbers
};

struct Plan {
  std::filesystem::path file, folder;  // of the plan
  std::vector<CaseGroup> groups;
  std::uint64_t cases = 0;
  double timeout = 600.0;  // s      of each command of a case, 1 to 864000
};

// Every N-th case of a plan, for a job that has N parts; all cases by default.
struct PlanPart {
  std::uint64_t number = 1, of = 1;  // 1 to `of`, at most kMostParts
  bool has(std::uint64_t one) const { return one % of == number - 1; }
};
constexpr std::uint64_t kMostParts = 10'000;

// Reads and checks a plan. Throws InputError with file, line and remedy.
Plan load_plan(const std::filesystem::path& file);

// Returns the group of a case.
const CaseGroup& group_of(const Plan& plan, std::uint64_t number);
// Returns one value for each list of the group.
std::vector<const PlanValue*> values_of(const CaseGroup& group, std::uint64_t number);
// Returns the command lines of a case.
SweepCase case_of(const Plan& plan, std::uint64_t number);
// Returns all files that the plan names, each once.
std::vector<std::filesystem::path> files_of(const Plan& plan);
// Returns a checksum of all cases, of size and time of their files, and of this version of the program.
std::uint64_t checksum_of(const Plan& plan);

// Returns the value as an argument of a command line and as a cell of a table.
std::string text_of(const ParameterRow& row, const PlanValue& value);

}  // namespace trocar
