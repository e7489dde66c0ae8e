// Rigid bodies among each other, on fixed ones, and between the jaws of instruments: gravity, contact, Coulomb
// friction, rolling, stacking, and a grip that slips and lets a body turn about it. A step is divided into substeps of
// about a millisecond, each with its own search for contacts:
//   gravity changes the velocities; impulses at the contacts keep surfaces apart and resist sliding, found by
//   Gauss-Seidel from those of the substep before (push.hpp does the same for thin tissue); positions follow; overlaps
//   are taken back by positions alone, so that they give no speed.
// A free body keeps its angular momentum exactly: the substep turns it with the momentum held (Runge, Kutta, fourth
// order), and its angular velocity follows from the new orientation.
// Based on: E. Catto, "Iterative dynamics with temporal coherence", Game Developers Conference 2005; many small
// substeps with few rounds each: M. Macklin and others, "Small steps in physics simulation", SCA 2019. We differ:
// friction is one cone a point, not two axes, so that its size does not depend on the direction.
// The two jaws of an instrument share one opening, which the handle closes with a limited torque: so both press alike.
// A body that has been at rest for a while, with all that it touches, sleeps: it stays where it is, without contacts,
// until a body that is not at rest, or an instrument, comes near.
// Limits: between an instrument and a fixed body neither yields, so a body there takes at most kStrongestHand a point,
// and then surfaces overlap. A fixed body presses an instrument by a force that grows with their overlap, without
// friction; it does not keep the jaws open. Balls of Newton's cradle that stand
// farther apart than they move in a substep pass an impact on one by one; nearer ones share it.
// Units: metres, kilograms, seconds, newtons, radians.   Tested against closed forms in tests/deform/rigid_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>
#include <span>
#include <vector>

#include "deform/rigid/body.hpp"
#include "deform/rigid/piece.hpp"
#include "geometry/frame.hpp"
#include "geometry/part.hpp"

