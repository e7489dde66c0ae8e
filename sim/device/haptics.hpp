// What a hand feels: the force between two frames, a simulated hand, a simulated device, the force at the tip.
// Contact model: a plane with a stiffness, built
// from the last frame and evaluated at the device's own rate.
//   F(x) = max(0, |F0| + k (x0 - x) . n) n + (1 - t/T) d,   n = F0 / |F0|,   never pulling: n . F >= 0
// F0, x0: force on the instrument and position of its tip in the last frame. d: the force felt when the frame arrives
// minus the force of the new plane at that point, so that the force is continuous; it decays to zero over T, the
// interval between frames.
// Sources: Mark, Randolph, Finch, Van Verth, Taylor, "Adding force feedback to graphics systems", SIGGRAPH 1996 (plane
// between frames); Barbagli, Prattichizzo, Salisbury, "Dynamic local models for stable multi-contact haptic interaction
// with deformable objects", Haptics 2003 (stiffness of the local model from the simulation). We differ: the plane
// passes through the position of the instrument's tip, and the stiffness is fitted to the frames themselves.
// Stiffness: least-squares fit of the change of force to the change of depth over pairs of consecutive frames in
// contact. Each frame weights older pairs by the factor f; k0 counts as one pair with the depth change w:
//   k = (A + w^2 k0) / (B + w^2),   A <- f A + dF dd,   B <- f B + dd^2,   dF = (F1 - F0) . n1,   dd = (x0 - x1) . n1.
// T is the longest of the recent intervals; its memory decays within about a second, so that a burst of frames counts
// as one interval. The plane is held for `hold_intervals` of T, at any frame rate, and at least for `shortest_hold`, so
// that the force does not pulse on a slow machine. If no frame arrives within that time, the simulation has stalled,
// and the force decreases linearly to zero over `fade`: by at most 0.1 N per millisecond up to 2 N, in proportion above
// that. Units: metres, seconds, newtons, N/m.
// Tested in tests/sim/device/haptics_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <memory>
#include <string>

#include "geometry/tool_volume.hpp"
#include "sim/device/device.hpp"
#include "sim/scene/instrument_scene.hpp"

namespace trocar {

struct ContactModel {
  glm::dvec3 tip{0.0}, normal{0.0};  // m, 1  x0, n; a zero normal: no contact
  double pressure = 0.0;             // N     |F0|
  glm::dvec3 offset{0.0};            // N     d
  double time = -1e9;                // s     arrival of the frame on the device's clock
  double interval = 1.0 / 60.0;      // s     T
  double stiffness = 0.0;            // N/m   k
  double force_depth = 0.0;          // N m   A
  double depth_depth = 0.0;          // m^2   B
};

// Returns the age at which a force begins to fade, s.
double hold_time(const ContactModelParams& params, const ContactModel& model);

// Returns the force on the instrument, N, when its tip is at `tip` (m) at time `now` (s). The force is zero without
// contact, and when `tip` is not finite.
glm::dvec3 felt_force(const ContactModelParams& params, const ContactModel& model, const glm::dvec3& tip, double now);

// Returns the model after a frame arrives at time `now` (s) with the tip at `tip` (m). A force or a position in `felt`
// that is not finite counts as no contact.
ContactModel updated(const ContactModelParams& params, const ContactModel& model, const Felt& felt,
                     const glm::dvec3& tip, double now);

// Simulates a human hand that holds the handle of a force-feedback device. The muscles pull the hand to its target, the
// fingers hold the handle, the motors push the handle:
//   m h'' = K (t - h) - B h' + G (x - h) + D (x' - h')     h: hand, t: its target
//   M x'' =                    G (h - x) + D (h' - x') + F   x: handle, measured at the tip; F: felt force
// Structure: two masses, the grip a spring and a damper between them, as in Fu, Cavusoglu, "Human-arm-and-hand-dynamics
// model with variability analyses for a stylus-based haptic interface", IEEE Trans. SMC B 2012. We differ: hand and arm
// are one mass, equal in every direction; the parameters do not depend on the grip force; the values are round numbers
// of the published order of magnitude, not fitted to a person.
// Integration: semi-implicit Euler, both velocities from the current forces, then both positions from the new
// velocities. Against a wall of stiffness k, a tick is stable if and only if 4 M - 2 dt C - dt^2 K (mass, damping and
// stiffness matrices, k added to the last entry of K) is positive definite: exactly then the polynomial of each mode,
// lambda^2 m - (2 m - dt c - dt^2 k) lambda + (m - dt c) = 0, has both roots within the unit circle. stable_wall()
// solves the condition for k.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/sim/device/haptics_test.cpp
struct HapticStubParams {
  double hand_mass = 0.10;         // kg     m, effective mass of hand and arm at the tip, > 0
  double stiffness = 400.0;        // N/m    K, of the muscles that pull the hand to its target, > 0
  double damping = 12.0;           // N s/m  B, of the muscles, >= 0
  double handle_mass = 0.05;       // kg     M, effective mass of the device at the tip, > 0
  double grip_stiffness = 1500.0;  // N/m    G, > 0
  double grip_damping = 6.0;       // N s/m  D, >= 0; not both dampings 0
  double rate = 1000.0;            // Hz     tick rate, > 0
  ContactModelParams contact;      //        local contact model between frames
};

struct HapticState {
  glm::dvec3 tip{0.0}, velocity{0.0};        // m, m/s  of the handle: x
  glm::dvec3 hand{0.0}, hand_velocity{0.0};  // m, m/s  h
  glm::dvec3 felt_force{0.0};                // N        F, applied in the last tick
  std::uint64_t ticks = 0;
};

// Returns the state in which hand and handle are at rest at the same position.
HapticState at_rest(const glm::dvec3& tip);

// Computes one tick of `dt` s; a pure function. The force is limited to the strength of the motors; a force that is not
// finite counts as zero.
HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt);

