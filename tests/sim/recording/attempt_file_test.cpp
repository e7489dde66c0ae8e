// Tests attempts in a file: every field and bit comes back, and a damaged text is refused with one sentence; sessions
// that run again from their logged inputs have the same bits, score and events.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "geometry/error.hpp"
#include "mesh/base64.hpp"
#include "sim/inputs/attempt_file.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/device/restless_device.hpp"
#include "tests/sim/recording/logged_session.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/support/temporary_folder.hpp"

// An attempt with numbers that a text form easily loses, and the comparison of two attempts, bit by bit.
namespace trocar::test {

inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

inline void expect_same(const LoggedFrame& a, const LoggedFrame& b) {
  EXPECT_EQ(a.clock.frame, b.clock.frame);
  EXPECT_TRUE(same_bits(a.clock.time, b.clock.time) && same_bits(a.clock.wall, b.clock.wall) &&
              same_bits(a.clock.lost, b.clock.lost) && same_bits(a.step, b.step) &&
              same_bits(a.field_of_view_deg, b.field_of_view_deg));
  EXPECT_EQ(a.suspended, b.suspended);
  EXPECT_EQ(a.sums, b.sums);
}

inline void expect_same(const LoggedDevice& a, const LoggedDevice& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.follows_ticks, b.follows_ticks);
  ASSERT_EQ(a.poses.size(), b.poses.size());
  for (std::size_t k = 0; k < a.poses.size(); ++k) {
    EXPECT_EQ(a.poses[k].frame, b.poses[k].frame);
    EXPECT_TRUE(trocar::same_bits(a.poses[k].pose, b.poses[k].pose));
    EXPECT_EQ(a.poses[k].health, b.poses[k].health);
  }
}

inline void expect_same(const std::vector<TaskEvent>& a, const std::vector<TaskEvent>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_TRUE(same_bits(a[k].time, b[k].time));
    EXPECT_EQ(a[k].error, b[k].error);
    EXPECT_EQ(a[k].text, b[k].text);
  }
}

inline void expect_same(const AttemptFile& a, const AttemptFile& b) {
  EXPECT_EQ(std::tie(a.program, a.date, a.model_version, a.scene, a.scene_text, a.seed, a.ending),
            std::tie(b.program, b.date, b.model_version, b.scene, b.scene_text, b.seed, b.ending));
  EXPECT_EQ(std::tie(a.run.clock, a.run.activity, a.run.person, a.run.device),
            std::tie(b.run.clock, b.run.activity, b.run.person, b.run.device));
  EXPECT_TRUE(same_bits(a.score, b.score));
  expect_same(a.events, b.events);
  ASSERT_EQ(a.log.frames.size(), b.log.frames.size());
  for (std::size_t k = 0; k < a.log.frames.size(); ++k) expect_same(a.log.frames[k], b.log.frames[k]);
  ASSERT_EQ(a.log.devices.size(), b.log.devices.size());
  for (std::size_t k = 0; k < a.log.devices.size(); ++k) expect_same(a.log.devices[k], b.log.devices[k]);
}

// Three frames with numbers that a text form easily loses.
inline AttemptFile odd_attempt() {
  AttemptFile attempt{.program = "1.2.3",
                      .date = "2026-03-04 05:06:07",
                      .model_version = 9,
                      .scene = "scenes/a.toml",
                      .scene_text = "title = \"\\u00e4\"\r\n\t# \"\\ \xc3\xa4\n",
                      .seed = 0xffffffffu};
  attempt.run = {ScoreClock::Wall, Activity::Demonstration, "zo\xc3\xab", kPerformerDevice};
  attempt.ending = Ending::NotDone;
  attempt.score = 0.1 + 0.2;
  attempt.events = {{1e-300, true, "left the \"line\""}, {1.0 / 3.0, false, ""}};
  const double tiny = std::numeric_limits<double>::denorm_min(), nan = std::bit_cast<double>(0x7ff8dead0000beefull);
  attempt.log.frames = {{{0, 0.0, 0.0, 0.0}, 0.0, 60.0, false, {}},
                        {{~std::uint64_t{0}, tiny, 1.0 / 3.0, tiny}, 1.0, 61.7, true, {~std::uint64_t{0}, 7}},
                        {{5, 86400.0, 86400.0, 86400.0}, 0.1, 179.0, false, {1, ~0u}}};
  attempt.log.devices = {
      {"probe",
       false,
       {{0, {{1, 2, 3}, {-0.0, nan, tiny}, -720.0, 0.5, Diathermy::Coagulate, 0.25}, DeviceHealth::Good},
        {2, {{INFINITY, 2, 3}, {4, 5, 6}}, DeviceHealth::Lost}}},
      {kScopeName, true, {{0, {}, DeviceHealth::Stale}}}};
  return attempt;
}

}  // namespace trocar::test

