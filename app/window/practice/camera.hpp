// The camera as in an operation: an assistant holds the scope, well or badly, and its lens fogs until it is wiped. Both
// are pure functions of time and of what the assistant sees.
// Our own model; the values are assumptions, after what guides for camera holders ask for: the working tip in the
// middle, the horizon level, few movements. Units: metres, degrees, seconds.   Tested in tests/app/practice_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>

#include "app/view/drawn.hpp"
#include "app/window/input/two_hands.hpp"
#include "sim/device/joints.hpp"
#include "sim/device/mouse_device.hpp"

namespace trocar {

struct AssistantParams {
  double delay = 0.25;  // s      from a motion of the tip to the answer, 0 .. 1
  double dead_zone =
      0.012;                // m      the tip may leave the middle of the picture this far before the scope follows, > 0
  double settle = 0.5;      // s      time constant with which the tip comes back to the middle, > 0
  double speed = 0.12;      // m/s    of the middle of the picture, at most, > 0
  double distance = 0.075;  // m      between the eye and the tip; 0: as at the start
  double tremor = 0.0002;   // m      of the eye, root mean square along each axis, >= 0
  double horizon_deg = 1.0;  // deg    by which the horizon tilts at most, >= 0
  double drift = 0.0005;     // m/s    the middle of the picture sinks so fast while the scope does not follow, >= 0
};
// Returns those of CameraBy::Skilled, Learning or Clumsy.
AssistantParams assistant_params(CameraBy by);

// The tilt of the horizon and the tremor at a time: sums of sines whose periods have no common multiple.
double horizon_at(const AssistantParams& params, double time);     // deg
glm::dvec2 tremor_at(const AssistantParams& params, double time);  // m, right and up

class CameraAssistant {
 public:
  explicit CameraAssistant(const AssistantParams& params) : params_(params) {}

  // What an assistant sees in a picture: the scope as it is held, its angle, and the working tip.
  struct Sight {
    RemoteCentre centre;
    Joints joints;
    double angle_deg = 0.0;  // ScopePose::angle_deg
    glm::dvec3 tip{0.0};
    bool has_tip = true;  // false: no instrument is at work, the scope stays
  };
  // Returns the joints at which the assistant holds the scope, `elapsed` s after the picture before. Limits are the
  // device's.
  Joints advance(const Sight& sight, double elapsed);
  // The trainee moves the scope: what it shows then is what the assistant keeps.
  void let_go() { began_ = false; }
  double horizon_deg() const { return horizon_at(params_, time_); }

 private:
  struct Seen {
    double time = 0.0;
    glm::dvec3 tip{0.0};
  };
  glm::dvec3 seen_tip(const glm::dvec3& now);

  AssistantParams params_;
  double time_ = 0.0, distance_ = 0.0;
  glm::dvec3 aim_{0.0};  // the middle of the picture, at the tip's distance
  bool began_ = false, follows_ = false;
  std::array<Seen, 256> seen_{};  // a ring
  std::size_t newest_ = 0, kept_ = 0;
};

struct FogParams {
  double dry = 4.0;       // s  after the lens was wiped it stays clear, >= 0
  double time = 30.0;     // s  time constant with which it fogs then, > 0
  double densest = 0.85;  // 1  0 .. 1
  double wiping = 0.7;    // s  outside the body, > 0
};

// Returns the fog on a lens, 0 clear .. 1, so long after it was wiped.
double fog_after(const FogParams& params, double since_wiped);

// The lens of a session: it fogs, the scope is withdrawn, wiped, and comes back. A scope that the hands cannot move is
// dark for the time that this takes.
class LensCare {
 public:
  explicit LensCare(const FogParams& params = {}) : params_(params) {}

  // Begins to wipe the lens, unless it is being wiped.
  void wipe();
  // `scope`: null where the hands do not move it. `fogs`: the lens fogs; else it is clear.
  void advance(double elapsed, bool fogs, MouseDevice* scope);
  bool is_wiping() const { return phase_ != Phase::Used; }
  double fog() const { return fog_after(params_, since_wiped_); }
  double dark() const { return share_of_way(2.0 * way_ - 1.0); }

 private:
  enum class Phase { Used, Leaving, Wiping, Coming };

  FogParams params_;
  Phase phase_ = Phase::Used;
  double since_wiped_ = 0.0, since_begun_ = 0.0;  // s; since_begun_: of wiping
  double way_ = 0.0;                              // 1  to the trocar
};

}  // namespace trocar
