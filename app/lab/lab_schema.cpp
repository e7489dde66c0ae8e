#include "app/lab/lab_schema.hpp"

namespace trocar {
namespace {

// `standing` sums up the attempts of a person at a level of a task, so that a view of a cohort reads no attempts.
constexpr const char* kVersion1[] = {
    "CREATE TABLE person (id TEXT PRIMARY KEY, name TEXT NOT NULL, added DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE attempt (key TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES person (id), station TEXT NOT NULL, "
    "scene TEXT NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, kind TEXT NOT NULL, ending TEXT NOT NULL, "
    "devices TEXT NOT NULL, started DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION NOT NULL, "
    "score DOUBLE PRECISION, critical INTEGER NOT NULL, version TEXT NOT NULL, recording TEXT NOT NULL, "
    "metrics TEXT NOT NULL)",
    "CREATE INDEX attempt_of_person ON attempt (person, started)",
    "CREATE INDEX attempt_of_task ON attempt (scene, level, started)",
    "CREATE INDEX attempt_by_date ON attempt (started)",
    "CREATE TABLE standing (person TEXT NOT NULL REFERENCES person (id), scene TEXT NOT NULL, level INTEGER NOT NULL, "
    "attempts INTEGER NOT NULL, best DOUBLE PRECISION, last DOUBLE PRECISION, last_started DOUBLE PRECISION NOT NULL, "
    "PRIMARY KEY (person, scene, level))",
};

constexpr Migration kMigrations[] = {kVersion1};

}  // namespace

std::span<const Migration> lab_migrations() { return kMigrations; }

}  // namespace trocar
