// Tests practice, the ghost, and replays.
#include <sys/mount.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "app/compare/backends.hpp"
#include "app/sound/captions.hpp"
#include "app/sound/sound.hpp"
#include "app/window/practice/camera.hpp"
#include "app/window/practice/disk_watch.hpp"
#include "app/window/practice/ghost.hpp"
#include "app/window/practice/lesson.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/practice/practice_screen.hpp"
#include "app/window/replay/replay_scene.hpp"
#include "app/window/replay/replay_screen.hpp"
#include "app/window/screens/results_screen.hpp"
#include "geometry/error.hpp"
#include "sim/course/course_progress.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/support/files.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Tests a practice session that artificial clocks drive: attempts on slow and fast machines, demonstrations, pauses,
// panels over the picture, lost focus, disks that are full or become full, and the sound. Needs no window and no
// OpenGL. Spectra of the mixer's samples, and of what OpenAL Soft writes to a wave file, are computed by Goertzel's
// algorithm (Goertzel, "An algorithm for the evaluation of finite trigonometric series", Amer. Math. Monthly 65, 1958).

// A ball, a probe moved by the mouse, a target within its reach, a minute of time.
class PracticeTest : public ::testing::Test {
 protected:
  PracticeTest() {
    file_ = test::write_ball_task(folder_);
    plan_.backend = "scan", plan_.check = false, plan_.folder = folder_.path() / "out";
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
    EXPECT_EQ(slow_machine_text(attempt).find("practice") != std::string::npos, rate < 20.0);
    EXPECT_EQ(is_practice(course_attempt(attempt, "x", 1, 0.0)), rate < 20.0);
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
    EXPECT_EQ(slow_machine_text(attempt).find("practice"), std::string::npos);
    EXPECT_FALSE(is_practice(course_attempt(attempt, "x", 1, 0.0)));
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

// The recording and the score of an attempt whose tissue moves beside the drawing are those of one without drawing.
// Pictures come faster and slower than ticks, and one in seven is left out, as when the window leaves a screen.
TEST_F(PracticeTest, TissueBesideTheDrawingChangesNothing) {
  std::optional<Recording> alone;
  std::optional<Attempt> scored;
  for (const bool beside : {false, true}) {
    Practice session = practice();
    std::size_t kept = 0;
    if (beside) session.draw_beside([&](const Session&, std::uint64_t, double) { ++kept; });
    session.start();
    double time = 0.0;
    for (int picture = 0; picture < 1500 && session.phase() == Phase::Running; ++picture) {
      const double elapsed = picture % 3 == 0 ? 0.037 : 0.009;
      time += elapsed;
      session.advance(hand(time), elapsed, {});
      if (picture % 7 != 0) session.begin_ticks();
    }
    session.stop();
    EXPECT_EQ(kept > 1000, beside);
    Recording recording(session.recording());
    const Attempt attempt = score_recording(recording, "x");
    if (!beside) {
      alone.emplace(std::move(recording));
      scored = attempt;
      continue;
    }
    ASSERT_EQ(recording.frame_count(), alone->frame_count());
    ASSERT_GT(recording.frame_count(), 1000u);
    std::size_t touched = 0;
    OrganFrame now, expected;
    for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
      ASSERT_EQ(recording.pose(frame, 0).tip, alone->pose(frame, 0).tip) << frame;
      recording.read_frame(frame, 0, now);
      alone->read_frame(frame, 0, expected);
      ASSERT_TRUE(std::ranges::equal(now.nodes, expected.nodes)) << frame;
      touched += now.touches.size();
    }
    EXPECT_GT(touched, 0u);
    ASSERT_EQ(attempt.overall.size(), scored->overall.size());
    for (std::size_t k = 0; k < attempt.overall.size(); ++k)
      EXPECT_EQ(attempt.overall[k].value, scored->overall[k].value) << attempt.overall[k].id;
  }
}

// What the hand does in a picture is in the tick of that picture: the next picture shows a part of it on a display at
// the rate of the ticks, and all of it on a slower one; the picture after shows all of it.
TEST_F(PracticeTest, TheHandIsShownWithinTwoPictures) {
  for (const double rate : {60.0, 30.0, 20.0}) {
    DrawnTicks ticks;  // ticks may end as long as the session lives
    Practice session = practice();
    session.draw_beside([&](const Session& now, std::uint64_t tick, double time) { ticks.keep(now, tick, time); });
    session.start();
    const auto picture = [&](double wheel) {
      WindowInput input;
      input.wheel = wheel;
      session.advance(input, 1.0 / rate, {});
      const glm::dvec3 tip = ticks.empty() ? glm::dvec3(0.0) : ticks.at(session.shown()).tools[0].pose.tip;
      session.begin_ticks();
      return tip;
    };
    for (int k = 0; k < 30; ++k) picture(0.0);
    const glm::dvec3 before = picture(0.0);
    EXPECT_EQ(picture(1.0), before) << rate;
    const glm::dvec3 next = picture(0.0);
    const double whole = glm::distance(picture(0.0), before), part = glm::distance(next, before);
    std::printf("%.0f pictures a second: %.3f mm in the next picture, %.3f mm in the one after\n", rate, 1e3 * part,
                1e3 * whole);
    EXPECT_GT(part, 1e-5) << rate;
    EXPECT_GT(whole, part) << rate;
  }
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
// An assistant brings the tip to the middle of the picture; in a task of the camera, or with a scope that does not
// move, there is none.
TEST_F(PracticeTest, AnAssistantHoldsTheScope) {
  const auto off_middle = [](const Practice& practice) {
    const ScopePose& scope = practice.session().scope().pose;
    const glm::dvec3 to = practice.session().instruments()[0].pose.tip - scope.eye;
    return glm::length(glm::cross(axes_of(scope).forward, to));
  };
  WindowSettings settings;
  settings.camera = CameraBy::Skilled;
  Practice session = practice();
  session.start();
  session.advance({}, 0.0, settings);
  const double before = off_middle(session);
  for (int k = 0; k < 400; ++k) session.advance({}, 0.02, settings);
  EXPECT_TRUE(session.has_assistant());
  std::printf("tip %.1f mm from the middle, before %.1f mm\n", 1e3 * off_middle(session), 1e3 * before);
  EXPECT_LT(off_middle(session), 0.015);
  EXPECT_NE(session.lens_look().turn_deg, 0.f);
  settings.camera = CameraBy::Trainee;
  session.advance({}, 0.02, settings);
  EXPECT_FALSE(session.has_assistant());
  EXPECT_EQ(session.lens_look().turn_deg, 0.f);
  file_ = test::write_ball_task(folder_, "[scope]\ndevice = \"script\"\n");
  settings.camera = CameraBy::Skilled;
  Practice fixed = practice();
  fixed.start();
  for (int k = 0; k < 10; ++k) fixed.advance({}, 0.02, settings);
  EXPECT_FALSE(fixed.has_assistant());
}

TEST_F(PracticeTest, TheLensFogsInAttemptsOnlyWhereTheSceneSaysSo) {
  WindowSettings settings;
  settings.lens_fogs = true;
  for (const bool fogs : {false, true}) {
    file_ = test::write_ball_task(folder_, fogs ? "[scope]\nfogs = true\n" : "");
    Practice session = practice();
    session.start();
    for (int k = 0; k < 1000; ++k) session.advance({}, 0.02, settings);
    EXPECT_EQ(session.lens_look().fog > 0.2f, fogs);
    session.wipe_lens();
    for (int k = 0; k < 120; ++k) session.advance({}, 0.02, settings);
    EXPECT_EQ(session.lens_look().fog, 0.f);
    EXPECT_EQ(session.lens_look().dark, 0.f);
  }
}

// The two instruments share a port: one is in the body, and the other comes in a second after it was chosen.
TEST_F(PracticeTest, InstrumentsOfOnePortAreExchanged) {
  file_ = test::write_ball_task(folder_,
                                "[[instrument]]\nname = \"hook\"\nkind = \"hook\"\nradius_mm = 2.5\npivot_mm = [20, 0, "
                                "200]\ntip_mm = [20, 0, 60]\nport = \"a\"\n");
  std::string text;
  {
    std::ifstream in(file_);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string pivot = "pivot_mm = [0, 0, 200]\n";
  text.insert(text.find(pivot) + pivot.size(), "port = \"a\"\n");
  std::ofstream(file_) << text;
  Practice session = practice();
  session.start();
  const auto depth = [&](std::size_t k) {
    const ToolPose& pose = session.session().instruments()[k].pose;
    return glm::length(pose.tip - pose.pivot);
  };
  const auto run = [&](double seconds) {
    for (double time = 0.0; time < seconds; time += 0.02) session.advance({}, 0.02, {});
  };
  run(0.1);
  EXPECT_NEAR(depth(0), 0.14, 1e-6);
  EXPECT_NEAR(depth(1), 0.012, 1e-6);
  session.hands().take(1);
  run(1.1);
  EXPECT_NEAR(depth(0), 0.012, 1e-6);
  EXPECT_NEAR(depth(1), 0.14, 1e-4);
  session.hands().take(0);
  run(1.1);
  EXPECT_NEAR(depth(0), 0.125, 1e-4) << "it comes back less deep";
  session.stop();
}

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

// The lesson, driven by views whose lengths and angles are known.
class LessonTest : public ::testing::Test {
 protected:
  void see(int pictures = 1) {
    for (int k = 0; k < pictures; ++k) lesson_.see(view_);
  }
  // Goes to a part by skipping those before it.
  void begin(Lesson::Part part) {
    while (lesson_.part() != part) lesson_.skip();
    see();
  }

  Lesson lesson_;
  LessonView view_{.elapsed = 0.1, .hook = 1, .tip = {0.0, 0.0, -0.1}};
};

TEST_F(LessonTest, SwingsOfTheTipCountAndInsertionDoesNot) {
  see();
  for (int k = 0; k < 40; ++k) {
    view_.tip = {0.0, 0.0, -0.1 - 0.01 * (k % 2)};  // along the shaft
    see();
  }
  EXPECT_EQ(lesson_.part(), Lesson::Part::Move);
  EXPECT_NEAR(lesson_.progress(), 0.0, 1e-9);
  view_.tip = {0.0, 0.0, -0.1};
  see();
  // An arc of 0.1 m about the pivot in 50 chords is what it asks.
  for (int k = 1; k <= 49; ++k) {
    view_.tip = 0.1 * glm::dvec3(std::sin(0.02 * k), 0.0, -std::cos(0.02 * k));
    see();
  }
  EXPECT_NEAR(lesson_.progress(), 0.98, 1e-4);
  view_.tip = 0.1 * glm::dvec3(std::sin(1.01), 0.0, -std::cos(1.01));
  see();
  EXPECT_EQ(lesson_.part(), Lesson::Part::Insert);
}

TEST_F(LessonTest, TakingAnotherInstrumentMovesNothing) {
  for (int k = 0; k < 50; ++k) {
    view_.in_hand = k % 2, view_.tip = {0.01 * (k % 2), 0.0, -0.1};
    see();
  }
  EXPECT_EQ(lesson_.part(), Lesson::Part::Move);
  EXPECT_EQ(lesson_.progress(), 0.0);
}

TEST_F(LessonTest, InsertionCountsBothWays) {
  begin(Lesson::Part::Insert);
  for (const double depth : {0.115, 0.13, 0.115, 0.1}) {
    EXPECT_EQ(lesson_.part(), Lesson::Part::Insert);
    view_.tip.z = -depth;
    see();
  }
  EXPECT_EQ(lesson_.part(), Lesson::Part::Touch);
}

TEST_F(LessonTest, ATouchAndAGripMustLast) {
  begin(Lesson::Part::Touch);
  view_.touches = true;
  see(9);
  view_.touches = false;
  see();
  view_.touches = true;
  see(9);
  EXPECT_EQ(lesson_.part(), Lesson::Part::Touch);
  EXPECT_NEAR(lesson_.progress(), 0.9, 1e-9) << "what was done stays shown";
  see(2);
  EXPECT_EQ(lesson_.part(), Lesson::Part::Roll);
  begin(Lesson::Part::Grip);
  view_.holds = true;
  see(11);
  EXPECT_EQ(lesson_.part(), Lesson::Part::Release);
  see(5);
  EXPECT_EQ(lesson_.part(), Lesson::Part::Release);
  view_.holds = false;
  see();
  EXPECT_EQ(lesson_.part(), Lesson::Part::Burn);
}

TEST_F(LessonTest, RollGoesTheShortWayRound) {
  begin(Lesson::Part::Roll);
  for (const double roll : {-50.0, -100.0, -150.0}) {
    view_.roll_deg = roll;
    see();
  }
  EXPECT_EQ(lesson_.part(), Lesson::Part::Grip);
  Lesson other;
  while (other.part() != Lesson::Part::Roll) other.skip();
  view_.roll_deg = 179.0;
  other.see(view_);
  view_.roll_deg = -179.0;
  other.see(view_);
  EXPECT_NEAR(other.progress(), 2.0 / 120.0, 1e-9);
}

TEST_F(LessonTest, OnlyTheHookBurnsAndThePauseMustEnd) {
  begin(Lesson::Part::Burn);
  view_.burns = true;
  see(20);
  EXPECT_EQ(lesson_.part(), Lesson::Part::Burn);
  view_.in_hand = 1;
  see(11);
  EXPECT_EQ(lesson_.part(), Lesson::Part::Scope);
  see();
  view_.forward = {std::sin(0.2), 0.0, -std::cos(0.2)};  // 11.5 degrees of 25
  view_.eye = {0.02, 0.0, 0.0};                          // 2 of 5 cm
  see();
  EXPECT_NEAR(lesson_.progress(), glm::degrees(0.2) / 25.0 + 0.4, 1e-6);
  view_.eye = {0.04, 0.0, 0.0};
  see();
  EXPECT_EQ(lesson_.part(), Lesson::Part::Pause);
  view_.paused = true;
  see(5);
  EXPECT_EQ(lesson_.part(), Lesson::Part::Pause);
  view_.paused = false;
  see();
  EXPECT_TRUE(lesson_.done());
  see(3);
  lesson_.skip();
  EXPECT_TRUE(lesson_.done());
}

using namespace std::chrono_literals;

class DiskWatchTest : public ::testing::Test {
 protected:
  ~DiskWatchTest() override {
    if (mounted_) umount(disk_.c_str());
  }
  // Calls until the disk and the scene are known.
  static void know(DiskWatch& watch, const Scene& scene) {
    for (int k = 0; k < 20000 && !watch.seconds(); ++k, std::this_thread::sleep_for(1ms)) watch.watch(scene, 1e-3);
  }
  bool mount_disk(const std::string& size) {
    std::filesystem::create_directories(disk_);
    return mounted_ = mount("none", disk_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }

  TemporaryFolder folder_;
  std::filesystem::path disk_ = folder_.path() / "disk";
  Scene scene_ = load_scene(test::write_ball_task(folder_));
  bool mounted_ = false;
};

TEST_F(DiskWatchTest, TheRoomIsThatOfTheScene) {
  DiskWatch watch(folder_.path() / "out");
  EXPECT_EQ(watch.text(), "");
  EXPECT_FALSE(watch.blocks());
  know(watch, scene_);
  ASSERT_TRUE(watch.seconds().has_value());
  const double expected = static_cast<double>(*free_space(folder_.path())) / recording_rate(scene_);
  EXPECT_NEAR(*watch.seconds(), expected, 0.1 * expected);
  EXPECT_NE(watch.text().find("Disk: space for "), std::string::npos) << watch.text();
  EXPECT_EQ(watch.warning(), "");
}

TEST_F(DiskWatchTest, ASceneThatCannotBeReadHasNoRoomInMinutes) {
  DiskWatch watch(folder_.path());
  Scene broken = scene_;
  broken.organs.front().tissue.node_spacing = 1e3;
  for (int k = 0; k < 300; ++k, std::this_thread::sleep_for(1ms)) watch.watch(broken, 1.0);
  EXPECT_EQ(watch.text(), "");
  EXPECT_FALSE(watch.blocks());
}

TEST_F(DiskWatchTest, ARecordingThatRunsIsMeasured) {
  if (!mount_disk("8m")) GTEST_SKIP() << "cannot mount a small disk: this needs root";
  DiskWatch watch(disk_);
  const auto recording = disk_ / "a.h5";
  std::ofstream(recording) << std::string(4 << 20, 'x');
  for (int k = 0; k < 3000 && watch.warning().empty(); ++k, std::this_thread::sleep_for(1ms)) {
    watch.measure(recording, 130.0);  // 4 MiB: the remaining part is as long
    watch.watch(scene_, 1.0);
  }
  for (int k = 0; k < 200; ++k, std::this_thread::sleep_for(1ms)) {
    watch.measure(recording, 130.0);
    watch.watch(scene_, 1.0);
  }
  ASSERT_TRUE(watch.seconds().has_value());
  EXPECT_NEAR(*watch.seconds(), 130.0, 1.0);
  EXPECT_EQ(watch.warning(), "Disk: space for 2 minutes; then the recording ends, not the session");
}

TEST_F(DiskWatchTest, AnAttemptThatCannotBeRecordedDoesNotBegin) {
  if (!mount_disk("64k")) GTEST_SKIP() << "cannot mount a small disk: this needs root";
  WindowSettings settings;
  GhostShow ghost;
  PracticePlan plan;
  plan.backend = "scan", plan.check = false, plan.folder = disk_;
  PracticeScreen screen(std::make_unique<Practice>(scene_, plan, nullptr), settings, ghost, disk_, nullptr);
  WindowInput enter;
  for (int k = 0; k < 20000 && screen.status().disk.empty(); ++k, std::this_thread::sleep_for(1ms))
    screen.step(WindowInput{}, 1e-3, true);
  EXPECT_NE(screen.status().disk.find("no attempt can be recorded: remove files"), std::string::npos)
      << screen.status().disk;
  enter.pressed = {Key::Enter};
  screen.step(enter, 1e-3, true);
  EXPECT_EQ(screen.status().phase, "ready");
  EXPECT_TRUE(std::filesystem::is_empty(disk_));
}

// The disk becomes full in mid-attempt: what was recorded is kept and shown.
TEST_F(DiskWatchTest, AFullDiskShowsTheResultsSoFar) {
  if (!mount_disk("6m")) GTEST_SKIP() << "cannot mount a small disk: this needs root";
  PracticePlan plan;
  plan.backend = "scan", plan.check = false, plan.folder = disk_;
  Practice practice(scene_, plan, nullptr);
  practice.start();
  for (int k = 0; k < 20000 && practice.phase() == Phase::Running; ++k) {
    practice.advance(WindowInput{}, 1.0 / 60.0, {});
    std::this_thread::sleep_for(10ms);  // frames are on the disk three times a second
  }
  EXPECT_EQ(practice.phase(), Phase::Ended);
  EXPECT_NE(practice.recording_fault().find("No space left on device"), std::string::npos)
      << practice.recording_fault();
  const LabPlaces places{folder_.path() / "lab.sqlite", folder_.path() / "waiting", folder_.path() / "lab.toml"};
  const LabStation station(places);
  LabDesk desk(station, {});
  FilmMaker films;
  ResultsScreen results(practice.recording(), practice.recording_fault(), station, desk, films, nullptr);
  for (int k = 0; k < 1000 && results.status().phase == "measuring"; ++k, std::this_thread::sleep_for(5ms))
    results.step(WindowInput{}, 0.01, true);
  EXPECT_EQ(results.status().phase, "measured") << results.status().note;
  EXPECT_NE(results.status().disk.find("No space left on device"), std::string::npos) << results.status().disk;
}

constexpr int kRate = 44100;  // Hz
const SoundParams kParams;

// Returns the amplitude of a frequency, 1: full scale.
double amplitude(std::span<const std::int16_t> samples, double frequency, double rate = kRate) {
  const double turn = 2.0 * 3.141592653589793 * frequency / rate, twice = 2.0 * std::cos(turn);
  double before = 0.0, last = 0.0;
  for (const std::int16_t sample : samples) {
    const double now = sample / 32768.0 + twice * last - before;
    before = last, last = now;
  }
  const double power = last * last + before * before - twice * last * before;
  return 2.0 * std::sqrt(std::max(power, 0.0)) / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
}

double loudest(std::span<const std::int16_t> samples) {
  int most = 0;
  for (const std::int16_t sample : samples) most = std::max(most, std::abs(static_cast<int>(sample)));
  return most / 32768.0;
}

std::vector<std::int16_t> heard(Mixer& mixer, double seconds, double volume = 1.0) {
  std::vector<std::int16_t> samples(static_cast<std::size_t>(seconds * kRate));
  mixer.fill(samples, volume);
  return samples;
}

// A scope above a tip: port 160 mm above, looking down.
struct CameraTable {
  MouseDevice scope{HeldTool{{0, 0, 0.2}, {0, 0, 0.08}, glm::dvec3(0.0), {}}};
  double angle_deg = 0.0;
  double time = 0.0;

  ScopePose pose() const {
    const glm::dvec3 eye = scope.centre().pivot + scope.joints().depth * direction_of(scope.centre(), scope.joints());
    return {scope.centre().pivot, eye, scope.joints().spin_deg, angle_deg};
  }
  // m, right and up, from the middle of the picture, at the tip's distance
  glm::dvec2 off(const glm::dvec3& tip) const {
    const ScopeAxes axes = axes_of(pose());
    const glm::dvec3 to = tip - pose().eye;
    return {glm::dot(to, axes.right), glm::dot(to, axes.up)};
  }
  void run(
      CameraAssistant& assistant, const std::function<glm::dvec3(double)>& tip, double seconds,
      const std::function<void()>& look = [] {}) {
    for (const double end = time + seconds; time < end - 1e-9; time += 0.02) {
      scope.take(assistant.advance({scope.centre(), scope.joints(), angle_deg, tip(time)}, 0.02));
      look();
    }
  }
};

AssistantParams steady() {
  AssistantParams params;
  params.tremor = params.drift = params.horizon_deg = 0.0;
  return params;
}

TEST(CameraAssistant, WithoutATipTheScopeStays) {
  CameraTable table;
  CameraAssistant assistant(steady());
  const Joints before = table.scope.joints();
  const Joints after = assistant.advance(
      {table.scope.centre(), before, 0.0, glm::dvec3(std::numeric_limits<double>::quiet_NaN()), false}, 0.1);
  EXPECT_EQ(after.pan_deg, before.pan_deg);
  EXPECT_EQ(after.depth, before.depth);
}

TEST(CameraAssistant, BringsTheTipToTheMiddleAndKeepsItsDistance) {
  for (const double angle : {0.0, 30.0}) {
    CameraTable table;
    table.angle_deg = angle;
    CameraAssistant assistant(steady());
    const glm::dvec3 tip = table.pose().eye + 0.09 * axes_of(table.pose()).forward + glm::dvec3(0.04, 0.02, 0.01);
    table.run(
        assistant, [&](double) { return tip; }, 6.0);
    EXPECT_LT(glm::length(table.off(tip)), 0.2 * steady().dead_zone) << angle;
    EXPECT_NEAR(glm::length(tip - table.pose().eye), steady().distance, 0.005) << angle;
    const Joints settled = table.scope.joints();
    table.run(
        assistant, [&](double) { return tip; }, 1.0);
    EXPECT_NEAR(table.scope.joints().pan_deg, settled.pan_deg, 0.01) << "it is still";
  }
}

TEST(CameraAssistant, AMotionWithinTheDeadZoneMovesNothing) {
  CameraTable table;
  CameraAssistant assistant(steady());
  const glm::dvec3 tip = table.pose().eye + steady().distance * axes_of(table.pose()).forward;
  const Joints before = table.scope.joints();
  table.run(
      assistant, [&](double time) { return tip + 0.9 * steady().dead_zone * glm::dvec3(std::sin(3.0 * time), 0, 0); },
      5.0);
  EXPECT_NEAR(table.scope.joints().pan_deg, before.pan_deg, 1e-6);
  EXPECT_NEAR(table.scope.joints().depth, before.depth, 1e-9);
}

TEST(CameraAssistant, AnswersAfterItsDelay) {
  for (const double delay : {0.0, 0.3, 0.9}) {
    AssistantParams params = steady();
    params.delay = delay;
    CameraTable table;
    CameraAssistant assistant(params);
    const glm::dvec3 tip = table.pose().eye + params.distance * axes_of(table.pose()).forward;
    table.run(
        assistant, [&](double) { return tip; }, 2.0);
    const double begins = table.time, before = table.scope.joints().pan_deg;
    double answered = -1.0;
    table.run(
        assistant, [&](double) { return tip + glm::dvec3(0.03, 0, 0); }, 2.0,
        [&] {
          if (answered < 0.0 && std::abs(table.scope.joints().pan_deg - before) > 1e-6) answered = table.time - begins;
        });
    EXPECT_NEAR(answered, delay, 0.045);
  }
}

// The device's limits hold whatever the assistant wants.
TEST(CameraAssistant, StaysWithinTheJointLimits) {
  HeldTool tool{{0, 0, 0.2}, {0, 0, 0.08}, glm::dvec3(0.0), {}};
  tool.limits.pan_deg = 10.0, tool.limits.lowest_tilt_deg = -10.0, tool.limits.highest_tilt_deg = 10.0;
  tool.limits.shallowest = 0.1, tool.limits.deepest = 0.13;
  for (const CameraBy by : {CameraBy::Skilled, CameraBy::Learning, CameraBy::Clumsy}) {
    CameraTable table;
    table.scope = MouseDevice(tool);
    CameraAssistant assistant(assistant_params(by));
    const auto far = [](double time) {
      return glm::dvec3(0.3 * std::sin(time), 0.3 * std::cos(0.7 * time), -0.2 * std::sin(0.3 * time));
    };
    table.run(assistant, far, 30.0, [&] {
      const Joints& joints = table.scope.joints();
      EXPECT_LE(std::abs(joints.pan_deg), 10.0);
      EXPECT_LE(std::abs(joints.tilt_deg), 10.0);
      EXPECT_GE(joints.depth, 0.1);
      EXPECT_LE(joints.depth, 0.13);
    });
  }
}

// A worse assistant leaves the tip farther from the middle, and tilts the horizon more.
TEST(CameraAssistant, SkillIsSeen) {
  std::vector<double> away, tilt;
  for (const CameraBy by : {CameraBy::Skilled, CameraBy::Learning, CameraBy::Clumsy}) {
    CameraTable table;
    CameraAssistant assistant(assistant_params(by));
    const glm::dvec3 middle = table.pose().eye + 0.075 * axes_of(table.pose()).forward;
    const auto tip = [&](double time) {
      return middle +
             glm::dvec3(0.04 * std::sin(0.5 * time), 0.03 * std::sin(0.37 * time), 0.01 * std::sin(0.21 * time));
    };
    double sum = 0.0, most = 0.0;
    int count = 0;
    table.run(assistant, tip, 60.0, [&] {
      sum += glm::length(table.off(tip(table.time))), ++count;
      most = std::max(most, std::abs(assistant.horizon_deg()));
    });
    away.push_back(sum / count), tilt.push_back(most);
    EXPECT_LE(most, assistant_params(by).horizon_deg);
    std::printf("%s: tip %.1f mm from the middle, horizon up to %.1f degrees\n", name_of(by), 1e3 * away.back(), most);
  }
  EXPECT_LT(away[0], away[1]);
  EXPECT_LT(away[1], away[2]);
  EXPECT_LT(tilt[0], tilt[1]);
  EXPECT_LT(tilt[1], tilt[2]);
}

TEST(CameraAssistant, TheTremorHasItsSize) {
  const AssistantParams params = assistant_params(CameraBy::Clumsy);
  double sum = 0.0;
  for (int k = 0; k < 20000; ++k) sum += glm::dot(tremor_at(params, 0.01 * k), tremor_at(params, 0.01 * k));
  EXPECT_NEAR(std::sqrt(sum / 40000.0), params.tremor, 0.05 * params.tremor);
}

TEST(LensFog, RisesOverTensOfSeconds) {
  const FogParams params;
  EXPECT_EQ(fog_after(params, 0.0), 0.0);
  EXPECT_EQ(fog_after(params, -1.0), 0.0);
  EXPECT_EQ(fog_after(params, params.dry), 0.0);
  EXPECT_LT(fog_after(params, 10.0), 0.25);
  EXPECT_GT(fog_after(params, 60.0), 0.5);
  EXPECT_NEAR(fog_after(params, 1e6), params.densest, 1e-9);
  for (double time = 0.0; time < 100.0; time += 1.0) EXPECT_LE(fog_after(params, time), fog_after(params, time + 1.0));
}

TEST(LensCare, WipingWithdrawsTheScopeAndClearsTheLens) {
  CameraTable table;
  LensCare care;
  double time = 0.0, deepest = 0.0, shallowest = 1.0, dark = 0.0;
  const auto run = [&](double seconds, bool fogs) {
    for (const double end = time + seconds; time < end - 1e-9; time += 0.02) {
      care.advance(0.02, fogs, &table.scope);
      const DevicePose pose = table.scope.pose({0, time});
      shallowest = std::min(shallowest, glm::length(pose.tip - pose.pivot));
      deepest = glm::length(pose.tip - pose.pivot);
      dark = std::max(dark, care.dark());
    }
  };
  run(60.0, false);
  EXPECT_EQ(care.fog(), 0.0) << "this lens does not fog";
  run(60.0, true);
  EXPECT_GT(care.fog(), 0.5);
  const double depth = deepest;
  care.wipe();
  care.wipe();
  run(2.0, true);
  EXPECT_NEAR(shallowest, table.scope.limits().shallowest, 1e-9);
  EXPECT_GT(dark, 0.99);
  EXPECT_FALSE(care.is_wiping());
  EXPECT_EQ(care.fog(), 0.0);
  EXPECT_NEAR(deepest, depth, 1e-6) << "the scope is where it was";
  EXPECT_EQ(care.dark(), 0.0);
}

TEST(LensCare, AScopeThatDoesNotMoveIsDarkForAMoment) {
  LensCare care;
  care.wipe();
  double time = 0.0, dark = 0.0;
  for (; care.is_wiping() && time < 10.0; time += 0.02) {
    care.advance(0.02, true, nullptr);
    dark = std::max(dark, care.dark());
  }
  EXPECT_NEAR(time, 1.0 + FogParams().wiping, 0.1);
  EXPECT_GT(dark, 0.99);
}

TEST(Captions, EachCueHasItsLine) {
  Captions captions;
  captions.hear({}, 1.0);
  EXPECT_TRUE(captions.lines().empty());
  SoundCues cues{.cut = true, .coagulate = true, .pulse = true, .errors = 1, .reached = 1};
  captions.hear(cues, 0.02);
  EXPECT_EQ(captions.lines().size(), 5u);
  cues = {.errors = 1, .reached = 1};
  captions.hear(cues, 0.02);
  ASSERT_EQ(captions.lines().size(), 2u) << "the lines of tones stay";
  EXPECT_NE(captions.lines()[1].find("error"), std::string::npos);
  captions.hear(cues, Captions::kShown);
  EXPECT_TRUE(captions.lines().empty());
  captions.hear({}, 0.02);
  EXPECT_TRUE(captions.lines().empty()) << "a fall begins a new session";
  captions.hear({.errors = 1}, 0.02);
  EXPECT_EQ(captions.lines().size(), 1u);
}

TEST(Mixer, IsSilentWithoutCuesAndWithoutVolume) {
  Mixer mixer(kRate);
  EXPECT_TRUE(mixer.silent());
  EXPECT_EQ(loudest(heard(mixer, 0.5)), 0.0);
  mixer.hear({.cut = true});
  EXPECT_FALSE(mixer.silent());
  EXPECT_EQ(loudest(heard(mixer, 0.5, 0.0)), 0.0);
  mixer.fill({}, 1.0);
}

TEST(Mixer, EachPedalHasItsHum) {
  for (const bool cuts : {true, false}) {
    Mixer mixer(kRate);
    mixer.hear({.cut = cuts, .coagulate = !cuts});
    heard(mixer, 0.1);
    const auto samples = heard(mixer, 1.0);
    const double on = amplitude(samples, cuts ? kParams.cut : kParams.coagulate),
                 off = amplitude(samples, cuts ? kParams.coagulate : kParams.cut);
    std::printf("%s: %.3f, the other %.5f, peak %.3f\n", cuts ? "cut" : "coagulate", on, off, loudest(samples));
    EXPECT_GT(on, 0.4 * kParams.hum);
    EXPECT_LT(off, 0.01 * on);
    mixer.hear({});
    heard(mixer, 0.1);
    EXPECT_TRUE(mixer.silent());
    EXPECT_EQ(loudest(heard(mixer, 0.2)), 0.0);
  }
}

// No sample differs from the next by more than the steepest sine of this amplitude: hums begin and end without a click.
TEST(Mixer, BeginsAndEndsWithoutAClick) {
  Mixer mixer(kRate);
  std::vector<std::int16_t> all;
  for (const bool on : {false, true, false}) {
    mixer.hear({.cut = on});
    const auto part = heard(mixer, 0.05 + 0.0003);
    all.insert(all.end(), part.begin(), part.end());
  }
  const double steepest = 2.0 * 3.15 * 3.0 * kParams.cut / kRate * kParams.hum;
  for (std::size_t k = 0; k + 1 < all.size(); ++k)
    ASSERT_LT(std::abs(all[k + 1] - all[k]) / 32768.0, steepest + 1e-3) << k;
}

TEST(Mixer, ARiseOfACountPlaysItsToneOnce) {
  Mixer mixer(kRate);
  mixer.hear({.errors = 1});
  auto samples = heard(mixer, 0.15);
  EXPECT_GT(amplitude(samples, 392.0), 0.02);
  heard(mixer, 0.3);
  EXPECT_TRUE(mixer.silent());
  mixer.hear({.errors = 1, .reached = 2});
  samples = heard(mixer, 0.11);
  EXPECT_GT(amplitude(samples, 660.0), 0.02);
  EXPECT_LT(amplitude(samples, 392.0), 0.01);
  heard(mixer, 0.3);
  mixer.hear({});  // the next session
  EXPECT_TRUE(mixer.silent());
}

TEST(Mixer, ThePulseBeatsAtItsRate) {
  Mixer mixer(kRate);
  mixer.hear({.pulse = true});
  const auto samples = heard(mixer, 6.0);
  int beats = 0;
  bool quiet = true;
  std::size_t last = 0;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    if (std::abs(samples[k]) < 400) {
      quiet = quiet || k > last + kRate / 10;
      continue;
    }
    if (quiet) ++beats;
    quiet = false, last = k;
  }
  EXPECT_NEAR(beats, 6.0 * kParams.heart_rate / 60.0, 1.0);
  EXPECT_LE(loudest(samples), kParams.pulse + 1e-3);
}

// The samples of a wave file with 16 bits, of its first channel, and their rate.
struct Wave {
  std::vector<std::int16_t> samples;
  double rate = kRate;
};
Wave read_wave(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  const auto number = [&](std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    if (at + count <= bytes.size()) std::memcpy(&value, bytes.data() + at, count);
    return value;
  };
  Wave wave;
  if (bytes.size() < 44) return wave;
  const std::size_t channels = number(22, 2), bits = number(34, 2), data = bytes.find("data");
  wave.rate = number(24, 4);
  EXPECT_EQ(bits, 16u);
  for (std::size_t at = data + 8; data != std::string::npos && at + 2 * channels <= bytes.size(); at += 2 * channels)
    wave.samples.push_back(static_cast<std::int16_t>(number(at, 2)));
  return wave;
}

// The functions below run in processes of their own, because OpenAL reads its settings once.
[[noreturn]] void play_into_a_file(const TemporaryFolder& folder, const SoundCues& cues, double volume) {
  const auto settings = folder.write(
      "openal.conf", "[general]\ndrivers=wave\nfrequency=44100\nsample-type=int16\nchannels=mono\n[wave]\nfile=" +
                         (folder.path() / "sound.wav").string() + "\n");
  setenv("ALSOFT_CONF", settings.c_str(), 1);
  setenv("ALSOFT_DRIVERS", "wave", 1);
  {
    Sound sound(true);
    if (!sound.on()) std::exit(3);
    sound.hear(cues, volume);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    sound.hear({}, volume);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::exit(0);
}

// `driver`: null: none is named.
[[noreturn]] void play_without_a_device(const char* driver) {
  for (const char* name : {"ALSOFT_CONF", "ALSOFT_DRIVERS", "PULSE_SERVER", "XDG_RUNTIME_DIR"}) unsetenv(name);
  if (driver) setenv("ALSOFT_DRIVERS", driver, 1);
  Sound sound(true);
  sound.hear({.cut = true}, 1.0);
  std::exit(driver && sound.on() ? 1 : 0);
}

[[noreturn]] void open_and_close() {
  setenv("ALSOFT_DRIVERS", "null", 1);
  for (int k = 0; k < 3; ++k) {
    Sound sound(true);
    if (!sound.on()) std::exit(1);
    sound.hear({.cut = true, .pulse = true, .errors = 1}, 1.0);
  }
  std::exit(0);
}

TEST(Sound, OpenAlPlaysTheHumOfTheCutAndNothingElse) {
  const TemporaryFolder folder;
  const auto sound_of = [&](const SoundCues& cues, double volume) {
    std::filesystem::remove(folder.path() / "sound.wav");
    EXPECT_EXIT(play_into_a_file(folder, cues, volume), testing::ExitedWithCode(0), "");
    return read_wave(folder.path() / "sound.wav");
  };
  const Wave cut = sound_of({.cut = true}, 1.0);
  const double most = loudest(cut.samples);
  std::printf("%zu samples at %.0f Hz, peak %.3f, cut %.4f, coagulate %.4f\n", cut.samples.size(), cut.rate, most,
              amplitude(cut.samples, kParams.cut, cut.rate), amplitude(cut.samples, kParams.coagulate, cut.rate));
  EXPECT_GT(cut.samples.size(), 10000u);
  EXPECT_GT(amplitude(cut.samples, kParams.cut, cut.rate), 0.02);
  EXPECT_LT(amplitude(cut.samples, kParams.coagulate, cut.rate), 0.005);
  const Wave coagulate = sound_of({.coagulate = true}, 1.0);
  EXPECT_GT(amplitude(coagulate.samples, kParams.coagulate, coagulate.rate), 0.015);
  const Wave silence = sound_of({}, 1.0);
  EXPECT_GT(silence.samples.size(), 10000u);
  EXPECT_LE(loudest(silence.samples), 2.0 / 32768.0);  // OpenAL Soft adds a dither of a bit
  EXPECT_LE(loudest(sound_of({.cut = true}, 0.0).samples), 2.0 / 32768.0);
}

// Where nothing suggests a sound device, and where the named driver has none.
TEST(Sound, WithoutADeviceNothingIsPlayedAndNothingIsSaid) {
  EXPECT_EXIT(play_without_a_device(nullptr), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(play_without_a_device("none"), testing::ExitedWithCode(0), "^$");
  Sound muted(false);
  EXPECT_FALSE(muted.on());
  muted.hear({.cut = true}, 1.0);
}

// OpenAL Soft's null driver is a device without a loudspeaker: it can be opened and closed at any time.
TEST(Sound, ADeviceCanBeOpenedAndClosed) { EXPECT_EXIT(open_and_close(), testing::ExitedWithCode(0), "^$"); }

// Tests the ghost: its motion against formulas, its file against damage, the expert's run against a demonstration, and
// that a session with a ghost has the bits of one without.

constexpr const char* kSecondTarget = "[[task.place]]\norgan = \"ball\"\nat_mm = [40, 30, 0]\n";

glm::vec3 on_the_way(double time) { return {0.1f * static_cast<float>(time), 0.02f, -0.03f}; }

// One instrument on a straight line at 0.1 m/s for a second; two targets, reached after half of it and at the end.
Ghost straight() {
  Ghost ghost;
  ghost.step = 0.1, ghost.tools = 1;
  for (int k = 0; k <= 10; ++k) {
    const GhostPose pose{on_the_way(0.1 * k), static_cast<float>(10 * k), 1.f};
    add_sample(std::span(&pose, 1), k < 5 ? 0.0 : k < 10 ? 0.5 : 1.0, ghost);
  }
  return ghost;
}

TEST(Ghost, WithoutSamplesThereIsNothing) {
  std::vector<GhostPose> poses(3);
  pose_in_time({}, 1.0, poses);
  EXPECT_TRUE(poses.empty());
  pose_by_progress({}, 0.5, {}, poses);
  EXPECT_TRUE(poses.empty());
}

TEST(Ghost, InTimeItIsWhereTheExpertWas) {
  const Ghost ghost = straight();
  std::vector<GhostPose> poses;
  for (const double time : {0.0, 0.05, 0.31, 0.999, 1.0}) {
    pose_in_time(ghost, time, poses);
    ASSERT_EQ(poses.size(), 1u);
    EXPECT_LT(glm::distance(poses[0].tip, on_the_way(time)), 1e-6f) << time;
    EXPECT_NEAR(poses[0].roll_deg, 100.0 * time, 1e-3);
  }
  pose_in_time(ghost, -1.0, poses);
  EXPECT_EQ(poses[0].tip, on_the_way(0.0));
  pose_in_time(ghost, 100.0, poses);
  EXPECT_EQ(poses[0].tip, ghost.poses.back().tip);
}

TEST(Ghost, RollTurnsTheShorterWay) {
  Ghost ghost;
  ghost.step = 1.0, ghost.tools = 1;
  for (const float roll : {170.f, -170.f}) {
    const GhostPose pose{glm::vec3(0.f), roll, 1.f};
    add_sample(std::span(&pose, 1), 0.0, ghost);
  }
  std::vector<GhostPose> poses;
  pose_in_time(ghost, 0.5, poses);
  EXPECT_NEAR(std::abs(poses[0].roll_deg), 180.f, 1e-3f);
}

TEST(Ghost, ByProgressItIsAheadOfTheNearestPoseOfTheSameProgress) {
  const Ghost ghost = straight();
  std::vector<GhostPose> poses;
  const ProgressParams params{0.05, 0.2};
  const auto at = [&](double progress, const glm::vec3& tip) {
    pose_by_progress(ghost, progress, std::span(&tip, 1), poses, params);
    return poses[0].tip.x;
  };
  EXPECT_NEAR(at(0.0, on_the_way(0.2)), 0.1 * (0.2 + params.ahead), 1e-6);
  EXPECT_NEAR(at(0.5, on_the_way(0.7)), 0.1 * (0.7 + params.ahead), 1e-6);
  // Before the first target, the nearest pose is one of the first half.
  EXPECT_NEAR(at(0.0, on_the_way(0.9)), 0.1 * (0.4 + params.ahead), 1e-6);
  // The same position later in the task.
  EXPECT_NEAR(at(0.5, on_the_way(0.2)), 0.1 * (0.5 + params.ahead), 1e-6);
  // Progress between two samples, and beyond the last.
  EXPECT_NEAR(at(0.25, on_the_way(0.2)), 0.1 * (0.4 + params.ahead), 1e-6);
  EXPECT_NEAR(at(2.0, on_the_way(0.2)), 0.1, 1e-6);
}

TEST(Ghost, ProgressNeverFalls) {
  Ghost ghost;
  const GhostPose pose;
  ghost.tools = 1;
  for (const double progress : {0.1, 0.3, 0.2, 0.4}) add_sample(std::span(&pose, 1), progress, ghost);
  EXPECT_EQ(ghost.progress, (std::vector<float>{0.1f, 0.3f, 0.3f, 0.4f}));
}

TEST(GhostFile, ADamagedOrForeignFileCountsAsAbsent) {
  const TemporaryFolder folder;
  const Ghost ghost = straight();
  EXPECT_FALSE(load_ghost(folder.path(), 7));
  EXPECT_FALSE(load_ghost({}, 7));
  EXPECT_FALSE(save_ghost({}, 7, ghost));
  EXPECT_FALSE(save_ghost(folder.path(), 7, {}));
  ASSERT_TRUE(save_ghost(folder.path(), 7, ghost));
  const auto file = ghost_file(folder.path(), 7);
  const std::string good = read_file(file);
  const auto read = load_ghost(folder.path(), 7);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->progress, ghost.progress);
  ASSERT_EQ(read->poses.size(), ghost.poses.size());
  for (std::size_t k = 0; k < ghost.poses.size(); ++k) EXPECT_EQ(read->poses[k].tip, ghost.poses[k].tip);
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ 4);
    std::ofstream(file, std::ios::binary) << bad;
    EXPECT_FALSE(load_ghost(folder.path(), 7)) << "byte " << byte;
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, good.size() / 2, good.size() - 1}) {
    std::ofstream(file, std::ios::binary) << good.substr(0, bytes);
    EXPECT_FALSE(load_ghost(folder.path(), 7)) << bytes << " bytes";
  }
  std::ofstream(file, std::ios::binary) << good << good;
  EXPECT_FALSE(load_ghost(folder.path(), 7));
  // A ghost of another scene or version under this name.
  std::ofstream(ghost_file(folder.path(), 8), std::ios::binary) << good;
  EXPECT_FALSE(load_ghost(folder.path(), 8));
}

TEST(GhostFile, TheKeyIsThatOfTheScenesText) {
  const TemporaryFolder folder;
  const Scene one = load_scene(test::write_ball_task(folder)),
              two = load_scene(test::write_ball_task(folder, kSecondTarget));
  EXPECT_EQ(ghost_key(one), ghost_key(one));
  EXPECT_NE(ghost_key(one), ghost_key(two));
}

// Reads a ghost at the times of its samples.
void expect_motion(const Ghost& ghost, const Recording& recording) {
  ASSERT_GT(ghost.samples(), 10u);
  const auto every = static_cast<std::size_t>(std::lround(ghost.step * 60.0));
  EXPECT_EQ(ghost.samples(), (recording.frame_count() + every - 1) / every);
  for (std::size_t k = 0; k < ghost.samples(); ++k)
    ASSERT_EQ(ghost.at(k)[0].tip, glm::vec3(recording.pose(k * every, 0).tip)) << "sample " << k;
}

class GhostOfTheBall : public ::testing::Test {
 protected:
  PracticePlan plan() const {
    PracticePlan plan;
    plan.backend = "scan", plan.check = false, plan.folder = folder_.path() / "out";
    return plan;
  }

