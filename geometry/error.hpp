// Errors that reach the user: one sentence saying what is wrong, where, and what to do about it.
// InputError ends the program with status 2 (the user's input or usage), RunError with status 1 (the run itself
// failed).
#pragma once

#include <stdexcept>

namespace trocar {

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace trocar
