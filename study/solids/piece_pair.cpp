#include "study/solids/piece_pair.hpp"

#include <limits>
#include <utility>

#include "study/solids/penetration.hpp"

namespace trocar::solids {

PiecePair::PiecePair(const ConvexPieces& first, const ConvexPieces& second)
    : first_(first), second_(second), features_(first.nodes.size() * second.nodes.size()) {
  open_.reserve(first.nodes.size() + second.nodes.size() + 2);
  while (!first_.nodes[last_.first].leaf()) last_.first = first_.nodes[last_.first].child[0];
  while (!second_.nodes[last_.second].leaf()) last_.second = second_.nodes[last_.second].child[0];
}

FeatureDistance PiecePair::test(const Nodes& nodes) {
  const FeatureDistance found =
      closest_features(first_.nodes[nodes.first].hull, at_first_, second_.nodes[nodes.second].hull, at_second_,
                       features_[nodes.first * second_.nodes.size() + nodes.second]);
  ++answer_.hull_tests;
  answer_.steps += found.steps;
  return found;
}

double PiecePair::sphere_gap(const Nodes& nodes) const {
  const ConvexBody &a = first_.nodes[nodes.first].hull, &b = second_.nodes[nodes.second].hull;
  return glm::distance(at_first_.to_world(a.centre), at_second_.to_world(b.centre)) - a.radius - b.radius;
}

// For two leaf pieces, updates the answer if they are closer or deeper than the best pair.
void PiecePair::settle(const Nodes& nodes) {
  const FeatureDistance found = test(nodes);
  if (found.overlapping) {
    const Penetration deep =
        penetration(first_.nodes[nodes.first].hull, at_first_, second_.nodes[nodes.second].hull, at_second_);
    if (answer_.overlapping && deep.depth <= answer_.depth) return;
    answer_.overlapping = true;
    answer_.distance = 0.0;
    answer_.depth = deep.depth;
    answer_.normal = deep.normal;
    answer_.on_first = deep.on_first, answer_.on_second = deep.on_second;
  } else {
    if (found.distance >= answer_.distance) return;
    answer_.distance = found.distance;
    answer_.normal = (found.on_second - found.on_first) / found.distance;
    answer_.on_first = found.on_first, answer_.on_second = found.on_second;
  }
  answer_.first_node = nodes.first, answer_.second_node = nodes.second;
}

// Splits the larger of the two; its nearer child is tested first.
void PiecePair::push_children(const Nodes& nodes) {
  const PieceNode &a = first_.nodes[nodes.first], &b = second_.nodes[nodes.second];
  const bool split_first = b.leaf() || (!a.leaf() && a.hull.radius >= b.hull.radius);
  Nodes one = nodes, two = nodes;
  if (split_first) {
    one.first = a.child[0], two.first = a.child[1];
  } else {
    one.second = b.child[0], two.second = b.child[1];
  }
  if (sphere_gap(one) < sphere_gap(two)) std::swap(one, two);
  open_.push_back(one);
  open_.push_back(two);
}

PieceDistance PiecePair::distance(const RigidFrame& first, const RigidFrame& second) {
  at_first_ = first, at_second_ = second;
  answer_ = {};
  answer_.distance = std::numeric_limits<double>::infinity();
  // The pair of the last frame first: its distance lets most other pairs be skipped.
  const Nodes last = last_;
  settle(last);
  open_.push_back({0, 0});
  while (!open_.empty()) {
    const Nodes nodes = open_.back();
    open_.pop_back();
    if (nodes.first == last.first && nodes.second == last.second) continue;
    if (passed_over(sphere_gap(nodes))) continue;
    if (first_.nodes[nodes.first].leaf() && second_.nodes[nodes.second].leaf()) {
      settle(nodes);
      continue;
    }
    const FeatureDistance hulls = test(nodes);
    if (!hulls.overlapping && passed_over(hulls.distance)) continue;
    push_children(nodes);
  }
  last_ = {answer_.first_node, answer_.second_node};
  return answer_;
}

}  // namespace trocar::solids
