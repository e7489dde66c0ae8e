#include "app/lab/lab_attempt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/lab/lab_date.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/process.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

using AttemptJson = nlohmann::ordered_json;

constexpr const char* kAttemptFormat = "trocar-attempt-1";

void add_values(const std::string& of, const std::vector<Metric>& metrics, std::map<std::string, double>& values) {
  for (const Metric& metric : metrics)
    if (std::isfinite(metric.value)) values[of + "." + metric.id] = metric.value;
}

void require_attempt(const Recording& recording, const std::string& file) {
  const auto activity = recording.activity();
  if (activity == Activity::Attempt) return;
  if (!activity)
    throw InputError(
        fmt::format("{}: does not say who moved the instruments, because an older version recorded it; it cannot be "
                    "entered as an attempt",
                    file));
  throw InputError(
      fmt::format("{}: is a {}; only attempts with live devices count for a person", file, name_of(*activity)));
}

AttemptJson json_of_metrics(const std::map<std::string, double>& metrics) {
  AttemptJson json = AttemptJson::object();
  for (const auto& [id, value] : metrics) json[id] = value;
  return json;
}

// Texts of one row; a path has at most 4096 bytes, each of which may become three.
constexpr std::size_t kLongestRowText = 4000, kLongestPathText = 3 * 4096, kMostMetrics = 10'000;
constexpr int kHighestLevel = 1000;

std::string text_fault(const LabAttempt& a) {
  const std::pair<const char*, const std::string*> texts[] = {
      {"station", &a.station}, {"scene", &a.scene},     {"title", &a.title},     {"kind", &a.kind},
      {"ending", &a.ending},   {"devices", &a.devices}, {"version", &a.version}, {"recording", &a.recording}};
  const auto fits = [](const std::string& text, std::size_t longest) {
    return text.size() <= longest && text.find('\0') == std::string::npos &&
           first_invalid_utf8(text) == std::string_view::npos;
  };
  for (const auto& [name, text] : texts)
    if (!fits(*text, text == &a.recording ? kLongestPathText : kLongestRowText))
      return fmt::format("{} is too long or not text", name);
  if (a.metrics.size() > kMostMetrics) return fmt::format("has more than {} metrics", kMostMetrics);
  for (const auto& [id, value] : a.metrics)
    if (!fits(id, kLongestRowText) || !std::isfinite(value))
      return fmt::format("metric {} is not a number", printable(id));
  return {};
}

template <typename Number>
std::string outside(const char* name, Number value, double low, double high) {
  if (value >= low && value <= high) return {};
  return fmt::format("{} {} is not within {} and {}", name, value, low, high);
}

// A whole number of the JSON text that fits `int`, or its fault.
int level_in(const AttemptJson& json, const std::filesystem::path& file) {
  const AttemptJson& level = json.at("level");
  const double value = level.get<double>();
  if (!level.is_number_integer() || !(value >= 1.0 && value <= kHighestLevel))
    throw InputError(fmt::format("{}: level {} is not a whole number within 1 and {}", file.string(),
                                 printable(level.dump()), kHighestLevel));
  return static_cast<int>(value);
}

// Adds numbers to the content of which an older recording's key is made.
template <typename Number>
void add_numbers(const std::vector<Number>& numbers, std::size_t most, std::string& content) {
  const std::size_t count = std::min(most, numbers.size()), at = content.size();
  content.resize(at + count * sizeof(Number));
  if (count > 0) std::memcpy(content.data() + at, numbers.data(), count * sizeof(Number));
}

double started_of(const Attempt& score) {
  const auto started = date_in_text(score.date);
  if (!started)
    throw InputError(
        fmt::format("{}: its date '{}' is not a date; the file is damaged", score.file, printable(score.date)));
  if (!is_past_date(*started))
    throw InputError(fmt::format("{}: its date {} is in the future; set the clock of this machine", score.file,
                                 printable(score.date)));
  return *started;
}

std::map<std::string, double> metrics_in(const AttemptJson& json) {
  std::map<std::string, double> metrics;
  for (const auto& [id, value] : json.items()) metrics[id] = value.get<double>();
  return metrics;
}

}  // namespace

std::string new_attempt_key() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw RunError("the system gives no random numbers for the key of an attempt");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string attempt_key_of(const Recording& recording, const std::string& file) {
  const std::string recorded = recording.text(kAttemptKeyAttribute);
  if (is_attempt_key(recorded)) return recorded;
  if (!recorded.empty())
    throw InputError(fmt::format("{}: its attempt key '{}' is damaged", file, printable(recorded)));
  constexpr std::size_t kFrames = 16;
  std::string content;
  for (const char* attribute : {"date", "person", "scene", "tools"}) content += recording.text(attribute) + '\0';
  add_numbers(recording.times(), kFrames, content);
  add_numbers(recording.wall_times(), kFrames, content);
  for (std::size_t frame = 0; frame < std::min(kFrames, recording.frame_count()); ++frame)
    for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) {
      const ToolPose pose = recording.pose(frame, tool);
      add_numbers(std::vector{pose.pivot, pose.tip}, 2, content);
    }
  return attempt_key_from(content);
}

