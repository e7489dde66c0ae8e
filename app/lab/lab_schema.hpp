// The tables of the lab's database, as statements that SQLite and PostgreSQL both understand. Each entry raises the
// version by one; an entry that has been released never changes. Includes SOCI: only for .cpp files of this folder.
// Tested in tests/app/lab_database_test.cpp
#pragma once

#include <soci/soci.h>

#include <set>
#include <span>
#include <string>

namespace trocar {

using Migration = std::span<const char* const>;

// Migrations in order: the first one makes version 1 of an empty database.
std::span<const Migration> lab_migrations();

// Brings tables of this version (0: none yet) to the present one, in the caller's transaction.
void upgrade_tables(soci::session& sql, int version);

// "table.column" of the tables of a SQLite database, without SQLite's own.
std::set<std::string> columns_of(soci::session& sqlite);
// The same of our tables after this many migrations.
std::set<std::string> lab_columns(int version);

}  // namespace trocar
