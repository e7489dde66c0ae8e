// Holds the faces of `compute` in blocks, on the host and in buffers on the GPU. A change of faces uploads only what it
// changes. The OpenGL context must be current.   Tested through tests/gpu_collision/compute_test.cpp
#pragma once

#include <array>

#include "gpu_collision/compute_blocks.hpp"
#include "gpu_collision/compute_transfer.hpp"

namespace trocar {

class ComputeMesh {
 public:
  ComputeMesh();
  void clear() { blocks_ = {}; }  // on the host
  void rebuild(const MeshView& mesh);
  // Applies a change as TouchQuery::change_faces() defines it. Returns false when the faces must be rebuilt instead.
  bool change_faces(const MeshView& mesh, std::span<const FaceId> removed);
  // Uploads the change. Two calls, because the change may turn out to be too large for the GPU.
  void upload_change();

  std::uint32_t block_count() const { return blocks_.block_count(); }
  std::span<const std::uint32_t> face_of_slot() const { return blocks_.face_of_slot; }
  // The textures that the shaders read: vertices and ranges of the blocks, corners of the faces.
  std::array<gl::Name, 3> textures() const {
    return {block_vertices_.texture(), block_ranges_.texture(), corners_.texture()};
  }
  std::size_t memory_bytes() const;

 private:
  FaceBlocks blocks_;
  BlockChange change_;
  gl::TexelBuffer corners_, block_vertices_, block_ranges_;
};

}  // namespace trocar
