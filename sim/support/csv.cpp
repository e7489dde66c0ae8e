#include "sim/support/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr std::string_view kSeparators = ",;\t| ";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view text_of(const std::string& file, std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    throw InputError(file + ": the file is UTF-16 text; save it as UTF-8");
  return bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

struct Cell {
  std::string text;
  bool quoted = false;
};

// Takes the cell at the beginning of `rest`, up to the separator. Returns false when its quotation mark is not closed.
bool take_cell(std::string_view& rest, char separator, Cell& cell) {
  cell = {};
  while (!rest.empty() && is_blank(rest.front()) && rest.front() != separator) rest.remove_prefix(1);
  if (!rest.empty() && rest.front() == '"') {
    cell.quoted = true;
    for (rest.remove_prefix(1);; rest.remove_prefix(1)) {
      if (rest.empty()) return false;
      if (rest.starts_with("\"\""))
        rest.remove_prefix(1);
      else if (rest.front() == '"')
        break;
      cell.text += rest.front();
    }
    rest.remove_prefix(1);
  }
  const std::size_t end = std::min(rest.find(separator), rest.size());
  cell.text += trimmed(rest.substr(0, end));
  if (cell.quoted) cell.text = trimmed(cell.text);
  rest.remove_prefix(end);
  return true;
}

// Splits a line. Returns false when a quotation mark is not closed. Between spaces there are no empty cells.
bool split_line(std::string_view line, char separator, std::vector<Cell>& cells) {
  cells.clear();
  std::string_view rest = separator == ' ' ? trimmed(line) : line;
  for (Cell cell;;) {
    if (!take_cell(rest, separator, cell)) return false;
    cells.push_back(cell);
    if (rest.empty()) return true;
    rest.remove_prefix(1);
    while (separator == ' ' && !rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  }
}

}  // namespace

CsvReader::CsvReader(std::string file, std::string_view text, const CsvFormat& format)
    : file_(std::move(file)), lines_(text_of(file_, text)), format_(format) {
  bool commented = false;
  for (std::string_view line; next_line(line);) {
    const std::string_view words = trimmed(line);
    if (words.starts_with('#')) {
      if (!commented) commented = take_commented_header(words.substr(1));
      continue;
    }
    const std::string_view hint =
        words.starts_with('"') && words.ends_with('"') ? words.substr(1, words.size() - 2) : line;
    if (hint.size() > 4 && std::ranges::equal(hint.substr(0, 4), std::string_view("sep="),
                                              [](char a, char b) { return (a | 0x20) == (b | 0x20); })) {
      separator_ = hint[4];
      if (kSeparators.find(separator_) == kSeparators.npos)
        fail("the cells are separated by '" + printable(hint.substr(4, 1)) + "'; use a comma, a semicolon or a tab");
      continue;
    }
    if (separator_ == '\0' || !commented) choose_separator(line);
    std::vector<std::string> cells = split(line);
    const bool names = std::ranges::any_of(cells, [&](const std::string& cell) {
      return std::ranges::find(format_.columns, cell) != format_.columns.end();
    });
    if (commented && !names) {
      waiting_ = line;
      return;
    }
    header_ = std::move(cells);
    header_line_ = lines_.number();
    take_row_names();
    return;
  }
}

// Statistics programs may write the names of rows in quotation marks, in a column without a name.
void CsvReader::take_row_names() {
  const bool quoted_header = std::ranges::find(quoted_, false) == quoted_.end();
  if (!next_row_line(waiting_)) return;
  std::vector<Cell> cells;
  if (quoted_header && split_line(waiting_, separator_, cells) && cells.size() == header_.size() + 1 &&
      cells.front().quoted && !cells[1].quoted)
    header_.insert(header_.begin(), std::string());
}

void CsvReader::fail(const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", file_, lines_.number(), what));
}