  TemporaryFolder folder_;
  Scene scene_ = load_scene(test::write_ball_task(folder_, kSecondTarget));
  std::filesystem::path cache_ = folder_.path() / "cache/ghosts";
};

// The independent motion is that of a demonstration in the window.
TEST_F(GhostOfTheBall, IsTheDemonstration) {
  PracticePlan shown = plan();
  shown.performer = Skill::Expert;
  Practice demonstration(scene_, shown, nullptr);
  demonstration.start();
  for (int k = 0; k < 6000 && demonstration.phase() == Phase::Running; ++k) demonstration.advance({}, 1.0 / 60.0, {});
  ASSERT_EQ(demonstration.phase(), Phase::Ended);
  const std::uint64_t key = ghost_key(scene_);
  GhostMaker(scene_, cache_).wait();
  const auto made = load_ghost(cache_, key);
  ASSERT_TRUE(made);
  expect_motion(*made, Recording(demonstration.recording()));
  EXPECT_EQ(made->progress.front(), 0.f);
  EXPECT_GT(made->progress.back(), 0.4f);
  std::printf("%zu samples, %ju bytes\n", made->samples(),
              static_cast<std::uintmax_t>(std::filesystem::file_size(ghost_file(cache_, key))));
  // The next session reads the file; a damaged one is computed again.
  std::vector<GhostPose> poses;
  {
    GhostMaker again(scene_, cache_);
    again.wait();
    EXPECT_TRUE(again.complete());
    again.pose(GhostMode::InTime, 0.0, 0.0, {}, poses);
    ASSERT_EQ(poses.size(), 1u);
    EXPECT_EQ(poses[0].tip, made->at(0)[0].tip);
    again.pose(GhostMode::Off, 0.0, 0.0, {}, poses);
    EXPECT_TRUE(poses.empty());
  }
  std::ofstream(ghost_file(cache_, key), std::ios::binary) << "not a ghost";
  GhostMaker(scene_, cache_).wait();
  EXPECT_TRUE(load_ghost(cache_, key));
}

// A maker that is not waited for ends soon, and leaves no part of a file.
TEST_F(GhostOfTheBall, CanBeLeft) {
  { const GhostMaker maker(scene_, cache_); }
  if (const auto left = load_ghost(cache_, ghost_key(scene_))) {
    EXPECT_GT(left->samples(), 10u);
  }
}

// Runs an attempt of ten seconds with the same hand, with and without a ghost.
std::vector<std::byte> bits_of_an_attempt(const Scene& scene, const PracticePlan& plan, GhostMode mode,
                                          std::size_t& drawn, double& score) {
  Practice practice(scene, plan, nullptr);
  practice.start();
  GhostShow show;
  for (int k = 0; k < 600; ++k) {
    WindowInput input;
    const double time = k / 60.0;
    input.pointer_motion = {40.0 * std::cos(2.0 * time), 30.0 * std::cos(3.1 * time)};
    input.wheel = time < 1.0 ? 0.4 : 0.3 * std::cos(1.7 * time);
    practice.advance(input, 1.0 / 60.0, {});
    drawn += show.tools(practice, mode).size();
  }
  score = practice.task()->feed().score;
  return practice.session().save();
}

TEST_F(GhostOfTheBall, ASessionWithAGhostHasTheSameBits) {
  setenv("XDG_CACHE_HOME", (folder_.path() / "home").c_str(), 1);
  std::size_t none = 0, drawn = 0, by_progress = 0;
  double scores[3] = {};
  const auto plain = bits_of_an_attempt(scene_, plan(), GhostMode::Off, none, scores[0]);
  EXPECT_EQ(none, 0u);
  GhostMaker(scene_, ghost_folder()).wait();
  EXPECT_EQ(bits_of_an_attempt(scene_, plan(), GhostMode::InTime, drawn, scores[1]), plain);
  EXPECT_EQ(bits_of_an_attempt(scene_, plan(), GhostMode::ByProgress, by_progress, scores[2]), plain);
  EXPECT_GT(drawn, 400u);
  EXPECT_GT(by_progress, 400u);
  EXPECT_EQ(scores[0], scores[1]);
  EXPECT_EQ(scores[0], scores[2]);
}

// A session may begin before the motion is computed: until then there is no ghost, and the show says that it waits.
TEST_F(GhostOfTheBall, TheShowNeverWaits) {
  setenv("XDG_CACHE_HOME", (folder_.path() / "empty").c_str(), 1);
  Practice practice(scene_, plan(), nullptr);
  practice.start();
  GhostShow show;
  EXPECT_FALSE(show.waits());
  for (int k = 0; k < 120; ++k) practice.advance({}, 1.0 / 60.0, {});
  bool waited = false;
  while (show.tools(practice, GhostMode::InTime).empty()) {
    ASSERT_TRUE(show.waits());
    waited = true;
    std::this_thread::yield();
  }
  EXPECT_FALSE(show.waits());
  std::printf("%s\n", waited ? "the ghost was computed meanwhile" : "the ghost was there at once");
  EXPECT_TRUE(show.tools(practice, GhostMode::Off).empty());
}

TEST_F(GhostOfTheBall, WhereThereCanBeNoneASentenceSaysWhy) {
  Scene free = scene_;
  free.task.reset();
  EXPECT_FALSE(can_have_ghost(free));
  Practice practice(free, plan(), nullptr);
  GhostShow show;
  EXPECT_TRUE(show.tools(practice, GhostMode::InTime).empty());
  EXPECT_EQ(GhostShow::why_none(practice, GhostMode::Off), "");
  EXPECT_NE(GhostShow::why_none(practice, GhostMode::InTime), "");
  Scene camera = scene_;
  camera.task->kind = TaskKind::NavigateCamera;
  EXPECT_FALSE(can_have_ghost(camera));
  EXPECT_TRUE(can_have_ghost(scene_));
}

// A demonstration before the attempt is not recorded.
TEST_F(GhostOfTheBall, ADemonstrationBeforeTheAttemptLeavesNoRecording) {
  PracticePlan shown = plan();
  shown.performer = Skill::Expert, shown.shown = true;
  Practice demonstration(scene_, shown, nullptr);
  demonstration.start();
  for (int k = 0; k < 6000 && demonstration.phase() == Phase::Running; ++k) demonstration.advance({}, 1.0 / 60.0, {});
  EXPECT_EQ(demonstration.phase(), Phase::Ended);
  EXPECT_TRUE(demonstration.task()->feed().done);
  EXPECT_TRUE(demonstration.recording().empty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
  EXPECT_EQ(demonstration.activity(), Activity::Demonstration);
  // Two targets and the task's end were heard.
  const SoundCues cues = sound_of(demonstration, true);
  EXPECT_EQ(cues.reached, 3u);
  EXPECT_EQ(cues.errors, demonstration.task()->feed().errors);
  EXPECT_FALSE(cues.pulse || cues.cut || cues.coagulate) << "time stands still";
}

// Tests a replay: its position and speed, the marks of its timeline, and that every frame equals that of the session.

TEST(Playback, PlaysStopsAndStartsAgain) {
  const std::vector<double> times = {5.0, 5.1, 5.2, 5.4};
  Playback playback(times);
  EXPECT_DOUBLE_EQ(playback.duration(), 5.4 - 5.0);
  playback.advance(1.0);
  EXPECT_EQ(playback.frame(), 0u);
  playback.toggle();
  playback.advance(0.15);
  EXPECT_EQ(playback.frame(), 1u);
  playback.advance(0.06);
  EXPECT_EQ(playback.frame(), 2u);
  playback.advance(100.0);
  EXPECT_EQ(playback.frame(), 3u);
  EXPECT_FALSE(playback.playing());
  EXPECT_DOUBLE_EQ(playback.share(), 1.0);
  playback.toggle();
  EXPECT_TRUE(playback.playing());
  EXPECT_EQ(playback.frame(), 0u);
}

TEST(Playback, StepsSeeksAndChangesSpeedWithinBounds) {
  const std::vector<double> times = {0.0, 0.1, 0.2};
  Playback playback(times);
  playback.toggle();
  playback.step(-1);
  EXPECT_FALSE(playback.playing());
  EXPECT_EQ(playback.frame(), 0u);
  playback.step(1);
  EXPECT_EQ(playback.frame(), 1u);
  playback.step(100);
  EXPECT_EQ(playback.frame(), 2u);
  playback.seek(1000);
  EXPECT_EQ(playback.frame(), 2u);
  playback.faster(100);
  EXPECT_DOUBLE_EQ(playback.speed(), 8.0);
  playback.faster(-100);
  EXPECT_DOUBLE_EQ(playback.speed(), 0.1);
  EXPECT_EQ(playback.frame_at_share(-1.0), 0u);
  EXPECT_EQ(playback.frame_at_share(0.5), 1u);
  EXPECT_EQ(playback.frame_at_share(2.0), 2u);
}

TEST(Playback, ShowsATimeOfItsClock) {
  const std::vector<double> times = {5.0, 5.1, 5.2, 5.4};
  Playback playback(times);
  playback.toggle();
  playback.show(5.15);
  EXPECT_FALSE(playback.playing());
  EXPECT_EQ(playback.frame(), 1u);
  playback.show(-2.0);
  EXPECT_EQ(playback.frame(), 0u);
  playback.show(100.0);
  EXPECT_EQ(playback.frame(), 3u);
}

TEST(Playback, OneFrame) {
  const std::vector<double> times = {3.0};
  Playback playback(times);
  playback.toggle();
  playback.advance(1.0);
  EXPECT_EQ(playback.frame(), 0u);
  EXPECT_DOUBLE_EQ(playback.share(), 0.0);
  EXPECT_EQ(playback.frame_at_share(0.7), 0u);
}

TEST(ForceMarks, MarksStartsOfTouchesAndForcePeaks) {
  EXPECT_TRUE(force_marks({}).empty());
  const std::vector<float> force = {0.f, 0.5f, 1.2f, 2.f, 1.5f, 0.f, 0.f, 0.3f, 1.1f};
  const auto marks = force_marks(force);
  ASSERT_EQ(marks.size(), 4u);
  EXPECT_EQ(marks[0].frame, 1u);
  EXPECT_EQ(marks[0].kind, MarkKind::Touch);
  EXPECT_EQ(marks[1].frame, 3u);
  EXPECT_EQ(marks[1].kind, MarkKind::ForcePeak);
  EXPECT_EQ(marks[2].frame, 7u);
  EXPECT_EQ(marks[3].frame, 8u);
  EXPECT_EQ(marks[3].kind, MarkKind::ForcePeak);
  EXPECT_EQ(profile_of(force, 3), (std::vector<float>{1.2f, 2.f, 1.1f}));
}

// A recorded session with burning and tearing; the test keeps the contents of some frames.
class Recorded : public ::testing::Test {
 protected:
  struct Kept {
    std::vector<std::vector<glm::vec3>> positions;  // [organ][vertex]
    std::vector<std::vector<FaceId>> touched;       // [organ] by slot
    ScopePose scope;
  };
  static constexpr std::size_t kFrames = 90;

  void SetUp() override {
    const Scene scene = load_scene(data_file("scenes/tour.toml"));
    Backends backends;
    Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
      return make_script_device({instrument.pivot, instrument.tip, instrument.script});
    });
    file_ = folder_.path() / "s.h5";
    SessionRecorder recorder(recording_file(file_), scene, session, "none");
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      // These are the surfaces at the time of the touch query, before the step moves the tissue.
      Kept kept;
      for (const Organ& organ : session.organs()) kept.positions.push_back(organ.positions);
      session.step({frame, static_cast<double>(frame) / 60.0}, 1.0 / 60.0);
      recorder.append(session, static_cast<double>(frame) / 60.0);
      for (const Organ& organ : session.organs()) {
        kept.touched.emplace_back();
        for (const Touch& touch : organ.touches.touches) kept.touched.back().push_back(touch.face);
      }
      kept.scope = session.scope().pose;
      kept_.push_back(std::move(kept));
    }
    recorder.close();
  }

  void expect_shown(ReplayScene& replay, std::size_t frame) {
    SCOPED_TRACE(frame);
    replay.load(frame);
    for (std::size_t k = 0; k < kept_[frame].positions.size(); ++k) {
      const DrawnOrgan& organ = replay.organs()[k];
      ASSERT_EQ(organ.positions.size(), kept_[frame].positions[k].size());
      for (std::size_t v = 0; v < organ.positions.size(); ++v)
        ASSERT_LT(glm::distance(organ.positions[v], kept_[frame].positions[k][v]), 1e-6f);
      std::vector<FaceId> touched;
      for (const Touch& touch : organ.touches.touches) {
        touched.push_back(touch.face);
        ASSERT_LT(index(touch.face), organ.rest.faces.size());
      }
      EXPECT_EQ(touched, kept_[frame].touched[k]);
    }
    EXPECT_EQ(replay.scope().eye, kept_[frame].scope.eye);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_;
  std::vector<Kept> kept_;
};

