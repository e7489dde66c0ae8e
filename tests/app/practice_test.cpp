// Tests a practice session that artificial clocks drive: attempts on slow and fast machines, demonstrations, pauses,
// panels over the picture, lost focus. Needs no window and no OpenGL.
#include "app/window/practice/practice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "app/compare/backends.hpp"
#include "app/window/practice/practice_screen.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/task_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// A ball, a probe moved by the mouse, a target within its reach, a minute of time.
class PracticeTest : public ::testing::Test {
 protected:
  PracticeTest() {
    file_ = test::write_ball_task(folder_);
    plan_.backend = "scan";
    plan_.check = false;
    plan_.folder = folder_.path() / "out";
  }

  Practice practice() const { return Practice(load_scene(file_), plan_, nullptr); }

  // Returns the mouse input of a picture; it presses the ball now and then.
  static WindowInput hand(double time) {
    WindowInput input;
    input.pointer_motion = {40.0 * std::cos(2.0 * time), 30.0 * std::cos(3.1 * time)};
    input.wheel = time < 1.0 ? 0.4 : 0.3 * std::cos(1.7 * time);
    return input;
  }

  // Runs until the task ends the attempt; returns the duration.
  static double play(Practice& practice, double pictures_per_second) {
    practice.start();
    double time = 0.0;
    practice.advance(hand(0.0), 5.0, {});
    while (practice.phase() == Phase::Running && time < 200.0) {
      time += 1.0 / pictures_per_second;
      practice.advance(hand(time), 1.0 / pictures_per_second, {});
    }
    return time;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_;
  PracticePlan plan_;
};

void expect_same_result(const TaskResult& live, const TaskResult& recorded) {
  EXPECT_EQ(live.score, recorded.score);
  ASSERT_EQ(live.parts.size(), recorded.parts.size());
  for (std::size_t k = 0; k < live.parts.size(); ++k) {
    const double a = live.parts[k].value, b = recorded.parts[k].value;
    EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << live.parts[k].id << ": " << a << ", " << b;
  }
  ASSERT_EQ(live.events.size(), recorded.events.size());
  for (std::size_t k = 0; k < live.events.size(); ++k) EXPECT_EQ(live.events[k].time, recorded.events[k].time);
}

TEST_F(PracticeTest, AMinuteScoresAsAMinuteOnAnyMachine) {
  for (const double rate : {2.0, 15.0, 60.0, 240.0}) {
    Practice session = practice();
    const double took = play(session, rate);
    EXPECT_EQ(session.phase(), Phase::Ended);
    EXPECT_NEAR(took, 60.0, 1.0 / rate + 0.02) << rate;
    const Recording recording(session.recording());
    const Attempt attempt = score_recording(recording, "x");
    EXPECT_EQ(attempt.clock, "wall");
    EXPECT_NEAR(attempt.duration, 60.0, 0.52) << rate;
    EXPECT_NEAR(test::part_of(*attempt.task, "task_time"), 60.0, 0.52) << rate;
    expect_same_result(session.task()->result(), *attempt.task);
    const double kept = std::min(1.0, 3.0 * rate / 60.0);
    EXPECT_NEAR(attempt.lost_share, 1.0 - kept, 0.01) << rate;
    EXPECT_EQ(slow_machine_text(attempt).empty(), rate >= 20.0) << slow_machine_text(attempt);
    // Tick time does not depend on the wall clock.
    for (std::size_t frame = 0; frame < recording.frame_count(); ++frame)
      ASSERT_EQ(recording.times()[frame], static_cast<double>(frame) * (1.0 / 60.0));
    std::printf("%.0f pictures a second: %zu ticks, %.3f s scored, %.1f %% lost\n", rate, attempt.frames,
                attempt.duration, 100.0 * attempt.lost_share);
  }
}

// A demonstration runs in tick time, so it has the same ticks and the same score on a slow machine and on a fast one.
TEST_F(PracticeTest, ADemonstrationIsTheSameOnAnyMachine) {
  plan_.performer = Skill::Expert;
  std::optional<Attempt> first;
  std::vector<glm::dvec3> tips;
  for (const double rate : {60.0, 9.0}) {
    Practice session = practice();
    play(session, rate);
    ASSERT_EQ(session.phase(), Phase::Ended);
    const Recording recording(session.recording());
    const Attempt attempt = score_recording(recording, "x");
    EXPECT_EQ(attempt.clock, "tick");
    expect_same_result(session.task()->result(), *attempt.task);
    if (!first) {
      first = attempt;
      for (std::size_t frame = 0; frame < recording.frame_count(); ++frame)
        tips.push_back(recording.pose(frame, 0).tip);
      EXPECT_EQ(attempt.lost_time, 0.0);
      continue;
    }
    expect_same_result(*first->task, *attempt.task);
    EXPECT_GT(attempt.lost_share, 0.4);
    ASSERT_EQ(recording.frame_count(), tips.size());
    for (std::size_t frame = 0; frame < tips.size(); ++frame) ASSERT_EQ(recording.pose(frame, 0).tip, tips[frame]);
  }
}

TEST_F(PracticeTest, AClockThatJumpsDoesNoHarm) {
  Practice session = practice();
  session.start();
  std::mt19937 random(9);
  SCOPED_TRACE("seed 9");
  const double jumps[] = {-3600.0, 3600.0, std::numeric_limits<double>::quiet_NaN(), -0.5,
                          std::numeric_limits<double>::infinity()};
  int hours = 0;
  for (int picture = 0; picture < 600; ++picture) {
    const double elapsed = picture > 5 && random() % 60 == 0 ? jumps[random() % std::size(jumps)] : 1.0 / 60.0;
    if (elapsed > 1.0) ++hours;
    session.advance(hand(picture / 60.0), elapsed, {});
  }
  ASSERT_EQ(session.phase(), Phase::Running);
  session.stop();
  const Attempt attempt = score_recording(Recording(session.recording()), "x");
  EXPECT_GT(hours, 0);
  EXPECT_GT(attempt.duration, 9.0);
  EXPECT_LT(attempt.duration, 10.0 + 2.0 * hours);
}

// Draws pictures while the session is paused: no step runs, nothing is recorded, and no instrument moves, even when the
// mouse moves.
template <typename Stand, typename Go>
void expect_still(Practice& session, Stand stand, Go go) {
  const auto step = [&](int pictures) {
    WindowInput input;
    input.pointer_motion = {20.0, 0.0};
    for (int k = 0; k < pictures; ++k) session.advance(input, 1.0 / 60.0, {});
  };
  session.hands().rest();
  step(30);
  const std::size_t frames = session.session().frames();
  const glm::dvec3 tip = session.session().instruments()[0].pose.tip;
  const double wall = session.task()->feed().elapsed;
  EXPECT_EQ(frames, 30u);
  stand();
  step(100);
  EXPECT_EQ(session.session().frames(), frames);
  EXPECT_EQ(session.session().instruments()[0].pose.tip, tip);
  go();
  WindowInput none;
  for (int k = 0; k < 10; ++k) session.advance(none, 1.0 / 60.0, {});
  EXPECT_EQ(session.session().frames(), frames + 9);  // the time up to the first picture does not count
  EXPECT_NEAR(session.task()->feed().elapsed, wall + 9.0 / 60.0, 1e-9);
  // The mouse motion during the pause does not move the instrument; smoothing may still move it a little.
  EXPECT_LT(glm::distance(session.session().instruments()[0].pose.tip, tip), 0.005);
}

TEST_F(PracticeTest, APauseStopsInputAndClock) {
  plan_.check = false;  // a check that takes long moves the clock
  Practice session = practice();
  session.start();
  expect_still(
      session, [&] { session.pause(); }, [&] { session.resume(); });
}

TEST_F(PracticeTest, APanelOverThePictureStopsInputAndClock) {
  plan_.check = false;  // a check that takes long moves the clock
  Practice session = practice();
  session.start();
  expect_still(
      session, [&] { session.cover(true); }, [&] { session.cover(false); });
}

TEST_F(PracticeTest, LostFocusPauses) {
  plan_.check = false;  // a check that takes long moves the clock
  Practice session = practice();
  session.start();
  WindowInput lost;
  lost.focus_lost = true;
  expect_still(
      session,
      [&] {
        session.advance(lost, 1.0 / 60.0, {});
        EXPECT_EQ(session.phase(), Phase::Paused);
      },
      [&] { session.resume(); });
}

// A tool that follows a tracker.
class Tracked final : public Device {
 public:
  explicit Tracked(const DevicePose& pose) : pose_(pose) {}
  DevicePose pose(const FrameClock&) override { return pose_; }

