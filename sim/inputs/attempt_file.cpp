#include "sim/inputs/attempt_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "geometry/error.hpp"
#include "mesh/base64.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "trocar-browser-attempt-1";
constexpr std::size_t kMostDevices = 65;  // instruments and the scope
constexpr double kLongestStep = 1.0;      // s  of a frame; a scene has at least 10 frames a second
constexpr std::int64_t kMostVersion = 1'000'000;

constexpr Activity kActivities[] = {Activity::Attempt, Activity::Demonstration, Activity::Replay, Activity::Script};
constexpr Ending kEndings[] = {Ending::Unknown, Ending::Done, Ending::NotDone, Ending::Stopped};
constexpr ScoreClock kClocks[] = {ScoreClock::Tick, ScoreClock::Wall};

std::string_view name_of(ScoreClock clock) { return clock == ScoreClock::Wall ? "wall" : "tick"; }

template <typename Value>
Json column(const std::vector<Value>& values) {
  return base64(std::as_bytes(std::span(values)));
}

// The columns of the log: one row a frame, or a pose.
struct FrameColumns {
  std::vector<std::uint64_t> tick, checksum;
  std::vector<double> clock;  // time, wall, lost, step, field of view of each frame
  std::vector<std::uint32_t> touched, suspended;
};
constexpr std::size_t kClockNumbers = 5, kPoseNumbers = 9;

FrameColumns columns_of(const std::vector<LoggedFrame>& frames) {
  FrameColumns columns;
  for (std::uint32_t k = 0; k < frames.size(); ++k) {
    const LoggedFrame& frame = frames[k];
    columns.tick.push_back(frame.clock.frame);
    columns.clock.insert(columns.clock.end(),
                         {frame.clock.time, frame.clock.wall, frame.clock.lost, frame.step, frame.field_of_view_deg});
    columns.touched.push_back(frame.sums.touched);
    columns.checksum.push_back(frame.sums.checksum);
    if (frame.suspended) columns.suspended.push_back(k);
  }
  return columns;
}

Json json_of(const LoggedDevice& device) {
  std::vector<std::uint32_t> at;
  std::vector<double> numbers;
  std::vector<std::uint8_t> states;  // pedal + 16 health
  for (const LoggedPose& logged : device.poses) {
    const DevicePose& p = logged.pose;
    at.push_back(logged.frame);
    numbers.insert(numbers.end(),
                   {p.pivot.x, p.pivot.y, p.pivot.z, p.tip.x, p.tip.y, p.tip.z, p.roll_deg, p.grip, p.grip_force});
    states.push_back(
        static_cast<std::uint8_t>(static_cast<unsigned>(p.energy) | static_cast<unsigned>(logged.health) << 4));
  }
  return {{"name", device.name},
          {"follows_ticks", device.follows_ticks},
          {"frame", column(at)},
          {"pose", column(numbers)},
          {"state", column(states)}};
}

// Reads parts of a file; a fault is one sentence with the file's name.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: {}; save the attempt again", file_, what));
  }

  template <typename Value>
  std::vector<Value> column(const Json& parent, const char* key) const {
    const auto bytes = from_base64(text(parent, key));
    if (!bytes || bytes->size() % sizeof(Value) != 0) refuse(fmt::format("\"{}\" is damaged", key));
    std::vector<Value> values(bytes->size() / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), bytes->data(), bytes->size());
    return values;
  }

  std::string text(const Json& parent, const char* key) const {
    const auto found = parent.find(key);
    if (found == parent.end() || !found->is_string()) refuse(fmt::format("\"{}\" is missing or not a text", key));
    return found->get<std::string>();
  }

  double number(const Json& parent, const char* key) const {
    const auto found = parent.find(key);
    if (found == parent.end() || !found->is_number()) refuse(fmt::format("\"{}\" is missing or not a number", key));
    return found->get<double>();
  }

  std::int64_t whole(const Json& parent, const char* key, std::int64_t most) const {
    const auto found = parent.find(key);
    if (found == parent.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > std::uint64_t(most))
      refuse(fmt::format("\"{}\" is missing or not a whole number from 0 to {}", key, most));
    return found->get<std::int64_t>();
  }

  const Json& part(const Json& parent, const char* key, Json::value_t kind) const {
    const auto found = parent.find(key);
    if (found == parent.end() || found->type() != kind) refuse(fmt::format("\"{}\" is missing or damaged", key));
    return *found;
  }

  template <typename Value>
  Value named(const Json& parent, const char* key, std::span<const Value> values) const {
    const std::string name = text(parent, key);
    for (const Value value : values)
      if (name_of(value) == name) return value;
    refuse(fmt::format("\"{}\" has the unknown value '{}'", key, printable(name)));
  }

 private:
  const std::string& file_;
};

