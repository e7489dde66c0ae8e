// Draws tissue with OpenGL: organs, their touched faces, the instruments' shadows on them, strands of connective
// tissue. Units: metres, world frame.   Tested in tests/app/view_test.cpp; shadows also in
// tests/app/view_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"
#include "app/view/tissue_light.hpp"
#include "geometry/view_pyramid.hpp"

namespace trocar {

// Computes shadows of instruments on tissue without a shadow map. An instrument is a few capsules, so the visible share
// of the lamp follows from the smallest distance of two segments. The shader (shaders/shadow.glsl) computes it for each
// fragment of the few faces that faces_in_shade() selects; lit_share() is the same formula on the CPU.
struct ShadowCapsule {
  glm::vec3 begin{0.f}, end{0.f};  // m
  float radius = 0.0025f;          // m
};

// Returns the capsules of shaft and jaws. A single tip is listed twice.
std::array<ShadowCapsule, 3> shadow_capsules(const DrawnTool& tool);

// Returns the share of the lamp's light at p, 0 dark .. 1 lit: a soft shadow whose width grows with the occluder's
// distance, times ambient occlusion close to a capsule. diffusion: m, the length that light spreads in the tissue,
// which softens the edge.
float lit_share(const glm::vec3& p, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules,
                float diffusion = 0.f);

// Returns false only when faces_in_shade() finds no face of a mesh within the sphere.
bool may_shade(std::span<const ShadowCapsule> capsules, const glm::vec3& lamp, const BoundingSphere& sphere, float edge,
               float diffusion = 0.f);

// Overwrites `faces` with a superset of the faces that face the lamp and have a point with a share well below 1; faces
// turned away from the lamp are unlit anyway. `edge`: m, the longest edge of the mesh. `diffusion`: as in lit_share().
// `flags`: scratch buffer.
void faces_in_shade(const MeshView& mesh, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules, float edge,
                    std::vector<std::uint8_t>& flags, std::vector<glm::uvec3>& faces, float diffusion = 0.f);

class OrganLayer {
 public:
  explicit OrganLayer(std::span<const DrawnOrgan> organs);

  // Uploads positions, normals, looks and topology that have changed.
  void update(std::span<const DrawnOrgan> organs);
  // Shows the solid organs that are not wholly outside `seen` to the camera's meter.
  void meter(std::span<const DrawnOrgan> organs, const std::optional<ViewPyramid>& seen, LightMeter& meter) const;
  // Draws the organs that are not wholly outside `seen`: those that are opaque, and blended over everything behind them
  // the thin sheets, of which the side towards the eye is seen.
  void draw(std::span<const DrawnOrgan> organs, Quality quality, const std::optional<ViewPyramid>& seen);
  void draw_sheets(std::span<const DrawnOrgan> organs, Quality quality, const std::optional<ViewPyramid>& seen);
  // Draws the touched faces, blended over the tissue, in one colour for each instrument.
  void draw_touched(std::span<const DrawnOrgan> organs);
  // Darkens what lies in the shadow of an instrument, on organs that are not wholly outside `seen`.
  void draw_shadows(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools, const glm::vec3& lamp,
                    const std::optional<ViewPyramid>& seen);

 private:
  struct Organ {
    Shape shape;
    gl::Buffer rest = gl::make_buffer(), skin = gl::make_buffer(), charred = gl::make_buffer(), wet = gl::make_buffer();
    std::vector<glm::vec3> positions, normals;  // [vertex] as uploaded
    BoundingSphere sphere;                      // of the positions
    std::vector<float> looks;                   // [vertex] as uploaded; empty: the organ has none
    std::vector<glm::vec2> films;               // [vertex] DrawnOrgan::wet as uploaded; empty: the organ has none
    std::uint32_t topology = 0;
    bool marked = true;        // burnt or wet somewhere
    unsigned drawn_from = 0;   // the backend's buffer of positions; 0: our own
    float longest_edge = 0.f;  // m
    bool one_sided = false;    // closed, with outward faces: back faces need not be drawn
  };
  // The vessels of an organ as it was when the layer was made.
  struct Vessels {
    Texture texture;
    glm::vec3 low{0.f}, scale{1.f};  // m, 1 / m
  };
  static Organ make_organ(const DrawnOrgan& drawn);
  static void set_absent_attributes(const Organ& organ);
  // The program for an organ. The first picture at a quality uses the one for marks, so that the driver has prepared it
  // before the first mark.
  Shader& tissue_program(std::size_t organ, bool fine, bool lobules);
  static Vessels make_vessels(const DrawnOrgan& drawn, std::uint32_t seed);
  void draw_organ(std::size_t k, const DrawnOrgan& drawn, bool fine);
  void draw_faces(const Organ& organ, const DrawnOrgan& drawn, std::span<const glm::uvec3> faces);

  std::vector<Organ> organs_;                     // [organ]
  std::vector<std::optional<Vessels>> vessels_;   // [organ] only pale organs show vessels
  std::array<std::optional<Shader>, 16> tissue_;  // compiled at first use; see tissue_program()
  Shader touched_{"touched", "touched.glsl", {"touched.glsl"}};
  Shader shadow_{"shadow", "shadow.glsl", {"shadow.glsl"}};
  gl::VertexArray some_array_ = gl::make_vertex_array();
  gl::Buffer some_faces_ = gl::make_buffer();
  std::vector<glm::uvec3> picked_;
  std::vector<std::uint8_t> flags_;
};

// Strands of connective tissue and jets of blood: ribbons that face the eye and are lit like wet, translucent threads.
class StrandLayer {
 public:
  StrandLayer();
  // Blended: needs the depth buffer of what is in front.
  void draw(std::span<const DrawnStrand> strands, bool blood) const;

 private:
  Shader shader_{"strand", "strand.glsl", {"lighting.glsl", "strand.glsl"}};
  gl::VertexArray array_ = gl::make_vertex_array();
  gl::Buffer ends_ = gl::make_buffer();
};

}  // namespace trocar
