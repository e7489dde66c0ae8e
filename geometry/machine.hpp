// Chooses the vector instructions of the kernels: the best that the processor supports, limited by the environment
// variable TROCAR_INSTRUCTIONS (plain, avx2, avx512). Every choice gives the same bits. The variable is for tests of
// this equality and for measurements. Also the clock with which we measure. Tested in tests/same_bits/rooms_test.cpp
#pragma once

#include <chrono>

namespace trocar {

enum class Instructions { Plain, Avx2, Avx512 };

// Returns the choice; reads the environment once. Throws InputError when TROCAR_INSTRUCTIONS has any other value.
Instructions instructions();
// Returns the best instructions that the processor supports.
Instructions best_instructions();

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {  // ms of wall clock
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace trocar
