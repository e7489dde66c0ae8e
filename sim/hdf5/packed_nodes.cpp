#include "sim/hdf5/packed_nodes.hpp"

#include <algorithm>
#include <cstring>

namespace trocar {
namespace {

// A signed number as an unsigned one that is small when it is: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
std::uint32_t with_sign_below(std::uint32_t d) { return (d << 1) ^ (d >> 31 ? ~0u : 0u); }
std::uint32_t with_sign_above(std::uint32_t z) { return (z >> 1) ^ (z & 1u ? ~0u : 0u); }

}  // namespace

void pack_block(std::span<std::uint32_t> block, std::size_t cells) {
  for (std::size_t k = block.size(); k-- > 0;) {
    const std::uint32_t before = k >= cells ? block[k - cells] : 0, earlier = k >= 2 * cells ? block[k - 2 * cells] : 0;
    block[k] = with_sign_below(block[k] - 2 * before + earlier);
  }
}

void unpack_block(std::span<std::uint32_t> block, std::size_t cells) {
  for (std::size_t k = 0; k < block.size(); ++k) {
    const std::uint32_t before = k >= cells ? block[k - cells] : 0, earlier = k >= 2 * cells ? block[k - 2 * cells] : 0;
    block[k] = with_sign_above(block[k]) + 2 * before - earlier;
  }
}

void PackedNodesReader::read(const H5Table& table, std::size_t frame, std::span<glm::vec3> nodes) {
  const std::size_t first = frame - frame % kBlockFrames, cells = table.row_cells();
  if (first != first_) {
    first_ = SIZE_MAX;  // while reading can fail
    block_.resize(std::min<std::size_t>(kBlockFrames, table.rows() - first) * cells);
    table.read(first, std::as_writable_bytes(std::span(block_)));
    unpack_block(block_, cells);
    first_ = first;
  }
  std::memcpy(nodes.data(), &block_[(frame - first) * cells], nodes.size_bytes());
}

}  // namespace trocar
