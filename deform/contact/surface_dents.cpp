#include "deform/contact/surface_dents.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trocar {
namespace {

// A tool stands so deep in the surface that it presses, so that the query finds what it touches.
constexpr float kStandsIn = 5e-5f;  // m
// The surface fades out over so many shifts at least: it is then nowhere steeper than 1.5 / 2.5.
constexpr float kShiftsToFade = 2.5f;
// With this time constant the size of the region follows that of the faces that are pressed.
constexpr float kFollows = 0.05f;  // s
// What keeps the shares of overlapping dents finite.
constexpr float kEvens = 1e-3f;  // m

float distance_to_line(const glm::vec3& p, const SurfaceDent& dent) {
  const glm::vec3 along = dent.to - dent.from, from = p - dent.from;
  const float square = glm::dot(along, along);
  const float t = square > 0.f ? std::clamp(glm::dot(from, along) / square, 0.f, 1.f) : 0.f;
  return glm::length(from - t * along);
}

// Returns the share of the shift at a distance from the line.
float share_at(float distance, const SurfaceDent& dent) {
  const float t = std::clamp((distance - dent.full) / dent.fade, 0.f, 1.f);
  return (1.f - t) * (1.f - t) * (1.f + 2.f * t);
}

// Sets the line between the two points that are farthest apart, nearly.
void find_line(std::span<const glm::vec3> points, SurfaceDent& dent) {
  const auto farthest_from = [&](const glm::vec3& p) {
    const auto nearer = [&](const glm::vec3& a, const glm::vec3& b) {
      return glm::distance(a, p) < glm::distance(b, p);
    };
    return *std::max_element(points.begin(), points.end(), nearer);
  };
  dent.from = farthest_from(points.front());
  dent.to = farthest_from(dent.from);
}

void add_to_box(const glm::vec3& p, PositionBox& box) {
  box.low = glm::min(box.low, p);
  box.high = glm::max(box.high, p);
}

}  // namespace

void DentedPlace::clear() { points.clear(), corners.clear(); }

void DentedPlace::add_face(const glm::uvec3& face, std::span<const glm::vec3> positions) {
  for (int k = 0; k < 3; ++k) corners.push_back(positions[face[k]]);
}

void follow_dent(const Dent& dent, const DentedPlace& place, float spacing, float dt, SurfaceDent& shown) {
  const float deep = glm::length(dent.shift);
  if (!(deep > kStandsIn)) {
    shown = {};
    return;
  }
  shown.shift = (kStandsIn / deep - 1.f) * dent.shift;
  shown.fade = std::max(spacing, kShiftsToFade * deep);
  if (place.points.empty()) return;
  find_line(place.points, shown);
  float reach = 0.f;
  for (const glm::vec3& corner : place.corners) reach = std::max(reach, distance_to_line(corner + shown.shift, shown));
  shown.full = shown.full > 0.f ? shown.full + dt / (kFollows + dt) * (reach - shown.full) : reach;
}

namespace {

// A dent, and a ball outside which it moves nothing.
struct DentInBall {
  const SurfaceDent* dent;
  glm::vec3 middle;  // m
  float square;      // m^2  of its radius
};

constexpr std::size_t kTogether = 16;  // dents

void add_few_dents(std::span<const DentInBall> dents, std::span<glm::vec3> positions, PositionBox& box) {
  for (glm::vec3& p : positions) {
    glm::vec3 sum(0.f);
    float shares = 0.f;
    for (const auto& [dent, middle, square] : dents) {
      const glm::vec3 from = p - middle;
      if (glm::dot(from, from) > square) continue;
      const float distance = distance_to_line(p + dent->shift, *dent), share = share_at(distance, *dent);
      const float counts = share / (kEvens * kEvens + distance * distance);
      sum += counts * share * dent->shift;
      shares += counts;
    }
    if (!(shares > 0.f)) continue;
    p += sum / shares;
    add_to_box(p, box);
  }
}

}  // namespace

void add_dents(std::span<const SurfaceDent> dents, std::span<glm::vec3> positions, PositionBox& box) {
  std::array<DentInBall, kTogether> deep;
  std::size_t count = 0;
  for (const SurfaceDent& dent : dents) {
    if (dent.shift == glm::vec3(0.f) || count == kTogether) continue;
    const float radius = 0.5f * glm::distance(dent.from, dent.to) + dent.full + dent.fade;
    deep[count++] = {&dent, 0.5f * (dent.from + dent.to) - dent.shift, 1.0001f * radius * radius};
  }
  if (count > 0) add_few_dents({deep.data(), count}, positions, box);
}

}  // namespace trocar
