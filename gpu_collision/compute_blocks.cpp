#include "gpu_collision/compute_blocks.hpp"

#include <numeric>

#include "geometry/spatial_order.hpp"

namespace trocar {
namespace {

// Returns three times the centre of a face; only the order of the centres along an axis matters.
glm::vec3 centre_of(const MeshView& mesh, std::uint32_t face) {
  const glm::uvec3& corner = mesh.faces[face];
  return mesh.positions[corner.x] + mesh.positions[corner.y] + mesh.positions[corner.z];
}

}  // namespace

FaceBlocks make_face_blocks(const MeshView& mesh) {
  FaceBlocks blocks;
  const auto face_count = static_cast<std::uint32_t>(mesh.faces.size());
  std::vector<glm::vec3> centres(face_count);
  for (std::uint32_t face = 0; face < face_count; ++face) centres[face] = centre_of(mesh, face);
  blocks.face_ids.resize(face_count);
  std::iota(blocks.face_ids.begin(), blocks.face_ids.end(), 0u);
  order_in_runs(blocks.face_ids, centres, kBlockFaces);

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
