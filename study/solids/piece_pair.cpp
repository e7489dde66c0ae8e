#include "study/solids/piece_pair.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace trocar::solids {
namespace {

using glm::dvec3;

// Edges at an angle with a smaller sine give no separating axis.
constexpr double kParallelEdges = 1e-9;
// The bodies are moved apart by this share of their size to find the contact points: far above rounding.
constexpr double kParted = 1e-6;

struct Best {
  double depth = std::numeric_limits<double>::infinity();
  dvec3 normal{0.0, 0.0, 1.0};  // from first to second, frame of first

  void take(double candidate, const dvec3& axis) {
    if (candidate < depth) depth = candidate, normal = axis;
  }
};

struct Pair {
  const ConvexBody& first;
  const ConvexBody& second;
  RigidFrame pose;  // second to first
};

double support(const ConvexBody& body, const dvec3& direction) {
  double most = -std::numeric_limits<double>::infinity();
  for (const dvec3& v : body.vertices) most = std::max(most, glm::dot(direction, v));
  return most;
}

double overlap_along(const Pair& pair, const dvec3& axis) {
  return support(pair.first, axis) + support(pair.second, -axis * pair.pose.axes) - glm::dot(axis, pair.pose.origin);
}

void try_faces(const Pair& pair, Best& best) {
  for (const ConvexBody::Face& f : pair.first.faces) {
    const double other = support(pair.second, -f.normal * pair.pose.axes) - glm::dot(f.normal, pair.pose.origin);
    best.take(f.offset + other, f.normal);
  }
  for (const ConvexBody::Face& f : pair.second.faces) {
    const dvec3 normal = pair.pose.axes * f.normal;
    const double other = support(pair.first, -normal) + glm::dot(normal, pair.pose.origin);
    best.take(f.offset + other, -normal);
  }
}

dvec3 along(const ConvexBody& body, const ConvexBody::Edge& edge) {
  return body.vertices[edge.vertex[1]] - body.vertices[edge.vertex[0]];
}

// For solid bodies, tries only the pairs of edges whose arcs of normals cross on the Gauss sphere.
void try_crossing_arcs(const Pair& pair, Best& best) {
  for (std::uint32_t j = 0; j < pair.second.edges.size(); ++j) {
    const ConvexBody::Edge& second = pair.second.edges[j];
    if (second.flat) continue;
    const dvec3 c = -(pair.pose.axes * pair.second.faces[second.face[0]].normal);
    const dvec3 d = -(pair.pose.axes * pair.second.faces[second.face[1]].normal);
    const dvec3 second_direction = pair.pose.axes * along(pair.second, second);
    const dvec3 on_second = pair.pose.to_world(pair.second.vertices[second.vertex[0]]);
    for (std::uint32_t i = 0; i < pair.first.edges.size(); ++i) {
      const ConvexBody::Edge& first = pair.first.edges[i];
      if (first.flat) continue;
      const dvec3 first_direction = along(pair.first, first);
      const double c_side = glm::dot(c, first_direction), d_side = glm::dot(d, first_direction);
      if (c_side * d_side >= 0.0) continue;
      const double a_side = glm::dot(pair.first.faces[first.face[0]].normal, second_direction);
      const double b_side = glm::dot(pair.first.faces[first.face[1]].normal, second_direction);
      if (a_side * b_side >= 0.0 || c_side * b_side <= 0.0) continue;
      dvec3 axis = glm::cross(first_direction, second_direction);
      const double length = glm::length(axis);
      if (length <= kParallelEdges * glm::length(first_direction) * glm::length(second_direction)) continue;
      const dvec3& on_first = pair.first.vertices[first.vertex[0]];
      // The axis lies on the arc, so it is within a quarter turn of at least one end of the arc.
      const dvec3 outward = pair.first.faces[first.face[0]].normal + pair.first.faces[first.face[1]].normal;
      axis *= (glm::dot(axis, outward) < 0.0 ? -1.0 : 1.0) / length;
      best.take(glm::dot(axis, on_first - on_second), axis);
    }
  }
}

// For a sheet, segment or point the arcs are not sufficient: tries every pair, with both signs.
void try_all_edges(const Pair& pair, Best& best) {
  for (std::uint32_t i = 0; i < pair.first.edges.size(); ++i) {
    for (std::uint32_t j = 0; j < pair.second.edges.size(); ++j) {
      const dvec3 first_direction = along(pair.first, pair.first.edges[i]);
      const dvec3 second_direction = pair.pose.axes * along(pair.second, pair.second.edges[j]);
      const dvec3 axis = glm::cross(first_direction, second_direction);
      const double length = glm::length(axis);
      if (length <= kParallelEdges * glm::length(first_direction) * glm::length(second_direction)) continue;
      for (const double sign : {1.0, -1.0}) {
        const dvec3 unit = axis * (sign / length);
        best.take(overlap_along(pair, unit), unit);
      }
    }
  }
}

// Two bodies without an axis between them lie on one line, or one is a point: tries the line and its perpendicular.
void try_line(const Pair& pair, Best& best) {
  const ConvexBody& longer = pair.first.edges.empty() ? pair.second : pair.first;
  dvec3 direction = pair.pose.to_world(pair.second.centre) - pair.first.centre;
  if (!longer.edges.empty()) {
    direction = along(longer, longer.edges[0]);
    if (&longer == &pair.second) direction = pair.pose.axes * direction;
  }
  if (glm::dot(direction, direction) <= 0.0) direction = dvec3(0.0, 0.0, 1.0);
  direction = glm::normalize(direction);
  dvec3 across = pair.pose.to_world(pair.second.centre) - pair.first.centre;
  across -= glm::dot(across, direction) * direction;
  if (glm::length(across) <= 0.0)
    across = glm::cross(direction, std::abs(direction.x) < 0.5 ? dvec3(1, 0, 0) : dvec3(0, 1, 0));
  across = glm::normalize(across);
  for (const dvec3& axis : {across, -across, direction, -direction}) best.take(overlap_along(pair, axis), axis);
}

}  // namespace

Penetration penetration(const ConvexBody& first, const RigidFrame& first_pose, const ConvexBody& second,
                        const RigidFrame& second_pose) {
  const Pair pair{first, second, relative(first_pose, second_pose)};
  Best best;
  try_faces(pair, best);
  if (first.dimension == 3 && second.dimension == 3) {
    try_crossing_arcs(pair, best);
  } else {
    try_all_edges(pair, best);
    if (first.dimension < 2 && second.dimension < 2) try_line(pair, best);
  }
  Penetration answer;
  answer.depth = best.depth;
  answer.normal = first_pose.axes * best.normal;
  // Contact points: the closest points just after the bodies have separated.
  const dvec3 parting = (best.depth + kParted * (first.radius + second.radius)) * answer.normal;
  FeaturePair features;
  const FeatureDistance parted =
      closest_features(first, first_pose, second, {second_pose.axes, second_pose.origin + parting}, features);
  answer.on_first = parted.on_first;
  answer.on_second = parted.on_second - parting;
  return answer;
}

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
void PiecePair::compare_leaves(const Nodes& nodes) {
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
  compare_leaves(last);
  open_.push_back({0, 0});
  while (!open_.empty()) {
    const Nodes nodes = open_.back();
    open_.pop_back();
    if (nodes.first == last.first && nodes.second == last.second) continue;
    if (passed_over(sphere_gap(nodes))) continue;
    if (first_.nodes[nodes.first].leaf() && second_.nodes[nodes.second].leaf()) {
      compare_leaves(nodes);
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
