#include "app/sweep/case_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;
using ResultJson = nlohmann::ordered_json;

constexpr FileKind kResultFile{"result", std::uint64_t{64} << 20};
constexpr std::streamoff kTail = 16384;     // bytes of stderr that are searched for the sentence
constexpr std::size_t kLongestError = 300;  // characters
constexpr std::string_view kProgramName = "trocar: ";

// Collects values under unique names.
class Values {
 public:
  explicit Values(CaseOutcome& outcome) : outcome_(outcome) {}

  void add(std::string name, double value) {
    std::replace(name.begin(), name.end(), '/', '_');  // separates groups in HDF5
    for (std::string base = name; !names_.insert(name).second;) name = fmt::format("{}_{}", base, names_.size());
    outcome_.values.emplace_back(std::move(name), value);
  }
  void add(const std::string& name, const ResultJson& value) {
    if (value.is_boolean())
      add(name, value.get<bool>() ? 1.0 : 0.0);
    else
      add(name, value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }

 private:
  CaseOutcome& outcome_;
  std::set<std::string> names_;
};

void add_metrics(Values& values, const std::string& of, const ResultJson& metrics) {
  for (const ResultJson& metric : metrics)
    values.add(fmt::format("{}.{}", of, metric.at("id").get<std::string>()), metric.at("value"));
}

void add_score(Values& values, const ResultJson& json) {
  const ResultJson& attempt = json.at("attempts").at(0);
  if (const ResultJson& task = attempt.at("task"); !task.is_null()) {
    values.add("score", task.at("score"));
    values.add("finished", task.at("finished"));
    add_metrics(values, "task", task.at("parts"));
  }
  values.add("duration_s", attempt.at("duration_s"));
  values.add("frames", attempt.at("frames"));
  add_metrics(values, "whole", attempt.at("overall"));
  for (const ResultJson& instrument : attempt.at("instruments"))
    add_metrics(values, instrument.at("name").get<std::string>(), instrument.at("metrics"));
}

void add_comparison(Values& values, const ResultJson& json) {
  for (const char* key : {"faces", "vertices", "frames", "tools"}) values.add(key, json.at(key));
  for (const auto& [name, backend] : json.at("backends").items())
    for (const char* key : {"touched", "borderline", "disagreements"})
      values.add(fmt::format("{}.{}", name, key), backend.at(key));
}

void add_replay(Values& values, const ResultJson& json) {
  for (const char* key : {"frames", "touches", "tip_touches", "surface_changes", "differing_frames"})
    values.add(key, json.at(key));
}

std::vector<std::string> row_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

double cell_number(const std::string& cell) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size()) throw InputError("a cell is not a number");
  return value;
}

// Every load of a curve is a column, "force_n at 0.1".
void add_curve(Values& values, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = row_cells(line);
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = row_cells(line);
    if (cells.size() != header.size()) throw InputError("a row has another number of cells than the header");
    for (std::size_t i = 1; i < cells.size(); ++i)
      values.add(fmt::format("{} at {}", header[i], cells[0]), cell_number(cells[i]));
  }
}

void add_values(ResultKind kind, const fs::path& scratch, CaseOutcome& outcome) {
  Values values(outcome);
  if (kind == ResultKind::Curve) return add_curve(values, read_whole_file(scratch / "result.csv", kResultFile));
  const ResultJson json = ResultJson::parse(read_whole_file(scratch / "result.json", kResultFile));
  if (kind == ResultKind::Score) return add_score(values, json);
  if (kind == ResultKind::Compare) return add_comparison(values, json);
  add_replay(values, json);
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
  return text;
}

}  // namespace

std::string sentence_of(const fs::path& messages, const fs::path& scratch) {
  std::ifstream in(messages, std::ios::binary | std::ios::ate);
  if (!in) return "the command gave no reason";
  in.seekg(std::max<std::streamoff>(0, in.tellg() - kTail));
  std::string sentence, last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
    if (line.starts_with(kProgramName)) sentence = line.substr(kProgramName.size());
  }
  if (sentence.empty()) sentence = last;
  if (sentence.empty()) return "the command gave no reason";
  return printable(without(sentence, scratch.string() + "/"), kLongestError);
}

void read_results(ResultKind kind, const fs::path& scratch, CaseOutcome& outcome) {
  try {
    add_values(kind, scratch, outcome);
    return;
  } catch (const std::exception&) {  // of JSON, or InputError
    outcome.values.clear();
  }
  if (outcome.status != CaseStatus::Done) return;  // has a sentence of its own
  outcome.status = CaseStatus::Failed;
  outcome.error = "the command ended without results that can be read";
}

}  // namespace trocar
