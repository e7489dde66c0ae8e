#include "cpu_collision/solids/feature_distance.hpp"

#include <utility>

namespace trocar::solids {
namespace {

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

}  // namespace

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

}  // namespace trocar::solids
