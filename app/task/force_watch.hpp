// Too much force on the tissue: how often, how long, how much at most. Every kind of task watches it.
// Units: newtons, seconds.   Tested in tests/app/task_parts_test.cpp
#pragma once

#include <vector>

#include "app/task/task_goal.hpp"

namespace trocar {

class ForceWatch {
 public:
  // A force that trembles about the limit is one excess: it ends below this share of the limit.
  static constexpr double kEnds = 0.8;

  ForceWatch(const TaskScene& task, const TaskStage& stage)
      : most_(task.most_force), instruments_(stage.instruments), over_(stage.instruments.size()) {}

  void step(const Observation& seen, double dt, TaskLog& log);
  double now() const { return now_; }  // N, of the strongest instrument
  bool over() const { return now_ > most_; }
  double time_over() const { return time_over_; }  // s
  double peak() const { return peak_; }            // N
  void judge(std::vector<Metric>& parts) const;

 private:
  double most_;
  std::vector<std::string> instruments_;
  std::vector<char> over_;  // [instrument]
  double now_ = 0.0, peak_ = 0.0, time_over_ = 0.0;
};

}  // namespace trocar