TEST_F(Recorded, FramesEqualTheSessionsInAnyOrder) {
  ReplayScene replay(file_);
  std::size_t touched = 0;
  for (std::size_t frame = 0; frame < kFrames; frame += 7) expect_shown(replay, frame);
  for (const std::size_t frame : {kFrames - 1, std::size_t{3}, std::size_t{60}, std::size_t{0}}) {
    expect_shown(replay, frame);
    for (std::size_t tool = 0; tool < replay.tools().size(); ++tool) touched += replay.touched(0, tool);
  }
  EXPECT_GT(touched, 0u);
  EXPECT_EQ(replay.scene().instruments.size(), replay.tools().size());
  const auto force = force_of(replay.recording(), 0);
  EXPECT_EQ(force.size(), kFrames);
  EXPECT_GT(*std::ranges::max_element(force), 0.f);
}

TEST_F(Recorded, WithoutATaskTheScanIsEmpty) {
  const Recording recording(file_);
  TaskScan scan(recording, parse_scene(recording.text("scene"), file_));
  EXPECT_TRUE(scan.work(0.0));
  EXPECT_TRUE(scan.events().empty());
}

TEST_F(Recorded, TheScanGivesTheEventsOfScoreTask) {
  const Recording recording(file_);
  Scene scene = parse_scene(recording.text("scene"), file_);
  scene.task.emplace();
  scene.task->locations = {{"liver", {-0.076f, 0.09f, 0.176f}}};
  scene.task->most_force = 0.05;
  TaskScan scan(recording, scene);
  int rounds = 0;
  while (!scan.work(1.0)) ++rounds;
  EXPECT_GT(rounds, 0);
  EXPECT_FALSE(scan.events().empty());
  scene.task->locations[0].organ = "spleen";
  EXPECT_TRUE(TaskScan(recording, scene).work(0.0));
}

