// Counts the memory of vectors, for TouchQuery::memory_bytes.   Tested in tests/geometry/touch_book_test.cpp
#pragma once

#include <cstddef>

namespace trocar {

// Returns the bytes allocated by the vectors, including unused capacity; without what their elements own.
template <class... Vectors>
std::size_t held_bytes(const Vectors&... vectors) {
  return (std::size_t{0} + ... + (vectors.capacity() * sizeof(typename Vectors::value_type)));
}

}  // namespace trocar
