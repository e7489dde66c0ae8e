// The shadow that instruments throw on tissue, found without a shadow map: instruments are a few capsules, so how much
// of the lamp a place sees follows from the nearest approach of two segments. The shader (shaders/shadow.frag) does
// this for each fragment of the few faces that faces_in_shade() picks; lit_share() is the same sum on the CPU. Units:
// metres, world frame.   Tested in tests/app/view_parts_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app/view/drawn.hpp"

namespace trocar {

struct ShadowCapsule {
  glm::vec3 begin{0.f}, end{0.f};  // m
  float radius = 0.0025f;          // m
};

// Shaft and jaws; where there is but one tip, it comes twice.
std::array<ShadowCapsule, 3> shadow_capsules(const DrawnTool& tool);

// 0 dark .. 1 lit: the lamp's light that reaches p, soft by the distance of what hides it, and less beside a capsule
// that all but touches.
float lit_share(const glm::vec3& p, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules);

// Every face turned to the lamp that may hold a place with a share well below 1, and some more: what is turned away is
// not lit at all. `edge`: m, longest of the mesh. `flags` is
// working room; replaces `faces`.
void faces_in_shade(const MeshView& mesh, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules, float edge,
                    std::vector<std::uint8_t>& flags, std::vector<glm::uvec3>& faces);

}  // namespace trocar
