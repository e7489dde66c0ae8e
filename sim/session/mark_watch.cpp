#include "sim/session/mark_watch.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"

namespace trocar {
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
