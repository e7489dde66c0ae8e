#include "app/lab/lab_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <typeinfo>

#include "geometry/printable.hpp"
#include "sim/support/text.hpp"

namespace trocar::lab_rows {
namespace {

// SQLite and PostgreSQL give the same column different types.
double number_in(const soci::row& row, std::size_t column) {
  switch (row.get_properties(column).get_data_type()) {
    case soci::dt_double:
      return row.get<double>(column);
    case soci::dt_integer:
      return row.get<int>(column);
    case soci::dt_long_long:
      return static_cast<double>(row.get<long long>(column));
    case soci::dt_unsigned_long_long:
      return static_cast<double>(row.get<unsigned long long>(column));
    default:
      return std::stod(row.get<std::string>(column));
  }
}

std::uint64_t count_in(const soci::row& row, std::size_t column) {
  const double number = number_in(row, column);
  return number >= 0.0 && number < 1e15 ? static_cast<std::uint64_t>(number) : 0;
}

std::optional<double> maybe_in(const soci::row& row, std::size_t column) {
  if (row.get_indicator(column) == soci::i_null) return {};
  return number_in(row, column);
}

// A column and the type that SQLite must have stored in it.
enum class Stored { Text, Number, MaybeNumber, Count };
struct Column {
  const char* name;
  Stored stored;
};
constexpr Column kAttempt[] = {{"key", Stored::Text},       {"person", Stored::Text},    {"station", Stored::Text},
                               {"scene", Stored::Text},     {"title", Stored::Text},     {"level", Stored::Count},
                               {"kind", Stored::Text},      {"ending", Stored::Text},    {"devices", Stored::Text},
                               {"started", Stored::Number}, {"seconds", Stored::Number}, {"score", Stored::MaybeNumber},
                               {"critical", Stored::Count}, {"version", Stored::Text},   {"recording", Stored::Text},
                               {"metrics", Stored::Text}};
constexpr Column kPerson[] = {{"id", Stored::Text}, {"name", Stored::Text}, {"added", Stored::Number}};
constexpr Column kSummary[] = {{"p.id", Stored::Text},
                               {"p.name", Stored::Text},
                               {"p.added", Stored::Number},
                               {"p.attempts", Stored::Count},
                               {"p.last_started", Stored::Number}};
constexpr Column kStanding[] = {{"person", Stored::Text},        {"scene", Stored::Text},
                                {"level", Stored::Count},        {"attempts", Stored::Count},
                                {"best", Stored::MaybeNumber},   {"last", Stored::MaybeNumber},
                                {"last_started", Stored::Number}};

const char* types_of(Stored stored) {
  switch (stored) {
    case Stored::Text:
      return "('text')";
    case Stored::Number:
      return "('real', 'integer')";
    case Stored::MaybeNumber:
      return "('real', 'integer', 'null')";
    case Stored::Count:
      return "('integer')";
  }
  return "";
}

// 1, or of the first column with a value of a wrong type its number, counted from 2.
std::string sound(LabEngine engine, std::span<const Column> columns) {
  if (engine == LabEngine::Postgresql) return "1";
  std::string text = "CASE";
  for (std::size_t k = 0; k < columns.size(); ++k) {
    text += fmt::format(" WHEN typeof({}) NOT IN {}", columns[k].name, types_of(columns[k].stored));
    if (columns[k].stored == Stored::Count)
      text += fmt::format(" OR {} NOT BETWEEN -1000000000 AND 1000000000", columns[k].name);
    text += fmt::format(" THEN {}", k + 2);
  }
  return text + " ELSE 1 END";
}

std::string names(std::span<const Column> columns) {
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ", ") + std::string(column.name);
  return text;
}

// A text for the name of a row, whatever is in the column.
std::string shown(const soci::row& row, std::size_t column) {
  if (row.get_indicator(column) == soci::i_null) return "without a value";
  try {
    return "'" + printable(row.get<std::string>(column)) + "'";
  } catch (const std::exception&) {
    return "with another type";
  }
}

void require_sound(const soci::row& row, std::size_t column, std::span<const Column> columns) {
  const auto which = static_cast<std::size_t>(number_in(row, column));
  if (which > 1 && which < columns.size() + 2)
    throw RowFault(fmt::format("its {} has no value of the right type", columns[which - 2].name));
}

void require_finite(double value, const char* what) {
  if (!std::isfinite(value)) throw RowFault(fmt::format("its {} is not a number", what));
}

void require_text(const std::string& text, const char* what) {
  if (first_invalid_utf8(text) != std::string::npos || text.find('\0') != std::string::npos)
    throw RowFault(fmt::format("its {} is not valid text", what));
}

void require_name(const std::string& id) {
  if (const std::string fault = name_fault(id); !fault.empty()) throw RowFault("its id is not valid: " + fault);
}

// Runs `read`; a fault gets the name of its row.
template <class Read>
auto named(const std::string& row, Read read) {
  try {
    return read();
  } catch (const RowFault& fault) {
    throw RowFault(fmt::format("{}: {}", row, fault.what()));
  } catch (const soci::soci_error&) {
    throw RowFault(fmt::format("{}: a value is missing", row));
  } catch (const std::bad_cast&) {
    throw RowFault(fmt::format("{}: a value has a wrong type", row));
  } catch (const std::logic_error&) {
    throw RowFault(fmt::format("{}: a value is not a number", row));
  }
}

LabAttempt checked_attempt(const soci::row& row) {
  require_sound(row, std::size(kAttempt), kAttempt);
  LabAttempt a;
  const std::pair<std::size_t, std::string*> texts[] = {
      {0, &a.key},  {1, &a.person}, {2, &a.station}, {3, &a.scene},    {4, &a.title},
      {6, &a.kind}, {7, &a.ending}, {8, &a.devices}, {13, &a.version}, {14, &a.recording}};
  for (const auto& [column, text] : texts) {
    *text = row.get<std::string>(column);
    require_text(*text, kAttempt[column].name);
  }
  if (a.key.empty()) throw RowFault("its key is empty");
  if (const std::string fault = name_fault(a.person); !fault.empty())
    throw RowFault("the id of its person is not valid: " + fault);
  a.level = static_cast<int>(number_in(row, 5));
  a.started = number_in(row, 9), a.seconds = number_in(row, 10);
  a.score = maybe_in(row, 11);
  a.critical = number_in(row, 12) != 0.0;
  require_finite(a.started, "started"), require_finite(a.seconds, "seconds"),
      require_finite(a.score.value_or(0), "score");
  const std::string metrics = row.get<std::string>(15);
  try {
    if (!metrics.starts_with('{')) throw InputError("");
    a.metrics = metrics_of_json(metrics);
  } catch (const InputError&) {
    throw RowFault("its metrics are damaged");
  }
  return a;
}

Person checked_person(const soci::row& row) {
  Person person{row.get<std::string>(0), row.get<std::string>(1), number_in(row, 2)};
  require_name(person.id);
  if (printable(person.name, kLongestName) != person.name) throw RowFault("its name is not valid");
  require_finite(person.added, "added");
  return person;
}

std::string person_row(const soci::row& row) { return fmt::format("person {}", shown(row, 0)); }

}  // namespace

