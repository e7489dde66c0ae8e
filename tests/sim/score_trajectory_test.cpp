// Tests the motion metrics of a trajectory: values by hand, and the same bits as those of a recording of this motion.
#include "sim/review/score_recording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/hdf5/recording.hpp"
#include "tests/sim/formula_session.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

double value_of(const std::vector<Metric>& metrics, const char* id) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.id == id; });
  return found == metrics.end() ? std::nan("") : found->value;
}

// The tip moves 60 mm along x in 2 s, with a bell-shaped speed, and rests before and after for 1 s.
Trajectory reach() {
  Trajectory trajectory;
  for (int frame = 0; frame <= 240; ++frame) {
    const double t = frame / 60.0, s = std::clamp((t - 1.0) / 2.0, 0.0, 1.0);
    const double share = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
    trajectory.rows.push_back({t, {0.0, 0.0, 0.2}, {0.06 * share, 0.0, 0.0}, 0.0, 1.0});
  }
  return trajectory;
}

TEST(ScoreTrajectory, AStraightReachHasItsLengthSpeedAndSmoothness) {
  const Attempt attempt = score_trajectory(reach(), "reach.csv");
  EXPECT_EQ(attempt.file, "reach.csv");
  EXPECT_NEAR(attempt.duration, 4.0, 1e-12);
  EXPECT_EQ(attempt.frames, 241u);
  ASSERT_EQ(attempt.instruments.size(), 1u);
  const std::vector<Metric>& metrics = attempt.instruments[0].metrics;
  EXPECT_NEAR(value_of(metrics, "path_length"), 60.0, 0.1);
  EXPECT_NEAR(value_of(metrics, "path_inefficiency"), 1.0, 1e-3);
  EXPECT_NEAR(value_of(metrics, "peak_speed"), 1.875 * 60.0 / 2.0, 0.5);
  EXPECT_EQ(value_of(metrics, "movements"), 1.0);
  // The exact values of a minimum-jerk movement are -5.27 (LDLJ, ln(360/1.875^2 ...)) and -1.41 (SPARC).
  EXPECT_NEAR(value_of(metrics, "ldlj"), -5.3, 0.6);
  EXPECT_NEAR(value_of(metrics, "sparc"), -1.41, 0.15);
}

TEST(ScoreTrajectory, HasTheBitsOfARecordingOfTheSameMotion) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.h5";
  test::FormulaSession session;
  {
    Recorder recorder(file, session.header());
    for (std::size_t frame = 0; frame < session.frames(); ++frame) session.append(recorder, frame);
    recorder.close();
  }
  const Recording recording(file);
  const Attempt recorded = score_recording(recording, "s.h5");
  Trajectory trajectory;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const ToolPose pose = recording.pose(frame, 0);
    const glm::dvec2 roll_grip = recording.roll_grip(frame, 0);
    trajectory.rows.push_back({recording.score_times()[frame], pose.pivot, pose.tip, roll_grip.x, roll_grip.y});
  }
  const std::vector<Metric> own = score_trajectory(trajectory, "t.csv").instruments[0].metrics;
  for (const Metric& metric : own)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(metric.value),
              std::bit_cast<std::uint64_t>(value_of(recorded.instruments[0].metrics, metric.id.c_str())))
        << metric.id;
}

}  // namespace
}  // namespace trocar
