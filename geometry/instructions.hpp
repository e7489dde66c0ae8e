// Which vector instructions the kernels use: the best that the processor has, or at most those that the environment
// variable TROCAR_INSTRUCTIONS names (plain, avx2, avx512). Every choice gives the same bits; the variable is for tests
// of that, and for measurements. Tested in tests/same_bits/rooms_test.cpp
#pragma once

namespace trocar {

enum class Instructions { Plain, Avx2, Avx512 };

// Read once. Error: InputError when TROCAR_INSTRUCTIONS names none of the three.
Instructions instructions();
// What the processor has.
Instructions best_instructions();

}  // namespace trocar