namespace trocar {
namespace {

using Json = nlohmann::ordered_json;
using test::expect_same;
using test::odd_attempt;

TEST(AttemptText, EveryFieldAndBitComesBack) {
  const AttemptFile odd = odd_attempt(), again = parse_attempt(attempt_text(odd), "a.json");
  expect_same(odd, again);
  EXPECT_EQ(attempt_text(again), attempt_text(odd));
  for (const Activity activity : {Activity::Attempt, Activity::Replay, Activity::Script}) {
    AttemptFile other = odd;
    other.run = {ScoreClock::Tick, activity, ""};
    expect_same(other, parse_attempt(attempt_text(other), "a.json"));
  }
}

// Changes of the JSON of an attempt, each of which is refused with a sentence that has this part.
struct Damage {
  const char* part;
  std::function<void(Json& json)> change;
};

template <typename Value>
void change_column(Json& column, const std::function<void(std::vector<Value>& values)>& change) {
  const auto bytes = from_base64(column.get<std::string>());
  std::vector<Value> values(bytes->size() / sizeof(Value));
  std::memcpy(values.data(), bytes->data(), bytes->size());
  change(values);
  column = base64(std::as_bytes(std::span(values)));
}

Damage in_clock(std::size_t at, double number, const char* part = "the clock of frame") {
  return {part, [=](Json& json) {
            change_column<double>(json["frames"]["clock"], [&](std::vector<double>& clock) { clock[at] = number; });
          }};
}

Damage in_poses(std::vector<std::uint32_t> frames) {
  return {"damaged", [=](Json& json) { json["devices"][0]["frame"] = base64(std::as_bytes(std::span(frames))); }};
}

Damage in_state(std::uint8_t state) {
  return {"pose 1 of 'probe' is damaged", [=](Json& json) {
            change_column<std::uint8_t>(json["devices"][0]["state"],
                                        [&](std::vector<std::uint8_t>& states) { states[1] = state; });
          }};
}

Damage with_text(const char* part, const Json::json_pointer& place, const Json& value) {
  return {part, [=](Json& json) { json[place] = value; }};
}

// Returns the sentence with which the text is refused; empty when it is accepted.
std::string refusal(const std::string& text) {
  try {
    parse_attempt(text, "a.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

void expect_refused(const std::string& text, const std::string& part) {
  const std::string sentence = refusal(text);
  EXPECT_TRUE(sentence.starts_with("a.json: ")) << sentence << "\n" << text.substr(0, 200);
  EXPECT_NE(sentence.find(part), std::string::npos) << sentence << "\nexpected: " << part;
  EXPECT_LT(sentence.size(), 300u);
  for (const char c : sentence) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << sentence;
}

TEST(AttemptText, OtherTextsAreRefused) {
  const std::string whole = attempt_text(odd_attempt());
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("{}"), std::string("attempt"),
        whole.substr(0, whole.size() / 2), whole + "}", std::string("\xff\xfe"), std::string(100000, '['),
        std::string("{\"format\": 7}"), std::string("{\"format\": \"trocar-attempt-1\"}"), std::string(9, '\0')})
    expect_refused(text, "is not an attempt of format trocar-browser-attempt-1");
  std::string deep;
  for (int k = 0; k < 50000; ++k) deep += "{\"a\":";
  expect_refused(deep, "is not an attempt");
  expect_refused(deep + "1" + std::string(50000, '}'), "is not an attempt");
}

TEST(AttemptText, EveryKeyIsRequired) {
  const Json whole = Json::parse(attempt_text(odd_attempt()));
  const std::set<std::string> free_texts = {"program", "date", "scene", "scene_text", "person", "name", "text"};
  std::size_t keys = 0;
  const auto without = [&](const Json::json_pointer& parent) {
    for (const auto& [key, value] : whole[parent].items()) {
      static_cast<void>(value);
      for (const Json& other : {Json(), Json(-1.5), Json::array({1}), Json("x y")}) {
        if (other.is_string() && free_texts.contains(key)) continue;
        Json json = whole;
        json[parent][key] = other;
        expect_refused(json.dump(), "");
      }
      Json json = whole;
      json[parent].erase(key);
      expect_refused(json.dump(), "");
      ++keys;
    }
  };
  for (const char* parent : {"", "/frames", "/devices/0", "/events/1"}) without(Json::json_pointer(parent));
  EXPECT_EQ(keys, 15u + 5u + 5u + 3u);
}

std::vector<Damage> damages() {
  using Place = Json::json_pointer;
  const double nan = std::nan("");
  const Json::json_pointer checksum("/frames/checksum");
  return {
      in_clock(0, nan),
      in_clock(6, -1e-9),
      in_clock(7, INFINITY),
      in_clock(10, 86400.001),
      in_clock(3, -0.1, "the duration of frame 0"),
      in_clock(8, 1.001, "the duration of frame 1"),
      in_clock(13, nan, "the duration of frame 2"),
      in_clock(4, 0.0, "the field of view of frame 0"),
      in_clock(14, 180.0, "the field of view of frame 2"),
      in_clock(0, 1e-3, "the time of frame 1 is before"),
      in_clock(6, 86401.0, "the clock of frame 1"),
      in_clock(11, 0.25, "the time of frame 2 is before"),
      in_poses({0, 0}),
      in_poses({0, 3}),
      {"incomplete", in_poses({1, 2}).change},
      {"incomplete", in_poses({0}).change},
      {"incomplete", in_poses({}).change},
      in_state(3),
      in_state(0x30),
      in_state(0xff),
      with_text("\"checksum\" is damaged", checksum, "AAAA"),
      with_text("\"checksum\" is damaged", checksum, "AAAAAAAAAA"),
      with_text("differ in length", checksum, ""),
      with_text("a pause lies after the last frame", Place("/frames/suspended"), "AwAAAA=="),
      with_text("more than 65 devices", Place("/devices"), Json(std::vector<int>(66))),
      with_text("a device is damaged", Place("/devices/0"), 7),
      with_text("an event is damaged", Place("/events/0"), "left"),
      with_text("'\?\?[2J'", Place("/ending"), "\x1b\x07[2J"),
      with_text("the person ' ' cannot be recorded", Place("/person"), " "),
      with_text("its score is not within", Place("/score"), 100.5),
      with_text("its score is not within", Place("/score"), -1),
      with_text("\"model_version\"", Place("/model_version"), 65536 * 65536ll),
      with_text("\"seed\"", Place("/seed"), 4294967296ll),
      with_text("\"seed\"", Place("/seed"), -1),
  };
}

TEST(AttemptText, DamagesAreNamed) {
  const Json whole = Json::parse(attempt_text(odd_attempt()));
  for (const Damage& damage : damages()) {
    Json json = whole;
    damage.change(json);
    expect_refused(json.dump(), damage.part);
  }
  Json empty = whole;
  for (auto& column : empty["frames"]) column = "";
  expect_refused(empty.dump(), "it has no frame");
  std::string huge = whole.dump();
  huge.replace(huge.find("\"score\":") + 8, 1, "1e999");
  expect_refused(huge, "is not an attempt");
}

TEST(AttemptText, RandomChangesAreAcceptedOrRefused) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string whole = attempt_text(odd_attempt());
  std::size_t accepted = 0;
  for (int k = 0; k < 20000; ++k) {
    std::string text = whole;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % text.size(), length = random() % 20;
      if (random() % 3 == 0)
        text[at] = static_cast<char>(random());
      else if (random() % 2 == 0)
        text.erase(at, length);
      else
        text.insert(at, text.substr(random() % text.size(), length));
    }
    const std::string sentence = refusal(text);
    if (!sentence.empty()) continue;
    const AttemptFile attempt = parse_attempt(text, "a.json");
    expect_same(attempt, parse_attempt(attempt_text(attempt), "a.json"));
    ++accepted;
  }
  std::printf("%zu of 20000 accepted\n", accepted);
}

TEST(AttemptText, OnlyFilesOfAttemptsAreRead) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.json", attempt_text(odd_attempt()));
  expect_same(load_attempt(file), odd_attempt());
  EXPECT_THROW(load_attempt(folder.path() / "absent.json"), InputError);
  EXPECT_THROW(load_attempt(folder.path()), InputError);
  std::filesystem::resize_file(file, kMostAttemptBytes + 1);
  EXPECT_THROW(load_attempt(file), InputError);
}

