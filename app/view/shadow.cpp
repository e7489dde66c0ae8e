#include "app/view/shadow.hpp"

#include <algorithm>
#include <cmath>

#include "sim/device/tool_shape.hpp"

namespace trocar {
namespace {

constexpr float kLampRadius = 0.0022f;  // m    as in the shader
constexpr float kSharpest = 0.0004f;    // m    half width of the shadow's edge where the capsule touches
constexpr float kNearby = 0.0035f;      // m    beyond this distance ambient occlusion is at most 2.2 %

float smoothstep(float from, float to, float x) {
  const float t = std::clamp((x - from) / (to - from), 0.f, 1.f);
  return t * t * (3.f - 2.f * t);
}

// A point relative to a capsule between it and the lamp.
struct Hiding {
  float gap;    // m   smallest distance between the capsule and the ray towards the lamp, negative inside
  float along;  // m   from the point to the ray's nearest point
  float near;   // m   from the point to the capsule
};

Hiding hiding(const glm::vec3& p, const glm::vec3& to_lamp, float far, const ShadowCapsule& capsule) {
  const glm::vec3 axis = capsule.end - capsule.begin, r = p - capsule.begin;
  const float e = glm::dot(axis, axis), f = glm::dot(axis, r), c = glm::dot(to_lamp, r), d = glm::dot(to_lamp, axis);
  float s = std::clamp((d * f - c * e) / std::max(e - d * d, 1e-9f), 0.f, far);
  const float t = std::clamp((d * s + f) / e, 0.f, 1.f);
  s = std::clamp(d * t - c, 0.f, far);
  return {glm::length(r + s * to_lamp - t * axis) - capsule.radius, s,
          glm::length(r - std::clamp(f / e, 0.f, 1.f) * axis) - capsule.radius};
}

float softness(float along, float far) { return kLampRadius * along / std::max(far - along, 0.01f) + kSharpest; }

float light_past(const glm::vec3& p, const glm::vec3& to_lamp, float far, const ShadowCapsule& capsule) {
  const Hiding h = hiding(p, to_lamp, far, capsule);
  const float soft = softness(h.along, far), open = 1.f - 0.5f * std::exp2(-std::max(h.near, 0.f) * 1300.f);
  return glm::mix(0.28f, 1.f, smoothstep(-soft, soft, h.gap)) * open;
}

// Bounding region of one capsule's shadow: a slab around the plane through lamp and axis, cut off before its first end.
struct Wedge {
  glm::vec3 normal, onward;
  float spread;  // 1   the capsule's radius and the lamp's softness by distance from the lamp
  float begins;  // m   from the lamp

  Wedge(const ShadowCapsule& capsule, const glm::vec3& lamp) {
    const glm::vec3 a = capsule.begin - lamp, b = capsule.end - lamp, axis = b - a;
    const float t = std::clamp(-glm::dot(a, axis) / std::max(glm::dot(axis, axis), 1e-12f), 0.f, 1.f);
    begins = std::max(glm::length(a + t * axis) - capsule.radius, 1e-3f);
    // `spread` is an upper bound of the growth of the edge's half width with the distance beyond the capsule.
    spread = (capsule.radius + kLampRadius + kSharpest) / begins;
    const glm::vec3 across = glm::cross(a, b);
    const float length = glm::length(across);
    normal = length > 1e-9f ? across / length : glm::vec3(0.f);
    const glm::vec3 ahead = axis - glm::dot(axis, a) / std::max(glm::dot(a, a), 1e-12f) * a;
    onward = length > 1e-9f ? glm::normalize(ahead) : glm::vec3(0.f);
  }

  // This test is conservative; hiding() is exact.
  bool may_hold(const glm::vec3& from_lamp, float far, float margin) const {
    const float bound = far * spread + margin;
    return std::abs(glm::dot(normal, from_lamp)) <= bound && glm::dot(onward, from_lamp) >= -bound &&
           far >= begins - margin;
  }
};

}  // namespace

std::array<ShadowCapsule, 3> shadow_capsules(const DrawnTool& tool) {
  const double hinge = tip_length(tool.kind, tool.pose.radius);
  const auto radius = static_cast<float>(tool.pose.radius);
  const glm::dvec3 joint = tool_frame(tool.pose, 0.0).to_world({0, 0, hinge});
  std::array<ShadowCapsule, 3> capsules{{{joint, tool.pose.pivot, radius}}};
  const bool opens = has_jaws(tool.kind) || tool.kind == InstrumentKind::Scissors;
  const float thick = is_blunt(tool.kind) ? 0.8f : tool.kind == InstrumentKind::Hook ? 0.3f : 0.45f;
  for (std::size_t jaw = 0; jaw < 2; ++jaw) {
    const ToolPart part{{}, hinge, opens ? 1.0 - 2.0 * static_cast<double>(jaw) : 0.0};
    const glm::dmat4 frame = part_pose(tool.pose, tool.roll_deg, tool.grip, part, tool.limits);
    capsules[jaw + 1] = {glm::dvec3(frame * glm::dvec4(0, 0, thick * radius, 1)), joint, thick * radius};
  }
  return capsules;
}

float lit_share(const glm::vec3& p, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules) {
  const float far = glm::distance(p, lamp);
  const glm::vec3 to_lamp = (lamp - p) / far;
  float lit = 1.f;
  for (const ShadowCapsule& capsule : capsules) lit = std::min(lit, light_past(p, to_lamp, far, capsule));
  return lit;
}

void faces_in_shade(const MeshView& mesh, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules, float edge,
                    std::vector<std::uint8_t>& flags, std::vector<glm::uvec3>& faces) {
  flags.assign(mesh.positions.size(), 0);
  faces.clear();
  // Every point of a face is within this distance of one of its corners.
  const float margin = 0.58f * edge;
  for (const ShadowCapsule& capsule : capsules) {
    const Wedge wedge(capsule, lamp);
    for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
      const glm::vec3 from_lamp = mesh.positions[v] - lamp;
      const float far = glm::length(from_lamp);
      if (flags[v] || !wedge.may_hold(from_lamp, far, kNearby + margin)) continue;
      const Hiding h = hiding(mesh.positions[v], -from_lamp / far, far, capsule);
      flags[v] = h.gap <= softness(h.along, far) + margin || h.near <= kNearby + margin ? 1 : 0;
    }
  }
  for (const glm::uvec3& face : mesh.faces) {
    if (!(flags[face.x] | flags[face.y] | flags[face.z])) continue;
    const glm::vec3& a = mesh.positions[face.x];
    const glm::vec3 normal = glm::cross(mesh.positions[face.y] - a, mesh.positions[face.z] - a);
    if (glm::dot(normal, lamp - a) > 0.f) faces.push_back(face);
  }
}

}  // namespace trocar
