// The grain of tissue as a small repeating volume, read by the shaders in place of computing noise for every fragment:
// value noise on a lattice, smoothed, red, green and blue with a finer octave, alpha its own smooth field whose middle
// (0.5) is where vessels run. Deterministic.   Tested in tests/app/view_parts_test.cpp
#pragma once

#include <cstdint>
#include <vector>

namespace trocar {

constexpr int kNoiseSide = 64;  // texels

std::vector<std::uint8_t> make_noise_volume();  // [z][y][x][rgba]

}  // namespace trocar
