#include "app/lab/lab_attempt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/lab/lab_date.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/support/machine.hpp"
#include "sim/support/names.hpp"

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

LabAttempt lab_attempt_of(const Recording& recording, const Attempt& score, const std::string& person) {
  require_attempt(recording, score.file);
  LabAttempt attempt;
  attempt.key = new_attempt_key();
  attempt.person = person.empty() ? score.person : person;
  if (attempt.person.empty())
    throw InputError(score.file + ": names no person; say whose attempt it is with --person ID");
  if (const std::string fault = name_fault(attempt.person); !fault.empty())
    throw InputError(fmt::format("the person '{}' cannot be entered: {}", printable(attempt.person), fault));
  attempt.station = host_name();
  attempt.scene = recording.text("scene_name");
  attempt.title = score.scene_title;
  attempt.level = score.level;
  attempt.ending = score.ending;
  attempt.devices = fmt::format("{}", fmt::join(recording.devices(), ", "));
  attempt.started = date_of_text(score.date);
  attempt.seconds = score.duration;
  attempt.version = score.version;
  std::error_code none;
  attempt.recording = std::filesystem::absolute(score.file, none).string();
  if (score.task) {
    attempt.kind = score.task->kind;
    attempt.score = score.task->score;
    attempt.critical = !score.task->critical.empty();
    add_values("task", score.task->parts, attempt.metrics);
  }
  add_values("whole", score.overall, attempt.metrics);
  for (const InstrumentScore& instrument : score.instruments)
    add_values(instrument.name, instrument.metrics, attempt.metrics);
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
    a.level = json.at("level").get<int>();
    a.started = json.at("started").get<double>();
    a.seconds = json.at("seconds").get<double>();
    if (!json.at("score").is_null()) a.score = json.at("score").get<double>();
    a.critical = json.at("critical").get<bool>();
    a.metrics = metrics_in(json.at("metrics"));
    if (a.key.empty() || !name_fault(a.person).empty()) throw InputError(file.string() + ": has no key or no person");
    return a;
  } catch (const AttemptJson::exception&) {
    throw InputError(file.string() + ": is damaged; it is not an attempt that Trocar wrote");
  }
}

}  // namespace trocar
