// The surface follows the lattice: once per frame, every vertex is the weighted sum of eight nodes.
#include <xmmintrin.h>

#include <algorithm>

#include "deform/tissue.hpp"

namespace trocar {
namespace {

// x, y, z and a fourth lane that nobody uses. Reading four floats is safe for all nodes but the last.
__m128 load_node(std::span<const glm::vec3> nodes, std::uint32_t node) {
  const float* p = &nodes[node].x;
  return node + 1 < nodes.size() ? _mm_loadu_ps(p) : _mm_setr_ps(p[0], p[1], p[2], 0.f);
}

void store_vertex(glm::vec3& vertex, __m128 p) {
  _mm_storel_pi(reinterpret_cast<__m64*>(&vertex.x), p);
  _mm_store_ss(&vertex.z, _mm_movehl_ps(p, p));
}

}  // namespace

void embed_surface(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions) {
  const std::size_t count = std::min(positions.size(), model.embedding.size());
  for (std::size_t vertex = 0; vertex < count; ++vertex) {
    const Embedding& e = model.embedding[vertex];
    __m128 sum = _mm_setzero_ps();
    for (int i = 0; i < 8; ++i)
      sum = _mm_add_ps(sum, _mm_mul_ps(_mm_set1_ps(e.weight[i]), load_node(nodes, e.node[i])));
    store_vertex(positions[vertex], sum);
  }
}

void embed_surface_plainly(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions) {
  const std::size_t count = std::min(positions.size(), model.embedding.size());
  for (std::size_t vertex = 0; vertex < count; ++vertex) {
    const Embedding& e = model.embedding[vertex];
    glm::vec3 sum(0.f);
    for (int i = 0; i < 8; ++i) sum += e.weight[i] * nodes[e.node[i]];
    positions[vertex] = sum;
  }
}

}  // namespace trocar
