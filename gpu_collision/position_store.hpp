// Stores the organ for `select` and `occlusion`: positions and faces in host memory, where hits are decided, and the
// positions again in a GL buffer from which the renderer draws. Units: metres.
// Tested through tests/gpu_collision/drawn_query_test.cpp
#pragma once

#include "gpu_collision/gl_objects.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::gl {

class PositionStore {
 public:
  PositionStore() : buffer_(make_buffer()) {}

  void rebuild(const MeshView& mesh);
  // Copies the positions to both stores; allocates nothing. There must be as many as the mesh has.
  void update(std::span<const glm::vec3> positions);

  MeshView view() const { return mesh_.view(); }
  Name buffer() const { return buffer_.name(); }
  std::size_t memory_bytes() const;

 private:
  TriangleMesh mesh_;
  Buffer buffer_;  // [vertex] vec3, tightly packed
};

// Fills `buffer` with `bytes` of `data`, giving it new storage; leaves bindings unchanged.
void fill_buffer(const Buffer& buffer, const void* data, std::size_t bytes);

}  // namespace trocar::gl