bool same(const DrawnStrand& a, const DrawnStrand& b) {
  return a.from == b.from && a.to == b.to && a.radius == b.radius;
}

TEST(MarkTrack, EmptyTracksAndEmptyFramesHaveNoMarks) {
  MarkTrack track;
  DrawnMarks marks;
  marks.targets.emplace_back();
  track.get(0, marks);
  EXPECT_TRUE(same_marks(marks, {}));
  track.add({});
  track.get(7, marks);
  EXPECT_TRUE(same_marks(marks, {}));
  EXPECT_EQ(track.frames(), 1u);
}

TEST(MarkTrack, GivesEveryFrameInAnyOrder) {
  std::vector<glm::vec3> points = {{0, 0, 0}, {1, 0, 0}};
  const std::vector<glm::dvec2> outline = {{0, 0}, {1, 0}, {0, 1}};
  const auto marks_of = [&](std::size_t frame) {
    DrawnMarks marks;
    for (std::size_t k = 0; k < 3 - frame / 4; ++k) marks.targets.push_back({points[0], 0.1f, MarkState::Next, int(k)});
    if (frame % 3 > 0) marks.paths.push_back({points, 0.1f, frame / 2, MarkState::Waiting});
    marks.zones.push_back({outline, frame % 2 == 0});
    return marks;
  };
  MarkTrack track;
  std::vector<std::vector<glm::vec3>> kept;
  for (std::size_t frame = 0; frame < 9; ++frame) {
    if (frame % 4 == 1) points.push_back({0, static_cast<float>(frame), 0});
    kept.push_back(points);
    track.add(marks_of(frame));
  }
  for (const std::size_t frame : {8, 0, 3, 4, 1, 7, 2, 5, 6}) {
    points = kept[frame];
    DrawnMarks marks;
    track.get(frame, marks);
    EXPECT_TRUE(same_marks(marks, marks_of(frame))) << frame;
  }
}

