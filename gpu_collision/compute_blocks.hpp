// Groups faces into blocks of neighbours, for backends that reject a whole block at once. The blocks are made at
// rebuild and do not change with later positions: a block that spreads out costs time, not correctness.   Tested in
// tests/gpu_collision/compute_test.cpp
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Faces of a block: one per invocation of a workgroup.
constexpr std::uint32_t kBlockFaces = 64;

struct FaceBlocks {
  std::vector<std::uint32_t>
      face_ids;  // [slot] face number; slots 64 b .. 64 b + 63 are block b, only the last is short
  std::vector<std::uint32_t> corners;   // [3 slot + corner] vertex number
  std::vector<std::uint32_t> vertices;  // vertex numbers, block after block, each once per block
  std::vector<std::uint32_t> ends;      // [block] one past the block's last entry in `vertices`
};

FaceBlocks make_face_blocks(const MeshView& mesh);

}  // namespace trocar
