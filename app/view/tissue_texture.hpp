// Fills a volume around an organ at rest with the square of the radius of the nearest vessel minus the square of the
// distance to its axis, so that a shader draws vessels by one look into a texture, on any mesh and after cuts. The
// square, unlike the distance, has no kink at the axis, so that vessels thinner than a texel do not break up.   Units:
// metres.   Tested in tests/app/vessel_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/view/vessel_tree.hpp"

namespace trocar {

constexpr float kVesselReach = 0.0016f;  // m  texels 0 and 255 are minus and plus the square of it

struct VesselVolume {
  glm::ivec3 size{0};
  glm::vec3 low{0.f};                // m  corner of the first texel
  float cell = 0.f;                  // m  side of a texel
  std::vector<std::uint8_t> texels;  // [z][y][x]

  // Returns the value at a point, -1 .. 1, as the shader sees it: linear between the centres of texels; positive inside
  // a vessel.
  float inside(const glm::vec3& p) const;
};

struct VesselVolumeLimits {
  std::size_t most_texels = 8'000'000;  // 1
  int most_side = 2048;                 // texels, of each side: OpenGL's limit for a texture
};

// `positions`: of the organ at rest. Texels are 0.5 mm wide, or wider to stay within the limits.
VesselVolume make_vessel_volume(std::span<const VesselPiece> pieces, std::span<const glm::vec3> positions,
                                const VesselVolumeLimits& limits = {});

}  // namespace trocar
