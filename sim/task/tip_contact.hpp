// Makes the measurements that tasks share: contact of an instrument's tip, distance from a target along the surface,
// path lengths. Keeps a state through single frames that interrupt it.
// Units: metres, seconds.   Tested in tests/sim/task_parts_test.cpp
#pragma once

#include "sim/task/observation.hpp"

namespace trocar {

// A touch by a part of the tip (a jaw, a blade, the wire) is a touch by the tip; so is a touch by the shaft within this
// distance of its surface at the tip.
constexpr double kTipReach = 0.003;  // m
// Tissue that an instrument pushes away is not touched in every frame.
constexpr double kContactLasts = 0.1;  // s
// An error ends after this time without it; only then can it count again.
constexpr double kErrorLasts = 0.3;  // s

// Returns whether the tool's tip touches the organ in this frame.
bool tip_touches(const Observation& seen, std::size_t organ, std::size_t tool);
// Returns whether any part of the tool touches the organ in this frame.
bool touches(const Observation& seen, std::size_t organ, std::size_t tool);

// Returns the distance from a target along the surface, for a tip that rests on it: a ball of the instrument's radius
// on a plane, so sqrt(distance^2 - radius^2), and 0 if distance < radius. `distance`: from the tip to the target.
double beside(double distance, double radius);

// A state with hysteresis, for intermittent observations: contact with yielding tissue, an error close to its limit. It
// ends when it has not been observed for longer than `lasts`.
class Lasting {
 public:
  explicit Lasting(double lasts) : lasts_(lasts) {}
  // Returns true when the state begins.
  bool see(bool there, double time) {
    const bool before = now_;
    if (there) last_ = time, ever_ = true;
    now_ = there || (ever_ && time - last_ <= lasts_);
    return now_ && !before;
  }
  bool now() const { return now_; }

 private:
  double lasts_, last_ = 0.0;  // s
  bool ever_ = false, now_ = false;
};

// Measures the path length of a tip, and the straight-line distance between targets.
class PathMeter {
 public:
  void see(const glm::dvec3& tip) {
    if (begun_) length_ += glm::distance(tip, last_);
    if (!begun_) station_ = tip;
    last_ = tip, begun_ = true;
  }
  // Call when a target is reached: adds its straight-line distance and the path so far.
  void reach() {
    direct_ += glm::distance(last_, station_), reached_ = length_;
    station_ = last_;
  }
  double length() const { return length_; }    // m, so far
  double reached() const { return reached_; }  // m, up to the last target
  double direct() const { return direct_; }    // m, straight-line distances up to the last target

 private:
  glm::dvec3 last_{0.0}, station_{0.0};
  double length_ = 0.0, reached_ = 0.0, direct_ = 0.0;  // m
  bool begun_ = false;
};

// Returns part / whole; NaN unless whole > 0.
double ratio(double part, double whole);

}  // namespace trocar
