// Computes the force on a haptic device between two frames, by a local contact model: a plane with a stiffness, built
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
// Tested in tests/sim/contact_model_test.cpp and tests/sim/contact_model_definition_test.cpp
#pragma once

#include <glm/glm.hpp>

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

}  // namespace trocar