using test::expect_same;
using test::odd_attempt;
using test::same_bits;

// A session in the scene whose devices are logged; runs it again from the log and from the log's file.
void expect_same_run(const InputLog& log, const Scene& scene, const std::string& backend) {
  CpuBackends backends;
  InputRerun rerun(log, scene, backends, backend);
  FrameSums sums;
  SessionRecorder recorder(with_sums(no_recording(), sums), scene, rerun.session(), "");
  std::size_t frame = 0, differences = 0;
  for (std::optional<FrameClock> clock; (clock = rerun.step()); ++frame) {
    recorder.append(rerun.session(), *clock);
    if (sums != log.frames[frame].sums) ++differences;
  }
  EXPECT_EQ(frame, log.frames.size());
  EXPECT_EQ(differences, 0u) << backend;
}

TEST(InputRerunTest, DevicesThatFailAndPausesGiveTheSameBits) {
  const TemporaryFolder folder;
  const Scene scene = load_scene(test::write_ball_scene(
      folder, {.subdivisions = 3, .node_spacing = 14, .tip = 50, .more_tools = test::kFourKinds}));
  AttemptFile attempt = odd_attempt();
  attempt.log = {};
  std::size_t faces = 0, touched = 0;
  {
    unsigned seed = 11;
    test::LoggedSession run(attempt.log, scene, [&](const InstrumentScene& instrument) {
      return std::make_unique<test::RestlessDevice>(instrument, seed++);
    });
    std::mt19937 random(5);
    double time = 0.0;
    for (std::uint64_t frame = 0; frame < 130; ++frame) {
      const double step = (0.5 + 1e-3 * static_cast<double>(random() % 1000)) / 60.0;
      run.step({2 * frame, time, time, 0.0}, step, 50.0 + static_cast<double>(frame), frame % 50 == 20);
      touched += run.session().touched();
      time += step;
    }
    faces = run.session().organs()[0].face_ids.size();
  }
  EXPECT_GT(touched, 100u);
  EXPECT_NE(faces, 1280u);  // faces were cut
  expect_same_run(attempt.log, scene, "scan");
  const AttemptFile again = parse_attempt(attempt_text(attempt), "a.json");
  expect_same(attempt, again);
  expect_same_run(again.log, scene, "scan");
}

