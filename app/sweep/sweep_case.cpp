#include "app/sweep/sweep_case.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {
namespace {

using CaseJson = nlohmann::ordered_json;

std::string line_text(const CaseJson& json) { return json.dump(-1, ' ', false, CaseJson::error_handler_t::replace); }

template <typename Read>
auto parsed(const std::string& line, Read read) {
  try {
    return read(CaseJson::parse(line));
  } catch (const CaseJson::exception&) {
    throw InputError("a line of the sweep's journal is not one that Trocar wrote; remove the journal");
  }
}

}  // namespace

const char* name_of(CaseStatus status) {
  switch (status) {
    case CaseStatus::Done:
      return "done";
    case CaseStatus::Refused:
      return "refused";
    case CaseStatus::Failed:
      return "failed";
    case CaseStatus::Crashed:
      return "crashed";
    case CaseStatus::TimedOut:
      return "timed out";
  }
  return "";
}

std::string to_line(const SweepCase& one) {
  return line_text({{"case", one.number}, {"results", static_cast<int>(one.results)}, {"commands", one.commands}});
}

SweepCase case_of_line(const std::string& line) {
  return parsed(line, [](const CaseJson& json) {
    return SweepCase{json.at("case").get<std::uint64_t>(), static_cast<ResultKind>(json.at("results").get<int>()),
                     json.at("commands").get<std::vector<std::vector<std::string>>>()};
  });
}

std::string to_line(const CaseOutcome& outcome) {
  CaseJson names = CaseJson::array(), values = CaseJson::array();
  for (const auto& [name, value] : outcome.values) {
    names.push_back(name);
    values.push_back(std::isfinite(value) ? CaseJson(value) : CaseJson(nullptr));
  }
  return line_text({{"case", outcome.number},
                    {"status", static_cast<int>(outcome.status)},
                    {"exit", outcome.exit_status},
                    {"signal", outcome.signal},
                    {"error", outcome.error},
                    {"names", names},
                    {"values", values},
                    {"seconds", outcome.seconds},
                    {"cpu_seconds", outcome.cpu_seconds},
                    {"memory_mib", outcome.memory_mib}});
}

CaseOutcome outcome_of_line(const std::string& line) {
  return parsed(line, [](const CaseJson& json) {
    CaseOutcome outcome;
    outcome.number = json.at("case").get<std::uint64_t>();
    outcome.status = static_cast<CaseStatus>(json.at("status").get<int>());
    outcome.exit_status = json.at("exit").get<int>();
    outcome.signal = json.at("signal").get<int>();
    outcome.error = json.at("error").get<std::string>();
    const CaseJson &names = json.at("names"), &values = json.at("values");
    for (std::size_t i = 0; i < names.size(); ++i)
      outcome.values.emplace_back(names.at(i).get<std::string>(), values.at(i).is_null()
                                                                      ? std::numeric_limits<double>::quiet_NaN()
                                                                      : values.at(i).get<double>());
    outcome.seconds = json.at("seconds").get<double>();
    outcome.cpu_seconds = json.at("cpu_seconds").get<double>();
    outcome.memory_mib = json.at("memory_mib").get<double>();
    return outcome;
  });
}

namespace {

constexpr FileKind kJournalFile{"journal", std::uint64_t{16} << 30};
constexpr std::string_view kFormat = "trocar-sweep-journal-1 ";
constexpr std::size_t kChecksumDigits = 16;

std::uint64_t checksum_of_text(std::string_view text, std::uint64_t sum) {
  return checksum_of(std::as_bytes(std::span(text)), sum);
}

}  // namespace

Journal::Journal(const std::filesystem::path& file, std::uint64_t plan_checksum, std::uint64_t cases)
    : file_(file), checksum_(plan_checksum), cases_(cases) {
  header_ = fmt::format("{}{:016x} {}\n", kFormat, plan_checksum, cases);
  std::error_code none;
  if (std::filesystem::exists(file, none) && !std::filesystem::is_regular_file(file, none))
    throw InputError(fmt::format("{}: is not a regular file; remove it or name other results", file.string()));
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (descriptor_ < 0)
    throw InputError(
        fmt::format("{}: the journal cannot be written; check the folder and its permissions", file.string()));
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw InputError(
          fmt::format("{}: another sweep is writing this journal; wait for it or name other results", file.string()));
    read(read_whole_file(file, kJournalFile));
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::read(const std::string& text) {
  if (text.empty() || (text.size() < header_.size() && header_.starts_with(text))) {
    if (::ftruncate(descriptor_, 0) != 0) throw RunError(fmt::format("{}: cannot be shortened", file_.string()));
    return write(header_);
  }
  if (!text.starts_with(kFormat))
    throw InputError(fmt::format("{}: is not the journal of a sweep; remove it or name other results", file_.string()));
  if (!text.starts_with(header_))
    throw InputError(fmt::format(
        "{}: belongs to another plan, or the plan, its files or Trocar have changed since; remove it to run all cases "
        "again, or name other results",
        file_.string()));
  std::vector<bool> known(cases_);
  std::size_t end = header_.size();
  for (std::size_t next; (next = text.find('\n', end)) != std::string::npos; end = next + 1) {
    const std::string line = text.substr(end, next + 1 - end);
    if (line.size() < kChecksumDigits + 2) continue;
    const std::string json = line.substr(kChecksumDigits + 1, line.size() - kChecksumDigits - 2);
    if (line_of(json) != line) continue;  // damaged: the case runs again
    CaseOutcome outcome = outcome_of_line(json);
    if (outcome.number >= cases_ || known[outcome.number]) continue;
    known[outcome.number] = true;
    finished_.push_back(std::move(outcome));
  }
  if (end < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(end)) != 0)
    throw RunError(fmt::format("{}: its last line cannot be removed", file_.string()));
}

std::string Journal::line_of(const std::string& json) const {
  return fmt::format("{:016x} {}\n", checksum_of_text(json, checksum_), json);
}

void Journal::write(const std::string& line) {
  if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw RunError(fmt::format("{}: could not be written; is the disk full?", file_.string()));
}

void Journal::append(const CaseOutcome& outcome) { write(line_of(to_line(outcome))); }

void Journal::remove() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace trocar
