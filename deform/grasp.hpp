// Jaws: closed on tissue they hold it, it follows the instrument, slips when pulled harder than the jaws' friction
// allows, and tears when pulled harder than it bears.
//   squeeze s = closed share * squeeze;  most pull = 2 friction s, shared evenly by the points held
// Held are the surface's vertices within `reach` of the tip at the moment of closing. A point that slips stays where
// the tissue went; one that slips out of twice the reach is lost. Units: metres, newtons, degrees.   Tested in
// tests/deform/grasp_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/tissue.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

struct GraspParams {
  float reach = 0.007f;       // m  tissue so near to the tip is between the jaws, > 0
  float close_below = 0.25f;  // 1  opening (0 closed .. 1 open) below which jaws hold
  float open_above = 0.4f;    // 1  and above which they let go, > close_below
  float squeeze = 5.f;        // N  of jaws closed all the way
  float friction = 0.6f;      // 1  Coulomb, of a serrated jaw
  float damage_from = 3.4f;   // N  squeeze from which liver is damaged
  float tear_from = 4.f;      // N  pull from which it tears
};

struct GraspedPoint {
  std::uint32_t vertex;
  Embedding point;
  glm::dvec3 offset;  // m, from the tip
};

struct Grasp {
  bool closed = false;
  std::vector<GraspedPoint> points;  // empty: nothing held
  float squeeze = 0.f;               // N
  glm::vec3 pull{0.f};               // N, on the instrument, of the last step
  bool slipping = false;             // in the last step: some of what is held moved between the jaws
  bool torn = false;                 // in the last step: what was held has come off

  bool holding() const { return !points.empty(); }
};

// Opens, closes, and when closing takes hold of what lies near the tip. positions: [vertex] m.
void move_jaws(const GraspParams& params, const ToolPose& pose, double opening, const TissueModel& model,
               std::span<const glm::vec3> positions, Grasp& grasp);

// Where the step's motion takes what is held: appended to `holds`. `turn_deg`: of the instrument about its own axis.
void add_holds(const GraspParams& params, const ToolStep& step, double turn_deg, Grasp& grasp,
               std::vector<TissueHold>& holds);

// After the step whose hold number `first` was the grasp's first: what slipped, what was lost, what tore.
void settle_grasp(const GraspParams& params, const TissueState& state, const ToolStep& step, std::size_t first,
                  Grasp& grasp);

// The lattice cells that carry what is held: what comes off when it tears. Ascending.
void held_cells(const TissueModel& model, const Grasp& grasp, std::vector<std::uint32_t>& cells);

}  // namespace trocar
