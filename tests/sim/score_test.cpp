// Tests scores of recordings made by formula. Compares every metric with values computed by hand. A recording gives the
// same bits when it is scored again, and so does the recovered recording of a killed process.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/motion.hpp"
#include "tests/sim/formula_session.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kFrame = 1.0 / 60.0;  // s

const Metric& find(const std::vector<Metric>& metrics, const std::string& id) {
  for (const Metric& metric : metrics)
    if (metric.id == id) return metric;
  ADD_FAILURE() << "no " << id;
  static const Metric none{"", "", "", kNone, {}, {}};
  return none;
}

double value(const std::vector<Metric>& metrics, const std::string& id) { return find(metrics, id).value; }

// Returns the time at which the movement has covered this share of its distance, by bisection.
double time_of_share(double share) {
  double low = 0.5, high = 2.5;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (test::minimum_jerk({1, 0, 0}, 2.0, 0.5)(middle).x < share ? low : high) = middle;
  }
  return low;
}

struct FormulaScore : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "s.h5";

  Attempt score(const test::FormulaSession& session) const {
    session.record(file);
    return score_recording(Recording(file), "s.h5");
  }
};

TEST_F(FormulaScore, WholeSessionByHand) {
  const Attempt attempt = score({});
  EXPECT_EQ(attempt.scene_title, "Formula");
  EXPECT_EQ(attempt.date, "2026-01-31");
  EXPECT_EQ(attempt.frames, 241u);
  EXPECT_NEAR(attempt.duration, 4.0, 1e-9);
  EXPECT_FALSE(attempt.task);
  const auto& whole = attempt.overall;
  EXPECT_NEAR(value(whole, "duration"), 4.0, 1e-9);
  EXPECT_TRUE(std::isnan(value(whole, "bimanual_correlation")));  // one hand does not move
  EXPECT_EQ(value(whole, "collisions"), 2.0);
  EXPECT_NEAR(value(whole, "collision_time"), 0.45, 1e-6);
  EXPECT_EQ(value(whole, "peak_force"), 3.0);
  EXPECT_NEAR(value(whole, "force_integral"), 3.0 + 0.5 * 4.0, 1e-6);
  EXPECT_NEAR(value(whole, "peak_pressure"), 200.0, 1e-4);
  EXPECT_NEAR(value(whole, "pressure_time"), 0.5, 1e-6);
  EXPECT_EQ(value(whole, "faces_burnt"), 1.0);
  EXPECT_EQ(value(whole, "faces_torn"), 2.0);
}

TEST_F(FormulaScore, LeftToolByHand) {
  const auto left = score({}).instruments.at(0).metrics;
  EXPECT_NEAR(value(left, "path_length"), 100.0, 0.1);
  EXPECT_NEAR(value(left, "path_inefficiency"), 1.0, 1e-3);
  EXPECT_NEAR(value(left, "depth"), 100.0, 0.1);  // towards the trocar
  EXPECT_NEAR(value(left, "angular_path"), 0.0, 1e-6);
  EXPECT_EQ(value(left, "roll_path"), 0.0);
  EXPECT_NEAR(value(left, "mean_speed"), 25.0, 0.05);
  EXPECT_NEAR(value(left, "peak_speed"), 1.875 * 50.0, 0.5);
  EXPECT_NEAR(value(left, "ldlj"), -std::log(204.8), 0.15);
  EXPECT_NEAR(value(left, "sparc"), -1.41, 0.03);
  EXPECT_EQ(value(left, "movements"), 1.0);
  EXPECT_NE(find(left, "mean_squared_jerk").note.find("does not discriminate skill"), std::string::npos);
  // Visible until its distance in the distorted picture is 1.16: 1.16 / (1 - 0.08 * 1.16^2) half heights of 57.7 mm.
  const double seen = 1.16 / (1.0 - 0.08 * 1.16 * 1.16) * 0.1 * std::tan(glm::radians(30.0));
  EXPECT_NEAR(value(left, "out_of_view_time"), 4.0 - time_of_share(seen / 0.1), 1.01 * kFrame);
  EXPECT_EQ(value(left, "out_of_view_count"), 1.0);
  EXPECT_EQ(value(left, "peak_force"), 3.0);
  EXPECT_NEAR(value(left, "force_integral"), 3.0, 1e-6);
  EXPECT_NEAR(value(left, "force_time"), 1.0, 1e-6);
  EXPECT_EQ(value(left, "inside_time"), 0.0);
  EXPECT_NEAR(value(left, "frozen_time"), 0.25, 1e-6);
}

