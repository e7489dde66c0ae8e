// What the kinds of task measure with: does the end of an instrument touch tissue, how far beside a place is it, how
// long is its path; and what lasts although it is not seen in every frame.
// Units: metres, seconds.   Tested in tests/app/task_parts_test.cpp
#pragma once

#include "app/task/observation.hpp"

namespace trocar {

// Touched within this of the instrument's surface at the tip is touched by the tip.
constexpr double kTipReach = 0.003;  // m
// Tissue that was pushed out of the way is not touched in every single frame.
constexpr double kContactLasts = 0.1;  // s
// An error ends when it was not made for so long; then it can be made again.
constexpr double kErrorLasts = 0.3;  // s

// Does the end of the tool touch the organ in this frame?
bool tip_touches(const Observation& seen, std::size_t organ, std::size_t tool);
// Does any part of the tool touch the organ in this frame?
bool touches(const Observation& seen, std::size_t organ, std::size_t tool);

// How far to the side of a place on the surface a tip is that rests on that surface: a ball of the instrument's radius
// lies on a plane, so sqrt(distance^2 - radius^2), and 0 nearer than that. `distance`: from the tip to the place.
double beside(double distance, double radius);

// Something seen now and then that lasts between: contact of tissue that gives way, a blunder that trembles about its
// limit. It ends when it was not seen for `lasts`.
class Lasting {
 public:
  explicit Lasting(double lasts) : lasts_(lasts) {}
  // True when it begins.
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

// Path of a tip against the straight way between stations.
class PathMeter {
 public:
  void see(const glm::dvec3& tip) {
    if (begun_) length_ += glm::distance(tip, last_);
    if (!begun_) station_ = tip;
    last_ = tip, begun_ = true;
  }
  // The station is reached: the straight way to it counts, and the path up to here.
  void reach() {
    direct_ += glm::distance(last_, station_), reached_ = length_;
    station_ = last_;
  }
  double length() const { return length_; }    // m, so far
  double reached() const { return reached_; }  // m, up to the last station
  double direct() const { return direct_; }    // m, the straight way to it

 private:
  glm::dvec3 last_{0.0}, station_{0.0};
  double length_ = 0.0, reached_ = 0.0, direct_ = 0.0;  // m
  bool begun_ = false;
};

// NaN where there is nothing to divide by.
double ratio(double part, double whole);

}  // namespace trocar
