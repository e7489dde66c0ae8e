// Parameters of the instruments of a scene and of the devices that move them; a scene sets them for each instrument.
// Units: metres, seconds, newtons, degrees.   Keys: sim/scene/scene_keys.hpp   Tested in tests/sim/scene/scene_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>

namespace trocar {

// Defines the modes of diathermy: which of the two pedals is down. Recordings store the numbers.

enum class Diathermy : std::uint8_t { Off = 0, Cut = 1, Coagulate = 2 };

// Returns the mode for two pedals; the pedal for cutting has priority.
constexpr Diathermy pedals(bool cut, bool coagulate) {
  return cut ? Diathermy::Cut : coagulate ? Diathermy::Coagulate : Diathermy::Off;
}

// Sets of organs have one bit for each organ and one for the abdominal wall. Scenes whose task tells organs apart by
// them have at most this many (sim/scene/scene.cpp).
inline constexpr std::size_t kMostTaskOrgans = 31;

// Returns the bit of an organ in a set of organs. The last bit is the wall's, and that of the organs beyond the limit.
constexpr std::uint32_t organ_bit(std::size_t organ) {
  return std::uint32_t{1} << (organ < kMostTaskOrgans ? organ : kMostTaskOrgans);
}

// Holds the parameters of hooks, scissors and suction; those of jaws are in deform/contact/grasp.hpp, those of clips in
// deform/join/clip.hpp. A scene sets them for each instrument.   Units: metres.

// Length of the jaws of a clip applier.
inline constexpr double kApplierJaws = 5.6;  // radii of its shaft

// Diathermy acts around the bare wire of a hook and its foot (sim/session/cutting.hpp).
struct HookParams {
  double length = 0.0075;  // m  bare wire along the shaft, from its end; at most up to the ceramic collar, >= 0
  double reach = 0.001;    // m  cut: tissue within this distance of the metal is removed, >= 0
  double spark = 0.0002;   // m  metal acts on tissue that is this near: sparks bridge the gap, >= 0
  // Coagulation: see deform/cut/sculpt.hpp.
  double spread = 7.5e-4;   // m/sqrt(s)  depth of the coagulated zone after one second of contact, > 0
  double deepest = 0.003;   // m          limit of that depth, >= 0
  double char_dose = 8.0;   // 1          multiple of the coagulating dose at which tissue is black, > 1
  double tears_from = 2.0;  // N  mean force of a frame above which the wire tears out of tissue, > 0
};

// Blades cut along their surface each time they close: a slit where they sweep through tissue. They cut as soon as both
// have tissue between them and have closed to `bite`, since they would push it away instead of holding it.
struct BladeParams {
  double length = 0.014;  // m  of the cutting part, from the tips towards the hinge, >= 0
  double reach = 0.0015;  // m  the slit goes this far beyond tips and edges, because tissue yields to them, >= 0
  double bite = 0.7;   // 1  aperture, relative to the widest since the last cut, below which they cut what both touch
  double meet = 0.15;  // 1  aperture (0 closed .. 1 open) below which they have cut
  double open = 0.35;  // 1  aperture above which they can cut again, > meet
};

// A tube that sucks fluid away at its tip, or rinses with water. The rates are assumptions.
struct SuctionParams {
  double suck_ml_min = 600.0;   // ml/min  of the fluid on the tissue, >= 0
  double rinse_ml_min = 300.0;  // ml/min  of water, >= 0
  double reach = 0.006;         // m       it sucks fluid within this distance of its tip, >= 0
};
// What the pedal of such an instrument does: where a hook cuts it sucks, where a hook coagulates it rinses.
enum class Pump { Off, Suck, Rinse };

// Defines the range of an instrument's joints. A scene sets it; the kinematics of sim/device/joints.hpp apply it.
// Units: metres, degrees.

struct JointLimits {
  double pan_deg = 75.0;  // deg  -pan_deg..pan_deg
  double lowest_tilt_deg = -40.0, highest_tilt_deg = 75.0;
  double shallowest = 0.012, deepest = 0.300;  // m
  double widest_grip_deg = 60.0;               // deg  aperture at DevicePose::grip = 1
};

// Holds the parameters of the guard between a device and the session (sim/device/device_guard.hpp). A scene sets them.
// Units: metres, seconds, degrees.

struct GuardParams {
  double tip_speed = 0.10;        // m/s    of the return to the device's pose, > 0
  double roll_speed_deg = 180.0;  // deg/s  of the return, > 0
  double longest_way_back = 2.0;  // s      upper limit of the duration, at any distance
};

// Holds the parameters of the local contact model of a haptic device (sim/device/haptics.hpp, which defines the
// symbols). A scene sets them for each instrument. Units: metres, seconds, newtons, N/m.

struct ContactModelParams {
  double start_stiffness = 150.0;      // N/m  k0, before the first fit
  double least_stiffness = 20.0;       // N/m  >= 0
  double greatest_stiffness = 1200.0;  // N/m  the device must be stable against it
  double forgetting = 0.8;             // 1    f, 0..1
  double trusted_motion = 3e-5;        // m    w: much smaller changes of depth do not affect the fit, > 0
  double hold_intervals = 2.5;         // 1    number of intervals T for which a force is held, >= 1
  double shortest_hold = 0.120;        // s    minimum hold: the frame rate may fall to 10 Hz from one frame to the next
  double longest_interval = 0.250;     // s    upper limit of T; at longer intervals the force may fade between frames
  double fade = 0.020;                 // s    from the end of the hold to zero, >= 0
  double largest_force = 10.0;         // N    limit of the motors
  double weakest_force = 1e-6;         // N    the direction of a weaker force is undefined, > 0
  double shortest_interval = 0.004;    // s    lower limit of T: the transition to a new frame takes at least this time
  double interval_memory = 1.0;        // s    time constant with which a long interval decays, > 0
};

// Defines the calibration of an input device in a scene: the sensitivity of the axes of a hand-held device, and where
// the world of a tracker lies.

// Of mouse, gamepad and SpaceMouse: each motion is multiplied by this; negative: reversed.
struct AxisScale {
  double right = 1.0, up = 1.0;  // 1  of the handle in the picture
  double in = 1.0;               // 1  insertion
  double roll = 1.0;             // 1

  bool operator==(const AxisScale&) const = default;
};

// Of a tracker: a point p of its world is turn p + move in the scene's world.
struct Registration {
  glm::dvec3 move{0.0};      // m
  glm::dvec3 turn_deg{0.0};  // degrees  rotation vector: its direction is the axis, its length the angle

  bool operator==(const Registration&) const = default;
};

}  // namespace trocar
