#include "cpu_collision/solids/closest_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "geometry/closest.hpp"

namespace trocar::solids {
namespace {

// Computes the distance between two closed features of convex bodies, and the sub-feature on which each closest point
// lies.

// A feature with the positions and numbers of its corners and sides; side i joins corners i and i + 1.
struct FeatureShape {
  FeatureKind kind;
  std::uint32_t id;
  glm::dvec3 corner[3];
  std::uint32_t vertex[3], edge[3];
};

struct FeatureHit {
  glm::dvec3 on_first, on_second;
  double squared;         // m^2
  Feature first, second;  // the lowest-dimensional features that contain the points
};

using closest::Segment;
using glm::dvec3;

// Returns the corners `from` and `from` + 1, or one corner twice for a vertex.
Segment side_of(const FeatureShape& shape, int from) {
  if (shape.kind == FeatureKind::Vertex) return {shape.corner[0], dvec3(0.0), 0.0};
  return closest::segment(shape.corner[from], shape.corner[(from + 1) % 3]);
}

// Returns the feature at parameter u of that side.
Feature feature_at(const FeatureShape& shape, int from, double u) {
  if (shape.kind == FeatureKind::Vertex) return {FeatureKind::Vertex, shape.vertex[0]};
  if (u <= 0.0) return {FeatureKind::Vertex, shape.vertex[from]};
  if (u >= 1.0) return {FeatureKind::Vertex, shape.vertex[(from + 1) % 3]};
  return {FeatureKind::Edge, shape.edge[from]};
}

FeatureHit sides(const FeatureShape& first, int i, const FeatureShape& second, int j) {
  const Segment s = side_of(first, i), t = side_of(second, j);
  const closest::SegmentPair pair = closest::closest_segments(s, t);
  return {s.p + pair.u * s.d, t.p + pair.v * t.d, pair.squared, feature_at(first, i, pair.u),
          feature_at(second, j, pair.v)};
}

// Computes the distance of a side of `first` (or a vertex) from the face `second`.
FeatureHit side_face(const FeatureShape& first, int i, const FeatureShape& second) {
  const Segment s = side_of(first, i);
  const closest::Face face = closest::face({second.corner[0], second.corner[1], second.corner[2]});
  const closest::InteriorPair interior = closest::closest_interior(s, face);
  if (interior.inside) {
    const dvec3 on_face = face.side[0].p + interior.beta * face.side[0].d - interior.gamma * face.side[2].d;
    return {s.p + interior.u * s.d,
            on_face,
            interior.squared,
            feature_at(first, i, interior.u),
            {FeatureKind::Face, second.id}};
  }
  FeatureHit best = sides(first, i, second, 0);
  for (int j = 1; j < 3; ++j) {
    const FeatureHit hit = sides(first, i, second, j);
    if (hit.squared < best.squared) best = hit;
  }
  return best;
}

FeatureHit swapped(FeatureHit hit) {
  std::swap(hit.on_first, hit.on_second);
  std::swap(hit.first, hit.second);
  return hit;
}

FeatureHit faces(const FeatureShape& first, const FeatureShape& second) {
  FeatureHit best = side_face(first, 0, second);
  const auto keep = [&best](const FeatureHit& hit) {
    if (hit.squared < best.squared) best = hit;
  };
  for (int i = 1; i < 3; ++i) keep(side_face(first, i, second));
  for (int i = 0; i < 3; ++i) keep(swapped(side_face(second, i, first)));
  return best;
}

// Returns the shape of a feature. `pose` maps the body's coordinates to the common frame.
FeatureShape shape_of(const ConvexBody& body, const Feature& feature, const RigidFrame& pose) {
  FeatureShape shape{feature.kind, feature.id, {}, {}, {}};
  int corners = 1;
  if (feature.kind == FeatureKind::Face) {
    const ConvexBody::Face& face = body.faces[feature.id];
    for (int i = 0; i < 3; ++i) shape.vertex[i] = face.vertex[i], shape.edge[i] = face.edge[i];
    corners = 3;
  } else if (feature.kind == FeatureKind::Edge) {
    const ConvexBody::Edge& edge = body.edges[feature.id];
    shape.vertex[0] = edge.vertex[0], shape.vertex[1] = edge.vertex[1], shape.edge[0] = feature.id;
    corners = 2;
  } else {
    shape.vertex[0] = feature.id;
  }
  for (int i = 0; i < corners; ++i) shape.corner[i] = pose.to_world(body.vertices[shape.vertex[i]]);
  return shape;
}

FeatureHit feature_distance(const FeatureShape& first, const FeatureShape& second) {
  const bool first_face = first.kind == FeatureKind::Face, second_face = second.kind == FeatureKind::Face;
  if (first_face && second_face) return faces(first, second);
  if (second_face) return side_face(first, 0, second);
  if (first_face) return swapped(side_face(second, 0, first));
  return sides(first, 0, second, 0);
}

using glm::dvec3;

// A neighbour counts as closer when it lies ahead by more than this share of its distance: rounding is smaller.
constexpr double kAhead = 1e-12;
// A step must shorten the squared distance by more than its rounding.
constexpr double kGain = 1.0 - 1e-14;
// Step limit before all pairs are searched. Walks over bodies of a thousand faces take fewer than a hundred steps.
constexpr int kMostSteps = 1000;
constexpr int kMostJumps = 8;
// An answer is certain when no vertex lies beyond its slab plane by more than this share of the bodies' size.
constexpr double kCertain = 1e-9;
constexpr double kRounding = 1e-15;

// One of the two bodies in the frame of the first.
struct Side {
  const ConvexBody& body;
  RigidFrame pose;
};

struct Walk {
  Side first, second;
  FeatureHit at;
  int steps = 0, jumps = 0;

