// What a haptic device feels between two frames: the contact as a plane with a stiffness, made from the last frame and
// evaluated at the device's own rate.
//   F(x) = max(0, |F0| + k (x0 - x) . n) n + (1 - t/T) d,   n = F0 / |F0|,   never pulling: n . F >= 0
// F0, x0: force on the instrument and where its tip was in the last frame. d: what was felt at the moment the frame
// arrived less what its plane says there, so that nothing jumps; it dies away over T, the time from frame to frame.
// Sources: Mark, Randolph, Finch, Van Verth, Taylor, "Adding force feedback to graphics systems", SIGGRAPH 1996 (plane
// between frames); Barbagli, Prattichizzo, Salisbury, "Dynamic local models for stable multi-contact haptic interaction
// with deformable objects", Haptics 2003 (stiffness of the local model from the simulation). We differ: the plane
// stands where the instrument's tip was, and the stiffness is fitted to the frames themselves. Stiffness: least squares
// of the change of force over the change of depth, pairs of frames in contact, older pairs forgotten by a factor f per
// frame, the parameter k0 counting as one pair a trusted motion w deep:
//   k = (A + w^2 k0) / (B + w^2),   A <- f A + dF dd,   B <- f B + dd^2,   dF = (F1 - F0) . n1,   dd = (x0 - x1) . n1.
// T follows the frames themselves: the longest of the last intervals, forgotten over a second, so that frames that come
// in bursts count as one interval. The plane is held for `hold_intervals` of T, at any frame rate, and no shorter than
// `shortest_hold`: a slow machine does not pulse. Without a new frame until then the simulation stalls, and the force
// goes to zero linearly over `fade`: by no more than 0.1 N per millisecond up to 2 N, in proportion above.
// Units: metres, seconds, newtons, N/m.   Tested in tests/app/contact_model_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "app/device/device.hpp"

namespace trocar {

struct ContactModelParams {
  double start_stiffness = 150.0;      // N/m  k0, before any frame told more
  double least_stiffness = 20.0;       // N/m  >= 0
  double greatest_stiffness = 1200.0;  // N/m  the hand must stay stable against it
  double forgetting = 0.8;             // 1    f, 0..1
  double trusted_motion = 3e-5;        // m    w: changes of depth well below this tell nothing, > 0
  double hold_intervals = 2.5;         // 1    a force is held for so many intervals between frames, >= 1
  double shortest_hold = 0.120;        // s    but for no less than this: the frame rate may fall to 10 Hz in one frame
  double longest_interval = 0.250;     // s    counts as T; slower than that the force may fade between frames
  double fade = 0.020;                 // s    from the end of the hold to zero, >= 0
  double largest_force = 10.0;         // N    what the motors can give
};

struct ContactModel {
  glm::dvec3 tip{0.0}, normal{0.0};  // m, 1  x0, n; no normal: no contact
  double pressure = 0.0;             // N     |F0|
  glm::dvec3 offset{0.0};            // N     d
  double time = -1e9;                // s     when the frame arrived, on the device's clock
  double interval = 1.0 / 60.0;      // s     T
  double stiffness = 0.0;            // N/m   k
  double force_depth = 0.0;          // N m   A
  double depth_depth = 0.0;          // m^2   B
};

// s  The age at which a force begins to fade.
double hold_time(const ContactModelParams& params, const ContactModel& model);

// Force on the instrument, N, with its tip at `tip` at time `now`. Zero without contact, or when anything is not
// finite.
glm::dvec3 felt_force(const ContactModelParams& params, const ContactModel& model, const glm::dvec3& tip, double now);

// The model after a frame has arrived at time `now`, when the tip is at `tip`. What is not finite counts as no contact.
ContactModel updated(const ContactModelParams& params, const ContactModel& model, const Felt& felt,
                     const glm::dvec3& tip, double now);

}  // namespace trocar
