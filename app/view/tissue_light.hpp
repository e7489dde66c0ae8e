// Light on tissue: optical constants of each look, the lamp of shaders/lamp.glsl in C++, the curvature of surfaces, the
// camera's automatic exposure, and the haze of smoke. Sources: Jensen, Marschner, Levoy, Hanrahan, "A practical model
// for subsurface light transport", SIGGRAPH 2001 (dipole and diffusion length); Jacques, "Optical properties of
// biological tissues", Phys. Med. Biol. 58, 2013, and Prahl's table of haemoglobin (absorption and scattering). Units:
// metres, seconds; light is linear and relative.   Tested in tests/app/view_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// What a look adds to an organ's colour.
struct TissueOptics {
  glm::vec2 diffusion{0.0020f, 0.0003f};  // m  diffusion length of red (620 nm), and of green and blue (540, 460 nm)
  float gloss = 1.f;                      // 1  film of fluid: 0 dry .. 1 covered
  float lobules = 0.f;                    // 1  share of the surface that is fat
  bool vessels = false;                   //    a pale organ shows vessels
};
const TissueOptics& optics_of(TissueLook look);

// Returns the irradiance at a point `to_light` away from the lamp, whose beam goes along `axis` (unit): 1 in the middle
// of the beam at 100 mm.
float lamp_strength(const glm::vec3& to_light, const glm::vec3& axis);

// Computes the mean curvature of a surface at every vertex, 1/m: from the turn of the normals along the edges, averaged
// over the vertex and its neighbours; 0 where it is flat, never above the largest.
constexpr float kMostCurvature = 1000.f;  // 1/m
void vertex_curvatures(const MeshView& mesh, std::span<const glm::vec3> normals, std::span<float> curvatures);

// Returns the brightness of linear light (luma of ITU-R BT.709).
inline float brightness(const glm::vec3& light) { return glm::dot(light, {0.2126f, 0.7152f, 0.0722f}); }

constexpr glm::vec3 kFatColour{0.70f, 0.35f, 0.13f};  // linear; the mean of fat_colour() of shaders/fat.glsl

// What the camera's light meter sees: the nearest tissue in each cell of a coarse grid over the field.
class LightMeter {
 public:
  static constexpr int kColumns = 12, kRows = 9;

  // clip_from_world: FrameBlock's. reach: half heights of the grid's half height; the grid is as wide as 4 : 3.
  void start(const glm::mat4& clip_from_world, float aspect, float reach, const glm::vec3& light,
             const glm::vec3& axis);
  // Shows the camera every `stride`-th vertex. albedo: brightness of the tissue, 0 .. 1.
  void add(std::span<const glm::vec3> positions, std::span<const glm::vec3> normals, float albedo,
           std::size_t stride = 1);
  // Returns the mean brightness; the middle counts more than the border. Cells without tissue show the cavity.
  float mean() const;

 private:
  struct Cell {
    float depth = 0.f, light = 0.f;  // m, 1
  };
  glm::mat4 clip_from_world_{1.f};
  glm::vec2 scale_{1.f};
  glm::vec3 light_{0.f}, axis_{0.f};
  std::array<Cell, std::size_t{kColumns} * kRows> cells_;
};

// The camera's automatic exposure. A picture of the moment before continues; after a jump of the time, and when the
// scope moves without time, it starts at its goal. So a still picture depends on nothing but what it shows.
struct Exposure {
  double time = 0.0;    // s
  float gain = 0.f;     // 1  0: none yet
  glm::mat4 view{0.f};  //    the scope of the last picture

  // mean: brightness that the meter sees. Returns the gain.
  float advance(float mean, const glm::mat4& clip_from_world, double now);
};

// Smoke fills the abdomen while tissue burns, until the insufflator has exchanged the gas. Returns the new density
// after `dt`: 0 clear .. 1.
float haze_after(float haze, int burning, double dt);

}  // namespace trocar
