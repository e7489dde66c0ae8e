// Tests the estimate of a recording's size against recordings of whole tasks.
#include "sim/hdf5/recording_rate.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "sim/scene/scene.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Bytes a second of attempts by the scripted expert, in docs/file-formats.md.
TEST(RecordingRate, IsThatOfWholeTasks) {
  constexpr std::pair<const char*, double> kTasks[] = {{"touch_targets", 5.62e6}, {"keep_out", 5.58e6},
                                                       {"cut_band", 2.01e6},      {"retract_expose", 3.90e6},
                                                       {"clip_and_cut", 3.76e6},  {"dissect_bed", 3.33e6}};
  for (const auto& [task, measured] : kTasks) {
    const double rate =
        recording_rate(load_scene(repository_file("data/scenes/tasks") / (std::string(task) + ".toml")));
    std::printf("%s: %.2f MB a second, measured %.2f\n", task, 1e-6 * rate, 1e-6 * measured);
    EXPECT_GT(rate, 0.7 * measured) << task;
    EXPECT_LT(rate, 1.3 * measured) << task;
  }
}

}  // namespace
}  // namespace trocar
