// Detects too much force on the tissue, in every kind of task: measures count, duration and peak. The force first
// passes a low-pass filter, as a hand does, so that single frames of an intermittent contact do not count.
// Units: newtons, seconds.   Tested in tests/sim/task_parts_test.cpp
#pragma once

#include <vector>

#include "sim/task/task_goal.hpp"
#include "sim/task/tip_contact.hpp"

namespace trocar {

class ForceWatch {
 public:
  static constexpr double kTimeConstant = 0.05;  // s   of the filter

  ForceWatch(const TaskScene& task, const TaskStage& stage)
      : most_(task.most_force),
        instruments_(stage.instruments),
        over_(stage.instruments.size(), Lasting(kErrorLasts)),
        felt_(stage.instruments.size(), glm::dvec3(0.0)) {}

  void step(const Observation& seen, double dt, TaskLog& log);
  double now() const { return now_; }  // N, largest filtered force of an instrument
  bool over() const { return now_ > most_; }
  double peak() const { return peak_; }  // N
  void add_metrics(PartList& parts) const;

 private:
  double most_;
  std::vector<std::string> instruments_;
  std::vector<Lasting> over_;     // [instrument]
  std::vector<glm::dvec3> felt_;  // [instrument] N
  double now_ = 0.0, peak_ = 0.0, time_over_ = 0.0;
};

}  // namespace trocar
