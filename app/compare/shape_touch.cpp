#include "app/compare/shape_touch.hpp"

#include <algorithm>
#include <glm/gtc/constants.hpp>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// Larger than the rounding error of float planes.
constexpr double kBoxMargin = 1e-5;  // m

// Returns the box as a query volume for a tree.
ToolVolume volume_of(const solids::PieceFaces::Box& box) {
  ToolVolume volume;
  volume.plane_count = 6;
  for (int axis = 0; axis < 3; ++axis) {
    glm::vec4 from(0.f), to(0.f);
    from[axis] = 1.f, to[axis] = -1.f;
    from.w = static_cast<float>(kBoxMargin - box.low[axis]);
    to.w = static_cast<float>(kBoxMargin + box.high[axis]);
    volume.planes[2 * axis] = from;
    volume.planes[2 * axis + 1] = to;
  }
  return volume;
}

double tip_z_of(std::span<const TriangleMesh> shapes) {
  double tip_z = -1e30;
  for (const TriangleMesh& shape : shapes)
    for (const glm::vec3& p : shape.positions) tip_z = std::max(tip_z, static_cast<double>(p.z));
  return tip_z;
}

}  // namespace

RigidFrame shape_pose(const TrajectoryRow& row, double tip_z) {
  const glm::dvec3 back = glm::normalize(row.pivot - row.tip);
  const glm::dvec3 seed = std::abs(back.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0);
  const glm::dvec3 side = glm::normalize(glm::cross(seed, back)), up = glm::cross(back, side);
  // Clockwise as seen from the trocar.
  const double roll = glm::radians(row.roll_deg), c = elementary::cos(roll), s = elementary::sin(roll);
  const glm::dvec3 x = c * side - s * up, z = -back;
  RigidFrame pose;
  pose.axes = glm::dmat3(x, glm::cross(z, x), z);
  pose.origin = row.tip - tip_z * z;
  return pose;
}

ShapeTouch::ShapeTouch(const TriangleMesh& organ, std::span<const TriangleMesh> shapes,
                       const solids::PieceParams& params)
    : organ_(organ),
      box_(solids::box_of(organ.positions)),
      tip_z_(tip_z_of(shapes)),
      tree_(make_surface_tree({.volume = &kAabbVolume, .update = TreeUpdate::Refit})) {
  tree_->rebuild(organ.view());
  for (const TriangleMesh& shape : shapes) {
    auto pieces = std::make_unique<solids::ConvexPieces>(solids::convex_pieces(shape.view(), params));
    const solids::ConvexPieces& kept = *pieces;
    parts_.push_back({std::move(pieces), solids::PieceFaces(kept)});
  }
}

std::size_t ShapeTouch::pieces() const {
  std::size_t sum = 0;
  for (const Part& part : parts_) sum += part.pieces->pieces();
  return sum;
}

double ShapeTouch::deviation() const {
  double most = 0.0;
  for (const Part& part : parts_) most = std::max(most, part.pieces->deviation());
  return most;
}

std::span<const FaceId> ShapeTouch::touched(const TrajectoryRow& row) {
  touched_.clear();
  const RigidFrame pose = shape_pose(row, tip_z_);
  for (Part& part : parts_) {
    const ToolVolume volume = volume_of(part.faces.box(pose));
    candidates_.clear();
    for (const Touch& touch : tree_->touched({&volume, 1}, TouchSet::Volume).touches) candidates_.push_back(touch.face);
    const auto faces = part.faces.touched(pose, organ_.view(), candidates_);
    touched_.insert(touched_.end(), faces.begin(), faces.end());
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  return touched_;
}

solids::TipDepth ShapeTouch::tip_depth(const TrajectoryRow& row) {
  return solids::tip_depth(*tree_, organ_.view(), box_, row.tip);
}

}  // namespace trocar