// Checks what the session and the reader of its recording require.
void require_clock(const Reader& reader, const std::vector<LoggedFrame>& frames) {
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const LoggedFrame& frame = frames[k];
    for (const double seconds : {frame.clock.time, frame.clock.wall, frame.clock.lost})
      if (!(seconds >= 0.0 && seconds <= kLongestSession))
        reader.refuse(fmt::format("the clock of frame {} is not within 0 and a day", k));
    if (!(frame.step >= 0.0 && frame.step <= kLongestStep))
      reader.refuse(fmt::format("the duration of frame {} is not within 0 and {:g} s", k, kLongestStep));
    if (!(frame.field_of_view_deg >= 1.0 && frame.field_of_view_deg <= 179.0))
      reader.refuse(fmt::format("the field of view of frame {} is not within 1 and 179 degrees", k));
    if (k > 0 && (frame.clock.time < frames[k - 1].clock.time || frame.clock.wall < frames[k - 1].clock.wall))
      reader.refuse(fmt::format("the time of frame {} is before that of the previous frame", k));
  }
}

std::vector<LoggedFrame> frames_in(const Reader& reader, const Json& json) {
  const auto tick = reader.column<std::uint64_t>(json, "tick");
  const auto clock = reader.column<double>(json, "clock");
  const auto touched = reader.column<std::uint32_t>(json, "touched");
  const auto checksum = reader.column<std::uint64_t>(json, "checksum");
  if (clock.size() != kClockNumbers * tick.size() || touched.size() != tick.size() || checksum.size() != tick.size())
    reader.refuse("its columns of frames differ in length");
  if (tick.empty()) reader.refuse("it has no frame");
  std::vector<LoggedFrame> frames(tick.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const double* row = &clock[kClockNumbers * k];
    frames[k] = {{tick[k], row[0], row[1], row[2]}, row[3], row[4], false, {checksum[k], touched[k]}};
  }
  require_clock(reader, frames);
  for (const std::uint32_t k : reader.column<std::uint32_t>(json, "suspended")) {
    if (k >= frames.size()) reader.refuse("a pause lies after the last frame");
    frames[k].suspended = true;
  }
  return frames;
}

LoggedDevice device_in(const Reader& reader, const Json& json, std::size_t frames) {
  if (!json.is_object()) reader.refuse("a device is damaged");
  LoggedDevice device{
      reader.text(json, "name"), reader.part(json, "follows_ticks", Json::value_t::boolean).get<bool>(), {}};
  const auto at = reader.column<std::uint32_t>(json, "frame");
  const auto numbers = reader.column<double>(json, "pose");
  const auto states = reader.column<std::uint8_t>(json, "state");
  if (numbers.size() != kPoseNumbers * at.size() || states.size() != at.size() || at.empty() || at.front() != 0)
    reader.refuse(fmt::format("the poses of '{}' are incomplete", printable(device.name)));
  for (std::size_t k = 0; k < at.size(); ++k) {
    const double* p = &numbers[kPoseNumbers * k];
    const unsigned pedal = states[k] & 15u, health = states[k] >> 4;
    if (pedal > 2 || health > 2 || at[k] >= frames || (k > 0 && at[k] <= at[k - 1]))
      reader.refuse(fmt::format("pose {} of '{}' is damaged", k, printable(device.name)));
    device.poses.push_back({at[k],
                            {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, p[6], p[7], static_cast<Diathermy>(pedal), p[8]},
                            static_cast<DeviceHealth>(health)});
  }
  return device;
}

