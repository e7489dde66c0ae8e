#include "app/lab/lab_attempt.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "geometry/error.hpp"
#include "sim/hdf5/h5_file.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/process.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

using std::chrono::days, std::chrono::sys_days, std::chrono::year_month_day;

}  // namespace

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<double> date_in_text(const std::string& text) {
  const auto digits = [&](const char* form) {
    return text.size() == std::string_view(form).size() &&
           std::ranges::equal(text, std::string_view(form), [](char letter, char shape) {
             return shape == '0' ? letter >= '0' && letter <= '9' : letter == shape;
           });
  };
  if (!digits("0000-00-00") && !digits("0000-00-00 00:00:00")) return {};
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2u-%2u %2u:%2u:%2u", &year, &month, &day, &hour, &minute, &second);
  const year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if ((read != 3 && read != 6) || !date.ok() || hour > 23 || minute > 59 || second > 60) return {};
  return 86400.0 * sys_days(date).time_since_epoch().count() + 3600.0 * hour + 60.0 * minute + second;
}

double date_of_text(const std::string& text) { return date_in_text(text).value_or(0.0); }

bool is_past_date(double seconds) {
  constexpr double kDay = 86400.0;
  return seconds >= 0.0 && seconds <= now_in_seconds() + kDay;
}

std::string text_of_date(double seconds) {
  constexpr double kLast = 253402300799.0;  // 9999-12-31 23:59:59
  if (!(seconds >= 0.0) || seconds > kLast) return "";
  const double day = std::floor(seconds / 86400.0);
  const year_month_day date{sys_days(days(static_cast<int>(day)))};
  const int minutes = static_cast<int>((seconds - 86400.0 * day) / 60.0);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), minutes / 60,
                     minutes % 60);
}

std::string local_text_of_date(double seconds) {
  const auto whole = static_cast<std::time_t>(std::clamp(seconds, 0.0, 4e10));
  std::tm local{};
  if (!(seconds >= 0.0) || !localtime_r(&whole, &local)) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                     local.tm_hour, local.tm_min);
}

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
        fmt::format("{}: does not say who moved the instruments, so it cannot be entered as an attempt", file));
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
  throw InputError(fmt::format("{}: its attempt key '{}' is damaged", file, printable(recorded)));
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

namespace {

constexpr std::array<unsigned char, 8> kHdf5{0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

std::string reason(int error) {
  if (error == ENOENT || error == ENOTDIR) return "is not there; mount its disk or bring it back";
  if (error == EACCES || error == EPERM) return "cannot be read; check its permissions";
  return fmt::format("cannot be read ({})", std::strerror(error));
}

// Whether the path names a regular file that begins as an HDF5 file does.
void look_at_file(OwnRecording& found) {
  const auto is = [&](Claimed answer, std::string why) { found.answer = answer, found.why = std::move(why); };
  struct stat status {};
  if (::lstat(found.file.c_str(), &status) != 0) return is(Claimed::Away, reason(errno));
  if (S_ISLNK(status.st_mode)) return is(Claimed::Foreign, "is a symbolic link, not a recording");
  if (!S_ISREG(status.st_mode)) return is(Claimed::Foreign, "is a folder, a pipe or a device, not a recording");
  const int descriptor = ::open(found.file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return is(Claimed::Away, reason(errno));
  std::array<unsigned char, kHdf5.size()> start{};
  const ssize_t got = ::read(descriptor, start.data(), start.size());
  const int error = errno;
  ::close(descriptor);
  if (got < 0) return is(Claimed::Away, reason(error));
  if (got == 0) return is(Claimed::Foreign, "is empty");
  if (start != kHdf5) return is(Claimed::Foreign, "is not a recording");
  is(Claimed::Ours, "");
}

// Without a recorded person the key says whose it is.
std::string difference(const H5File& file, const RecordingClaim& claim) {
  const std::string person = file.text("person"), key = file.text(kAttemptKeyAttribute);
  const bool same_key = !key.empty() && key == claim.key;
  if (person != claim.person && !(person.empty() && same_key))
    return person.empty() ? "names no person"
                          : fmt::format("is a recording of {}, not of {}", printable(person), printable(claim.person));
  return claim.key.empty() || same_key ? "" : "is a recording of another attempt";
}

}  // namespace

RecordingClaim claim_of(const LabAttempt& attempt) {
  return {attempt.recording, attempt.station, attempt.person, attempt.key};
}

OwnRecording own_recording(const RecordingClaim& claim) {
  OwnRecording found;
  const std::string path = bytes_of_text(claim.recording);
  found.file = path;
  if (claim.station != host_name()) {
    found.why = claim.station.empty() ? "is on an unknown machine"
                                      : fmt::format("is on the machine {}", printable(claim.station));
    return found;
  }
  if (path.find('\0') != std::string::npos || !found.file.is_absolute()) {
    found.why = "is not the whole path of a file";
    return found;
  }
  look_at_file(found);
  if (found.answer != Claimed::Ours) return found;
  try {
    const H5File file = H5File::open(found.file);
    require_format(file);
    found.live = file.live();
    found.why = difference(file, claim);
  } catch (const std::runtime_error& error) {
    found.why = fmt::format("cannot be read as a recording ({})", printable(error.what(), kLongestText));
  }
  if (!found.why.empty()) found.answer = Claimed::Foreign;
  return found;
}

}  // namespace trocar
