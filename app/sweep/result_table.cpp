#include "app/sweep/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/support/csv.hpp"
#include "sim/support/files.hpp"

namespace trocar {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string number_cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string cell_of(const FileColumn& column, std::uint64_t row) {
  return column.is_text ? csv_text(column.texts[row]) : number_cell(column.numbers[row]);
}

FileColumn number_column(std::string name, std::uint64_t rows) {
  FileColumn column;
  column.name = std::move(name);
  column.numbers.assign(rows, kNone);
  return column;
}

FileColumn text_column(std::string name, std::uint64_t rows) {
  FileColumn column;
  column.name = std::move(name);
  column.is_text = true;
  column.texts.resize(rows);
  return column;
}

bool is_number(const ParameterRow& row) {
  return row.kind == ParameterKind::Number || row.kind == ParameterKind::Whole || row.kind == ParameterKind::Flag;
}

}  // namespace

ResultTable::ResultTable(const Plan& plan) : plan_(plan), states_(plan.cases) {}

void ResultTable::add(const CaseOutcome& outcome) {
  State& state = states_[outcome.number];
  if (state.known) return;
  state = {static_cast<float>(outcome.seconds),
           static_cast<float>(outcome.cpu_seconds),
           static_cast<float>(outcome.memory_mib),
           static_cast<std::int16_t>(outcome.exit_status),
           static_cast<std::int16_t>(outcome.signal),
           outcome.status,
           true};
  ++known_;
  if (outcome.status != CaseStatus::Done) ++not_done_;
  if (!outcome.error.empty()) errors_[outcome.number] = outcome.error;
  for (std::size_t i = 0; i < outcome.values.size(); ++i) {
    const auto& [name, value] = outcome.values[i];
    const auto [found, is_new] = by_name_.try_emplace(name, columns_.size());
    if (is_new) columns_.push_back({name, outcome.number, i, {}});
    Column& column = columns_[found->second];
    if (outcome.number < column.first_case) column.first_case = outcome.number, column.first_position = i;
    column.cells.emplace_back(outcome.number, value);
  }
}

std::vector<FileColumn> ResultTable::case_columns() const {
  const std::uint64_t rows = plan_.cases;
  FileColumn number = number_column("case", rows), group = number_column("group", rows), run = text_column("run", rows),
             status = text_column("status", rows), exit_status = number_column("exit_status", rows),
             signal = number_column("signal", rows), error = text_column("error", rows);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const CaseGroup& of = group_of(plan_, row);
    const State& state = states_[row];
    number.numbers[row] = static_cast<double>(row);
    group.numbers[row] = static_cast<double>(&of - plan_.groups.data()) + 1.0;
    run.texts[row] = of.run->name;
    status.texts[row] = name_of(state.status);
    if (state.exit_status >= 0) exit_status.numbers[row] = state.exit_status;
    if (state.signal > 0) signal.numbers[row] = state.signal;
  }
  for (const auto& [row, sentence] : errors_) error.texts[row] = sentence;
  std::vector<FileColumn> columns;
  for (FileColumn* column : {&number, &group, &run, &status, &exit_status, &signal, &error})
    columns.push_back(std::move(*column));
  return columns;
}

std::vector<FileColumn> ResultTable::parameter_columns() const {
  std::vector<FileColumn> columns;
  for (const CaseGroup& group : plan_.groups)
    for (std::size_t i = 0; i < group.lists.size(); ++i) {
      const ParameterRow& row = *group.lists[i].row;
      auto column = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == row.column; });
      if (column == columns.end()) {
        const std::string name(row.column);
        columns.push_back(is_number(row) ? number_column(name, plan_.cases) : text_column(name, plan_.cases));
        column = std::prev(columns.end());
      }
      for (std::uint64_t number = group.first; number < group.first + group.count; ++number) {
        const PlanValue& value = *values_of(group, number)[i];
        if (column->is_text)
          column->texts[number] = std::get<std::string>(value);
        else
          column->numbers[number] = std::get<double>(value);
      }
    }
  return columns;
}

std::vector<ResultTable::Column> ResultTable::sorted_columns() const {
  std::vector<Column> sorted = columns_;
  std::sort(sorted.begin(), sorted.end(), [](const Column& a, const Column& b) {
    return std::pair(a.first_case, a.first_position) < std::pair(b.first_case, b.first_position);
  });
  for (Column& column : sorted) std::sort(column.cells.begin(), column.cells.end());
  return sorted;
}

std::string ResultTable::hdf5() const {
  ColumnFile file{std::string(kSweepMark)};
  file.add_attribute("format", "trocar-sweep-1");
  file.add_attribute("version", TROCAR_VERSION);
  for (const FileColumn& column : case_columns()) file.add(column);
  for (const FileColumn& column : parameter_columns()) file.add(column);
  for (const Column& column : sorted_columns()) {
    FileColumn numbers = number_column(column.name, plan_.cases);
    for (const auto& [row, value] : column.cells) numbers.numbers[row] = value;
    file.add(numbers);
  }
  return file.bytes();
}

void ResultTable::write_csv(std::ostream& out) const {
  std::vector<FileColumn> first = case_columns();
  for (FileColumn& column : parameter_columns()) first.push_back(std::move(column));
  const std::vector<Column> results = sorted_columns();
  std::vector<std::size_t> next(results.size());  // cell of each column
  std::string line;
  for (const FileColumn& column : first) line += (line.empty() ? "" : ",") + csv_text(column.name);
  for (const Column& column : results) line += "," + csv_text(column.name);
  out << line << "\n";
  for (std::uint64_t row = 0; row < plan_.cases; ++row) {
    line.clear();
    for (const FileColumn& column : first) line += (&column == first.data() ? "" : ",") + cell_of(column, row);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto& cells = results[i].cells;
      line += ',';
      if (next[i] < cells.size() && cells[next[i]].first == row) line += number_cell(cells[next[i]++].second);
    }
    out << line << "\n";
  }
}

void ResultTable::write_times(std::ostream& out) const {
  out << "case,run,seconds,cpu_seconds,memory_mib\n";
  for (std::uint64_t row = 0; row < plan_.cases; ++row)
    out << fmt::format("{},{},{:.3f},{:.3f},{:.1f}\n", row, group_of(plan_, row).run->name, states_[row].seconds,
                       states_[row].cpu_seconds, states_[row].memory_mib);
}

std::string ResultTable::cost_text() const {
  std::string text = fmt::format("{:<10} {:>8} {:>8} {:>12} {:>12} {:>12} {:>10}\n", "run", "cases", "not done",
                                 "mean s", "longest s", "processor s", "MiB");
  for (const RunRow& run : run_table()) {
    std::uint64_t cases = 0, failed = 0;
    double seconds = 0.0, longest = 0.0, cpu = 0.0, memory = 0.0;
    for (const CaseGroup& group : plan_.groups) {
      if (group.run != &run) continue;
      for (std::uint64_t row = group.first; row < group.first + group.count; ++row) {
        const State& state = states_[row];
        ++cases, seconds += state.seconds, cpu += state.cpu_seconds;
        failed += state.status == CaseStatus::Done ? 0 : 1;
        longest = std::max<double>(longest, state.seconds), memory = std::max<double>(memory, state.memory_mib);
      }
    }
    if (cases > 0)
      text += fmt::format("{:<10} {:>8} {:>8} {:>12.3f} {:>12.3f} {:>12.3f} {:>10.0f}\n", run.name, cases, failed,
                          seconds / static_cast<double>(cases), longest, cpu / static_cast<double>(cases), memory);
  }
  return text;
}

}  // namespace trocar
