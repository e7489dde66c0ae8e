// Too much force on the tissue: how often, how long, how much at most. Every kind of task watches it. Taken is the
// force smoothed by a low-pass filter, as a hand feels it: single frames of a trembling contact are not what counts.
// Units: newtons, seconds.   Tested in tests/app/task_parts_test.cpp
#pragma once

#include <vector>

#include "app/task/task_goal.hpp"
#include "app/task/tip_contact.hpp"

namespace trocar {

class ForceWatch {
 public:
  // Of the filter.
  static constexpr double kTimeConstant = 0.05;  // s

  ForceWatch(const TaskScene& task, const TaskStage& stage)
      : most_(task.most_force),
        instruments_(stage.instruments),
        over_(stage.instruments.size(), Lasting(kErrorLasts)),
        felt_(stage.instruments.size(), glm::dvec3(0.0)) {}

  void step(const Observation& seen, double dt, TaskLog& log);
  double now() const { return now_; }  // N, of the strongest instrument
  bool over() const { return now_ > most_; }
  double time_over() const { return time_over_; }  // s
  double peak() const { return peak_; }            // N
  void judge(PartList& parts) const;

 private:
  double most_;
  std::vector<std::string> instruments_;
  std::vector<Lasting> over_;     // [instrument]
  std::vector<glm::dvec3> felt_;  // [instrument] N
  double now_ = 0.0, peak_ = 0.0, time_over_ = 0.0;
};

}  // namespace trocar