// The marks that the window showed during a demonstration, and those of its recording.
TEST(TaskScan, TheMarksAreThoseOfTheLiveSession) {
  const TemporaryFolder folder;
  const Scene scene =
      load_scene(test::write_ball_task(folder,
                                       "[[task.place]]\norgan = \"ball\"\nat_mm = [40, 30, 0]\n[[task.zone]]\n"
                                       "outline = [[-0.4, -0.4], [0.4, -0.4], [0.0, 0.4]]\n"));
  PracticePlan plan;
  plan.backend = "scan", plan.check = false, plan.performer = Skill::Clumsy, plan.folder = folder.path();
  Practice live(scene, plan, nullptr);
  live.start();
  MarkTrack shown;
  for (int k = 0; k < 6000 && live.phase() == Phase::Running; ++k) {
    live.advance({}, 1.0 / 60.0, {});
    if (live.session().frames() == shown.frames()) continue;
    ASSERT_EQ(live.session().frames(), shown.frames() + 1);
    DrawnMarks marks;
    live.task()->draw(marks);
    shown.add(marks);
  }
  ASSERT_EQ(live.phase(), Phase::Ended);
  const Recording recording(live.recording());
  TaskScan scan(recording, parse_scene(recording.text("scene"), scene.file));
  while (!scan.work(1e3)) continue;
  ASSERT_EQ(scan.marks().frames(), shown.frames());
  std::size_t changes = 0;
  DrawnMarks before, now, recorded;
  for (std::size_t frame = 0; frame < shown.frames(); ++frame) {
    shown.get(frame, now);
    scan.marks().get(frame, recorded);
    ASSERT_TRUE(same_marks(now, recorded)) << frame;
    if (!same_marks(now, before)) ++changes;
    before = now;
  }
  std::printf("%zu frames, in %zu of them the marks change\n", shown.frames(), changes);
  EXPECT_EQ(now.targets.size(), 2u);
  EXPECT_GT(changes, 10u);
}

