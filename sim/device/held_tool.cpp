#include "sim/device/held_tool.hpp"

namespace trocar {

HeldTool held_tool(const InstrumentScene& scene) {
  return {scene.pivot, scene.tip,         scene.axis, scene.limits, 0.0, scene.kind != InstrumentKind::Scissors,
          scene.axes,  scene.registration};
}

HeldTool held_tool(const ScopeScene& scene) {
  const ScopePose pose = scene.pose();
  return {pose.port, pose.eye, glm::dvec3(0.0), scene.limits, pose.spin_deg, true, scene.axes, scene.registration};
}

}  // namespace trocar
