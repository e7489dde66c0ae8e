// Moves the surface with the lattice: once per frame, every vertex becomes the weighted sum of eight nodes. The same
// loop computes the bounding box, while each position is in a register.
#include <xmmintrin.h>

#include <algorithm>
#include <cmath>

#include "deform/solid/tissue.hpp"
#include "geometry/machine.hpp"

namespace trocar {
namespace {

[[gnu::always_inline]] inline void store_vertex(glm::vec3& vertex, __m128 p) {
  _mm_storel_pi(reinterpret_cast<__m64*>(&vertex.x), p);
  _mm_store_ss(&vertex.z, _mm_movehl_ps(p, p));
}

[[gnu::always_inline]] inline PositionBox embed_all(const TissueModel& model, std::span<const glm::vec3> nodes,
                                                    std::span<glm::vec3> positions) {
  __m128 low = _mm_set1_ps(INFINITY), high = _mm_set1_ps(-INFINITY);
  const std::size_t count = std::min(positions.size(), model.embedding.size());
  for (std::size_t vertex = 0; vertex < count; ++vertex) {
    const Embedding& e = model.embedding[vertex];
    // Two neighbours along x are six floats: x y z of the first in lanes 0 to 2, of the second in lanes 1 to 3.
    __m128 first = _mm_setzero_ps(), second = _mm_setzero_ps();
    for (int i = 0; i < 8; i += 2) {
      const float* p = &nodes[e.node[i]].x;
      first = _mm_add_ps(first, _mm_mul_ps(_mm_set1_ps(e.weight[i]), _mm_loadu_ps(p)));
      second = _mm_add_ps(second, _mm_mul_ps(_mm_set1_ps(e.weight[i + 1]), _mm_loadu_ps(p + 2)));
    }
    const __m128 p = _mm_add_ps(first, _mm_shuffle_ps(second, second, _MM_SHUFFLE(3, 3, 2, 1)));
    store_vertex(positions[vertex], p);
    low = _mm_min_ps(p, low), high = _mm_max_ps(p, high);
  }
  PositionBox box;
  store_vertex(box.low, low), store_vertex(box.high, high);
  return box;
}

// This is the same code compiled for AVX2, where one instruction broadcasts a weight to a register.
[[gnu::target("avx2")]] PositionBox embed_avx2(const TissueModel& model, std::span<const glm::vec3> nodes,
                                               std::span<glm::vec3> positions) {
  return embed_all(model, nodes, positions);
}

}  // namespace

PositionBox embed_surface(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions) {
  static const bool avx2 = instructions() >= Instructions::Avx2;
  return avx2 ? embed_avx2(model, nodes, positions) : embed_all(model, nodes, positions);
}

PositionBox embed_surface_plainly(const TissueModel& model, std::span<const glm::vec3> nodes,
                                  std::span<glm::vec3> positions) {
  PositionBox box;
  const std::size_t count = std::min(positions.size(), model.embedding.size());
  for (std::size_t vertex = 0; vertex < count; ++vertex) {
    const Embedding& e = model.embedding[vertex];
    glm::vec3 first(0.f), second(0.f);
    for (int i = 0; i < 8; i += 2) {
      first += e.weight[i] * nodes[e.node[i]];
      second += e.weight[i + 1] * nodes[e.node[i + 1]];
    }
    positions[vertex] = first + second;
    box.low = glm::min(box.low, positions[vertex]), box.high = glm::max(box.high, positions[vertex]);
  }
  return box;
}

}  // namespace trocar
