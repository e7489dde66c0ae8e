// The tables of the lab's database, as statements that SQLite and PostgreSQL both understand. Each entry raises the
// version by one; an entry that has been released never changes.   Tested in tests/app/lab_database_test.cpp
#pragma once

#include <span>

namespace trocar {

using Migration = std::span<const char* const>;

// Migrations in order: the first one makes version 1 of an empty database.
std::span<const Migration> lab_migrations();

}  // namespace trocar