TEST_F(FormulaScore, AToolThatNeverMoves) {
  const auto right = score({}).instruments.at(1).metrics;
  for (const char* id : {"path_length", "depth", "angular_path", "peak_speed"}) EXPECT_EQ(value(right, id), 0.0) << id;
  for (const char* id : {"path_inefficiency", "economy", "mean_squared_jerk", "ldlj", "sparc"})
    EXPECT_TRUE(std::isnan(value(right, id))) << id;
  EXPECT_EQ(value(right, "movements"), 0.0);
  EXPECT_EQ(value(right, "idle"), 100.0);
  EXPECT_EQ(value(right, "out_of_view_time"), 0.0);
  EXPECT_NEAR(value(right, "inside_time"), 0.5, 1e-6);
  EXPECT_NEAR(value(right, "force_integral"), 2.0, 1e-6);
  EXPECT_EQ(value(right, "force_time"), 0.0);
}

TEST_F(FormulaScore, ATipBehindAnOrganIsOutOfView) {
  test::FormulaSession session;
  session.hidden_from = 1.0, session.hidden_to = 1.5;
  const auto right = score(session).instruments.at(1).metrics;
  EXPECT_NEAR(value(right, "out_of_view_time"), 0.5, 1e-6);
  EXPECT_EQ(value(right, "out_of_view_count"), 1.0);
  EXPECT_EQ(Recording(file).hidden(75), (HiddenPoints{2, 0}));
  EXPECT_EQ(Recording(file).hidden(0), HiddenPoints{});
}

// The task ends by its time limit at 3 s: later frames do not count. The shaft comes from the left: it enters the zone
// with its tip, half a shaft's width before the tip's axis reaches the zone's edge.
TEST_F(FormulaScore, ATaskWithAZone) {
  test::FormulaSession session;
  session.task =
      "[task]\nkind = \"keep-out\"\ntitle = \"Keep out\"\ntime_good_s = 1\ntime_limit_s = 3\nmost_force_n = 0.4\n"
      "[[task.place]]\norgan = \"liver\"\nat_mm = [0, 0, -80]\n"
      "[[task.zone]]\noutline = [[0.5, -0.1], [0.9, -0.1], [0.9, 0.1], [0.5, 0.1]]\n";
  const Attempt attempt = score(session);
  EXPECT_NEAR(attempt.duration, 3.0, kFrame + 1e-9);
  ASSERT_TRUE(attempt.task);
  EXPECT_FALSE(attempt.task->finished);
  const double edge = 0.5 * 0.1 * std::tan(glm::radians(30.0)) - 0.0025;
  const double inside = attempt.duration - time_of_share(edge / 0.1);
  const auto& left = attempt.instruments[0].metrics;
  EXPECT_NEAR(value(left, "zone_time"), inside, 1.01 * kFrame);
  EXPECT_EQ(value(left, "zone_count"), 1.0);
  EXPECT_EQ(value(attempt.instruments[1].metrics, "zone_time"), 0.0);
  EXPECT_EQ(value(attempt.overall, "zone_time"), value(left, "zone_time"));
  EXPECT_EQ(value(attempt.overall, "zone_time"), value(attempt.task->parts, "task_zone_time"));
  EXPECT_EQ(value(attempt.overall, "zone_count"), value(attempt.task->parts, "task_zone_entries"));
  EXPECT_EQ(find(left, "peak_force").good, 0.4);
  EXPECT_NEAR(value(attempt.instruments[1].metrics, "force_time"), attempt.duration, 1e-9);
  EXPECT_EQ(value(attempt.overall, "task_errors"), value(attempt.task->parts, "task_errors"));
  EXPECT_GT(value(attempt.overall, "task_errors"), 1.0);
}

