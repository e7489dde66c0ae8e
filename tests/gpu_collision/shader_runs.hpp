// Runs one shader of gpu_collision/shaders alone, on faces and planes of a test, and returns everything that it writes:
// also what the answers of the backends do not show, because the host decides uncertain faces in double. A context must
// be current. Units: metres.   Used by shader_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "tests/geometry/random_steps.hpp"

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

// Makes random convex volumes and faces of about a metre for tests of single shaders, near the origin or kilometres
// away: there the shaders' slack, which grows with the coordinates, is centimetres, and a test sees each part of it.

using test::Dice;

// Returns a volume of `planes` planes with random normals, 0.3 to 1 m from the centre. It may be unbounded.
inline Tool random_tool(Dice& dice, int planes, const glm::dvec3& centre, float slack) {
  Tool tool{{}, slack};
  for (int i = 0; i < planes; ++i) {
    const glm::vec3 normal(dice.direction());
    const double offset = dice.uniform(0.3, 1.0) - glm::dot(glm::dvec3(normal), centre);
    tool.planes.emplace_back(normal, static_cast<float>(offset));
  }
  return tool;
}

// Returns faces of all sizes about the centre, with the numbers of their slots in an order of their own.
inline Faces random_faces(Dice& dice, std::uint32_t count, const glm::dvec3& centre) {
  Faces faces;
  for (std::uint32_t face = 0; face < count; ++face) {
    const double size = dice.log_uniform(0.3, 6.0);
    const glm::dvec3 middle = centre + dice.in_cube(1.0);
    for (int k = 0; k < 3; ++k) faces.positions.emplace_back(middle + dice.in_cube(size));
    faces.corners.push_back({3 * face, 3 * face + 1, 3 * face + 2});
    faces.numbers.push_back((37 * face + 11) % count);  // a permutation when 37 does not divide the count
  }
  return faces;
}

// Adds a face of these corners, with the next number.
inline void add_face(Faces& faces, const std::array<glm::dvec3, 3>& corners) {
  const auto first = static_cast<std::uint32_t>(faces.positions.size());
  for (const glm::dvec3& corner : corners) faces.positions.emplace_back(corner);
  faces.numbers.push_back(static_cast<std::uint32_t>(faces.corners.size()));
  faces.corners.push_back({first, first + 1, first + 2});
}

// Adds `count` faces at which the answer for a tool is about to change: random faces, moved along a random direction to
// just before or just behind the change. answer_of(faces, slot) is the twin's answer. `least`, `most`: distance from
// the change, m. `longest`: the longest distance of a corner from the face's middle, m.
template <class AnswerOf>
void add_faces_at_changes(Dice& dice, int count, const glm::dvec3& centre, double longest, double least, double most,
                          AnswerOf answer_of, Faces& faces) {
  const auto answer_at = [&](const std::array<glm::dvec3, 3>& corners) {
    Faces one;
    add_face(one, corners);
    return answer_of(one, std::size_t{0});
  };
  for (int added = 0; added < count;) {
    const glm::dvec3 middle = centre + dice.in_cube(1.0), direction = dice.direction();
    std::array<glm::dvec3, 3> corners;
    for (glm::dvec3& corner : corners) corner = middle + dice.log_uniform(0.3, longest) * dice.direction();
    const auto moved = [&](double by) {
      std::array<glm::dvec3, 3> result = corners;
      for (glm::dvec3& corner : result) corner += by * direction;
      return result;
    };
    double low = -1.5, high = 1.5;
    const auto at_low = answer_at(moved(low));
    if (at_low == answer_at(moved(high))) continue;
    for (int step = 0; step < 24; ++step) {
      const double half = 0.5 * (low + high);
      (answer_at(moved(half)) == at_low ? low : high) = half;
    }
    add_face(faces, moved(low + (dice.pick(2) ? 1.0 : -1.0) * dice.log_uniform(least, most)));
    ++added;
  }
}

// Heights of the three corners of a face over each plane, m, in double.
using Heights = std::vector<glm::dvec3>;

inline Heights heights_of(const Faces& faces, std::size_t slot, const Tool& tool) {
  Heights heights;
  for (const glm::vec4& plane : tool.planes) {
    glm::dvec3 height;
    for (int k = 0; k < 3; ++k)
      height[k] = glm::dot(glm::dvec3(plane), glm::dvec3(faces.positions[faces.corners[slot][k]])) + double(plane.w);
    heights.push_back(height);
  }
  return heights;
}

inline Heights shifted(Heights heights, double by) {
  for (glm::dvec3& height : heights) height += by;
  return heights;
}

inline double sum_of_sizes(const glm::vec3& p) {
  return std::abs(double(p.x)) + std::abs(double(p.y)) + std::abs(double(p.z));
}

// Returns the largest |x| + |y| + |z| of the corners, m.
inline double size_of(const Faces& faces, std::size_t slot) {
  double size = 0.0;
  for (int k = 0; k < 3; ++k) size = std::max(size, sum_of_sizes(faces.positions[faces.corners[slot][k]]));
  return size;
}

}  // namespace trocar::shaders
