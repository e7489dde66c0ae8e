// Tests scores of recordings made by formula. Compares every metric with values computed by hand. A recording gives the
// same bits when it is scored again, and so does the recovered recording of a killed process.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/compare/backends.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/motion.hpp"
#include "tests/sim/recording/every_kind.hpp"
#include "tests/sim/session/formula_session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar::score_test {
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

// Tests that metrics computed during a session, without the scoring code, equal those scored from its recording.

constexpr std::size_t kFrames = 240;

struct LiveMetrics {
  double peak_force = 0.0, impulse = 0.0, collision_time = 0.0;
  float peak_pressure = 0.f;
  std::size_t burnt = 0, torn = 0;

  void look(const Session& session, double dt) {
    bool burns = false, collides = false;
    for (const Instrument& instrument : session.instruments()) {
      const double force = glm::length(glm::dvec3(instrument.force));
      peak_force = std::max(peak_force, force);
      impulse += force * dt;
      burns = burns || instrument.energy != Diathermy::Off;
    }
    for (const InstrumentClash& clash : session.clashes()) collides = collides || clash.distance < 0.0;
    if (collides) collision_time += dt;
    for (const Organ& organ : session.organs()) {
      for (const float pressure : organ.touch_pressure) peak_pressure = std::max(peak_pressure, pressure);
      (burns ? burnt : torn) += organ.change.removed.size();
    }
  }
};

double value(const Attempt& attempt, const std::string& id) {
  for (const Metric& metric : attempt.overall)
    if (metric.id == id) return metric.value;
  ADD_FAILURE() << "no " << id;
  return 0.0;
}

TEST(ScoreLive, EqualsTheScoreOfTheRecording) {
  const TemporaryFolder folder;
  save_mesh(shapes::icosphere(4, 0.05f), folder.path() / "ball.obj");
  const auto instrument = [](const char* name, const char* kind, const char* script, int x) {
    return fmt::format(
        "[[instrument]]\nname = \"{}\"\nkind = \"{}\"\nscript = \"{}\"\ndevice = \"script\"\nradius_mm = 2.5\n"
        "pivot_mm = [{}, 0, 150]\ntip_mm = [{}, 0, 49]\n",
        name, kind, script, 4 * x, x);
  };
  const Scene scene =
      load_scene(folder.write("s.toml",
                              "schema = 2\ntitle = \"Ball\"\n[[organ]]\nname = \"ball\"\nmesh = "
                              "\"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = 10\n"
                              "[[organ.attachment]]\ncentre_mm = [0, 0, -45]\nradius_mm = 20\n" +
                                  instrument("hook", "hook", "burn", -5) + instrument("probe", "probe", "press", 6)));
  Backends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& i) {
    return make_script_device({i.pivot, i.tip, i.script, 0.012, 0.008, 2.0});
  });
  const auto file = folder.path() / "s.h5";
  LiveMetrics live;
  {
    SessionRecorder recorder(recording_file(file), scene, session, "none");
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      const double t = static_cast<double>(frame) * kFrame;
      session.step({frame, t}, kFrame);
      recorder.append(session, t);
      live.look(session, frame == 0 ? 0.0 : t - static_cast<double>(frame - 1) * kFrame);
    }
    recorder.close();
  }
  const Attempt attempt = score_recording(Recording(file), "s.h5");
  EXPECT_EQ(value(attempt, "peak_force"), live.peak_force);
  EXPECT_NEAR(value(attempt, "force_integral"), live.impulse, 1e-12 * live.impulse);
  EXPECT_EQ(value(attempt, "peak_pressure"), static_cast<double>(live.peak_pressure) * 1e-3);
  EXPECT_EQ(value(attempt, "faces_burnt"), static_cast<double>(live.burnt));
  EXPECT_EQ(value(attempt, "faces_torn"), static_cast<double>(live.torn));
  EXPECT_EQ(value(attempt, "collision_time"), live.collision_time);
  EXPECT_GT(live.burnt, 10u);
  EXPECT_GT(live.peak_force, 0.1);
  EXPECT_EQ(attempt.scene_title, "Ball");
}

// Tests the motion metrics of a trajectory: values by hand, and the same bits as those of a recording of this motion.

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

// Tests that every graded metric of every kind of task, of an instrument and of a whole session can be explained, and
// that no two metrics share a name. A recording made by formula supplies the metrics of the session.

using test::FramesAtRest;

