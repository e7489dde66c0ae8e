// Computes the grain of tissue as a small repeating volume of smoothed value noise on a lattice, so that shaders need
// not compute noise for every fragment. Red, green and blue have a finer octave; alpha is a separate smooth field.
// Deterministic.   Tested in tests/app/view_parts_test.cpp
#pragma once

#include <cstdint>
#include <vector>

namespace trocar {

constexpr int kNoiseSide = 64;  // texels

std::vector<std::uint8_t> make_noise_volume();  // [z][y][x][rgba]

}  // namespace trocar
