// The address of the lab's database: the path of a SQLite file or the address of a PostgreSQL server. Decides what is
// shown of it: no form of a password reaches a message, a window or a log.
// Tested in tests/app/lab_attempt_test.cpp
#pragma once

#include <string>
#include <vector>

namespace trocar {

enum class LabEngine { Sqlite, Postgresql };

struct LabAddress {
  LabEngine engine = LabEngine::Sqlite;
  std::string target;  // path of a file, or the address of a server
};
// Throws InputError for an address of another kind, and for a text that looks like a server's address but is not
// written as postgresql://USER@HOST/NAME.
LabAddress lab_address(const std::string& text);

// Returns the address for messages. Of a server: user, host, port and database; "postgresql://***" when one of these
// may be a part of a password that was written without %XX.
std::string without_password(const std::string& address);
// Returns a text in which every address of a server is replaced by what without_password() shows of it.
std::string without_passwords(const std::string& text);

// What a connection to a server needs.
struct ServerParameters {
  std::string text;                  // "key=value key=value"
  std::vector<std::string> secrets;  // values that no message may contain
};
// Throws InputError for an address that the PostgreSQL library does not understand, or with a value that cannot be
// passed on. Adds limits of the time to connect and to find a lost connection, unless the address has them.
ServerParameters server_parameters(const std::string& address);

}  // namespace trocar
