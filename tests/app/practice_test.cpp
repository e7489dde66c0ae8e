// Tests a practice session that artificial clocks drive: attempts on slow and fast machines, demonstrations, pauses,
// panels over the picture, lost focus, disks that are full or become full, and the sound. Needs no window and no
// OpenGL. Spectra of the mixer's samples, and of what OpenAL Soft writes to a wave file, are computed by Goertzel's
// algorithm (Goertzel, "An algorithm for the evaluation of finite trigonometric series", Amer. Math. Monthly 65, 1958).
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/sound/sound.hpp"
#include "app/window/practice/disk_watch.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/practice/practice_screen.hpp"
#include "app/window/screens/results_screen.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/task/task_support.hpp"
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
  ResultsScreen results(practice.recording(), practice.recording_fault(), station, desk);
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

}  // namespace

}  // namespace trocar