 private:
  const DevicePose& pose_;
};

struct Peak {
  double force = 0.0, pressure = 0.0, step = 0.0;  // N, Pa, m between two ticks
};

// The tip is beside the ball, then 120 mm farther, on the other side of the ball. The value says what happens in
// between.
enum class Across { Jump, Pause, Slowly };
Peak across_the_ball(const Scene& scene, Across how) {
  const glm::dvec3 pivot{0.0, 0.0, 0.2};
  const auto at = [&](double x) { return pivot + 0.166 * glm::normalize(glm::dvec3(x, 0.0, -0.155)); };
  DevicePose pose{pivot, at(-0.06)};
  Backends backends;
  Session session(scene, backends, "scan", {}, [&](const InstrumentScene&) { return std::make_unique<Tracked>(pose); });
  Peak peak;
  glm::dvec3 before = pose.tip;
  for (std::uint64_t tick = 0; tick < 150; ++tick) {
    if (tick == 10 && how == Across::Pause) session.suspend_devices();
    if (tick >= 10)
      pose.tip = at(how == Across::Slowly ? std::min(-0.06 + 0.1 / 60.0 * double(tick - 10), 0.06) : 0.06);
    session.step({tick, double(tick) / 60.0}, 1.0 / 60.0);
    const Instrument& probe = session.instruments()[0];
    peak.force = std::max(peak.force, glm::length(glm::dvec3(probe.force)));
    for (const float pressure : session.organs()[0].touch_pressure)
      peak.pressure = std::max(peak.pressure, static_cast<double>(pressure));
    peak.step = std::max(peak.step, glm::distance(probe.pose.tip, before));
    before = probe.pose.tip;
  }
  EXPECT_LT(glm::distance(before, at(0.06)), 1e-9);
  return peak;
}

// The tool is displaced by 120 mm during a pause; it then moves there at a limited speed.
TEST_F(PracticeTest, AToolDisplacedDuringAPauseDoesNotJump) {
  const Scene scene = load_scene(file_);
  const Peak jump = across_the_ball(scene, Across::Jump), pause = across_the_ball(scene, Across::Pause),
             slow = across_the_ball(scene, Across::Slowly);
  for (const Peak& peak : {jump, pause, slow})
    std::printf("%.2f N, %.0f kPa, %.1f mm in a tick\n", peak.force, 1e-3 * peak.pressure, 1e3 * peak.step);
  EXPECT_LT(pause.step, 0.0025);
  EXPECT_GT(jump.step, 0.1);
  EXPECT_LT(pause.force, 1.5 * slow.force);
  EXPECT_LT(pause.pressure, 1.5 * slow.pressure);
  EXPECT_GT(slow.force, 0.05);
}

// F2 opens the settings, F1 the help; while help is shown the screen receives no keys.
TEST_F(PracticeTest, HelpAndSettingsPauseOnTheScreen) {
  WindowSettings settings;
  GhostShow ghost;
  PracticeScreen screen(std::make_unique<Practice>(load_scene(file_), plan_, nullptr), settings, ghost, folder_.path(),
                        nullptr);
  Practice& session = screen.practice();
  screen.start();
  const WindowInput none;
  const auto press = [&](Key key) {
    WindowInput input;
    input.pressed = {key};
    screen.step(input, 1.0 / 60.0, true);
  };
  for (int k = 0; k < 10; ++k) screen.step(none, 1.0 / 60.0, true);
  EXPECT_EQ(session.session().frames(), 10u);
  EXPECT_TRUE(session.running());
  press(Key::F2);
  for (int k = 0; k < 10; ++k) screen.step(none, 1.0 / 60.0, true);
  EXPECT_EQ(session.session().frames(), 10u);
  EXPECT_FALSE(screen.in_hand());
  press(Key::F2);
  EXPECT_TRUE(screen.in_hand());
  for (int k = 0; k < 9; ++k) screen.step(none, 1.0 / 60.0, true);
  EXPECT_EQ(session.session().frames(), 19u);
  for (int k = 0; k < 10; ++k) screen.step(none, 1.0 / 60.0, false);  // F1
  EXPECT_EQ(session.session().frames(), 19u);
  WindowInput lost;
  lost.focus_lost = true;
  screen.step(lost, 1.0 / 60.0, true);
  EXPECT_EQ(session.phase(), Phase::Paused);
  EXPECT_EQ(screen.status().phase, "paused");
}

}  // namespace
}  // namespace trocar
