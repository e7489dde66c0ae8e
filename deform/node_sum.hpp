// Computes points that lattice nodes carry, as weighted sums of the nodes, and moves nodes within a substep.
// Units: metres, seconds.   Tested through tests/deform/contact_test.cpp and organ_contact_test.cpp
#pragma once

#include "deform/solid/tissue.hpp"

namespace trocar {

// A point almost entirely on fixed nodes would move its free nodes far to move a little itself; this limits it.
constexpr float kLeastFreedom = 0.1f;  // fraction of the admittance with all nodes free

inline glm::vec3 column(const NodeColumns& c, std::uint32_t node) { return {c.x[node], c.y[node], c.z[node]}; }

// Returns the sum of weight[i] value(node[i]); `value` gives the node's vector.
template <class Vector, class Value>
Vector weighted_sum(const std::uint32_t* node, const float* weight, int count, Value value) {
  Vector sum(0);
  for (int i = 0; i < count; ++i) sum += static_cast<typename Vector::value_type>(weight[i]) * value(node[i]);
  return sum;
}

inline glm::vec3 weighted(const Embedding& e, std::span<const glm::vec3> nodes) {
  return weighted_sum<glm::vec3>(e.node, e.weight, 8, [nodes](std::uint32_t n) { return nodes[n]; });
}
inline glm::vec3 weighted(const Embedding& e, const NodeColumns& c) {
  return weighted_sum<glm::vec3>(e.node, e.weight, 8, [&c](std::uint32_t n) { return column(c, n); });
}

// Moves nodes within a substep of `dt`; their velocities and the positions of the elastic forces follow.
class NodeMover {
 public:
  NodeMover(const TissueModel& model, float dt, TissueScratch& s)
      : s_(s), to_speed_(1.f / dt), to_ahead_(1.f + model.params.damping_time / dt) {}

  void move(std::uint32_t n, const glm::vec3& by) {
    s_.x.x[n] += by.x, s_.x.y[n] += by.y, s_.x.z[n] += by.z;
    s_.v.x[n] += to_speed_ * by.x, s_.v.y[n] += to_speed_ * by.y, s_.v.z[n] += to_speed_ * by.z;
    s_.ahead.x[n] += to_ahead_ * by.x, s_.ahead.y[n] += to_ahead_ * by.y, s_.ahead.z[n] += to_ahead_ * by.z;
  }

 private:
  TissueScratch& s_;
  const float to_speed_, to_ahead_;
};

}  // namespace trocar
