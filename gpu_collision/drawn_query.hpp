// What the two backends that draw, `select` and `occlusion`, share: the target that they draw into, the stored organ,
// and how the hardware's candidates become the answer: GL's unordered superset in float becomes the sorted touch list,
// each face decided in double. Units: metres. Checked against the reference in tests/gpu_collision/query_test.cpp
#pragma once

#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/refine.hpp"
#include "geometry/tool_volume.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::gl {

// Provides a framebuffer of one pixel, never shown, into which `select` and `occlusion` draw. Off-screen contexts have
// no framebuffer of their own, and the framebuffer of a window may be hidden or larger than needed.

void delete_framebuffer(Name name);   // 0 is ignored; never throws
void delete_renderbuffer(Name name);  // 0 is ignored; never throws

class OnePixelTarget {
 public:
  // Throws RunError when the driver rejects the framebuffer. Leaves the bindings unchanged.
  OnePixelTarget();
  Name framebuffer() const { return framebuffer_.name(); }  // its OpenGL name

 private:
  Owned<delete_framebuffer> framebuffer_;
  Owned<delete_renderbuffer> colour_;
};

// Stores the organ for `select` and `occlusion`: positions and faces in host memory, where hits are decided, and the
// positions again in a GL buffer from which the renderer draws.
class PositionStore {
 public:
  PositionStore() : buffer_(make_buffer()) {}  // no vertices

  void rebuild(const MeshView& mesh);  // copies [vertex] m and [face]; allocates
  // Copies the positions, [vertex] m, to both stores; allocates nothing. There must be as many as the mesh has.
  void update(std::span<const glm::vec3> positions);

  MeshView view() const { return mesh_.view(); }  // [vertex] m, [face]: our copies
  Name buffer() const { return buffer_.name(); }  // [vertex] vec3 floats, m
  std::size_t memory_bytes() const;               // host and GPU

 private:
  TriangleMesh mesh_;
  Buffer buffer_;  // [vertex] vec3, tightly packed
};

// Fills `buffer` with `bytes` of `data`, giving it new storage; leaves bindings unchanged.
void fill_buffer(const Buffer& buffer, const void* data, std::size_t bytes);

}  // namespace trocar::gl

namespace trocar {

// Decides the next tool's faces and appends them to `collector`. `candidates`, [candidate], holds every touched face
// and may hold others and duplicates; sorts it in place. Returns false when one names a face that does not exist.
bool decide_candidates(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::vector<FaceId>& candidates,
                       TouchCollector& collector);

// Returns the distance beyond the volume's planes within which GL must accept faces, so that rounding loses no touched
// face, m. `scale`: the largest coordinate or plane offset in the computation, in absolute value, m.
double candidate_margin(double scale);

}  // namespace trocar
