#include "app/lab/lab_schema.hpp"

#include <soci/sqlite3/soci-sqlite3.h>

namespace trocar {
namespace {

// A person's row sums up all attempts, and `standing` those at a level of a task, so that a view of a cohort reads no
// attempts. The indices are those of the views that bench/lab_views.cpp measures.
constexpr const char* kVersion1[] = {
    "CREATE TABLE person (id TEXT PRIMARY KEY, name TEXT NOT NULL, added DOUBLE PRECISION NOT NULL, "
    "attempts INTEGER NOT NULL DEFAULT 0, last_started DOUBLE PRECISION NOT NULL DEFAULT 0)",
    "CREATE INDEX person_by_date ON person (last_started)",
    "CREATE TABLE attempt (key TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES person (id), station TEXT NOT NULL, "
    "scene TEXT NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, kind TEXT NOT NULL, ending TEXT NOT NULL, "
    "devices TEXT NOT NULL, started DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION NOT NULL, "
    "score DOUBLE PRECISION, critical INTEGER NOT NULL, version TEXT NOT NULL, recording TEXT NOT NULL, "
    "metrics TEXT NOT NULL)",
    "CREATE INDEX attempt_of_person ON attempt (person, started)",
    "CREATE INDEX attempt_of_person_at_task ON attempt (person, scene, started)",
    "CREATE INDEX attempt_of_task ON attempt (scene, started)",
    "CREATE INDEX attempt_by_date ON attempt (started)",
    "CREATE TABLE standing (person TEXT NOT NULL REFERENCES person (id), scene TEXT NOT NULL, level INTEGER NOT NULL, "
    "attempts INTEGER NOT NULL, best DOUBLE PRECISION, last DOUBLE PRECISION, last_started DOUBLE PRECISION NOT NULL, "
    "PRIMARY KEY (person, scene, level))",
    "CREATE INDEX standing_of_task ON standing (scene, person)",
};

constexpr Migration kMigrations[] = {kVersion1};

void migrate(soci::session& sql, int from, int to) {
  sql << "CREATE TABLE IF NOT EXISTS lab_version (version INTEGER NOT NULL)";
  for (int version = from; version < to; ++version) {
    for (const char* statement : kMigrations[version]) sql << statement;
    const int next = version + 1;
    sql << "INSERT INTO lab_version (version) VALUES (:version)", soci::use(next);
  }
}

}  // namespace

std::span<const Migration> lab_migrations() { return kMigrations; }

void upgrade_tables(soci::session& sql, int version) {
  migrate(sql, version, static_cast<int>(std::size(kMigrations)));
}

std::set<std::string> columns_of(soci::session& sqlite) {
  const soci::rowset<std::string> rows =
      (sqlite.prepare << "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                         "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!'");
  return {rows.begin(), rows.end()};
}

std::set<std::string> lab_columns(int version) {
  soci::session memory(soci::sqlite3, "db=:memory:");
  migrate(memory, 0, version);
  return columns_of(memory);
}

}  // namespace trocar
