// Tables of what a sweep can run and which lists of parameters each run takes. The plan reader, the columns of the
// results and the table in docs/file-formats.md come from these rows.   Tested in tests/app/sweep_plan_test.cpp
#pragma once

#include <span>
#include <string_view>

#include "app/sweep/sweep_case.hpp"
#include "sim/scene/toml_table.hpp"

namespace trocar {

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

}  // namespace trocar
