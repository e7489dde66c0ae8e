// Packs the positions of an organ's nodes without loss, so that a compressor halves them: tissue moves smoothly, so the
// bits of a coordinate, taken as a whole number, change by nearly the same amount from frame to frame. A packed number
// is the second difference in time of these bits, modulo 2^32, with its sign moved to the lowest bit. Each block of
// kBlockFrames frames stands alone, as if the two frames before it were zero.
// Tested in tests/sim/pack_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "sim/hdf5/h5_file.hpp"

namespace trocar {

constexpr std::size_t kBlockFrames = 120;

// Replace the bits of the coordinates of a block, `cells` numbers in each frame, by packed numbers, and back.
void pack_block(std::span<std::uint32_t> block, std::size_t cells);
void unpack_block(std::span<std::uint32_t> block, std::size_t cells);

// Reads frames of a table of packed nodes; keeps the last block.
class PackedNodesReader {
 public:
  void read(const H5Table& table, std::size_t frame, std::span<glm::vec3> nodes);

 private:
  std::size_t first_ = SIZE_MAX;      // frame at which the block begins
  std::vector<std::uint32_t> block_;  // bits of the coordinates
};

}  // namespace trocar