  const Side& side(int which) const { return which == 0 ? first : second; }
};

FeatureHit measure(const Walk& walk, const Feature& first, const Feature& second) {
  return feature_distance(shape_of(walk.first.body, first, walk.first.pose),
                          shape_of(walk.second.body, second, walk.second.pose));
}

// Computes the neighbour of a feature that is farthest ahead, seen from `point` on it in `direction` (body's own
// frame).
bool neighbour_ahead(const ConvexBody& body, const Feature& feature, const dvec3& point, const dvec3& direction,
                     Feature& ahead) {
  double steepest = kAhead * glm::length(direction);
  bool found = false;
  const auto look = [&](std::uint32_t vertex, FeatureKind kind, std::uint32_t id) {
    const dvec3 offset = body.vertices[vertex] - point;
    const double length = glm::length(offset), slope = length > 0.0 ? glm::dot(direction, offset) / length : 0.0;
    if (slope > steepest) steepest = slope, ahead = {kind, id}, found = true;
  };
  if (feature.kind == FeatureKind::Vertex) {
    for (const std::uint32_t e : body.incident_edges_of(feature.id)) {
      const auto& ends = body.edges[e].vertex;
      look(ends[0] == feature.id ? ends[1] : ends[0], FeatureKind::Edge, e);
    }
  } else if (feature.kind == FeatureKind::Edge) {
    for (const std::uint32_t f : body.edges[feature.id].face) {
      if (f == ConvexBody::kNone) continue;
      for (int i = 0; i < 3; ++i) {
        if (body.faces[f].edge[i] == feature.id) look(body.faces[f].vertex[(i + 2) % 3], FeatureKind::Face, f);
      }
    }
  }
  return found;
}

// Returns the vector from the point on one body to the point on the other, m.
dvec3 gap_from(const Walk& walk, int which) {
  const dvec3 gap = walk.at.on_second - walk.at.on_first;
  return which == 0 ? gap : -gap;
}

// Moves the feature of one body to a neighbour if that reduces the distance.
bool step(Walk& walk, int which) {
  const Side& side = walk.side(which);
  const Feature own = which == 0 ? walk.at.first : walk.at.second;
  const dvec3 gap = gap_from(walk, which);
  const dvec3 point = side.pose.to_local(which == 0 ? walk.at.on_first : walk.at.on_second);
  Feature ahead;
  if (!neighbour_ahead(side.body, own, point, gap * side.pose.axes, ahead)) return false;
  const FeatureHit hit = which == 0 ? measure(walk, ahead, walk.at.second) : measure(walk, walk.at.first, ahead);
  if (!(hit.squared < kGain * walk.at.squared)) return false;
  walk.at = hit;
  ++walk.steps;
  return true;
}

// Returns the largest component of `direction` (body's own frame) along the outward normal of a face at the feature, m.
// For a closest feature the other body's point is above one of these faces.
double outward_component(const ConvexBody& body, const Feature& feature, const dvec3& direction) {
  double most = -std::numeric_limits<double>::infinity();
  const auto look = [&](std::uint32_t face) { most = std::max(most, glm::dot(body.faces[face].normal, direction)); };
  if (feature.kind == FeatureKind::Face) look(feature.id);
  if (feature.kind == FeatureKind::Edge) look(body.edges[feature.id].face[0]), look(body.edges[feature.id].face[1]);
  if (feature.kind == FeatureKind::Vertex) {
    for (const std::uint32_t e : body.incident_edges_of(feature.id))
      look(body.edges[e].face[0]), look(body.edges[e].face[1]);
  }
  return most;
}

enum class Behind { No, Jumped, Overlapping };

// A face, an edge within a flat side or a vertex of that side is a local minimum when the other point lies behind it.
// The walk continues from the face above which the point is highest; a point above no face lies inside the body.
Behind look_behind(Walk& walk, int which) {
  const Side& side = walk.side(which);
  if (side.body.dimension < 3) return Behind::No;
  const Feature own = which == 0 ? walk.at.first : walk.at.second;
  const dvec3 gap = gap_from(walk, which);
  if (outward_component(side.body, own, gap * side.pose.axes) > 0.0) return Behind::No;
  std::uint32_t above = 0;
  const dvec3 point = side.pose.to_local(which == 0 ? walk.at.on_second : walk.at.on_first);
  if (height_above(side.body, point, above) <= 0.0) return Behind::Overlapping;
  const Feature top{FeatureKind::Face, above};
  walk.at = which == 0 ? measure(walk, top, walk.at.second) : measure(walk, walk.at.first, top);
  ++walk.steps;
  ++walk.jumps;
  return Behind::Jumped;
}

// Returns true when each body lies on its own side of the slab between the points, within `slack`: then no pair is
// closer. Faces too thin for a reliable plane can end a walk early.
bool certified(const Walk& walk, double slack) {
  const dvec3 gap = walk.at.on_second - walk.at.on_first;
  // Rounding of the positions themselves, which may be large compared with the bodies.
  const double rounding = kRounding * (glm::length(walk.at.on_first) + glm::length(walk.at.on_second));
  const double most = (slack + rounding) * glm::length(gap), first = glm::dot(gap, walk.at.on_first) + most;
  for (const dvec3& v : walk.first.body.vertices) {
    if (glm::dot(gap, v) > first) return false;
  }
  const dvec3 turned = gap * walk.second.pose.axes;
  const double second = glm::dot(gap, walk.at.on_second - walk.second.pose.origin) - most;
  for (const dvec3& v : walk.second.body.vertices) {
    if (glm::dot(turned, v) < second) return false;
  }
  return true;
}

enum class Outcome { Apart, Overlapping, GivenUp };

Outcome descend(Walk& walk, double size) {
  const double touching = kTouching * size;
  while (walk.steps < kMostSteps && walk.jumps <= kMostJumps) {
    if (walk.at.squared <= touching * touching) return Outcome::Overlapping;
    if (step(walk, 0) || step(walk, 1)) continue;
    const Behind first = look_behind(walk, 0);
    if (first == Behind::Overlapping) return Outcome::Overlapping;
    if (first == Behind::Jumped) continue;
    const Behind second = look_behind(walk, 1);
    if (second == Behind::Overlapping) return Outcome::Overlapping;
    if (second == Behind::No) return certified(walk, kCertain * size) ? Outcome::Apart : Outcome::GivenUp;
  }
  return Outcome::GivenUp;
}

// Returns the highest kind of feature that the body has. All features of this kind together are its surface.
FeatureKind surface_kind(const ConvexBody& body) {
  return !body.faces.empty() ? FeatureKind::Face : !body.edges.empty() ? FeatureKind::Edge : FeatureKind::Vertex;
}
std::uint32_t surface_count(const ConvexBody& body) {
  return static_cast<std::uint32_t>(!body.faces.empty()   ? body.faces.size()
                                    : !body.edges.empty() ? body.edges.size()
                                                          : 1);
}

bool holds(const Side& side, const dvec3& point) {
  std::uint32_t face = 0;
  return side.body.dimension == 3 && height_above(side.body, side.pose.to_local(point), face) <= 0.0;
}

Outcome search_all(Walk& walk, double size) {
  const double touching = kTouching * size;
  walk.at.squared = std::numeric_limits<double>::infinity();
  const FeatureKind first_kind = surface_kind(walk.first.body), second_kind = surface_kind(walk.second.body);
  for (std::uint32_t i = 0; i < surface_count(walk.first.body); ++i) {
    for (std::uint32_t j = 0; j < surface_count(walk.second.body); ++j) {
      const FeatureHit hit = measure(walk, {first_kind, i}, {second_kind, j});
      if (hit.squared < walk.at.squared) walk.at = hit;
    }
  }
  const bool overlapping = walk.at.squared <= touching * touching || holds(walk.first, walk.at.on_second) ||
                           holds(walk.second, walk.at.on_first);
  return overlapping ? Outcome::Overlapping : Outcome::Apart;
}

}  // namespace

FeatureDistance closest_features(const ConvexBody& first, const RigidFrame& first_pose, const ConvexBody& second,
                                 const RigidFrame& second_pose, FeaturePair& pair) {
  Walk walk{{first, RigidFrame{}}, {second, relative(first_pose, second_pose)}, {}, 0, 0};
  walk.at = measure(walk, pair.first, pair.second);
  const double size = first.radius + second.radius, touching = kTouching * size;
  Outcome outcome = descend(walk, size);
  FeatureDistance answer;
  answer.searched = outcome == Outcome::GivenUp;
  if (answer.searched) outcome = search_all(walk, size);
  pair = {walk.at.first, walk.at.second};
  answer.steps = walk.steps;
  answer.overlapping = outcome == Outcome::Overlapping;
  if (answer.overlapping) {
    // The point of one body that lies in the other.
    const bool second_in_first = walk.at.squared <= touching * touching || holds(walk.first, walk.at.on_second);
    answer.on_first = answer.on_second = first_pose.to_world(second_in_first ? walk.at.on_second : walk.at.on_first);
    return answer;
  }
  answer.distance = std::sqrt(walk.at.squared);
  answer.on_first = first_pose.to_world(walk.at.on_first);
  answer.on_second = first_pose.to_world(walk.at.on_second);
  return answer;
}

}  // namespace trocar::solids