// Returns the stiffness of the stiffest wall against which ticks of `dt` s are stable, N/m; negative: unstable even
// without contact.
double stable_wall(const HapticStubParams& params, double dt);

// Returns an empty text when all parameters are within their limits and the hand is stable against the contact model's
// greatest stiffness; else one sentence with the fault and its remedy.
std::string hand_fault(const HapticStubParams& params);

// Returns the kinetic energy plus the energy of the springs, without the contact, J.
double hand_energy(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target);

// Simulates a force-feedback device: a simulated hand follows the target of a script and holds a
// handle that the tissue pushes. It runs in its own thread at 1 kHz, like a real device, so that force feedback can be
// tested without hardware. Between frames it feels the local contact model.
// Units: metres, seconds, newtons.   Tested in tests/sim/device/haptics_test.cpp
class HapticStub final : public Device {
 public:
  // Gives the target position of the tip (m) at the thread's own time (s). The thread calls this function.
  using Target = std::function<glm::dvec3(double time)>;

  // Starts the thread. Throws InputError when hand_fault(params) finds a fault.
  HapticStub(const glm::dvec3& pivot, const glm::dvec3& tip, Target target, const HapticStubParams& params = {});
  ~HapticStub() override;

  DevicePose pose(const FrameClock& clock) override;
  void feel(const Felt& felt) override;
  HapticState state() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// Computes what a device about the trocar feels. An instrument swings about the trocar, slides through it and turns
// about its shaft; the trocar takes up everything else. One force at the tip and one torque about the shaft therefore
// have the effect of all contacts: with u the direction from trocar to tip at distance d, and force
// F and torque T (about the trocar) of all contacts
//   force = (F . u) u + T x u / d,   twist = T . u
// A force at distance a from the trocar acts at the tip as by a lever, with a / d.
// Units: metres, newtons.   Tested in tests/sim/device/haptics_test.cpp
struct TipForce {
  glm::vec3 force{0.f};  // N
  float twist = 0.f;     // N m, clockwise as seen from the trocar
};

// `torque`: about the pose's pivot, N m. The pose must be valid (pose_fault).
TipForce tip_force(const ToolPose& pose, const glm::vec3& force, const glm::vec3& torque);

}  // namespace trocar
