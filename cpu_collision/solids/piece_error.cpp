#include "cpu_collision/solids/piece_error.hpp"

#include <algorithm>
#include <cmath>

#include "cpu_collision/solids/solid_angle.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;

// Sample spacing as a share of the mesh's shortest box side, with at most kMostSamples along a side of a face.
constexpr double kSpacing = 1.0 / 24.0;
constexpr int kMostSamples = 40;

Triangle longest_side_first(const Triangle& t) {
  const double ab = glm::distance(t.a, t.b), bc = glm::distance(t.b, t.c), ca = glm::distance(t.c, t.a);
  if (bc >= ab && bc >= ca) return {t.b, t.c, t.a};
  return ca >= ab ? Triangle{t.c, t.a, t.b} : t;
}

int steps_over(double length, double spacing) {
  return std::clamp(static_cast<int>(std::ceil(length / std::max(spacing, 1e-12))), 1, kMostSamples);
}

}  // namespace

PieceError::PieceError(const MeshView& mesh) : mesh_(mesh), tree_(build_face_tree(mesh)) {
  const FaceBox& box = tree_.nodes[0].box;
  const dvec3 size = dvec3(box.high) - dvec3(box.low);
  spacing_ = kSpacing * std::max(std::min({size.x, size.y, size.z}), 0.02 * glm::length(size));
}

// The tree makes the distance cheap, but not the winding number. The winding number is therefore computed only where
// the distance would raise the maximum and no earlier ball contains the point.
double PieceError::outside_by(const dvec3& point, double best, std::vector<Ball>& inside) const {
  for (const Ball& ball : inside) {
    if (glm::distance(point, ball.centre) < ball.radius) return best;
  }
  const double distance = distance_to_surface(tree_, point);
  if (distance <= best) return best;
  if (std::abs(winding_number(mesh_, point)) <= 0.5) return distance;
  inside.push_back({point, distance});
  return best;
}

double PieceError::deviation(const ConvexBody& body) const {
  double most = 0.0;
  std::vector<Ball> inside;
  for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
    const Triangle t = longest_side_first(body.corners(f));
    const dvec3 along = t.b - t.a, up = t.c - t.a;
    const double length = glm::length(along), height = glm::length(glm::cross(along, up)) / std::max(length, 1e-12);
    const int rows = steps_over(height, spacing_), columns = steps_over(length, spacing_);
    for (int row = 0; row <= rows; ++row) {
      const double v = double(row) / rows;
      for (int column = 0; column <= columns; ++column) {
        const double u = (1.0 - v) * column / columns;
        most = outside_by(t.a + u * along + v * up, most, inside);
      }
    }
  }
  return most;
}

}  // namespace trocar::solids
