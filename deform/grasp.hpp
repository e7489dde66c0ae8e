// Simulates jaws, which hold the tissue on which they close. The tissue follows the instrument, slips when the pull
// exceeds the jaws' friction, and tears when the pull exceeds its strength.
//   squeeze s = closed fraction * squeeze;  largest pull = 2 friction s, shared evenly by the held points
// The jaws hold the surface vertices that lie within `reach` of the tip when they close. A point that slips is held at
// its new position; one that slips farther than 2 * reach is lost. Units: metres, newtons, degrees.   Tested in
// tests/deform/grasp_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/tissue.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

struct GraspParams {
  float reach = 0.007f;       // m  tissue within this distance of the tip is between the jaws, > 0
  float close_below = 0.25f;  // 1  aperture (0 closed .. 1 open) below which jaws hold
  float open_above = 0.4f;    // 1  aperture above which they release, > close_below
  float squeeze = 5.f;        // N  of fully closed jaws
  float friction = 0.6f;      // 1  Coulomb, of a serrated jaw
  float damage_from = 3.4f;   // N  squeeze above which liver is damaged
  float tear_from = 4.f;      // N  pull above which it tears
  double slip = 2e-4;         // m  a point farther than this from its target between the jaws has slipped, > 0
};

struct GraspedPoint {
  std::uint32_t vertex;
  Embedding point;
  glm::dvec3 offset;  // m, from the tip
};

struct Grasp {
  bool closed = false;
  std::vector<GraspedPoint> points;  // empty: the jaws hold nothing
  float squeeze = 0.f;               // N
  glm::vec3 pull{0.f};               // N, on the instrument, in the last step
  bool slipping = false;             // in the last step: some held points moved between the jaws
  bool torn = false;                 // in the last step: the held tissue tore off

  bool holding() const { return !points.empty(); }
};

// Opens or closes the jaws; when they close, they hold the vertices near the tip. positions: [vertex] m.
void move_jaws(const GraspParams& params, const ToolPose& pose, double opening, const TissueModel& model,
               std::span<const glm::vec3> positions, Grasp& grasp);

// Appends the motion of the held points in this step to `holds`. `turn_deg`: rotation of the instrument about its axis.
void add_holds(const GraspParams& params, const ToolStep& step, double turn_deg, Grasp& grasp,
               std::vector<TissueHold>& holds);

// Updates, after the step, the points that slipped, were lost or tore. `first`: index of the grasp's first hold in the
// step.
void settle_grasp(const GraspParams& params, const SteppedTissue& state, const ToolStep& step, std::size_t first,
                  Grasp& grasp);

// Lists the lattice cells that carry the held points, ascending. They are removed when the tissue tears.
void held_cells(const TissueModel& model, const Grasp& grasp, std::vector<std::uint32_t>& cells);

}  // namespace trocar
