#include "app/lab/lab_rows.hpp"

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
  return static_cast<std::uint64_t>(number_in(row, column));
}

std::optional<double> maybe_in(const soci::row& row, std::size_t column) {
  if (row.get_indicator(column) == soci::i_null) return {};
  return number_in(row, column);
}

}  // namespace

std::string where_of(const AttemptQuery& query) {
  std::string where = query.person.empty() ? " WHERE :person = ''" : " WHERE person = :person";
  where += query.scene.empty() ? " AND :scene = ''" : " AND scene = :scene";
  return where + (query.level ? " AND level = :level" : " AND :level = 0");
}

LabAttempt attempt_of(const soci::row& row) {
  LabAttempt a;
  std::string* const texts[] = {&a.key, &a.person, &a.station, &a.scene, &a.title};
  for (std::size_t k = 0; k < 5; ++k) *texts[k] = row.get<std::string>(k);
  a.level = static_cast<int>(number_in(row, 5));
  a.kind = row.get<std::string>(6), a.ending = row.get<std::string>(7), a.devices = row.get<std::string>(8);
  a.started = number_in(row, 9), a.seconds = number_in(row, 10);
  a.score = maybe_in(row, 11);
  a.critical = number_in(row, 12) != 0.0;
  a.version = row.get<std::string>(13), a.recording = row.get<std::string>(14);
  a.metrics = metrics_of_json(row.get<std::string>(15));
  return a;
}

Person person_of(const soci::row& row) { return {row.get<std::string>(0), row.get<std::string>(1), number_in(row, 2)}; }

PersonSummary summary_of(const soci::row& row) {
  return {person_of(row), count_in(row, 3), count_in(row, 4), number_in(row, 5)};
}

Standing standing_of(const soci::row& row) {
  return {row.get<std::string>(0), row.get<std::string>(1), static_cast<int>(number_in(row, 2)),
          count_in(row, 3),        maybe_in(row, 4),        maybe_in(row, 5),
          number_in(row, 6)};
}

}  // namespace trocar::lab_rows
