#include "app/sweep/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {
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
