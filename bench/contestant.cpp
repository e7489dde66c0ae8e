#include "bench/contestant.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace trocar::bench {
namespace {

constexpr double kSameCorner = 1e-9;      // m
constexpr double kOnPlane = 1e-8;         // m
constexpr float kRoundingMargin = 1e-6f;  // m, more than the rounding of an organ's float coordinates

std::optional<glm::dvec3> meeting_point(const glm::dvec4& a, const glm::dvec4& b, const glm::dvec4& c) {
  const glm::dvec3 na(a), nb(b), nc(c);
  const double volume = glm::dot(na, glm::cross(nb, nc));
  if (std::abs(volume) < 1e-12) return std::nullopt;
  return (-a.w * glm::cross(nb, nc) - b.w * glm::cross(nc, na) - c.w * glm::cross(na, nb)) / volume;
}

void add_corner(Polytope& polytope, const ToolVolume& tool, const glm::dvec3& corner) {
  for (int p = 0; p < tool.plane_count; ++p)
    if (glm::dot(glm::dvec3(tool.planes[p]), corner) + tool.planes[p].w < -kOnPlane) return;
  for (const glm::dvec3& known : polytope.corners)
    if (glm::distance(known, corner) < kSameCorner) return;
  polytope.corners.push_back(corner);
}

// Returns the corners on one plane, sorted by angle around their centre.
std::vector<int> face_on(const Polytope& polytope, const glm::dvec4& plane) {
  std::vector<int> face;
  glm::dvec3 middle(0.0);
  for (int c = 0; c < static_cast<int>(polytope.corners.size()); ++c) {
    if (std::abs(glm::dot(glm::dvec3(plane), polytope.corners[c]) + plane.w) > kOnPlane) continue;
    face.push_back(c);
    middle += polytope.corners[c];
  }
  if (face.size() < 3) return {};
  middle /= static_cast<double>(face.size());
  const glm::dvec3 outward = -glm::normalize(glm::dvec3(plane));
  const glm::dvec3 u = glm::normalize(polytope.corners[face[0]] - middle), v = glm::cross(outward, u);
  const auto angle = [&](int c) {
    const glm::dvec3 arm = polytope.corners[c] - middle;
    return std::atan2(glm::dot(arm, v), glm::dot(arm, u));
  };
  std::sort(face.begin(), face.end(), [&](int a, int b) { return angle(a) < angle(b); });
  return face;
}

// Returns the direction of the shaft, halfway between both ends of the step.
glm::dvec3 shaft_direction(const ToolVolume& tool) {
  return glm::normalize(glm::normalize(tool.step.tip_before - tool.step.pivot) +
                        glm::normalize(tool.step.tip_after - tool.step.pivot));
}

void include(Piece& piece, const glm::dvec3& point) {
  piece.low = glm::min(piece.low, glm::vec3(point) - kRoundingMargin);
  piece.high = glm::max(piece.high, glm::vec3(point) + kRoundingMargin);
}

// Includes the part of the segment a-b between the heights `low` and `high`, given the heights of its ends.
void include_part(Piece& piece, glm::dvec3 a, glm::dvec3 b, double height_a, double height_b, double low, double high) {
  if (height_a > height_b) std::swap(a, b), std::swap(height_a, height_b);
  if (height_b < low || height_a > high) return;
  const double span = height_b - height_a;
  const auto at = [&](double height) { return span > 0.0 ? a + (b - a) * ((height - height_a) / span) : a; };
  include(piece, at(std::max(low, height_a)));
  include(piece, at(std::min(high, height_b)));
}

}  // namespace

Polytope polytope_of(const ToolVolume& tool) {
  Polytope polytope;
  for (int i = 0; i < tool.plane_count; ++i)
    for (int j = i + 1; j < tool.plane_count; ++j)
      for (int k = j + 1; k < tool.plane_count; ++k)
        if (const auto corner = meeting_point(tool.planes[i], tool.planes[j], tool.planes[k]))
          add_corner(polytope, tool, *corner);
  for (int p = 0; p < tool.plane_count; ++p) {
    std::vector<int> face = face_on(polytope, tool.planes[p]);
    if (!face.empty()) polytope.faces.push_back(std::move(face));
  }
  return polytope;
}

void slice(const Polytope& polytope, const ToolVolume& tool, std::span<Piece> pieces) {
  const glm::dvec3 along = shaft_direction(tool);
  double first = std::numeric_limits<double>::max(), last = -first;
  for (const glm::dvec3& corner : polytope.corners) {
    first = std::min(first, glm::dot(along, corner));
    last = std::max(last, glm::dot(along, corner));
  }
  const double thickness = (last - first) / static_cast<double>(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    constexpr float kMax = std::numeric_limits<float>::max();
    pieces[i] = {glm::vec3(kMax), glm::vec3(-kMax)};
    const double low = first + static_cast<double>(i) * thickness, high = low + thickness;
    for (const std::vector<int>& face : polytope.faces) {
      for (std::size_t c = 0; c < face.size(); ++c) {
        const glm::dvec3 &a = polytope.corners[face[c]], &b = polytope.corners[face[(c + 1) % face.size()]];
        include_part(pieces[i], a, b, glm::dot(along, a), glm::dot(along, b), low, high);
      }
    }
  }
}

SweptBox swept_box_around(const Polytope& polytope, const ToolVolume& tool) {
  const glm::dvec3 along = shaft_direction(tool), pivot = tool.step.pivot;
  const double length = glm::dot(along, 0.5 * (tool.step.tip_before + tool.step.tip_after) - pivot);
  glm::dvec3 half(0.0);
  for (const glm::dvec3& corner : polytope.corners) {
    const double t = std::clamp(glm::dot(along, corner - pivot), 0.0, length);
    half = glm::max(half, glm::abs(corner - (pivot + t * along)));
  }
  return {glm::vec3(pivot), glm::vec3(pivot + length * along), glm::vec3(half) + kRoundingMargin};
}

}  // namespace trocar::bench