std::string select_attempt(LabEngine engine) {
  return fmt::format("SELECT {}, {} FROM attempt", names(kAttempt), sound(engine, kAttempt));
}

std::string select_person(LabEngine engine) {
  return fmt::format("SELECT {}, {} FROM person", names(kPerson), sound(engine, kPerson));
}

std::string select_summary(LabEngine engine) {
  return fmt::format(
      "SELECT p.id, p.name, p.added, p.attempts, (SELECT COUNT(*) FROM standing s WHERE s.person = p.id), "
      "p.last_started, {} FROM person p",
      sound(engine, kSummary));
}

std::string select_standing(LabEngine engine) {
  return fmt::format("SELECT {}, {} FROM standing", names(kStanding), sound(engine, kStanding));
}

std::string where_of(const AttemptQuery& query) {
  std::string where = query.person.empty() ? " WHERE :person = ''" : " WHERE person = :person";
  where += query.scene.empty() ? " AND :scene = ''" : " AND scene = :scene";
  return where + (query.level ? " AND level = :level" : " AND :level = 0");
}

LabAttempt attempt_of(const soci::row& row) {
  return named(fmt::format("attempt {} of person {}", shown(row, 0), shown(row, 1)),
               [&] { return checked_attempt(row); });
}

Person person_of(const soci::row& row) {
  return named(person_row(row), [&] {
    require_sound(row, std::size(kPerson), kPerson);
    return checked_person(row);
  });
}

PersonSummary summary_of(const soci::row& row) {
  return named(person_row(row), [&] {
    require_sound(row, 6, kSummary);
    PersonSummary summary{checked_person(row), count_in(row, 3), count_in(row, 4), number_in(row, 5)};
    require_finite(summary.last_started, "last_started");
    return summary;
  });
}

Standing standing_of(const soci::row& row) {
  return named(fmt::format("standing of person {} at {}", shown(row, 0), shown(row, 1)), [&] {
    require_sound(row, std::size(kStanding), kStanding);
    Standing standing{row.get<std::string>(0), row.get<std::string>(1), static_cast<int>(number_in(row, 2)),
                      count_in(row, 3),        maybe_in(row, 4),        maybe_in(row, 5),
                      number_in(row, 6)};
    require_name(standing.person);
    require_text(standing.scene, "scene");
    for (const double value : {standing.best.value_or(0), standing.last.value_or(0), standing.last_started})
      require_finite(value, "score or date");
    return standing;
  });
}

}  // namespace trocar::lab_rows