namespace trocar {

struct RigidStepParams {
  glm::dvec3 gravity{0.0, 0.0, -9.81};  // m/s^2
  double substep = 1e-3;                // s  about the length of a substep, 1e-5 .. 1e-2
  double sleeps_after = 0.5;            // s  of rest, > 0; infinite: never
};

// An instrument among rigid bodies. Positions in its frame (tool_frame) with closed jaws.
struct RigidTool {
  std::vector<ConvexPiece> pieces;
  std::vector<double> hinge_z, side;  // [piece] as in PartShape
  std::vector<double> friction;       // [piece] 1
  double jaw_inertia = 2e-8;          // kg m^2  of the jaws about their hinge, > 0. Less than real ones have: a body
                                      //         between heavy jaws would need many rounds
};

struct RigidModel {
  RigidStepParams params;
  std::vector<RigidBody> bodies;
  std::vector<RigidTool> tools;
};

struct RigidMotion {
  glm::dvec3 x{0.0};                 // m, of the centre of mass
  glm::dquat q{1.0, 0.0, 0.0, 0.0};  // unit
  glm::dvec3 v{0.0}, w{0.0};         // m/s, rad/s
  glm::dvec3 start{0.0};             // m, x at the start
  double calm = 0.0;                 // s, that it has been at rest
  bool lost = false;                 // fell out of the scene: it rests where it is
};

// The contact of a point in the substep before, from which the next one starts.
struct RigidMemory {
  std::uint32_t first, second;              // objects: bodies, then pieces of instruments
  std::uint16_t first_piece, second_piece;  // of a body
  glm::dvec3 local;                         // m, in the first body's frame
  double pressed;                           // N s
  glm::dvec3 rubbed;                        // N s on the second, across the normal
};

// Everything that the next step depends on.
struct RigidState {
  std::vector<RigidMotion> bodies;    // [body]
  std::vector<double> opening;        // [tool] rad, of its jaws
  std::vector<RigidMemory> contacts;  // by objects, then pieces
};

// How an instrument moves in a step, and with what torque its handle closes the jaws.
struct RigidToolStep {
  const InstrumentMotion* motion = nullptr;        // its openings do not count
  double commanded_before = 0.0, commanded = 0.0;  // rad, openings of the handle
  double stiffness = 0.0;                          // N m/rad, of the handle against what keeps the jaws open
  double most = 0.0;                               // N m
};

// What an instrument feels in a step, and what it holds at its end.
inline constexpr std::uint32_t kNoBody = 0xffffffffu;
struct RigidTouch {
  glm::dvec3 force{0.0}, torque{0.0};  // N, N m about the trocar, on the instrument, means of the step
  std::uint32_t held = kNoBody;        // the body that both jaws press
  std::uint32_t touched = kNoBody;     // a body that the instrument presses
};

// Makes a model. Throws InputError for a parameter outside its limits.
RigidModel make_rigid(const RigidStepParams& params, std::vector<RigidBody> bodies, std::vector<RigidTool> tools = {});
// The state at rest of bodies whose own frames (in which their pieces were given) stand at `frames`, [body].
RigidState rest_state(const RigidModel& model, std::span<const RigidFrame> frames);

// Where the frame is in which the pieces of a body were given.
RigidFrame frame_of(const RigidBody& body, const RigidMotion& motion);

// Kinetic energy, J; angular momentum about the centre, kg m^2/s.
double energy_of(const RigidBody& body, const RigidMotion& motion);
glm::dvec3 spin_of(const RigidBody& body, const RigidMotion& motion);

// Something that touches: a body, or a piece of an instrument, in a substep.
struct RigidObject {
  glm::dvec3 x{0.0}, v{0.0}, w{0.0};     // m, m/s, rad/s
  glm::dvec3 back{0.0}, back_turn{0.0};  // m/s, rad/s, that only take overlaps back
  double inverse_mass = 0.0;             // 1/kg
  glm::dmat3 inverse_inertia{0.0};       // 1/(kg m^2), in the world
  std::uint32_t tool = 0xffffffffu;      // of which it is a piece
  glm::dvec3 hinge{0.0}, turn{0.0};      // m, of a jaw; axis times the share of the opening's rate with which it turns
  double side = 0.0;                     // of a jaw, as in PartShape
  double friction = 0.0, restitution = 0.0;
  std::uint32_t first_piece = 0, pieces = 0;  // in RigidScratch::pieces
  glm::dvec3 low{0.0}, high{0.0};             // m, box
  double speed = 0.0;                         // m/s, of its fastest point at most
  double reach = 0.0;                         // m, of a body, from x
};

struct RigidPair {
  std::uint32_t first, second;  // objects, first < second
};

struct RigidContact {
  std::uint32_t first = 0, second = 0;
  std::uint16_t first_piece = 0, second_piece = 0;
  glm::dvec3 normal{0.0}, at{0.0}, local{0.0};  // unit, from the first to the second; m; m in the first's frame
  double gap = 0.0;                             // m
  double friction = 0.0, restitution = 0.0;     // 1
  double most = 0.0;                            // N s along the normal
  double approach = 0.0;                        // m/s, before impulses; negative: they come closer
  glm::dmat3 mobility{0.0};                     // m/s of the second against the first per N s
  double pressed = 0.0;                         // N s
  glm::dvec3 rubbed{0.0};                       // N s on the second
  double taken_back = 0.0;                      // N s, of the positions
};

// The common opening of an instrument's jaws in a substep.
struct RigidJaws {
  double rate = 0.0, back_rate = 0.0;  // rad/s
  double wanted = 0.0;                 // rad/s, of the handle
  double most = 0.0;                   // N m s, of the handle
  double driven = 0.0;                 // N m s, so far
  double inverse_inertia = 0.0;        // 1/(kg m^2)
  bool met = false;                    // a contact has a jaw
};

// Storage of a step, kept between steps so that a step does not allocate.
struct RigidScratch {
  std::vector<RigidObject> objects;  // bodies, then pieces of instruments
  std::vector<PosedPiece> pieces;    // of the objects, in order
  std::vector<RigidPair> pairs;
  std::vector<RigidContact> contacts;  // by objects, then pieces
  std::vector<RigidJaws> jaws;         // [tool]
  std::vector<char> asleep;            // [body] in this step
  std::vector<char> used;              // [contact of the substep before] 1: found again
  std::vector<RigidTouch> touches;     // [tool] of the last step
};

// Lists the pairs whose boxes come closer than what they may move in h seconds. Sorted. Pairs that cannot move each
// other are left out.
void find_pairs(const RigidModel& model, double h, RigidScratch& scratch);

// Advances by dt seconds. `tools`: [tool]. Does nothing when dt is not finite or not above 0.
void step(const RigidModel& model, RigidState& state, std::span<const RigidToolStep> tools, double dt,
          RigidScratch& scratch);

}  // namespace trocar
