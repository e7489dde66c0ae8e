// Feeds files to the trajectory reader. Every row of an accepted trajectory is a valid pose, and time never decreases.
#include <cmath>

#include "sim/device/trajectory.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  Trajectory trajectory;
  const auto file = as_file({data, size}, "csv");
  if (!accepted([&] { trajectory = load_trajectory(file); })) return 0;
  require(!trajectory.rows.empty(), "a trajectory without rows was accepted");
  double last = trajectory.rows.front().time;
  for (std::size_t k = 0; k < trajectory.rows.size(); ++k) {
    require(pose_fault(trajectory.pose(k, 0.0025)).empty(), "a row is not a valid pose");
    require(std::isfinite(trajectory.rows[k].time) && trajectory.rows[k].time >= last, "time decreases");
    last = trajectory.rows[k].time;
  }
  return 0;
}