// Returns the next line that is not empty.
bool CsvReader::next_line(std::string_view& line) {
  while (lines_.next(line)) {
    if (line.size() > format_.longest_line)
      fail(fmt::format("the line has {} bytes, more than the {} allowed; check that the file is a {}", line.size(),
                       format_.longest_line, format_.what));
    if (!trimmed(line).empty()) return true;
  }
  return false;
}

// Returns the next line that is neither empty nor a comment.
bool CsvReader::next_row_line(std::string_view& line) {
  while (next_line(line))
    if (!trimmed(line).starts_with('#')) return true;
  line = {};
  return false;
}

// Takes the separator with which the header has most of the columns.
void CsvReader::choose_separator(std::string_view line) {
  if (separator_ != '\0') return;
  std::ptrdiff_t most = -1;
  std::vector<Cell> cells;
  for (const char separator : kSeparators) {
    if (!split_line(line, separator, cells)) continue;
    const auto known = std::ranges::count_if(cells, [&](const Cell& cell) {
      return std::ranges::find(format_.columns, cell.text) != format_.columns.end();
    });
    if (known > most) most = known, separator_ = separator;
  }
  if (separator_ == '\0') separator_ = ',';
}

std::vector<std::string> CsvReader::split(std::string_view line) {
  std::vector<Cell> cells;
  if (!split_line(line, separator_, cells)) fail("a quotation mark is not closed; close it, or remove it");
  std::vector<std::string> texts;
  quoted_.clear();
  for (Cell& cell : cells) {
    texts.push_back(std::move(cell.text));
    quoted_.push_back(cell.quoted);
  }
  return texts;
}

// Some programs write the header as a comment.
bool CsvReader::take_commented_header(std::string_view line) {
  const char before = separator_;
  choose_separator(line);
  std::vector<Cell> cells;
  std::vector<std::string> names;
  if (split_line(line, separator_, cells))
    for (const Cell& cell : cells) names.push_back(cell.text);
  const bool complete = std::ranges::all_of(format_.columns.first(format_.required), [&](std::string_view column) {
    return std::ranges::find(names, column) != names.end();
  });
  if (!complete) {
    separator_ = before;
    return false;
  }
  header_ = std::move(names);
  header_line_ = lines_.number();
  return true;
}

bool CsvReader::next_row() {
  std::string_view line = waiting_;
  waiting_ = {};
  if (line.empty() && !next_row_line(line)) return false;
  cells_ = split(line);
  for (std::size_t cell = header_.size(); cell < cells_.size(); ++cell)
    if (!cells_[cell].empty())
      fail(fmt::format("the row has {} cells, but the header has {}; {}", cells_.size(), header_.size(),
                       separator_ == ',' ? "if its numbers have decimal commas, separate the cells with semicolons"
                                         : "a name for each column is needed, also for the names of rows"));
  return true;
}

double CsvReader::number(std::size_t cell, std::string_view column) {
  std::string text = cells_.at(cell);
  const auto refuse = [&](const char* what) {
    fail(fmt::format("'{}' in column {} {}", printable(cells_[cell]), column, what));
  };
  const std::size_t comma = text.find(','), point = text.find('.');
  if (comma != text.npos) {
    if (point != text.npos || text.find(',', comma + 1) != text.npos)
      refuse("has commas that may group digits; write it without them");
    if (separator_ == ',') refuse("has a comma in a table whose cells are separated by commas; write a decimal point");
    text[comma] = '.';
  }
  if (const char mark = comma != text.npos ? ',' : point != text.npos ? '.' : '\0'; mark != '\0') {
    if (decimal_ == '\0') decimal_ = mark, decimal_line_ = lines_.number();
    if (decimal_ != mark)
      refuse(fmt::format("has a decimal {}, but line {} has decimal {}; use one of them",
                         mark == '.' ? "point" : "comma", decimal_line_, mark == '.' ? "commas" : "points")
                 .c_str());
  }
  std::string_view digits = text;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    refuse("is not a finite number; correct or remove the row");
  return value;
}

}  // namespace trocar
