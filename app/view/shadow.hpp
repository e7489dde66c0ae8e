// Computes shadows of instruments on tissue without a shadow map. An instrument is a few capsules, so the visible share
// of the lamp follows from the smallest distance of two segments. The shader (shaders/shadow.frag) computes it for each
// fragment of the few faces that faces_in_shade() selects; lit_share() is the same formula on the CPU.
// Units: metres, world frame.   Tested in tests/app/view_parts_test.cpp
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

// Returns the capsules of shaft and jaws. A single tip is listed twice.
std::array<ShadowCapsule, 3> shadow_capsules(const DrawnTool& tool);

// Returns the share of the lamp's light at p, 0 dark .. 1 lit: a soft shadow whose width grows with the occluder's
// distance, times ambient occlusion close to a capsule.
float lit_share(const glm::vec3& p, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules);

// Overwrites `faces` with a superset of the faces that face the lamp and have a point with a share well below 1; faces
// turned away from the lamp are unlit anyway. `edge`: m, the longest edge of the mesh. `flags`: scratch buffer.
void faces_in_shade(const MeshView& mesh, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules, float edge,
                    std::vector<std::uint8_t>& flags, std::vector<glm::uvec3>& faces);

}  // namespace trocar
