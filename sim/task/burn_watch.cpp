#include "sim/task/burn_watch.hpp"

#include <algorithm>
#include <limits>

namespace trocar {

BurnWatch::Solid::Solid(const MeshView& mesh) : surface(std::make_unique<TriangleMesh>()), tree(make_surface_tree({})) {
  surface->positions.assign(mesh.positions.begin(), mesh.positions.end());
  surface->faces.assign(mesh.faces.begin(), mesh.faces.end());
  tree->rebuild(surface->view());
  box = solids::box_of(surface->positions);
}

BurnWatch::BurnWatch(const MeshView& organ, std::span<const MeshView> neighbours) {
  solids_.emplace_back(organ);
  for (const MeshView& neighbour : neighbours)
    if (!neighbour.faces.empty()) solids_.emplace_back(neighbour);
}

void BurnWatch::add(std::span<const glm::vec3> walls) {
  for (const glm::vec3& p : walls) deepest_ = std::max(deepest_, depth_of(p));
}

// The slow test whether the point lies in a neighbour runs only when its depth would be the largest so far.
double BurnWatch::depth_of(const glm::vec3& p) const {
  double depth = std::numeric_limits<double>::infinity();
  for (const Solid& solid : solids_)
    if (const auto nearest = solid.tree->closest(glm::dvec3(p), depth)) depth = std::min(depth, nearest->distance);
  if (depth <= deepest_ || depth == std::numeric_limits<double>::infinity()) return 0.0;
  for (std::size_t k = 1; k < solids_.size(); ++k) {
    const Solid& solid = solids_[k];
    if (solids::point_in_solid(solid.surface->view(), solid.box, p).location == solids::PointLocation::Inside)
      return 0.0;
  }
  return depth;
}

}  // namespace trocar
