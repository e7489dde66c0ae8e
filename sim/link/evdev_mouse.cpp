#include "sim/link/evdev_mouse.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr std::array<int, 3> kButtons = {BTN_LEFT, BTN_RIGHT, BTN_MIDDLE};

// Returns whether a bit is set in a file of sysfs: hexadecimal words of a long, the most significant first.
bool has_bit(const std::filesystem::path& file, std::size_t bit) {
  std::ifstream in(file);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  constexpr std::size_t kBits = 8 * sizeof(long);
  const std::size_t from_end = bit / kBits;
  if (from_end >= words.size()) return false;
  const std::string& word = words[words.size() - 1 - from_end];
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  return error == std::errc{} && ((value >> (bit % kBits)) & 1ul) != 0;
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

std::string names_of(const std::vector<ListedMouse>& mice) {
  std::string text;
  for (const ListedMouse& mouse : mice)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", mouse.number, printable(mouse.name));
  return text;
}

}  // namespace

void MouseEvents::take(const input_event& event) {
  if (event.type == EV_SYN && event.code == SYN_DROPPED) {
    dropped_ = true;
    report_ = {};
    whole_.buttons = {};
    return;
  }
  if (event.type == EV_SYN && event.code == SYN_REPORT) {
    if (!dropped_) {
      whole_.right += report_.right, whole_.up += report_.up, whole_.wheel += report_.wheel;
      for (std::size_t k = 0; k < kButtons.size(); ++k) {
        whole_.buttons[k] = report_.buttons[k];
        whole_.pressed[k] = whole_.pressed[k] || report_.pressed[k];
      }
    }
    dropped_ = false;
    report_ = {};
    report_.buttons = whole_.buttons;
    return;
  }
  if (dropped_) return;
  const auto count = static_cast<double>(event.value);
  if (event.type == EV_REL && event.code == REL_X) report_.right += count;
  if (event.type == EV_REL && event.code == REL_Y) report_.up -= count;
  if (event.type == EV_REL && event.code == REL_WHEEL) report_.wheel += count;
  if (event.type != EV_KEY) return;
  for (std::size_t k = 0; k < kButtons.size(); ++k) {
    if (event.code != kButtons[k] || event.value == 2) continue;  // 2: repeated
    report_.buttons[k] = event.value != 0;
    report_.pressed[k] = report_.pressed[k] || event.value != 0;
  }
}

MouseCounts MouseEvents::counts() {
  MouseCounts counts = whole_;
  whole_ = {};
  whole_.buttons = counts.buttons;
  return counts;
}

std::vector<ListedMouse> list_mice(const std::filesystem::path& sysfs) {
  std::vector<ListedMouse> mice;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(sysfs, error), end; !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    const auto number = file.starts_with("event") ? number_of(std::string_view(file).substr(5)) : std::nullopt;
    if (!number) continue;
    const std::filesystem::path device = entry->path() / "device";
    if (!has_bit(device / "capabilities/rel", REL_X) || !has_bit(device / "capabilities/rel", REL_Y) ||
        !has_bit(device / "capabilities/key", BTN_LEFT))
      continue;
    mice.push_back({*number, first_line(device / "name")});
  }
  std::ranges::sort(mice, {}, &ListedMouse::number);
  return mice;
}

int find_mouse(const std::vector<ListedMouse>& mice, const std::string& which) {
  if (mice.empty())
    throw InputError("this machine shows no mouse in /sys/class/input; connect a second one, or choose other hands");
  if (which.empty() && mice.size() < 2)
    throw InputError(
        fmt::format("only one mouse is connected: {}; connect a second one, or choose other hands", names_of(mice)));
  if (which.empty()) return mice.back().number;
  const auto wanted = number_of(which);
  for (const ListedMouse& mouse : mice)
    if (wanted ? mouse.number == *wanted : mouse.name.find(which) != std::string::npos) return mouse.number;
  throw InputError(
      fmt::format("no mouse has the number or name '{}'; connected: {}", printable(which), names_of(mice)));
}

EvdevMouse::EvdevMouse(int number, const std::filesystem::path& folder) {
  const std::string file = (folder / fmt::format("event{}", number)).string();
  descriptor_ = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0 && (errno == EACCES || errno == EPERM))
    throw InputError(fmt::format(
        "the second mouse, {}, may not be read; add the user to the group input (sudo usermod -aG input $USER) and log "
        "in again",
        file));
  if (descriptor_ < 0)
    throw InputError(fmt::format("the second mouse, {}, cannot be opened ({}); connect it again, or choose other hands",
                                 file, std::strerror(errno)));
  if (ioctl(descriptor_, EVIOCGRAB, 1) == 0) return;
  const std::string reason = std::strerror(errno);
  close(descriptor_);
  throw InputError(fmt::format(
      "the second mouse, {}, cannot be had alone ({}); end the other program that reads it, or choose other hands",
      file, reason));
}

EvdevMouse::EvdevMouse(Open open) : descriptor_(open.descriptor) {
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
}

EvdevMouse::~EvdevMouse() {
  if (descriptor_ >= 0) close(descriptor_);  // ends the grab
}

EvdevMouse::EvdevMouse(EvdevMouse&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      connected_(other.connected_),
      events_(other.events_),
      part_(other.part_),
      part_size_(other.part_size_) {}

MouseCounts EvdevMouse::read() {
  while (connected_) {
    const ssize_t got = ::read(descriptor_, part_.data() + part_size_, part_.size() - part_size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got <= 0) {
      connected_ = false;
      events_ = {};
      break;
    }
    part_size_ += static_cast<std::size_t>(got);
    if (part_size_ < part_.size()) continue;
    part_size_ = 0;
    input_event event;
    std::memcpy(&event, part_.data(), sizeof event);
    events_.take(event);
  }
  MouseCounts counts = events_.counts();
  counts.connected = connected_;
  return counts;
}

}  // namespace trocar
