#include "app/lab/lab_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/lab/lab_attempt.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/csv.hpp"

namespace trocar {
namespace {

// The number of characters, not bytes; a terminal shows most of them one column wide.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) line += row[k] + std::string(widths[k] - width_of(row[k]) + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

namespace {

constexpr std::size_t kLastAttempts = 5;

std::string score_or_dash(const std::optional<double>& score) { return score ? score_text(*score) : "-"; }

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// The median over the last attempts that have the metric; "-" for none.
std::string last_median(const PersonAttempts& person, const std::string& metric) {
  std::vector<double> values;
  for (auto a = person.attempts.rbegin(); a != person.attempts.rend() && values.size() < kLastAttempts; ++a)
    if (const auto found = a->metrics.find(metric); found != a->metrics.end()) values.push_back(found->second);
  return values.empty() ? "-" : fmt::format("{:.4g}", median_of(values));
}

}  // namespace

std::string people_table(const std::vector<PersonSummary>& people) {
  if (people.empty()) return "no people\n";
  TextTable table({"id", "name", "attempts", "tasks", "latest (UTC)"});
  for (const PersonSummary& one : people)
    table.add({one.person.id, one.person.name, std::to_string(one.attempts), std::to_string(one.tasks),
               one.attempts ? text_of_date(one.last_started) : "-"});
  return table.text();
}

std::string person_line(const Person& person) {
  return person.name.empty() ? person.id : fmt::format("{}, {}", person.id, person.name);
}

std::string standings_table(const std::vector<Standing>& standings) {
  if (standings.empty()) return "no attempts\n";
  TextTable table({"task", "level", "attempts", "best", "latest", "on (UTC)"});
  for (const Standing& s : standings)
    table.add({s.scene, std::to_string(s.level), std::to_string(s.attempts), score_or_dash(s.best),
               score_or_dash(s.last), text_of_date(s.last_started)});
  return table.text();
}

std::string attempts_table(const std::vector<LabAttempt>& attempts) {
  if (attempts.empty()) return "";
  TextTable table({"started (UTC)", "task", "level", "score", "ended", "seconds", "devices", "key"});
  for (const LabAttempt& a : attempts)
    table.add({text_of_date(a.started), a.scene, std::to_string(a.level), score_or_dash(a.score),
               a.critical ? a.ending + ", critical error" : a.ending, fmt::format("{:.0f}", a.seconds), a.devices,
               a.key});
  return table.text();
}

std::string comparison_table(const std::vector<PersonAttempts>& people) {
  std::vector<std::string> header{"attempt"};
  std::size_t rows = 0;
  std::set<std::string> metrics;
  for (const PersonAttempts& person : people) {
    header.push_back(person.person);
    rows = std::max(rows, person.attempts.size());
    for (const LabAttempt& attempt : person.attempts)
      for (const auto& [id, value] : attempt.metrics) metrics.insert(id);
  }
  TextTable scores(header);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells{std::to_string(row + 1)};
    for (const PersonAttempts& person : people)
      cells.push_back(row < person.attempts.size() ? score_or_dash(person.attempts[row].score) : "");
    scores.add(std::move(cells));
  }
  header.front() = fmt::format("median of the last {}", kLastAttempts);
  TextTable medians(header);
  for (const std::string& metric : metrics) {
    std::vector<std::string> cells{metric};
    for (const PersonAttempts& person : people) cells.push_back(last_median(person, metric));
    medians.add(std::move(cells));
  }
  return scores.text() + "\n" + medians.text();
}

std::string attempt_csv_header() {
  return "key,person,started,scene,level,kind,ending,seconds,score,critical,station,devices,recording,metric,value\n";
}

std::string attempt_csv_row(const LabAttempt& a) {
  const std::string first =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},", csv_text(a.key), csv_text(a.person),
                  text_of_date(a.started), csv_text(a.scene), a.level, csv_text(a.kind), csv_text(a.ending), a.seconds,
                  a.score ? fmt::format("{}", *a.score) : "", a.critical ? 1 : 0, csv_text(a.station),
                  csv_text(a.devices), csv_text(a.recording));
  if (a.metrics.empty()) return first + ",\n";
  std::string rows;
  for (const auto& [id, value] : a.metrics) rows += fmt::format("{}{},{}\n", first, csv_text(id), value);
  return rows;
}

}  // namespace trocar
