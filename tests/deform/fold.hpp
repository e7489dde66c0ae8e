// Makes a fold of tissue, 5 mm thick, between the jaws of a grasper. Tests and benchmarks use the same fold.
// Units: metres, newtons, radians.
#pragma once

#include <algorithm>

#include "geometry/refine.hpp"
#include "tests/deform/jaws.hpp"
#include "tests/deform/organ_group.hpp"

namespace trocar::test {

// The fold stands upright: 40 mm long, 5 mm thick, 20 mm high. The jaws come from above; they open along its thickness.
struct Fold {
  TriangleMesh mesh = fine_block({-0.02f, -0.0025f, 0.f}, {0.04f, 0.005f, 0.02f}, 0.00125f);
  TissueParams tissue = [] {
    TissueParams params;
    params.node_spacing = 0.0025f;
    return params;
  }();
  Attachment floor{{0.f, 0.f, -0.3f}, 0.3028f};
  TissueModel model = make_tissue(mesh.view(), tissue, {&floor, 1});
  SteppedTissue state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  FacesAround around = faces_around(mesh.faces, mesh.positions.size());
  GraspParams params;
  Grasp grasp;
  Grasper tool;
  double commanded = 1.0;
  double firmness = 1.0;  // 1  of the grip: force of the handle relative to a firm one
  bool both_touched = false;
  double on_upper = 0.0;  // N  force of the lattice that pushes the upper jaw open

  // `side`: m  the jaws stand this far beside the middle of the fold.
  explicit Fold(double side = 0.0) { tool.pose = at({0.0, side, 0.013}, 1.0); }

  // The pose with the end of the instrument at `end`; its x axis along the fold.
  static InstrumentPose at(const glm::dvec3& end, double aperture, double turn = 0.0) {
    return {{end + glm::dvec3(0.0, 0.0, 0.2), end + glm::dvec3(0.0, 0.0, 0.0025), 0.0025}, turn, aperture * kWidest};
  }
  bool touched(const PartShape& part) const {
    Touch touch;
    return std::any_of(mesh.faces.begin(), mesh.faces.end(), [&](const glm::uvec3& face) {
      return refine_touch(tool.step(part), triangle_of(positions, face), touch);
    });
  }

  void frame(const glm::dvec3& end, double aperture, double turn = 0.0) {
    const bool closes = aperture < commanded;
    commanded = aperture;
    const double opening = settle_opening(params, tool.jaws, aperture * kWidest, grasp, firmness);
    tool.move(at(end, opening / kWidest, turn));
    both_touched = touched(tool.upper) && touched(tool.lower);
    if (!grasp.holding() && closes && aperture < params.grip_below && both_touched)
      grip(params, tool.jaws, tool.motion, {model, positions, mesh.faces, around, {}}, grasp);
    std::vector<TissueHold> holds;
    add_holds(params, tool.jaws, tool.motion, grasp, holds);
    trocar::step(model, state, {{}, {}, holds}, 1.f / 60.f);
    glm::vec3 pull(0.f), upper(0.f);
    for (std::size_t i = 0; i < holds.size(); ++i) {
      pull += hold_force(state, i);
      if (grasp.points[i].between.share > 0.0) upper += hold_force(state, i);
    }
    on_upper = glm::dot(frame_at(tool.motion, 1.0).axes[1], glm::dvec3(upper));
    feel_tissue(params, tool.motion.opening_after, on_upper, 1.0 / 60.0, grasp);
    settle_grasp(params, tool.jaws, state, tool.motion, pull, grasp);
    embed_surface(model, state.x, positions);
  }
  void close_to(double aperture, const glm::dvec3& end = {0.0, 0.0, 0.013}, int frames = 40) {
    const double from = commanded;
    for (int i = 1; i <= frames; ++i) frame(end, from + (aperture - from) * i / frames);
  }
};

}  // namespace trocar::test
