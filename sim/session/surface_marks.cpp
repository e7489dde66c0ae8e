#include "sim/session/surface_marks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu_collision/trees/surface_tree.hpp"
#include "geometry/closest.hpp"

namespace trocar {
namespace {

// Returns the barycentric weights of a point in the face's plane, clamped to the face. A degenerate face gives its
// first corner.
glm::dvec3 shares(const Triangle& face, const glm::dvec3& point) {
  const glm::dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
  const double area = glm::dot(normal, normal);
  if (!(area > 0.0)) return {1.0, 0.0, 0.0};
  const double b = std::clamp(glm::dot(glm::cross(point - face.a, face.c - face.a), normal) / area, 0.0, 1.0);
  const double c = std::clamp(glm::dot(glm::cross(face.b - face.a, point - face.a), normal) / area, 0.0, 1.0 - b);
  return {1.0 - b - c, b, c};
}

}  // namespace

std::vector<SurfaceMark> nearest_marks(std::uint32_t organ, const MeshView& surface,
                                       std::span<const glm::vec3> points) {
  const auto tree = make_surface_tree({});
  tree->rebuild(surface);
  std::vector<SurfaceMark> marks;
  for (const glm::vec3& point : points) {
    const auto nearest = tree->closest(glm::dvec3(point), std::numeric_limits<double>::infinity());
    if (!nearest) {
      marks.push_back({organ, glm::uvec3(0), {1.f, 0.f, 0.f}});
      continue;
    }
    const glm::uvec3 face = surface.faces[index(nearest->face)];
    marks.push_back({organ, face, glm::vec3(shares(triangle_of(surface.positions, face), nearest->point))});
  }
  return marks;
}

SurfaceMark nearest_mark(std::uint32_t organ, const MeshView& surface, const glm::vec3& point) {
  return nearest_marks(organ, surface, {&point, 1}).front();
}

namespace {

// Refined skin contains the points of its older faces up to rounding.
constexpr double kOnFace = 5e-5;  // m

bool exists(std::span<const FaceId> ids, FaceId face) { return std::binary_search(ids.begin(), ids.end(), face); }

bool contains(const Triangle& face, const glm::dvec3& p) {
  const glm::dvec3 low = glm::min(face.a, glm::min(face.b, face.c)) - kOnFace;
  const glm::dvec3 high = glm::max(face.a, glm::max(face.b, face.c)) + kOnFace;
  if (glm::any(glm::lessThan(p, low)) || glm::any(glm::greaterThan(p, high))) return false;
  return closest::closest_axis_face(closest::segment(p, p), closest::face(face)).squared <= kOnFace * kOnFace;
}

}  // namespace

MarkWatch::MarkWatch(std::span<const SurfaceMark> marks)
    : marks_(marks.begin(), marks.end()), watched_(marks.size()), removed_(marks.size(), 0) {
  missing_.reserve(marks.size());
}

void MarkWatch::rewind() {
  for (Watched& watched : watched_) watched.found = false;
  std::fill(removed_.begin(), removed_.end(), std::uint8_t{0});
}

void MarkWatch::look(std::uint32_t organ, const MeshView& at_rest, std::span<const FaceId> ids) {
  missing_.clear();
  for (std::uint32_t k = 0; k < marks_.size(); ++k) {
    if (marks_[k].organ != organ || removed_[k]) continue;
    if (watched_[k].found && exists(ids, watched_[k].face)) continue;
    watched_[k].at = position_of(marks_[k], at_rest.positions);
    missing_.push_back(k);
  }
  if (!missing_.empty()) search(at_rest, ids);
  for (const std::uint32_t k : missing_) removed_[k] = 1;
}

// Finds the faces that contain the missing marks, and takes these marks off the list.
void MarkWatch::search(const MeshView& at_rest, std::span<const FaceId> ids) {
  glm::vec3 low(INFINITY), high(-INFINITY);
  for (const std::uint32_t k : missing_) low = glm::min(low, watched_[k].at), high = glm::max(high, watched_[k].at);
  low -= 2.f * static_cast<float>(kOnFace);
  high += 2.f * static_cast<float>(kOnFace);
  for (std::size_t slot = 0; slot < at_rest.faces.size() && !missing_.empty(); ++slot) {
    const glm::uvec3& f = at_rest.faces[slot];
    const glm::vec3 &a = at_rest.positions[f.x], &b = at_rest.positions[f.y], &c = at_rest.positions[f.z];
    if (glm::any(glm::lessThan(glm::max(a, glm::max(b, c)), low)) ||
        glm::any(glm::greaterThan(glm::min(a, glm::min(b, c)), high)))
      continue;
    std::erase_if(missing_, [&](std::uint32_t k) {
      if (!contains({a, b, c}, glm::dvec3(watched_[k].at))) return false;
      watched_[k].face = ids[slot];
      return watched_[k].found = true;
    });
  }
}

}  // namespace trocar
