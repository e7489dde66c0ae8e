// Groups faces into blocks of neighbours, for backends that reject a whole block at once. New positions do not change
// the blocks: a block that spreads out costs time, not correctness. A change of faces changes them locally: blocks that
// lose or gain faces are divided again. Tested in tests/gpu_collision/compute_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Faces of a block: one per invocation of a workgroup.
constexpr std::uint32_t kBlockFaces = 64;

struct FaceBlocks {
  // Slots 64 b .. 64 b + 63 are block b. A block that is not full repeats its last face.
  std::vector<std::uint32_t> face_of_slot;  // [slot] face number
  std::vector<std::uint32_t> corners;       // [3 slot + corner] vertex number
  std::vector<std::uint8_t> filled;         // [block] number of its faces, 1 to 64
  std::vector<std::uint32_t> ranges;        // [2 block], [2 block + 1]: begin and end of its vertices in `vertices`
  // Vertex numbers, each once per block. After a change there are unused entries between the ranges.
  std::vector<std::uint32_t> vertices;
  std::vector<std::uint32_t> slot_of_face;  // [face] the first slot
  std::vector<std::uint32_t> block_of;      // [vertex] a block that listed it, perhaps before a change; kNoBlock: none
  std::vector<std::uint32_t> listed_by;     // [vertex] scratch buffer: the last block that listed it, + 1

  std::uint32_t block_count() const { return static_cast<std::uint32_t>(filled.size()); }
};
constexpr std::uint32_t kNoBlock = 0xffff'ffffu;

FaceBlocks make_face_blocks(const MeshView& mesh);

// Applies a change as TouchQuery::change_faces() defines it, and tells which parts of the arrays are new.
class BlockChange {
 public:
  // Returns false when the blocks must be made again instead: when the change is large or too many blocks are short.
  bool apply(const MeshView& mesh, std::span<const FaceId> removed, FaceBlocks& blocks);

  // The results of apply(). Blocks with new slots, ascending; the first of `vertices` that is new.
  std::span<const std::uint32_t> changed() const { return blocks_; }
  std::uint32_t first_vertex() const { return first_vertex_; }
  std::size_t memory_bytes() const;

 private:
  void mark(std::uint32_t block);
  void mark_short_neighbours(const FaceBlocks& blocks);
  void mark_blocks(const MeshView& mesh, std::span<const FaceId> removed, const FaceBlocks& blocks);
  void renumber_faces(std::span<const FaceId> removed, FaceBlocks& blocks);
  void divide(const MeshView& mesh, FaceBlocks& blocks);

  std::uint32_t first_vertex_ = 0;
  std::vector<std::uint32_t> blocks_;
  // Scratch buffers.
  std::vector<char> marked_;                  // [block]
  std::vector<std::uint32_t> faces_, order_;  // of marked blocks, and new ones
  std::vector<glm::vec3> centres_;            // [faces_]
  std::vector<std::uint32_t> after_, vertices_;
};

std::size_t memory_bytes(const FaceBlocks& blocks);

}  // namespace trocar
