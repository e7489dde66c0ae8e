// Implements the queries of VolumeTreeQuery for a segment, a ray and a point. Each .cpp file that makes a kind of tree
// includes this file.
#pragma once

#include "cpu_collision/trees/tree_query.hpp"

namespace trocar {

template <class Volume>
template <class Passes, class Visit>
void VolumeTreeQuery<Volume>::descend(Passes passes, Visit visit) {
  begin_question();
  for (std::uint32_t node = 0; node < tree_.node_count();) {
    ++counters_.volume_tests;
    if (!passes(tree_.nodes[node])) {
      node = tree_.skip[node];
      continue;
    }
    const IndexRange own = own_slots(node);
    for (std::uint32_t k = own.first; k < own.first + own.count; ++k) visit(tree_.face_of_slot[k]);
    ++node;
  }
}

template <class Volume>
std::span<const FaceId> VolumeTreeQuery<Volume>::crossed(const glm::dvec3& from, const glm::dvec3& to) {
  candidates_.clear();
  const LinePart line = segment_between(glm::vec3(from), glm::vec3(to), slack(from) + slack(to));
  descend([&](const Volume& volume) { return crosses(volume, line); },
          [&](std::uint32_t face) {
            ++counters_.face_tests;
            if (line_meets_triangle(from, to - from, 1.0, triangle(face))) candidates_.push_back(FaceId(face));
          });
  std::sort(candidates_.begin(), candidates_.end());
  return candidates_;
}

template <class Volume>
std::span<const FaceId> VolumeTreeQuery<Volume>::along(const glm::dvec3& from, const glm::dvec3& to) {
  candidates_.clear();
  const LinePart line = segment_between(glm::vec3(from), glm::vec3(to), slack(from) + slack(to));
  descend([&](const Volume& volume) { return crosses(volume, line); },
          [&](std::uint32_t face) { candidates_.push_back(FaceId(face)); });
  return candidates_;
}

// A hit shortens the ray, so that volumes behind it are not crossed.
template <class Volume>
std::optional<RayHit> VolumeTreeQuery<Volume>::first_hit(const glm::dvec3& origin, const glm::dvec3& direction) {
  std::optional<RayHit> first;
  LinePart line = ray_from(glm::vec3(origin), glm::vec3(direction), 2.f * slack(origin));
  double most = std::numeric_limits<double>::infinity();
  descend([&](const Volume& volume) { return crosses(volume, line); },
          [&](std::uint32_t face) {
            ++counters_.face_tests;
            const std::optional<double> t = line_meets_triangle(origin, direction, most, triangle(face));
            if (!t || (first && *t >= first->t)) return;
            first = RayHit{FaceId(face), *t};
            most = *t;
            line.last = std::nextafter(static_cast<float>(*t), std::numeric_limits<float>::infinity());
          });
  return first;
}

// The traversal visits the nearest child first.
template <class Volume>
std::optional<SurfacePoint> VolumeTreeQuery<Volume>::closest(const glm::dvec3& point, double within) {
  begin_question();
  std::optional<SurfacePoint> best;
  if (tree_.nodes.empty()) return best;
  const Lanes4 query = lanes(glm::vec3(point));
  const float rounding = 2.f * slack(point);
  double least = within;
  open_nodes_.assign(1, {0, 0.f});
  while (!open_nodes_.empty()) {
    const OpenNode open = open_nodes_.back();
    open_nodes_.pop_back();
    if (open.bound - rounding > least) continue;
    const IndexRange own = own_slots(open.node);
    counters_.face_tests += own.count;
    for (std::uint32_t k = own.first; k < own.first + own.count; ++k) {
      const std::uint32_t face = tree_.face_of_slot[k];
      const ClosestPoints found = closest_segment_triangle(point, point, triangle(face));
      const bool as_near = best && found.distance == least && FaceId(face) < best->face;
      if (!as_near && !(found.distance < least)) continue;
      least = found.distance;
      best = SurfacePoint{FaceId(face), found.on_second, found.distance};
    }
    const std::size_t first_child = open_nodes_.size();
    for (std::uint32_t child = open.node + 1; child != tree_.skip[open.node]; child = tree_.skip[child]) {
      ++counters_.volume_tests;
      const float bound = least_distance(tree_.nodes[child], query);
      if (bound - rounding <= least) open_nodes_.push_back({child, bound});
    }
    std::sort(
        open_nodes_.begin() + static_cast<std::ptrdiff_t>(first_child), open_nodes_.end(),
        [](const OpenNode& a, const OpenNode& b) { return a.bound != b.bound ? a.bound > b.bound : a.node > b.node; });
  }
  return best;
}

template <class Volume>
std::span<const FaceId> VolumeTreeQuery<Volume>::around(const glm::dvec3& point) {
  candidates_.clear();
  const Lanes4 query = lanes(glm::vec3(point));
  const float rounding = slack(point);
  descend([&](const Volume& volume) { return !(least_distance(volume, query) > rounding); },
          [&](std::uint32_t face) { candidates_.push_back(FaceId(face)); });
  return candidates_;
}

}  // namespace trocar
