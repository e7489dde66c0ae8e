// Where the end of an instrument touches tissue, and whether it does so lastingly. Tissue that was pushed out of the
// way is not touched in every single frame: a contact lasts for kContactLasts after it was seen last.
// Units: metres, seconds.   Tested in tests/app/task_parts_test.cpp
#pragma once

#include <optional>

#include "app/task/observation.hpp"

namespace trocar {

// Touched within this of the instrument's surface at the tip is touched by the tip.
constexpr double kTipReach = 0.003;    // m
constexpr double kContactLasts = 0.1;  // s

// The touched point of the organ nearest to the tip; nothing when only the shaft touches, or nothing does.
std::optional<glm::vec3> tip_contact(const Observation& seen, std::size_t organ, std::size_t tool);
// Does any part of the tool touch the organ in this frame?
bool touches(const Observation& seen, std::size_t organ, std::size_t tool);

class LastingContact {
 public:
  void see(const std::optional<glm::vec3>& contact, double time) {
    if (contact) point_ = *contact, last_ = time, ever_ = true;
    now_ = ever_ && time - last_ <= kContactLasts;
  }
  bool now() const { return now_; }
  const glm::vec3& point() const { return point_; }  // m, where it was seen last

 private:
  glm::vec3 point_{0.f};
  double last_ = 0.0;  // s
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
