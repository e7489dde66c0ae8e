#include "app/view/organ_layer.hpp"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <cmath>

#include "app/view/tissue_texture.hpp"
#include "sim/device/tool_shape.hpp"

namespace trocar {
namespace {

constexpr float kLampRadius = 0.0022f;    // m    as in the shader
constexpr float kSharpest = 0.0004f;      // m    half width of the shadow's edge where the capsule touches
constexpr float kWidestSpread = 0.0010f;  // m
constexpr float kNearby = 0.0035f;        // m    beyond this distance ambient occlusion is at most 2.2 %

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

float softness(float along, float far, float diffusion) {
  return kLampRadius * along / std::max(far - along, 0.01f) + kSharpest + diffusion;
}

float light_past(const glm::vec3& p, const glm::vec3& to_lamp, float far, const ShadowCapsule& capsule,
                 float diffusion) {
  const Hiding h = hiding(p, to_lamp, far, capsule);
  const float soft = softness(h.along, far, diffusion), open = 1.f - 0.5f * std::exp2(-std::max(h.near, 0.f) * 1300.f);
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

float lit_share(const glm::vec3& p, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules, float diffusion) {
  const float far = glm::distance(p, lamp);
  const glm::vec3 to_lamp = (lamp - p) / far;
  float lit = 1.f;
  for (const ShadowCapsule& capsule : capsules) lit = std::min(lit, light_past(p, to_lamp, far, capsule, diffusion));
  return lit;
}

bool may_shade(std::span<const ShadowCapsule> capsules, const glm::vec3& lamp, const BoundingSphere& sphere, float edge,
               float diffusion) {
  const glm::vec3 from_lamp = glm::vec3(sphere.centre) - lamp;
  const auto radius = static_cast<float>(sphere.radius);
  return std::ranges::any_of(capsules, [&](const ShadowCapsule& capsule) {
    const Wedge wedge(capsule, lamp);
    // A point of the sphere is at most a radius farther from the wedge's planes and from the lamp than its centre.
    const float margin = kNearby + diffusion + 0.58f * edge + (1.f + wedge.spread) * radius;
    return wedge.may_hold(from_lamp, glm::length(from_lamp), margin);
  });
}

void faces_in_shade(const MeshView& mesh, const glm::vec3& lamp, std::span<const ShadowCapsule> capsules, float edge,
                    std::vector<std::uint8_t>& flags, std::vector<glm::uvec3>& faces, float diffusion) {
  std::vector<Wedge> wedges;
  for (const ShadowCapsule& capsule : capsules) wedges.emplace_back(capsule, lamp);
  flags.assign(mesh.positions.size(), 0);
  faces.clear();
  // Every point of a face is within this distance of one of its corners.
  const float margin = 0.58f * edge;
  std::uint8_t any = 0;
  for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
    const glm::vec3 from_lamp = mesh.positions[v] - lamp;
    const float far = glm::length(from_lamp);
    for (std::size_t k = 0; k < wedges.size() && !flags[v]; ++k) {
      if (!wedges[k].may_hold(from_lamp, far, kNearby + diffusion + margin)) continue;
      const Hiding h = hiding(mesh.positions[v], -from_lamp / far, far, capsules[k]);
      flags[v] = h.gap <= softness(h.along, far, diffusion) + margin || h.near <= kNearby + margin ? 1 : 0;
    }
    any |= flags[v];
  }
  if (!any) return;
  for (const glm::uvec3& face : mesh.faces) {
    if (!(flags[face.x] | flags[face.y] | flags[face.z])) continue;
    const glm::vec3& a = mesh.positions[face.x];
    const glm::vec3 normal = glm::cross(mesh.positions[face.y] - a, mesh.positions[face.z] - a);
    if (glm::dot(normal, lamp - a) > 0.f) faces.push_back(face);
  }
}

namespace {

// One colour for each instrument, from Okabe and Ito, "Color universal design", 2008: sky blue, yellow, bluish green,
// vermillion.
constexpr glm::vec3 kTouchColours[] = {
    {0.34f, 0.71f, 0.91f}, {0.94f, 0.89f, 0.26f}, {0.0f, 0.62f, 0.45f}, {0.84f, 0.37f, 0.0f}};

constexpr float kPale = 0.20f;           // green of the colour of an organ that shows vessels
constexpr std::size_t kMeterStride = 4;  // vertices
constexpr unsigned kVesselUnit = 1;      // texture unit

float longest_edge(const MeshView& mesh) {
  float longest = 0.f;
  for (const glm::uvec3& face : mesh.faces) {
    for (int corner = 0; corner < 3; ++corner)
      longest = std::max(longest, glm::distance(mesh.positions[face[corner]], mesh.positions[face[(corner + 1) % 3]]));
  }
  return longest;
}

template <typename T>
std::span<const std::byte> bytes_of(std::span<const T> values) {
  return std::as_bytes(values);
}

bool has_marks(std::span<const float> looks, std::span<const glm::vec2> films) {
  return std::any_of(looks.begin(), looks.end(), [](float look) { return look != 0.f; }) ||
         std::any_of(films.begin(), films.end(), [](const glm::vec2& film) { return film != glm::vec2(0.f); });
}

unsigned backend_buffer(const DrawnOrgan& drawn) { return drawn.buffer; }

}  // namespace

OrganLayer::OrganLayer(std::span<const DrawnOrgan> organs) {
  for (const DrawnOrgan& organ : organs) {
    organs_.push_back(make_organ(organ));
    vessels_.emplace_back();
    if (organ.colour.g > kPale && optics_of(organ.look).vessels)
      vessels_.back() = make_vessels(organ, static_cast<std::uint32_t>(organs_.size()));
  }
}

OrganLayer::Vessels OrganLayer::make_vessels(const DrawnOrgan& drawn, std::uint32_t seed) {
  const std::vector<VesselPiece> pieces = grow_vessels(drawn.rest, {.seed = seed});
  VesselVolumeLimits limits;
  glGetIntegerv(GL_MAX_3D_TEXTURE_SIZE, &limits.most_side);
  const VesselVolume volume = make_vessel_volume(pieces, drawn.rest.positions, limits);
  return {make_byte_volume(volume.size, volume.texels), volume.low, 1.f / (volume.cell * glm::vec3(volume.size))};
}

OrganLayer::Organ OrganLayer::make_organ(const DrawnOrgan& drawn) {
  Organ organ;
  organ.topology = drawn.topology;
  organ.drawn_from = backend_buffer(drawn);
  organ.longest_edge = longest_edge(drawn.rest);
  organ.one_sided = encloses(drawn.rest);
  organ.normals.resize(drawn.rest.positions.size());
  const Shape& shape = organ.shape;
  glBindVertexArray(shape.array.name());
  fill_vertices(shape.positions, bytes_of(drawn.rest.positions), true);
  fill_vertices(shape.normals, bytes_of(std::span<const glm::vec3>(organ.normals)), true);
  fill_vertices(organ.rest, bytes_of(drawn.rest.positions), false);
  fill_faces(shape.faces, drawn.rest.faces, false);
  vertex_attribute(0, drawn.buffer ? drawn.buffer : shape.positions.name(), 3);
  vertex_attribute(1, shape.normals.name(), 3);
  vertex_attribute(2, organ.rest.name(), 3);
  std::vector<float> curvatures(drawn.rest.positions.size());
  vertex_normals(drawn.rest, organ.normals);
  vertex_curvatures(drawn.rest, organ.normals, curvatures);
  std::vector<SkinVertex> skin(curvatures.size());
  for (std::size_t v = 0; v < skin.size(); ++v) skin[v].curvature = curvatures[v];
  make_patches(drawn.rest.positions, skin);
  fill_vertices(organ.skin, std::as_bytes(std::span(skin)), false);
  vertex_attribute(5, organ.skin.name(), 3);
  if (drawn.charred.size() == drawn.rest.positions.size()) {
    organ.looks.assign(drawn.charred.begin(), drawn.charred.end());
    fill_vertices(organ.charred, bytes_of(drawn.charred), true);
    vertex_attribute(3, organ.charred.name(), 1);
  }
  if (drawn.wet.size() == drawn.rest.positions.size()) {
    organ.films.assign(drawn.wet.begin(), drawn.wet.end());
    fill_vertices(organ.wet, bytes_of(drawn.wet), true);
    vertex_attribute(4, organ.wet.name(), 2);
  }
  organ.marked = has_marks(organ.looks, organ.films);
  glBindVertexArray(0);
  organ.shape.index_count = static_cast<int>(drawn.rest.faces.size() * 3);
  return organ;
}

// An attribute without an array has the context's current value, and NVIDIA's compatibility profile takes attribute 3
// for the colour of a vertex, which is 1 at the start.
void OrganLayer::set_absent_attributes(const Organ& organ) {
  if (organ.looks.empty()) glVertexAttrib1f(3, 0.f);
  if (organ.films.empty()) glVertexAttrib2f(4, 0.f, 0.f);
}

void OrganLayer::update(std::span<const DrawnOrgan> organs) {
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const DrawnOrgan& drawn = organs[k];
    // Another backend has another buffer of positions.
    if (organs_[k].topology != drawn.topology || organs_[k].drawn_from != backend_buffer(drawn))
      organs_[k] = make_organ(drawn);
    Organ& organ = organs_[k];
    if (!std::equal(organ.looks.begin(), organ.looks.end(), drawn.charred.begin(), drawn.charred.end())) {
      organ.looks.assign(drawn.charred.begin(), drawn.charred.end());
      update_vertices(organ.charred, bytes_of(drawn.charred));
      organ.marked = has_marks(organ.looks, organ.films);
    }
    if (organ.films.size() == drawn.wet.size() &&
        !std::equal(organ.films.begin(), organ.films.end(), drawn.wet.begin())) {
      organ.films.assign(drawn.wet.begin(), drawn.wet.end());
      update_vertices(organ.wet, bytes_of(drawn.wet));
      organ.marked = has_marks(organ.looks, organ.films);
    }
    if (std::equal(organ.positions.begin(), organ.positions.end(), drawn.positions.begin(), drawn.positions.end()))
      continue;
    organ.positions.assign(drawn.positions.begin(), drawn.positions.end());
    organ.sphere = bounding_sphere(organ.positions);
    vertex_normals({drawn.positions, drawn.rest.faces}, organ.normals);
    update_vertices(organ.shape.normals, bytes_of(std::span<const glm::vec3>(organ.normals)));
    if (!drawn.buffer) update_vertices(organ.shape.positions, bytes_of(drawn.positions));
  }
}

Shader& OrganLayer::tissue_program(std::size_t organ, bool fine, bool lobules) {
  const bool vessels = vessels_[organ].has_value();
  const std::size_t unmarked = (fine ? 8 : 0) + (vessels ? 4 : 0) + (lobules ? 2 : 0);
  const bool marked = organs_[organ].marked || !tissue_[unmarked + 1];
  std::optional<Shader>& program = tissue_[unmarked + (marked ? 1 : 0)];
  if (!program) {
    const std::initializer_list<const char*> parts = {"fat.glsl", "lighting.glsl", "organ.glsl"};
    program.emplace("organ", "organ.glsl", parts,
                    fmt::format("#define FINE {:d}\n#define VESSELS {:d}\n#define LOBULES {:d}\n#define MARKED {:d}\n",
                                fine, vessels, lobules, marked));
  }
  return *program;
}

void OrganLayer::meter(std::span<const DrawnOrgan> organs, const std::optional<ViewPyramid>& seen,
                       LightMeter& meter) const {
  for (std::size_t k = 0; k < organs.size(); ++k)
    if (!(organs[k].opacity < 1.f) && (!seen || may_see(*seen, organs_[k].sphere)))
      meter.add(organs_[k].positions, organs_[k].normals,
                brightness(glm::mix(organs[k].colour, kFatColour, optics_of(organs[k].look).lobules)), kMeterStride);
}

void OrganLayer::draw(std::span<const DrawnOrgan> organs, Quality quality, const std::optional<ViewPyramid>& seen) {
  for (std::size_t k = 0; k < organs.size(); ++k)
    if (!(organs[k].opacity < 1.f) && (!seen || may_see(*seen, organs_[k].sphere)))
      draw_organ(k, organs[k], quality == Quality::High);
}

void OrganLayer::draw_sheets(std::span<const DrawnOrgan> organs, Quality quality,
                             const std::optional<ViewPyramid>& seen) {
  for (std::size_t k = 0; k < organs.size(); ++k)
    if (organs[k].opacity < 1.f && (!seen || may_see(*seen, organs_[k].sphere)))
      draw_organ(k, organs[k], quality == Quality::High);
}

void OrganLayer::draw_organ(std::size_t k, const DrawnOrgan& drawn, bool fine) {
  const TissueOptics& optics = optics_of(drawn.look);
  const Shader& shader = tissue_program(k, fine, optics.lobules > 0.f);
  shader.use();
  shader.set("colour", drawn.colour);
  shader.set("opacity", drawn.opacity);
  shader.set("diffusion", optics.diffusion);
  shader.set("gloss", optics.gloss);
  if (optics.lobules > 0.f) {
    shader.set("lobules", optics.lobules);
    shader.set("fat_cells", static_cast<int>(kFatUnit));
  }
  if (const std::optional<Vessels>& vessels = vessels_[k]) {
    bind_volume(vessels->texture, kVesselUnit);
    shader.set("vessels", static_cast<int>(kVesselUnit));
    shader.set("vessel_low", vessels->low);
    shader.set("vessel_scale", vessels->scale);
  }
  set_absent_attributes(organs_[k]);
  if (organs_[k].one_sided) glEnable(GL_CULL_FACE);
  organs_[k].shape.draw();
  glDisable(GL_CULL_FACE);
}

// Draws some faces of an organ with the program in use.
void OrganLayer::draw_faces(const Organ& organ, const DrawnOrgan& drawn, std::span<const glm::uvec3> faces) {
  if (faces.empty()) return;
  glBindVertexArray(some_array_.name());
  vertex_attribute(0, drawn.buffer ? drawn.buffer : organ.shape.positions.name(), 3);
  vertex_attribute(1, organ.shape.normals.name(), 3);
  fill_faces(some_faces_, faces, true);
  glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(faces.size() * 3), GL_UNSIGNED_INT, nullptr);
}

