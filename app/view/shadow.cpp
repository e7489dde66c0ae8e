#include "app/view/shadow.hpp"

#include <algorithm>
#include <cmath>

#include "app/view/tool_shape.hpp"

namespace trocar {
namespace {

constexpr float kLampRadius = 0.0022f;  // m    as in the shader
constexpr float kSharpest = 0.0004f;    // m    half width of the softest edge's opposite
constexpr float kNearby = 0.009f;       // m    from here on a capsule no longer darkens by nearness (1 in 256)

float smoothstep(float from, float to, float x) {
  const float t = std::clamp((x - from) / (to - from), 0.f, 1.f);
  return t * t * (3.f - 2.f * t);
}

float light_past(const glm::vec3& p, const glm::vec3& to_lamp, float far, const ShadowCapsule& capsule) {
  const glm::vec3 axis = capsule.end - capsule.begin, r = p - capsule.begin;
  const float e = glm::dot(axis, axis), f = glm::dot(axis, r), c = glm::dot(to_lamp, r), d = glm::dot(to_lamp, axis);
  float s = std::clamp((d * f - c * e) / std::max(e - d * d, 1e-9f), 0.f, far);
  const float t = std::clamp((d * s + f) / e, 0.f, 1.f);
  s = std::clamp(d * t - c, 0.f, far);
  const float gap = glm::length(r + s * to_lamp - t * axis) - capsule.radius;
  const float soft = kLampRadius * s / std::max(far - s, 0.01f) + kSharpest;
  const float near = glm::length(r - std::clamp(f / e, 0.f, 1.f) * axis) - capsule.radius;
  const float open = 1.f - 0.55f * std::exp2(-std::max(near, 0.f) * 500.f);
  return glm::mix(0.28f, 1.f, smoothstep(-soft, soft, gap)) * open;
}

// Where the shadow of one capsule can lie: a slab about the plane through lamp and axis, cut off before its first end.
struct Wedge {
  glm::vec3 normal, onward;
  float spread;  // 1   the capsule's radius and the lamp's softness by distance from the lamp
  float begins;  // m   from the lamp

  Wedge(const ShadowCapsule& capsule, const glm::vec3& lamp) {
    const glm::vec3 a = capsule.begin - lamp, b = capsule.end - lamp, axis = b - a;
    const float t = std::clamp(-glm::dot(a, axis) / std::max(glm::dot(axis, axis), 1e-12f), 0.f, 1.f);
    begins = std::max(glm::length(a + t * axis) - capsule.radius, 1e-3f);
    // The edge's half width grows with what is left of the way beyond the capsule, never faster than this.
    spread = (capsule.radius + kLampRadius + kSharpest) / begins;
    const glm::vec3 across = glm::cross(a, b);
    const float length = glm::length(across);
    normal = length > 1e-9f ? across / length : glm::vec3(0.f);
    const glm::vec3 ahead = axis - glm::dot(axis, a) / std::max(glm::dot(a, a), 1e-12f) * a;
    onward = length > 1e-9f ? glm::normalize(ahead) : glm::vec3(0.f);
  }

  bool may_hold(const glm::vec3& from_lamp, float length, float margin) const {
    const float reach = length * spread + margin;
    return std::abs(glm::dot(normal, from_lamp)) <= reach && glm::dot(onward, from_lamp) >= -reach &&
           length >= begins - margin;
  }
};

}  // namespace

void shadow_capsules(std::span<const DrawnTool> tools, std::vector<ShadowCapsule>& capsules) {
  capsules.clear();
  for (const DrawnTool& tool : tools) {
    if (capsules.size() + 3 > kMaxShadowCapsules) return;
    const double hinge = tip_length(tool.kind, tool.pose.radius);
    const auto radius = static_cast<float>(tool.pose.radius);
    const glm::dvec3 joint(tool_frame(tool.pose, 0.0) * glm::dvec4(0, 0, hinge, 1));
    capsules.push_back({joint, tool.pose.pivot, radius});
    const bool opens = tool.kind == InstrumentKind::Grasper || tool.kind == InstrumentKind::Scissors;
    const float thick = tool.kind == InstrumentKind::Probe ? 0.8f : tool.kind == InstrumentKind::Hook ? 0.3f : 0.45f;
    for (const double side : {1.0, -1.0}) {
      const ToolPart part{{}, hinge, opens ? side : 0.0};
      const glm::dvec3 tip(part_pose(tool.pose, tool.roll_deg, tool.grip, part, tool.limits) *
                           glm::dvec4(0, 0, 0.8 * thick * tool.pose.radius, 1));
      capsules.push_back({tip, joint, thick * radius});
      if (!opens) break;
    }
  }
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
  if (capsules.empty()) return;
  for (const ShadowCapsule& capsule : capsules) {
    const Wedge wedge(capsule, lamp);
    for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
      const glm::vec3 from_lamp = mesh.positions[v] - lamp;
      flags[v] |= wedge.may_hold(from_lamp, glm::length(from_lamp), kNearby + edge) ? 1 : 0;
    }
  }
  for (const glm::uvec3& face : mesh.faces)
    if (flags[face.x] | flags[face.y] | flags[face.z]) faces.push_back(face);
}

}  // namespace trocar
