#include "app/view/tool_layer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cmath>
#include <glm/gtc/matrix_transform.hpp>

#include "app/view/tissue_light.hpp"
#include "mesh/tube_shape.hpp"

namespace trocar {
namespace {

constexpr double kPuffsPerSecond = 16.0;
constexpr float kLife = 2.6f;                          // s
constexpr float kRise = 0.030f;                        // m/s
constexpr float kFirstRadius = 0.0025f;                // m
constexpr float kGrowth = 0.0085f;                     // m/s
constexpr float kDensest = 0.62f;                      // 1
constexpr double kLongestGap = 1.0, kStep = 1.0 / 60;  // s

// Returns a pseudorandom number 0 .. 1 for each `salt`.
float chance(std::uint32_t number, std::uint32_t salt) {
  std::uint32_t n = number * 747796405u + salt * 2891336453u + 1u;
  n = ((n >> ((n >> 28) + 4)) ^ n) * 277803737u;
  return static_cast<float>((n ^ (n >> 22)) >> 8) / 16777216.f;
}

bool burns(const DrawnTool& tool) { return tool.heats; }

void give_birth(SmokeState& smoke, const glm::dvec3& location) {
  const std::uint32_t n = smoke.born++;
  const glm::vec3 aside(chance(n, 1) - 0.5f, chance(n, 2) - 0.5f, 0.f);
  SmokePuff& puff = smoke.puffs[smoke.next];
  smoke.next = (smoke.next + 1) % smoke.puffs.size();
  puff.location = glm::vec3(location) + 0.002f * aside;
  puff.velocity = glm::vec3(0.014f * aside.x, 0.014f * aside.y, kRise * (0.7f + 0.6f * chance(n, 3)));
  puff.age = 0.f;
  puff.life = kLife * (0.6f + 0.4f * chance(n, 4));
  puff.seed = chance(n, 5);
}

void step(SmokeState& smoke, std::span<const DrawnTool> tools, float dt) {
  for (SmokePuff& puff : smoke.puffs) {
    if (puff.life == 0.f) continue;
    puff.age += dt;
    if (puff.age >= puff.life) puff = {};
    // A puff slows down with age, and sways.
    const float sway = 0.010f * std::sin(2.5f * puff.age + 6.28f * puff.seed);
    puff.location += dt * (puff.velocity * std::exp(-0.5f * puff.age) + glm::vec3(sway, 0.4f * sway, 0.f));
  }
  smoke.haze = haze_after(smoke.haze, static_cast<int>(std::ranges::count_if(tools, burns)), static_cast<double>(dt));
  for (const DrawnTool& tool : tools) {
    if (!burns(tool)) continue;
    for (smoke.owed += kPuffsPerSecond * static_cast<double>(dt); smoke.owed >= 1.0; smoke.owed -= 1.0)
      give_birth(smoke, tool.pose.tip);
  }
}

}  // namespace

void advance(SmokeState& smoke, std::span<const DrawnTool> tools, double time) {
  const double gap = time - smoke.time;
  if (gap < 0.0 || gap > kLongestGap) smoke = {};
  const int steps = gap > 0.0 && gap <= kLongestGap ? static_cast<int>(std::ceil(gap / kStep - 1e-9)) : 0;
  for (int k = 0; k < steps; ++k) step(smoke, tools, static_cast<float>(gap / steps));
  smoke.time = time;
}

void smoke_vertices(const SmokeState& smoke, std::vector<SmokeVertex>& vertices) {
  vertices.clear();
  constexpr glm::vec2 kCorners[] = {{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}};
  for (const SmokePuff& puff : smoke.puffs) {
    if (puff.life == 0.f) continue;
    const float share = puff.age / puff.life;
    const float density = kDensest * std::min(8.f * share, 1.f) * (1.f - share) * (1.f - 0.4f * share);
    const glm::vec4 centre(puff.location, kFirstRadius + kGrowth * std::sqrt(puff.age) * (0.8f + 0.4f * puff.seed));
    for (const glm::vec2& corner : kCorners) vertices.push_back({centre, {corner, puff.seed, density}});
  }
}

namespace {

constexpr double kMeshRadius = 0.0025;  // m, of the meshes; other instruments are scaled

struct Finish {
  glm::vec3 colour;  // linear
  float shine;       // 0 plastic .. 1 polished steel
};

Finish finish_of(ToolSurface surface) {
  switch (surface) {
    case ToolSurface::Insulation:
      return {glm::vec3(0.016f), 0.12f};
    case ToolSurface::Ceramic:
      return {{0.75f, 0.72f, 0.64f}, 0.2f};
    default:
      return {{0.60f, 0.61f, 0.64f}, 1.f};
  }
}

void set_finish(const Shader& metal, ToolSurface surface, bool energised) {
  const Finish finish = finish_of(surface);
  metal.set("colour", finish.colour);
  metal.set("shine", finish.shine);
  metal.set("teeth", surface == ToolSurface::Jaw ? 1.f : 0.f);
  metal.set("heat", surface == ToolSurface::Wire && energised ? 0.6f : 0.f);
}

}  // namespace

ToolLayer::ToolLayer() {
  for (std::size_t kind = 0; kind < parts_.size(); ++kind) {
    std::vector<ToolPart> parts = tip_parts(static_cast<InstrumentKind>(kind), kMeshRadius);
    for (ToolPart& part : shaft_parts(static_cast<InstrumentKind>(kind), kMeshRadius)) parts.push_back(std::move(part));
    for (ToolPart& part : parts) {
      Shape shape = make_rigid_shape(part.mesh.view());
      const BoundingSphere sphere = bounding_sphere(part.mesh.positions);
      parts_[kind].push_back({std::move(part), std::move(shape), sphere});
    }
  }
}

// `finished`: the shader shows the part's surface.
void ToolLayer::draw_shapes(std::span<const DrawnTool> tools, const std::optional<ViewPyramid>& seen,
                            const Shader& shader, bool finished) const {
  shader.use();
  glEnable(GL_CULL_FACE);
  for (const DrawnTool& tool : tools) {
    const double scale = tool.pose.radius / kMeshRadius;
    for (const auto& [part, shape, sphere] : parts_[static_cast<std::size_t>(tool.kind)]) {
      const ToolPart sized{{}, part.hinge_z * scale, part.side};
      const glm::dmat4 frame =
          glm::scale(part_pose(tool.pose, tool.roll_deg, tool.grip, sized, tool.limits), glm::dvec3(scale));
      if (seen && !may_see(*seen, {glm::dvec3(frame * glm::dvec4(sphere.centre, 1.0)), scale * sphere.radius}))
        continue;
      shader.set("world_from_model", glm::mat4(frame));
      if (finished) set_finish(shader, part.surface, tool.energy != Diathermy::Off);
      shape.draw();
    }
  }
  glDisable(GL_CULL_FACE);
}

void ToolLayer::draw(std::span<const DrawnTool> tools, const std::optional<ViewPyramid>& seen) const {
  draw_shapes(tools, seen, metal_, true);
}

void ToolLayer::draw_ghosts(std::span<const DrawnTool> tools, const std::optional<ViewPyramid>& seen) const {
  if (tools.empty()) return;
  glDepthMask(GL_TRUE);
  glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
  draw_shapes(tools, seen, ghost_, false);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDepthMask(GL_FALSE);
  draw_shapes(tools, seen, ghost_, false);
}

namespace {

// Of a medium clip: length of the legs, radius of the wire, half the distance between the middles of the legs.
constexpr double kDrawnLegs = 0.0085, kWire = 0.0004, kApart = 0.00062;  // m

TriangleMesh bent_wire() {
  const double end = kDrawnLegs - kWire, bend = kApart + kWire;
  return tube_surface({{{0, kApart, end},
                        {0, kApart, 0.6 * end},
                        {0, kApart, bend},
                        {0, 0.71 * kApart, bend - 0.71 * kApart},
                        {0, 0, bend - kApart},
                        {0, -0.71 * kApart, bend - 0.71 * kApart},
                        {0, -kApart, bend},
                        {0, -kApart, 0.6 * end},
                        {0, -kApart, end}},
                       kWire});
}

}  // namespace

ClipLayer::ClipLayer() : shape_(make_rigid_shape(bent_wire().view())) {}

void ClipLayer::draw(std::span<const DrawnClip> clips) const {
  if (clips.empty()) return;
  metal_.use();
  metal_.set("colour", glm::vec3(0.66f, 0.66f, 0.69f));
  metal_.set("shine", 1.f);
  metal_.set("teeth", 0.f);
  metal_.set("heat", 0.f);
  for (const DrawnClip& clip : clips) {
    const ClipPose& pose = clip.pose;
    const float stretch = clip.length / static_cast<float>(kDrawnLegs);
    // Legs that tissue keeps apart are drawn further apart.
    const float open = 1.f + std::max(pose.gap - static_cast<float>(kApart), 0.f) / static_cast<float>(2.0 * kApart);
    const glm::vec3 aside = glm::cross(pose.across, pose.legs);
    glm::mat4 frame(1.f);
    frame[0] = glm::vec4(aside, 0.f);
    frame[1] = glm::vec4(open * pose.across, 0.f);
    frame[2] = glm::vec4(stretch * pose.legs, 0.f);
    frame[3] = glm::vec4(pose.centre - 0.5f * clip.length * pose.legs, 1.f);
    metal_.set("world_from_model", frame);
    shape_.draw();
  }
}

}  // namespace trocar