// A recorded frame shows the organs at its touch query, as a window did before that frame. So do the strands.
TEST(ReplayScene, StrandsAreThoseOfTheLiveView) {
  Scene scene = load_scene(data_file("scenes/gallbladder_bed.toml"));
  scene.instruments[1].tip = {-0.055, 0.060, 0.158};  // the hook cuts in the bed
  Backends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.015, 0.085, 1.5});
  });
  const TemporaryFolder folder;
  SessionRecorder recorder(recording_file(folder.path() / "s.h5"), scene, session, "none");
  std::vector<DrawnBonds> live;
  std::size_t broken = 0;
  for (std::size_t frame = 0; frame < 120; ++frame) {
    live.emplace_back();
    drawn_bonds(session, live.back());
    session.step({frame, static_cast<double>(frame) / 60.0}, 1.0 / 60.0);
    recorder.append(session, static_cast<double>(frame) / 60.0);
    broken += session.bonds().bonds().broken.size();
  }
  recorder.close();
  ReplayScene replay(folder.path() / "s.h5");
  std::size_t most = 0;
  for (const std::size_t frame : {0, 119, 10, 20, 26, 33, 34, 60, 102, 103, 108, 114}) {
    replay.load(frame);
    EXPECT_TRUE(std::ranges::equal(replay.bonds().strands, live[frame].strands, same)) << frame;
    most = std::max(most, live[frame].strands.size());
  }
  std::printf("%zu to %zu strands are drawn, %zu fibres break\n", live[0].strands.size(), most, broken);
  EXPECT_GE(live[0].strands.size(), 10u) << "the round ligament";
  EXPECT_GT(most, live[0].strands.size()) << "the bed is stretched";
  EXPECT_GT(broken, 0u);
}