void OrganLayer::draw_touched(std::span<const DrawnOrgan> organs) {
  touched_.use();
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const TouchList& touches = organs[k].touches;
    for (std::size_t tool = 0; tool + 1 < touches.first.size(); ++tool) {
      picked_.clear();
      for (const Touch& touch : touches.of_tool(tool)) picked_.push_back(organs[k].rest.faces[index(touch.face)]);
      if (tool + 1 < organs[k].tip_first.size())
        for (std::uint32_t i = organs[k].tip_first[tool]; i < organs[k].tip_first[tool + 1]; ++i)
          picked_.push_back(organs[k].rest.faces[index(organs[k].tip_faces[i])]);
      touched_.set("colour", kTouchColours[tool % std::size(kTouchColours)]);
      draw_faces(organs_[k], organs[k], picked_);
    }
  }
}

void OrganLayer::draw_shadows(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools,
                              const glm::vec3& lamp, const std::optional<ViewPyramid>& seen) {
  shadow_.use();
  glBlendFunc(GL_DST_COLOR, GL_ZERO);
  for (const DrawnTool& tool : tools) {
    const std::array<ShadowCapsule, 3> capsules = shadow_capsules(tool);
    std::array<glm::vec4, 3> begin, end;
    for (std::size_t k = 0; k < capsules.size(); ++k) {
      begin[k] = {capsules[k].begin, capsules[k].radius};
      end[k] = {capsules[k].end, 0.f};
    }
    shadow_.set("begin_radius", std::span<const glm::vec4>(begin));
    shadow_.set("end", std::span<const glm::vec4>(end));
    for (std::size_t k = 0; k < organs.size(); ++k) {
      if (seen && !may_see(*seen, organs_[k].sphere)) continue;
      // An edge softer than this would leave no shadow of a thin instrument.
      const glm::vec2 diffusion = glm::min(optics_of(organs[k].look).diffusion, glm::vec2(kWidestSpread));
      if (!may_shade(capsules, lamp, organs_[k].sphere, organs_[k].longest_edge, diffusion.x)) continue;
      const MeshView mesh{organs[k].positions, organs[k].rest.faces};
      faces_in_shade(mesh, lamp, capsules, organs_[k].longest_edge, flags_, picked_, diffusion.x);
      shadow_.set("diffusion", diffusion);
      draw_faces(organs_[k], organs[k], picked_);
    }
  }
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
}

namespace {

constexpr int kCorners = 2 * 9;  // vertices of the strip in shaders/strand.glsl
constexpr int kBundle = 3;       // strips of a fibre

}  // namespace

StrandLayer::StrandLayer() {
  glBindVertexArray(array_.name());
  constexpr int kStride = sizeof(DrawnStrand);
  vertex_attribute(0, ends_.name(), 3, kStride, offsetof(DrawnStrand, from));
  vertex_attribute(1, ends_.name(), 3, kStride, offsetof(DrawnStrand, to));
  vertex_attribute(2, ends_.name(), 1, kStride, offsetof(DrawnStrand, radius));
  for (unsigned location = 0; location < 3; ++location) glVertexAttribDivisor(location, kBundle);
  glBindVertexArray(0);
}

void StrandLayer::draw(std::span<const DrawnStrand> strands, bool blood) const {
  if (strands.empty()) return;
  shader_.use();
  shader_.set("blood", blood ? 1.f : 0.f);
  glBindVertexArray(array_.name());
  fill_vertices(ends_, std::as_bytes(strands), true);
  glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, kCorners, kBundle * static_cast<GLsizei>(strands.size()));
}

}  // namespace trocar