std::string attempt_fault(const LabAttempt& a) {
  if (!is_attempt_key(a.key)) return "its key is not one of 32 hexadecimal digits";
  if (const std::string fault = name_fault(a.person); !fault.empty())
    return fmt::format("the person '{}' cannot be entered: {}", printable(a.person), fault);
  if (std::string fault = outside("level", a.level, 1, kHighestLevel); !fault.empty()) return fault;
  if (!is_past_date(a.started)) return fmt::format("started {} is not a date between 1970 and today", a.started);
  if (std::string fault = outside("seconds", a.seconds, 0, kLongestSession); !fault.empty()) return fault;
  constexpr double kRounding = 1e-6;
  if (const double score = a.score.value_or(0.0); !(score >= -kRounding && score <= 100.0 + kRounding))
    return fmt::format("score {} is not within 0 and 100", score);
  return text_fault(a);
}

LabAttempt lab_attempt_of(const Recording& recording, const Attempt& score, const std::string& person) {
  require_attempt(recording, score.file);
  LabAttempt attempt;
  attempt.key = attempt_key_of(recording, score.file);
  attempt.person = person.empty() ? score.person : person;
  if (attempt.person.empty())
    throw InputError(score.file + ": names no person; say whose attempt it is with --person ID");
  if (const std::string fault = name_fault(attempt.person); !fault.empty())
    throw InputError(fmt::format("the person '{}' cannot be entered: {}", printable(attempt.person), fault));
  attempt.station = host_name();
  attempt.scene = text_of_bytes(recording.text("scene_name"));
  attempt.title = score.scene_title;
  attempt.level = score.level;
  attempt.ending = score.ending;
  attempt.devices = fmt::format("{}", fmt::join(recording.devices(), ", "));
  attempt.started = started_of(score);
  attempt.seconds = score.duration;
  attempt.version = score.version;
  std::error_code none;
  attempt.recording = text_of_bytes(std::filesystem::absolute(score.file, none).string());
  if (score.task) {
    attempt.kind = score.task->kind;
    attempt.score = score.task->score;
    attempt.critical = !score.task->critical.empty();
    add_values("task", score.task->parts, attempt.metrics);
  }
  add_values("whole", score.overall, attempt.metrics);
  for (const InstrumentScore& instrument : score.instruments)
    add_values(instrument.name, instrument.metrics, attempt.metrics);
  if (const std::string fault = attempt_fault(attempt); !fault.empty())
    throw InputError(fmt::format("{}: {}; it cannot be entered", score.file, fault));
  return attempt;
}

std::string metrics_json(const std::map<std::string, double>& metrics) {
  return json_of_metrics(metrics).dump(-1, ' ', false, AttemptJson::error_handler_t::replace);
}

std::map<std::string, double> metrics_of_json(const std::string& text) {
  try {
    return metrics_in(AttemptJson::parse(text));
  } catch (const AttemptJson::exception&) {
    throw InputError("the metrics of an attempt in the database are damaged; restore a backup");
  }
}

std::string lab_attempt_json(const LabAttempt& a) {
  const AttemptJson json{{"format", kAttemptFormat},
                         {"key", a.key},
                         {"person", a.person},
                         {"station", a.station},
                         {"scene", a.scene},
                         {"title", a.title},
                         {"level", a.level},
                         {"kind", a.kind},
                         {"ending", a.ending},
                         {"devices", a.devices},
                         {"started", a.started},
                         {"seconds", a.seconds},
                         {"score", a.score ? AttemptJson(*a.score) : AttemptJson(nullptr)},
                         {"critical", a.critical},
                         {"version", a.version},
                         {"recording", a.recording},
                         {"metrics", json_of_metrics(a.metrics)}};
  return json.dump(2, ' ', false, AttemptJson::error_handler_t::replace) + "\n";
}

LabAttempt lab_attempt_of_json(const std::string& text, const std::filesystem::path& file) {
  try {
    const AttemptJson json = AttemptJson::parse(text);
    if (json.at("format") != kAttemptFormat) throw InputError(file.string() + ": is not an attempt of this version");
    LabAttempt a;
    const std::pair<const char*, std::string*> texts[] = {
        {"key", &a.key},         {"person", &a.person},      {"station", &a.station}, {"scene", &a.scene},
        {"title", &a.title},     {"kind", &a.kind},          {"ending", &a.ending},   {"devices", &a.devices},
        {"version", &a.version}, {"recording", &a.recording}};
    for (const auto& [name, value] : texts) *value = json.at(name).get<std::string>();
    a.level = level_in(json, file);
    a.started = json.at("started").get<double>();
    a.seconds = json.at("seconds").get<double>();
    if (!json.at("score").is_null()) a.score = json.at("score").get<double>();
    a.critical = json.at("critical").get<bool>();
    if (!json.at("metrics").is_object()) throw InputError(file.string() + ": its metrics are damaged");
    a.metrics = metrics_in(json.at("metrics"));
    if (const std::string fault = attempt_fault(a); !fault.empty())
      throw InputError(fmt::format("{}: {}; it cannot be entered", file.string(), fault));
    return a;
  } catch (const AttemptJson::exception&) {
    throw InputError(file.string() + ": is damaged; it is not an attempt that Trocar wrote");
  }
}

}  // namespace trocar
