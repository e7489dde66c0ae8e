// Measures the tremor of the tip while it moves slowly, in every kind of task whose scene sets a limit. Physiological
// tremor of the hand lies at 8 to 12 Hz (Elble, Koller, "Tremor", 1990). A fourth-order Butterworth high-pass filter at
// 5 Hz separates it from intended movement; fast movement and the time after it are left out, because a fast start or
// stop contains these frequencies too.
// Units: metres, seconds, hertz.   Tested in tests/sim/tremor_watch_test.cpp
#pragma once

#include <array>
#include <vector>

#include "sim/task/task_goal.hpp"

namespace trocar {

// A high-pass filter of a point's position: two second-order sections, bilinear transform.
class TremorFilter {
 public:
  static constexpr double kLowest = 5.0;  // Hz   half of the power passes here

  void begin(const glm::dvec3& at);
  // Returns the part of the position above kLowest, m. `dt`: s, below 1 / (2 kLowest).
  glm::dvec3 step(const glm::dvec3& at, double dt);

 private:
  struct Section {
    glm::dvec3 first{0.0}, second{0.0};  // the state of the transposed direct form
  };
  glm::dvec3 start_{0.0};
  std::array<Section, 2> sections_;
};

class TremorWatch {
 public:
  static constexpr double kSlow = 0.03;         // m/s  the tip is held or traces a line
  static constexpr double kSettled = 0.3;       // s    slow for so long: the last fast movement has left the filter
  static constexpr double kLongestStep = 0.05;  // s    longer steps do not show the frequencies of tremor
  static constexpr double kEnough = 1.0;        // s    less measured time gives no value

  TremorWatch(const TaskScene& task, const TaskStage& stage);

  void step(const Observation& seen, double dt);
  double rms() const;  // m, of the instrument with the largest; NaN when too little was measured
  void add_metrics(PartList& parts) const;

 private:
  struct Hand {
    TremorFilter filter;
    glm::dvec3 smooth{0.0};                // m   the tip after a low-pass filter, for its speed
    double slow = 0.0;                     // s   since the last fast movement
    double squares = 0.0, measured = 0.0;  // m^2 s, s
    bool begun = false;
  };
  void follow(Hand& hand, const glm::dvec3& tip, double dt);

  double most_, worst_;  // m   full grade, grade 0
  bool of_scope_;
  std::vector<std::size_t> tools_;
  std::vector<Hand> hands_;  // [tools_], or the scope
};

}  // namespace trocar
