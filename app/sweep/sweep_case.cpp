#include "app/sweep/sweep_case.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "geometry/error.hpp"

namespace trocar {
namespace {

using CaseJson = nlohmann::ordered_json;

std::string line_text(const CaseJson& json) { return json.dump(-1, ' ', false, CaseJson::error_handler_t::replace); }

template <typename Read>
auto parsed(const std::string& line, Read read) {
  try {
    return read(CaseJson::parse(line));
  } catch (const CaseJson::exception&) {
    throw InputError("a line of the sweep's journal is not one that Trocar wrote; remove the journal");
  }
}

}  // namespace

const char* name_of(CaseStatus status) {
  switch (status) {
    case CaseStatus::Done:
      return "done";
    case CaseStatus::Refused:
      return "refused";
    case CaseStatus::Failed:
      return "failed";
    case CaseStatus::Crashed:
      return "crashed";
    case CaseStatus::TimedOut:
      return "timed out";
  }
  return "";
}

std::string to_line(const SweepCase& one) {
  return line_text({{"case", one.number}, {"results", static_cast<int>(one.results)}, {"commands", one.commands}});
}

SweepCase case_of_line(const std::string& line) {
  return parsed(line, [](const CaseJson& json) {
    return SweepCase{json.at("case").get<std::uint64_t>(), static_cast<ResultKind>(json.at("results").get<int>()),
                     json.at("commands").get<std::vector<std::vector<std::string>>>()};
  });
}

std::string to_line(const CaseOutcome& outcome) {
  CaseJson names = CaseJson::array(), values = CaseJson::array();
  for (const auto& [name, value] : outcome.values) {
    names.push_back(name);
    values.push_back(std::isfinite(value) ? CaseJson(value) : CaseJson(nullptr));
  }
  return line_text({{"case", outcome.number},
                    {"status", static_cast<int>(outcome.status)},
                    {"exit", outcome.exit_status},
                    {"signal", outcome.signal},
                    {"error", outcome.error},
                    {"names", names},
                    {"values", values},
                    {"seconds", outcome.seconds},
                    {"cpu_seconds", outcome.cpu_seconds},
                    {"memory_mib", outcome.memory_mib}});
}

CaseOutcome outcome_of_line(const std::string& line) {
  return parsed(line, [](const CaseJson& json) {
    CaseOutcome outcome;
    outcome.number = json.at("case").get<std::uint64_t>();
    outcome.status = static_cast<CaseStatus>(json.at("status").get<int>());
    outcome.exit_status = json.at("exit").get<int>();
    outcome.signal = json.at("signal").get<int>();
    outcome.error = json.at("error").get<std::string>();
    const CaseJson &names = json.at("names"), &values = json.at("values");
    for (std::size_t i = 0; i < names.size(); ++i)
      outcome.values.emplace_back(names.at(i).get<std::string>(), values.at(i).is_null()
                                                                      ? std::numeric_limits<double>::quiet_NaN()
                                                                      : values.at(i).get<double>());
    outcome.seconds = json.at("seconds").get<double>();
    outcome.cpu_seconds = json.at("cpu_seconds").get<double>();
    outcome.memory_mib = json.at("memory_mib").get<double>();
    return outcome;
  });
}

}  // namespace trocar