std::vector<LoggedDevice> devices_in(const Reader& reader, const Json& json, std::size_t frames) {
  const Json& list = reader.part(json, "devices", Json::value_t::array);
  if (list.size() > kMostDevices) reader.refuse(fmt::format("it has more than {} devices", kMostDevices));
  std::vector<LoggedDevice> devices;
  for (const Json& device : list) devices.push_back(device_in(reader, device, frames));
  return devices;
}

RunNote run_in(const Reader& reader, const Json& json) {
  RunNote run;
  run.activity = reader.named<Activity>(json, "activity", kActivities);
  run.clock = reader.named<ScoreClock>(json, "scored_by", kClocks);
  run.person = reader.text(json, "person");
  if (const std::string fault = run.person.empty() ? "" : name_fault(run.person); !fault.empty())
    reader.refuse(fmt::format("the person '{}' cannot be recorded: {}", printable(run.person), fault));
  if (run.activity == Activity::Demonstration) run.device = kPerformerDevice;
  return run;
}

std::vector<TaskEvent> events_in(const Reader& reader, const Json& json) {
  std::vector<TaskEvent> events;
  for (const Json& event : reader.part(json, "events", Json::value_t::array)) {
    if (!event.is_object()) reader.refuse("an event is damaged");
    const double time = reader.number(event, "time");
    if (!(time >= 0.0 && time <= kLongestSession)) reader.refuse("the time of an event is not within 0 and a day");
    events.push_back(
        {time, reader.part(event, "error", Json::value_t::boolean).get<bool>(), reader.text(event, "text")});
  }
  return events;
}

}  // namespace

std::string attempt_text(const AttemptFile& attempt) {
  const FrameColumns columns = columns_of(attempt.log.frames);
  Json json = {{"format", kFormat},
               {"program", attempt.program},
               {"model_version", attempt.model_version},
               {"date", attempt.date},
               {"scene", attempt.scene},
               {"scene_text", attempt.scene_text},
               {"seed", attempt.seed},
               {"activity", name_of(attempt.run.activity)},
               {"scored_by", name_of(attempt.run.clock)},
               {"person", attempt.run.person},
               {"ending", name_of(attempt.ending)},
               {"score", attempt.score}};
  Json events = Json::array(), devices = Json::array();
  for (const TaskEvent& event : attempt.events)
    events.push_back({{"time", event.time}, {"error", event.error}, {"text", event.text}});
  for (const LoggedDevice& device : attempt.log.devices) devices.push_back(json_of(device));
  json["events"] = std::move(events);
  json["frames"] = {{"tick", column(columns.tick)},
                    {"clock", column(columns.clock)},
                    {"suspended", column(columns.suspended)},
                    {"touched", column(columns.touched)},
                    {"checksum", column(columns.checksum)}};
  json["devices"] = std::move(devices);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

AttemptFile parse_attempt(std::string_view text, const std::string& file) {
  const Reader reader(file);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("format") || json["format"] != kFormat)
    throw InputError(
        fmt::format("{}: this is not an attempt of format {}; choose a file that the page has saved", file, kFormat));
  AttemptFile attempt;
  attempt.program = reader.text(json, "program");
  attempt.date = reader.text(json, "date");
  attempt.model_version = static_cast<int>(reader.whole(json, "model_version", kMostVersion));
  attempt.scene = reader.text(json, "scene");
  attempt.scene_text = reader.text(json, "scene_text");
  attempt.seed = static_cast<std::uint32_t>(reader.whole(json, "seed", std::numeric_limits<std::uint32_t>::max()));
  attempt.run = run_in(reader, json);
  attempt.ending = reader.named<Ending>(json, "ending", kEndings);
  attempt.score = reader.number(json, "score");
  if (!(attempt.score >= 0.0 && attempt.score <= 100.0)) reader.refuse("its score is not within 0 and 100");
  attempt.events = events_in(reader, json);
  attempt.log.frames = frames_in(reader, reader.part(json, "frames", Json::value_t::object));
  attempt.log.devices = devices_in(reader, json, attempt.log.frames.size());
  return attempt;
}

AttemptFile load_attempt(const std::filesystem::path& file) {
  return parse_attempt(read_whole_file(file, {"attempt", kMostAttemptBytes}), file.string());
}

}  // namespace trocar
