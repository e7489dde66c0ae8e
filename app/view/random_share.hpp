// A random number for every lattice point or pair of vertices: an integer hash, the same on every machine, for grain
// and vessels that the picture alone shows.   Tested in tests/app/view_parts_test.cpp
#pragma once

#include <cstdint>

namespace trocar {

// Returns a number 0 .. 1, without 1.
inline float random_share(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t seed) {
  std::uint32_t n = x * 1597334673u ^ y * 3812015801u ^ z * 2798796415u ^ seed * 2246822519u;
  n = (n ^ (n >> 15)) * 2246822519u;
  n = (n ^ (n >> 13)) * 3266489917u;
  return static_cast<float>((n ^ (n >> 16)) >> 8) * (1.f / 16777216.f);
}

}  // namespace trocar
