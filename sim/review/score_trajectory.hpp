// Computes the motion metrics of a trajectory: the log of any tracker or robot, without a session. Forces, tissue and
// tasks are unknown.   Tested in tests/sim/score_test.cpp
#pragma once

#include <string>

#include "sim/device/trajectory.hpp"
#include "sim/score/attempt.hpp"

namespace trocar {

// `file`: the name to store in the attempt; the instrument is named "instrument".
Attempt score_trajectory(const Trajectory& trajectory, const std::string& file);

}  // namespace trocar
