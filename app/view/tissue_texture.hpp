// Computes the look of tissue that the picture alone shows: its grain, and blood vessels on the surface of an organ.
// Deterministic: the same on every machine.   Units: metres.   Tested in tests/app/view_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Returns a random number 0 .. 1, without 1, for a lattice point or a pair of vertices: an integer hash.
inline float random_share(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t seed) {
  std::uint32_t n = x * 1597334673u ^ y * 3812015801u ^ z * 2798796415u ^ seed * 2246822519u;
  n = (n ^ (n >> 15)) * 2246822519u;
  n = (n ^ (n >> 13)) * 3266489917u;
  return static_cast<float>((n ^ (n >> 16)) >> 8) * (1.f / 16777216.f);
}

// The grain of tissue: a small repeating volume of smoothed value noise on a lattice, so that shaders need not compute
// noise for every fragment. Red, green and blue have a finer octave; alpha is a separate smooth field.
constexpr int kNoiseSide = 64;  // texels

std::vector<std::uint8_t> make_noise_volume();  // [z][y][x][rgba]

// Lobules of fat: a repeating volume of rounded cells (Worley, "A cellular texture basis function", SIGGRAPH 1996),
// large ones of 4.5 mm with small ones of 2.2 mm upon them.
constexpr int kLobuleSide = 64;          // texels
constexpr float kLobuleVolume = 0.036f;  // m  side, as in shaders/fat.glsl
// Alpha: height, 0 in a valley .. 1. Red, green, blue: half, plus what is to be added to a unit normal, in the frame of
// the organ at rest, which the shaders' `turned` has turned into that of the volume.   [z][y][x][rgba]
std::vector<std::uint8_t> make_lobule_volume();

// What a vertex of an organ shows of its surface at rest.
struct SkinVertex {
  float curvature = 0.f;  // 1/m  vertex_curvatures()
  float mottle = 0.f,
        fat = 0.f;  // 1    -1 .. 1, broad patches, far wider than a face: light and dark; more and less fat
};
// Returns `point` turned, so that no surface is aligned with a volume's cells: `turned` of the shaders.
glm::vec3 turned(const glm::vec3& point);
// Overwrites mottle and fat, at the vertices at rest.
void make_patches(std::span<const glm::vec3> rest, std::span<SkinVertex> skin);

struct VesselTreeParams {
  double area_per_end = 2.5e-4;   // m^2  of the surface: one end of a vessel for each, at most 2000
  double area_per_root = 250e-4;  // m^2  of the surface: one tree for each, at most 12
  float end_radius = 0.0006f;     // m
  float most_radius = 0.0019f;    // m
  float clearance = 0.0035f;      // m    closer vessels join; at least 1.6 mean edges of the mesh
  float shortest = 0.009f;        // m    of a branch
  std::uint32_t seed = 1;
};

struct VesselPiece {
  glm::vec3 from{0.f}, to{0.f};              // m
  float from_radius = 0.f, to_radius = 0.f;  // m
};

// Grows blood vessels on the surface of an organ: trees that branch and never form a closed loop. Each vessel is the
// shortest path, over edges of seeded random cost, from a point of the surface to the root of its tree, or to the first
// vessel that it comes near. Radii follow Murray's law (J. Gen. Physiol. 9:835, 1926): the cubes of the radii add up
// where vessels join.
// Returns the pieces of all trees; none for a mesh without faces. Seams are closed first.
std::vector<VesselPiece> grow_vessels(const MeshView& mesh, const VesselTreeParams& params = {});

constexpr float kVesselReach = 0.0016f;  // m  texels 0 and 255 are minus and plus the square of it

// A volume around an organ at rest with the square of the radius of the nearest vessel minus the square of the distance
// to its axis, so that a shader draws vessels by one look into a texture, on any mesh and after cuts. The square,
// unlike the distance, has no kink at the axis, so that vessels thinner than a texel do not break up.
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
