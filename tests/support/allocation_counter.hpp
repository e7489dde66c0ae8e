// Counts calls of operator new in the whole test program, so that a test can check that a frame does not allocate.
// Linking allocation_counter.cpp replaces the global operators. A driver written in C is not counted; its C++ parts may
// be.
#pragma once

#include <cstdint>

namespace trocar {

// Calls of operator new so far on the calling thread; worker threads of a driver do not count.
std::uint64_t allocations_so_far();

}  // namespace trocar
