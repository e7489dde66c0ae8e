#include "sim/support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "geometry/machine.hpp"

namespace trocar {
namespace {

constexpr auto kSilence = std::chrono::seconds(2);
constexpr auto kTerminalPeriod = std::chrono::milliseconds(100);
constexpr auto kLogPeriod = std::chrono::seconds(10);
constexpr std::size_t kBarWidth = 30;

}  // namespace

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_drawn_(start_) {}

Progress::~Progress() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::advance_to(std::size_t done) {
  const auto now = Clock::now();
  if (now - start_ < kSilence) return;
  if (shown_ && now - last_drawn_ < (terminal_ ? Clock::duration(kTerminalPeriod) : Clock::duration(kLogPeriod)))
    return;
  last_drawn_ = now;
  shown_ = true;
  draw(done);
}

void Progress::draw(std::size_t done) {
  const double fraction = total_ == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total_);
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double left = fraction > 0.0 ? elapsed * (1.0 - fraction) / fraction : 0.0;
  if (!terminal_) {
    fmt::print(stderr, "{}: {:.0f} % ({} of {}), about {:.0f} s left\n", what_, 100.0 * fraction, done, total_, left);
    return;
  }
  const auto filled = static_cast<std::size_t>(fraction * kBarWidth);
  fmt::print(stderr, "\r\x1b[K{} [{:=<{}}{:{}}] {:3.0f} %  {:.0f} s left", what_, "", filled, "", kBarWidth - filled,
             100.0 * fraction, left);
  std::fflush(stderr);
}

}  // namespace trocar
