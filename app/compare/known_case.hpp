// Tests a backend on two triangles with a known answer: the shortest proof that it works on this machine.
// Tested in tests/app/known_case_test.cpp
#pragma once

#include <string>
#include <string_view>

#include "sim/session/cpu_backends.hpp"

namespace trocar {

// Returns one phrase that begins with "works", "WRONG" (another answer), "FAILS" (a fault) or "not available". Throws
// InputError for an unknown name.
std::string verdict_on_known_case(BackendMaker& backends, std::string_view name);

}  // namespace trocar