// A task's end suspends the devices while its last frame is still followed: the frame after it has the pause.
TEST(InputRerunTest, APauseThatFollowsFromAFrameBelongsToTheNext) {
  const TemporaryFolder folder;
  const Scene scene = load_scene(test::write_ball_scene(
      folder, {.subdivisions = 3, .node_spacing = 14, .tip = 50, .more_tools = test::kFourKinds}));
  InputLog log;
  {
    test::LoggedSession run(log, scene, [](const InstrumentScene& instrument) {
      return std::make_unique<test::RestlessDevice>(instrument, 3);
    });
    for (std::uint64_t frame = 0; frame < 30; ++frame) {
      const double time = static_cast<double>(frame) / 60.0;
      run.step({frame, time, time, 0.0}, 1.0 / 60.0, 50.0, false);
      if (frame == 12) run.logger().suspend_devices(), run.logger().suspend_devices();
    }
    run.logger().suspend_devices();  // after the last frame: no frame has it
  }
  for (std::size_t frame = 0; frame < log.frames.size(); ++frame) EXPECT_EQ(log.frames[frame].suspended, frame == 13);
  expect_same_run(log, scene, "scan");
}

TEST(InputRerunTest, ALogOfAnotherSceneIsRefused) {
  const TemporaryFolder folder;
  const Scene scene = load_scene(test::write_ball_task(folder));
  const InputLog odd = odd_attempt().log;
  const auto refused = [&](const InputLog& log) {
    CpuBackends backends;
    EXPECT_THROW(InputRerun(log, scene, backends, "scan"), InputError);
  };
  CpuBackends backends;
  EXPECT_NO_THROW(InputRerun(odd, scene, backends, "scan"));
  refused({});
  refused({{odd.devices[1]}, odd.frames});
  refused({{odd.devices[1], odd.devices[0]}, odd.frames});
  refused({{odd.devices[0], odd.devices[0]}, odd.frames});
  refused({{odd.devices[0], odd.devices[1], odd.devices[1]}, odd.frames});
  refused({{{"probe", false, {}}}, odd.frames});
  refused({{odd.devices[0], {kScopeName, false, {}}}, odd.frames});
}

