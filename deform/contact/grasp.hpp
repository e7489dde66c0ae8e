// Simulates jaws, which hold the tissue between them. The tissue follows the instrument, slips when the pull exceeds
// the jaws' friction, and tears when the mean pull of a frame exceeds its strength.
//   The jaws grip when both touch the organ while they close: they hold the surface vertices between their surfaces.
//   They stop where the force of the handle, firmness x stiffness (opening - commanded opening), equals that of the
//   tissue, c A E / 3 (1 / l^2 - l) with l = opening / opening at the first grip: unconfined compression of an
//   incompressible neo-Hookean layer (Treloar, "The Physics of Rubber Elasticity", 1975) of the held area A. The factor
//   c >= 1 follows the force that the tissue has on the jaws, because tissue around the layer resists too.
//   Largest pull = 2 friction squeeze, shared by the held points in proportion to their areas.
// Units: metres, newtons, radians; positions between the jaws are in the instrument's frame (geometry/part.hpp).
// Tested in tests/deform/contact_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/part.hpp"

namespace trocar {

struct GraspParams {
  float reach = 0.016f;           // m  length of the jaws from the tip that holds tissue, > 0
  float close_below = 0.25f;      // 1  aperture (0 closed .. 1 open) below which jaws count as closed in tasks
  float open_above = 0.4f;        // 1  aperture above which they count as open in tasks, > close_below
  float grip_below = 0.9f;        // 1  aperture of the handle below which closing jaws grip what both touch, > 0
  float squeeze = 5.f;            // N  largest force of the handle on the jaws
  float handle_stiffness = 12.f;  // N  force per unit of aperture that the tissue keeps the jaws open, > 0
  float friction = 0.6f;          // 1  Coulomb, of a serrated jaw
  float damage_from = 3.4f;       // N  squeeze above which liver is damaged
  float tear_from = 4.f;          // N  pull above which it tears
  double settling = 0.05;         // s  time constant with which the jaws follow the force of the tissue, > 0
  double slip = 2e-4;             // m  a point farther than this from its target between the jaws has slipped, > 0
};

// A point between jaws: at distance `from_hinge` from the hinge, at `share` of the opening from the middle.
struct JawPoint {
  double x = 0.0, from_hinge = 0.0;  // m
  double share = 0.0;                // 1   -0.5 at the surface of one jaw .. 0.5 at the other
};

struct GraspedPoint {
  std::uint32_t vertex;
  Embedding point;
  JawPoint between;
  float area;  // m^2
};

struct Grasp {
  std::vector<GraspedPoint> points;  // empty: the jaws hold nothing
  double first_opening = 0.0;        // rad, when they gripped
  float youngs_modulus = 0.f;        // Pa, of the organ
  float area = 0.f;                  // m^2, of the held points, on one side
  float squeeze = 0.f;               // N, of the handle
  float resistance = 1.f;            // 1, c: force of the tissue on a jaw relative to that of the layer
  glm::vec3 pull{0.f};               // N, on the instrument, mean of the last step
  bool slipping = false;             // in the last step: some held points moved between the jaws
  bool torn = false;                 // in the last step: the held tissue tore off

  bool holding() const { return !points.empty(); }
};
// Opens the jaws: they hold nothing. Keeps the memory.
void release(Grasp& grasp);

// The two jaws of an instrument: side +1 and side -1.
struct Jaws {
  const PartShape *upper = nullptr, *lower = nullptr;
  double widest = 0.0;  // rad, opening at aperture 1
};

// Returns the coordinates of a point of the instrument's frame between jaws open by `opening` (> 0).
JawPoint jaw_point(const Jaws& jaws, double opening, const glm::dvec3& local);
// Returns the position in the instrument's frame; the inverse of jaw_point.
glm::dvec3 position_of(const Jaws& jaws, double opening, const JawPoint& point);
// Returns whether a point lies between the surfaces of the jaws, up to `margin` (m) outside their outline.
bool between_jaws(const Jaws& jaws, double reach, const JawPoint& point, double margin);

// The organ as jaws see it. `unused`: [vertex] 1: no face uses it; empty: all are used.
struct GraspedOrgan {
  const TissueModel& model;
  std::span<const glm::vec3> positions;  // [vertex] m
  std::span<const glm::uvec3> faces;
  const FacesAround& around;
  std::span<const char> unused;
};

// Lets the jaws grip what lies between them at the beginning of the step.
void grip(const GraspParams& params, const Jaws& jaws, const InstrumentMotion& motion, const GraspedOrgan& organ,
          Grasp& grasp);

// Returns the opening at which the handle and the held tissue are in equilibrium, for a commanded opening; sets
// grasp.squeeze. `firmness`: the handle's force relative to that of a firm grip, 0..1. Without held tissue it is the
// commanded opening. Releases tissue when the handle no longer closes.
double solve_opening(const GraspParams& params, const Jaws& jaws, double commanded, Grasp& grasp,
                     double firmness = 1.0);

// Takes over the force with which the tissue pushed the jaws open in a step of dt seconds, the mean of both jaws (N).
void feel_tissue(const GraspParams& params, double opening, double force, double dt, Grasp& grasp);

// Appends the motion of the held points in this step to `holds`. `tool`: the number of the instrument.
void add_holds(const GraspParams& params, const Jaws& jaws, const InstrumentMotion& motion, const Grasp& grasp,
               std::uint32_t tool, std::vector<TissueHold>& holds);

// Returns the dent of what the jaws hold after a step, m: the jaws hold a point of the tissue shifted back by this.
glm::vec3 held_shift(const SteppedTissue& state, std::uint32_t tool);

// Updates, after the step, the points that slipped, were lost or tore. `pull`: mean force of the holds on the
// instrument, N.
void update_grasp(const GraspParams& params, const Jaws& jaws, const SteppedTissue& state,
                  const InstrumentMotion& motion, std::uint32_t tool, const glm::vec3& pull, Grasp& grasp);

// Call when the organ's faces have changed: points without faces are lost, the others may have another embedding.
// `unused`: [vertex] 1: no face uses it.
void follow_change(const TissueModel& model, std::span<const char> unused, Grasp& grasp);

// Lists the lattice cells that carry the held points, ascending. They are removed when the tissue tears.
void held_cells(const TissueModel& model, const Grasp& grasp, std::vector<std::uint32_t>& cells);

}  // namespace trocar
