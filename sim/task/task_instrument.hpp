// Tells which instrument a task is about.   Tested in tests/app/practice_test.cpp
#pragma once

#include <cstddef>

#include "sim/scene/scene.hpp"

namespace trocar {

// Returns the number of the instrument in the scene that a trainee takes first: the task's, or of an operation that of
// the first step which names one; otherwise the first. The number of instruments stands for the scope.
std::size_t instrument_of_task(const Scene& scene);

}  // namespace trocar
