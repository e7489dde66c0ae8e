// Runs one shader of gpu_collision/shaders alone, on faces and planes of a test, and returns everything that it writes:
// also what the answers of the backends do not show, because the host decides uncertain faces in double. A context must
// be current. Units: metres.   Used by shader_compute_test.cpp and shader_occlusion_test.cpp
#pragma once

#include <compare>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar::shaders {

// Planes of a convex volume: inside where n.x + d >= 0. At most 8.
struct Tool {
  std::vector<glm::vec4> planes;
  float slack = 0.f;  // m; only the compute shaders read it
};

struct Faces {
  std::vector<glm::vec3> positions;    // m
  std::vector<glm::uvec3> corners;     // [slot] vertex numbers
  std::vector<std::uint32_t> numbers;  // [slot] number of the face
};

// An (item, tool) pair: item is a face or a block.
struct Pair {
  std::uint32_t item = 0, tool = 0;
  bool certain = false;
  auto operator<=>(const Pair&) const = default;
};

struct ComputeOutput {
  std::uint32_t groups[3] = {};  // dispatch size that compute_cull counts
  std::uint32_t records = 0;     // number of records that compute_faces counts
  std::uint32_t call_done = 0;
  std::vector<Pair> pairs;        // sorted
  std::size_t wrong_corners = 0;  // records whose corners are not those of the face
  bool counters_reset = false;    // all counters are 0 afterwards
};

// compute_faces.comp on all faces. `call`: number of the call. `capacity`: length of the record array.
ComputeOutput run_all_faces(const Faces& faces, std::span<const Tool> tools, std::uint32_t call, std::size_t capacity);
// compute_faces.comp on these (block, tool) pairs.
ComputeOutput run_faces_of_work(const Faces& faces, std::span<const Tool> tools, std::span<const Pair> work,
                                std::size_t capacity);

// compute_cull.comp. blocks[b]: vertex numbers of block b.
ComputeOutput run_cull(std::span<const glm::vec3> positions, std::span<const std::vector<std::uint32_t>> blocks,
                       std::span<const Tool> tools, std::uint32_t call);

struct OcclusionOutput {
  std::vector<Pair> hits;     // sorted; (face, tool)
  std::uint32_t samples = 0;  // points that reached the pixel
};

// occlusion.vert, .geom and .frag with 1 to 4 tools.
OcclusionOutput run_occlusion(const Faces& faces, std::span<const Tool> tools);

}  // namespace trocar::shaders