// Returns the parts of a task of this kind.
std::vector<Metric> parts_of_kind(TaskKind kind) {
  FramesAtRest frames;
  TaskRun run(FramesAtRest::task(kind), frames.stage());
  run.step(frames.next(run));
  return run.result().parts;
}

// Returns a scored session of two instruments with a task and a zone.
Attempt formula_attempt() {
  const TemporaryFolder folder;
  test::FormulaSession session;
  session.task =
      "[task]\nkind = \"keep-out\"\ntitle = \"Keep out\"\ntime_good_s = 1\ntime_limit_s = 3\nmost_force_n = 0.4\n"
      "most_tremor_mm = 0.2\n[[task.place]]\norgan = \"liver\"\nat_mm = [0, 0, -80]\n"
      "[[task.zone]]\noutline = [[0.5, -0.1], [0.9, -0.1], [0.9, 0.1], [0.5, 0.1]]\n";
  session.record(folder.path() / "s.h5");
  return score_recording(Recording(folder.path() / "s.h5"), "s.h5");
}

struct NamedTable {
  std::string name, kind;  // kind: of the task; "" for other tables
  std::vector<Metric> metrics;
};

// The tables of metrics that users see.
std::vector<NamedTable> all_tables() {
  std::vector<NamedTable> tables;
  for (const TaskKind kind : test::kEveryKind)
    tables.push_back({"task " + std::string(name_of(kind)), std::string(name_of(kind)), parts_of_kind(kind)});
  const Attempt attempt = formula_attempt();
  tables.push_back({"whole session", "", attempt.overall});
  tables.push_back({"instrument", "", attempt.instruments.at(0).metrics});
  return tables;
}

// The same id may appear for the whole session and for an instrument: it is the same metric of more or less.
TEST(MetricNames, NoTwoMetricsShareOne) {
  std::map<std::string, std::string> id_of;
  for (const NamedTable& table : all_tables()) {
    std::set<std::string> ids, labels;
    for (const Metric& metric : table.metrics) {
      EXPECT_TRUE(ids.insert(metric.id).second) << table.name << ": " << metric.id;
      EXPECT_TRUE(labels.insert(metric.label).second) << table.name << ": " << metric.label;
      const bool of_kind = !table.kind.empty() && std::ranges::any_of(grade_sentences(), [&](const auto& row) {
        return row.id == metric.id && table.kind == row.kind;
      });
      const std::string id = of_kind ? metric.id + " of " + table.kind : metric.id;
      const auto [known, is_new] = id_of.emplace(metric.label, id);
      EXPECT_EQ(known->second, id) << table.name << ": two metrics are called '" << metric.label << "'";
    }
  }
}

TEST(GradeTexts, EveryGradedMetricHasAReasonAndAnAdvice) {
  std::set<std::string> used;
  for (const NamedTable& table : all_tables())
    for (Metric metric : table.metrics) {
      if (!metric.good || !metric.poor) continue;
      metric.value = 0.5 * (*metric.good + *metric.poor);
      const GradeText text = grade_text(metric, table.kind);
      ASSERT_FALSE(text.why.empty()) << table.name << ": " << metric.id;
      ASSERT_FALSE(text.advice.empty()) << table.name << ": " << metric.id;
      for (const double number : {metric.value, *metric.good, *metric.poor})
        EXPECT_NE(text.why.find(value_with_unit(number, metric.unit)), std::string::npos) << text.why;
      for (const std::string& sentence : {text.why, text.advice}) {
        EXPECT_TRUE(sentence.ends_with('.')) << sentence;
        EXPECT_TRUE(sentence.find(". ") == std::string::npos) << "more than one sentence: " << sentence;
      }
      used.insert(text.advice);
    }
  for (const GradeSentences& row : grade_sentences()) EXPECT_TRUE(used.contains(row.advice)) << row.id << " is unused";
}

TEST(GradeTexts, AreInTheJson) {
  const auto json = nlohmann::json::parse(to_json(formula_attempt()));
  for (const auto* list : {&json["task"]["parts"], &json["overall"], &json["instruments"][0]["metrics"]})
    for (const auto& metric : *list) {
      EXPECT_EQ(metric.contains("mark"), metric.contains("why")) << metric["id"];
      EXPECT_EQ(metric.contains("mark"), metric.contains("advice")) << metric["id"];
    }
  EXPECT_FALSE(json["task"].contains("critical"));
}

}  // namespace

}  // namespace trocar::score_test
