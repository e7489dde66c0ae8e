// Watches the connective tissue that joins the ends of ducts and vessels to organs. A duct that comes off an organ
// before it is divided is an injury: a critical error.   Tested in tests/sim/operation_test.cpp
#pragma once

#include <vector>

#include "sim/task/duct_watch.hpp"

namespace trocar {

class AvulsionWatch {
 public:
  // `wanted`: 1 for fibres that the task divides; they hold no duct. [fibre]
  AvulsionWatch(const TaskStage& stage, std::span<const char> wanted);

  // Reports each duct that has come off since the last frame and was not divided before.
  void step(const Observation& seen, const DuctWatch& ducts, TaskLog& log);

 private:
  struct Junction {
    std::uint32_t group = 0, duct = 0, other = 0;  // organs
    std::size_t intact = 0;                        // fibres
  };

  std::vector<std::string> names_;  // [organ]
  std::vector<Junction> junctions_;
  std::vector<std::uint32_t> junction_of_;  // [fibre] kNoJunction: it is in none
};

}  // namespace trocar
