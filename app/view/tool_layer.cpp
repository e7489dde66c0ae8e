#include "app/view/tool_layer.hpp"

#include <glad/gl.h>

#include <glm/gtc/matrix_transform.hpp>

namespace trocar {
namespace {

constexpr double kMeshRadius = 0.0025;  // m, of the meshes; other instruments are scaled

struct Finish {
  glm::vec3 colour;  // linear
  float shine;       // 0 plastic .. 1 polished steel
};

Finish finish_of(ToolSurface surface) {
  switch (surface) {
    case ToolSurface::Insulation:
      return {glm::vec3(0.030f), 0.12f};
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

}  // namespace trocar
