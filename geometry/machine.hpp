// Chooses the vector instructions of the kernels: the best that the processor supports, limited by the environment
// variable TROCAR_INSTRUCTIONS (plain, avx2, avx512). Every choice gives the same bits. The variable is for tests of
// this equality and for measurements. Tested in tests/same_bits/rooms_test.cpp
#pragma once

namespace trocar {

enum class Instructions { Plain, Avx2, Avx512 };

// Returns the choice; reads the environment once. Throws InputError when TROCAR_INSTRUCTIONS has any other value.
Instructions instructions();
// Returns the best instructions that the processor supports.
Instructions best_instructions();

}  // namespace trocar
