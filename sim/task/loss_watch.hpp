// Watches how much blood and bile an organ loses in a task, against the limits of the task. The volumes are those of
// the session or its recording.   Units: ml.   Tested in tests/sim/operation_test.cpp
#pragma once

#include <fmt/format.h>

#include <string>

#include "sim/task/task_goal.hpp"

namespace trocar {

class LossWatch {
 public:
  LossWatch(std::uint32_t organ, const TaskLimit& limit)
      : organ_(organ), blood_{limit.most_blood_ml}, bile_{limit.most_bile_ml} {}

  // Observes the next frame. `name`: of the organ. A loss above a limit is a critical error, once.
  void step(const Observation& seen, const std::string& name, TaskLog& log) {
    if (organ_ >= seen.bleeding.lost.size()) return;
    const FluidLoss& lost = seen.bleeding.lost[organ_];
    if (blood_.exceeded(lost.blood / kMillilitre))
      log.critical(seen.time, fmt::format("the {} has lost more than {:g} ml of blood", name, blood_.most));
    if (bile_.exceeded(lost.bile / kMillilitre))
      log.critical(seen.time, fmt::format("the {} has spilt more than {:g} ml of bile", name, bile_.most));
  }

 private:
  struct Limit {
    double most = 0.0;  // ml, 0: unlimited
    bool reported = false;

    bool exceeded(double volume) {
      if (reported || !(most > 0.0) || !(volume > most)) return false;
      return reported = true;
    }
  };
  std::uint32_t organ_;
  Limit blood_, bile_;
};

}  // namespace trocar
