// Defines the errors that the user reads. Each is one sentence that says what is wrong, where, and what to do.
// InputError ends the program with status 2 (bad input or usage), RunError with status 1 (the run itself failed).
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