TEST_F(FormulaScore, TheSameAtEveryFrameRate) {
  test::FormulaSession session;
  const Attempt usual = score(session);
  for (const double rate : {20.0, 40.0, 120.0, 1000.0}) {
    session.rate = rate;
    const Attempt other = score(session);
    for (const char* id : {"path_length", "depth", "peak_speed", "ldlj", "sparc", "movements", "force_integral"}) {
      const double a = value(usual.instruments[0].metrics, id), b = value(other.instruments[0].metrics, id);
      EXPECT_NEAR(a, b, 0.02 * std::abs(a)) << id << " at " << rate << " Hz";
    }
    EXPECT_NEAR(value(other.instruments[0].metrics, "out_of_view_time"),
                value(usual.instruments[0].metrics, "out_of_view_time"), 1.0 / rate + kFrame);
  }
}

TEST_F(FormulaScore, OneFrame) {
  test::FormulaSession session;
  session.duration = 0.0;
  const Attempt attempt = score(session);
  EXPECT_EQ(attempt.frames, 1u);
  EXPECT_EQ(attempt.duration, 0.0);
  EXPECT_TRUE(std::isnan(value(attempt.instruments[0].metrics, "path_length")));
  EXPECT_TRUE(
      nlohmann::json::parse(to_json(attempt)).at("instruments").at(0).at("metrics").at(0).at("value").is_null());
}

TEST_F(FormulaScore, ARecordingWithAnUnreadableSceneIsScored) {
  test::FormulaSession session;
  session.task = "[task]\nkind = \"juggle\"\n";
  const Attempt attempt = score(session);
  EXPECT_EQ(attempt.scene_title, "");
  EXPECT_FALSE(attempt.task);
  EXPECT_NEAR(value(attempt.instruments[0].metrics, "path_length"), 100.0, 0.1);
}

TEST_F(FormulaScore, JsonKeepsEveryBit) {
  const Attempt attempt = score({});
  const auto json = nlohmann::json::parse(to_json(std::vector{attempt}));
  EXPECT_EQ(json.at("format"), "trocar-scores-1");
  const auto& read = json.at("attempts").at(0);
  EXPECT_EQ(read.at("frames"), 241);
  ASSERT_EQ(read.at("overall").size(), attempt.overall.size());
  for (std::size_t k = 0; k < attempt.overall.size(); ++k) {
    const auto& metric = read.at("overall").at(k);
    EXPECT_EQ(metric.at("id"), attempt.overall[k].id);
    if (std::isnan(attempt.overall[k].value)) {
      EXPECT_TRUE(metric.at("value").is_null());
    } else {
      EXPECT_EQ(metric.at("value").get<double>(), attempt.overall[k].value);
    }
    EXPECT_EQ(metric.contains("mark"), mark_of(attempt.overall[k]).has_value());
  }
}

// A process killed after 2 s of a session leaves the same frames as a finished recording of that length.
TEST_F(FormulaScore, SameBitsWhenRepeatedAndAfterAKilledProcess) {
  const test::FormulaSession session;
  const std::string once = to_json(score(session));
  EXPECT_EQ(once, to_json(score_recording(Recording(file), "s.h5")));
  EXPECT_EQ(once, to_json(score(session)));

  const pid_t child = fork();
  if (child == 0) {
    Recorder recorder(file, session.header());
    for (std::size_t frame = 0; frame < 120; ++frame) session.append(recorder, frame);
    std::this_thread::sleep_for(std::chrono::seconds(60));
    _exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::string left;
  std::size_t frames = 0;
  {
    const Recording killed(file);
    EXPECT_FALSE(killed.clean());
    frames = killed.frame_count();
    left = to_json(score_recording(killed, "s.h5"));
  }
  ASSERT_GT(frames, 1u);
  recover_recording(file);
  EXPECT_EQ(left, to_json(score_recording(Recording(file), "s.h5")));
  test::FormulaSession shorter;
  shorter.duration = static_cast<double>(frames - 1) / shorter.rate;
  Attempt finished = score(shorter);
  EXPECT_EQ(finished.ending, "stopped");
  finished.ending = "unknown";  // the only difference
  EXPECT_EQ(left, to_json(finished));
}

}  // namespace
}  // namespace trocar