class PerformedAttempt : public ::testing::Test {
 protected:
  // Runs the attempt again, and its task.
  TaskResult result_again(const AttemptFile& attempt) const {
    CpuBackends backends;
    InputRerun rerun(attempt.log, scene_, backends, "scan");
    TaskRun task(*scene_.task, stage_of(rerun.session()));
    rerun.session().set_marks(task.marks(), task.watched_marks());
    SessionObserver observer;
    while (const auto clock = rerun.step()) task.step(observer.observe(rerun.session(), clock->wall));
    EXPECT_EQ(ending_of(&task), attempt.ending);
    return task.result();
  }

  TemporaryFolder folder_;
  Scene scene_ = load_scene(test::write_ball_task(folder_, "[[task.place]]\norgan = \"ball\"\nat_mm = [0, 30, 40]\n"));
};

TEST_F(PerformedAttempt, HasTheSameTouchesScoreAndEventsAgain) {
  const AttemptFile attempt = test::perform_logged(scene_, "scenes/ball.toml");
  std::uint64_t touched = 0;
  for (const LoggedFrame& frame : attempt.log.frames) touched += frame.sums.touched;
  std::printf("%zu frames, %llu touched faces, score %.1f, %zu events, %zu bytes\n", attempt.log.frames.size(),
              static_cast<unsigned long long>(touched), attempt.score, attempt.events.size(),
              attempt_text(attempt).size());
  EXPECT_EQ(attempt.ending, Ending::Done);
  EXPECT_GT(touched, 10u);
  EXPECT_GE(attempt.events.size(), 2u);
  EXPECT_GT(attempt.score, 0.0);
  EXPECT_LT(attempt.score, 100.0);
  AttemptFile again = parse_attempt(attempt_text(attempt), "a.json");
  expect_same(attempt, again);
  expect_same_run(again.log, scene_, "scan");
  const TaskResult result = result_again(again);
  EXPECT_TRUE(same_bits(result.score, attempt.score));
  expect_same(result.events, attempt.events);
  // The pause is an input: without it the instrument is elsewhere in the frame after it.
  again.log.frames[40].suspended = false;
  CpuBackends backends;
  InputRerun rerun(again.log, scene_, backends, "scan"), with(attempt.log, scene_, backends, "scan");
  for (int frame = 0; frame <= 40; ++frame) rerun.step(), with.step();
  EXPECT_NE(rerun.session().instruments()[0].pose.tip, with.session().instruments()[0].pose.tip);
}

}  // namespace

}  // namespace trocar
