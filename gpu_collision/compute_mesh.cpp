#include "gpu_collision/compute_mesh.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

constexpr std::size_t kNumber = sizeof(std::uint32_t), kBlock = 3 * kBlockFaces * kNumber;  // bytes

void write(gl::TexelBuffer& texture, const std::vector<std::uint32_t>& values, std::size_t first, std::size_t last) {
  texture.write(reinterpret_cast<const std::byte*>(values.data()), first * kNumber, (last - first) * kNumber);
}

}  // namespace

ComputeMesh::ComputeMesh() : corners_(GL_R32UI), block_vertices_(GL_R32UI), block_ranges_(GL_R32UI) {}

void ComputeMesh::rebuild(const MeshView& mesh) {
  blocks_ = make_face_blocks(mesh);
  write(corners_, blocks_.corners, 0, blocks_.corners.size());
  write(block_vertices_, blocks_.vertices, 0, blocks_.vertices.size());
  write(block_ranges_, blocks_.ranges, 0, blocks_.ranges.size());
}

bool ComputeMesh::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  return change_.apply(mesh, removed, blocks_);
}

// The corners are written from the last block down: if the buffer must grow, that write uploads everything.
void ComputeMesh::upload_change() {
  const std::span<const std::uint32_t> changed = change_.changed();
  for (std::size_t k = changed.size(); k-- > 0;)
    corners_.write(reinterpret_cast<const std::byte*>(blocks_.corners.data()), changed[k] * kBlock, kBlock);
  write(block_vertices_, blocks_.vertices, change_.first_vertex(), blocks_.vertices.size());
  write(block_ranges_, blocks_.ranges, 0, blocks_.ranges.size());
}

std::size_t ComputeMesh::memory_bytes() const {
  return corners_.bytes() + block_vertices_.bytes() + block_ranges_.bytes() + trocar::memory_bytes(blocks_) +
         change_.memory_bytes();
}

}  // namespace trocar
