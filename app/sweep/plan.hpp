// The plan of a sweep, a TOML file: groups of cases, each a command and lists of parameters that are crossed. A plan is
// checked completely before its first case runs. Paths are relative to the plan's folder, where the cases also run.
// Format: docs/file-formats.md   Tested in tests/app/sweep_plan_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/sweep/plan_table.hpp"

namespace trocar {

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
