#include "gpu_collision/compute_blocks.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace trocar {
namespace {

// Returns three times the centre of a face; only the order of the centres along an axis matters.
glm::vec3 centre_of(const MeshView& mesh, std::uint32_t face) {
  const glm::uvec3& corner = mesh.faces[face];
  return mesh.positions[corner.x] + mesh.positions[corner.y] + mesh.positions[corner.z];
}

int longest_axis(std::span<const std::uint32_t> faces, std::span<const glm::vec3> centres) {
  glm::vec3 low = centres[faces[0]], high = low;
  for (const std::uint32_t face : faces) {
    low = glm::min(low, centres[face]);
    high = glm::max(high, centres[face]);
  }
  const glm::vec3 size = high - low;
  if (size.x >= size.y && size.x >= size.z) return 0;
  return size.y >= size.z ? 1 : 2;
}

// Halves the set along its longest axis, in whole blocks, down to single blocks.
void order_in_blocks(std::span<std::uint32_t> faces, std::span<const glm::vec3> centres) {
  if (faces.size() <= kBlockFaces) {
    std::sort(faces.begin(), faces.end());
    return;
  }
  const std::size_t blocks = (faces.size() + kBlockFaces - 1) / kBlockFaces;
  const std::size_t half = blocks / 2 * kBlockFaces;
  const int axis = longest_axis(faces, centres);
  std::nth_element(faces.begin(), faces.begin() + static_cast<std::ptrdiff_t>(half), faces.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const float at_a = centres[a][axis], at_b = centres[b][axis];
                     return at_a != at_b ? at_a < at_b : a < b;
                   });
  order_in_blocks(faces.first(half), centres);
  order_in_blocks(faces.subspan(half), centres);
}

}  // namespace

FaceBlocks make_face_blocks(const MeshView& mesh) {
  FaceBlocks blocks;
  const auto face_count = static_cast<std::uint32_t>(mesh.faces.size());
  std::vector<glm::vec3> centres(face_count);
  for (std::uint32_t face = 0; face < face_count; ++face) centres[face] = centre_of(mesh, face);
  blocks.face_ids.resize(face_count);
  std::iota(blocks.face_ids.begin(), blocks.face_ids.end(), 0u);
  order_in_blocks(blocks.face_ids, centres);

  blocks.corners.reserve(3 * std::size_t{face_count});
  std::vector<std::uint32_t> block_of(mesh.positions.size(), 0);  // last block that lists the vertex, + 1
  for (std::uint32_t slot = 0; slot < face_count; ++slot) {
    const std::uint32_t block = slot / kBlockFaces;
    const glm::uvec3& corner = mesh.faces[blocks.face_ids[slot]];
    for (const std::uint32_t vertex : {corner.x, corner.y, corner.z}) {
      blocks.corners.push_back(vertex);
      if (block_of[vertex] == block + 1) continue;
      block_of[vertex] = block + 1;
      blocks.vertices.push_back(vertex);
    }
    if (slot + 1 == face_count || (slot + 1) % kBlockFaces == 0) {
      blocks.ends.push_back(static_cast<std::uint32_t>(blocks.vertices.size()));
    }
  }
  return blocks;
}

}  // namespace trocar