// Pictures of one session, recorded with and without its fibres.
TEST(ReplayScreen, DrawsTheStrands) {
  Backends backends;
  if (!backends.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends.why_no_context() << ")";
  const Scene scene = load_scene(data_file("scenes/gallbladder_bed.toml"));
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  });
  const TemporaryFolder folder;
  const OpenSink without_fibres = [&](RecordingHeader header) {
    header.fibres.clear();
    return recording_file(folder.path() / "without.h5")(header);
  };
  SessionRecorder with(recording_file(folder.path() / "with.h5"), scene, session, "none");
  SessionRecorder without(without_fibres, scene, session, "none");
  session.step({0, 0.0}, 1.0 / 60.0);
  with.append(session, 0.0), without.append(session, 0.0);
  with.close(), without.close();
  WindowSettings settings;
  settings.quality = Quality::Low;
  FilmMaker films;
  const auto picture = [&](const char* name) {
    ReplayScreen screen(folder.path() / name, settings, *backends.context(), films);
    PictureTarget target(320, 240);
    target.bind();
    screen.picture({320, 240});
    return target.pixels();
  };
  const auto strands = picture("with.h5"), plain = picture("without.h5");
  EXPECT_EQ(plain, picture("without.h5"));
  std::size_t changed = 0;
  for (std::size_t k = 0; k < plain.size(); ++k) changed += plain[k] != strands[k];
  std::printf("the round ligament changes %zu of %zu pixels\n", changed, plain.size());
  EXPECT_GT(changed, 50u);
}

TEST(ReplayScene, AFileThatIsNotARecordingGivesAnErrorMessage) {
  TemporaryFolder folder;
  EXPECT_THROW(ReplayScene(folder.write("x.h5", "not HDF5")), InputError);
}

}  // namespace
}  // namespace trocar
