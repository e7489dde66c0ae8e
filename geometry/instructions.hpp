// Which vector instructions the kernels use: the best that the processor has, limited by the environment variable
// TROCAR_INSTRUCTIONS (plain, avx2, avx512). All give the same bits; the variable exists to test that and to measure.
// Tested in tests/same_bits/rooms_test.cpp
#pragma once

namespace trocar {

enum class Instructions { Plain, Avx2, Avx512 };

// Reads the environment once. Error: InputError when TROCAR_INSTRUCTIONS is set to anything else.
Instructions instructions();
// What the processor has.
Instructions best_instructions();

}  // namespace trocar
