#include "sim/record/record_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/support/byte_archive.hpp"

namespace trocar {
namespace {

constexpr std::string_view kActivityNames[] = {"attempt", "demonstration", "replay", "script"};
constexpr std::string_view kEndingNames[] = {"unknown", "done", "not done", "stopped"};

}  // namespace

std::string_view name_of(Activity activity) { return kActivityNames[static_cast<std::size_t>(activity)]; }

std::string_view name_of(Ending ending) { return kEndingNames[static_cast<std::size_t>(ending)]; }

Ending ending_of(const TaskRun* task) {
  if (!task || !task->feed().finished) return Ending::Stopped;
  return task->feed().done ? Ending::Done : Ending::NotDone;
}

bool is_attempt_key(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string attempt_key_from(std::string_view content) {
  const auto bytes = std::as_bytes(std::span(content.data(), content.size()));
  const std::uint64_t sum = checksum_of(bytes);
  // A second checksum of the same bytes, which begins elsewhere.
  return fmt::format("{:016x}{:016x}", sum, checksum_of(bytes, sum ^ 0x9E3779B97F4A7C15ull));
}

std::optional<Activity> activity_named(std::string_view name) {
  const auto found = std::find(std::begin(kActivityNames), std::end(kActivityNames), name);
  if (found == std::end(kActivityNames)) return {};
  return static_cast<Activity>(found - std::begin(kActivityNames));
}

namespace {

template <typename Value>
std::uint64_t with(std::uint64_t sum, const Value& value) {
  return checksum_of(std::as_bytes(std::span(&value, 1)), sum);
}

}  // namespace

std::uint64_t checksum_of(const RecordedFrame& frame) {
  std::uint64_t sum = kEmptyChecksum;
  for (const RecordedOrganFrame& organ : frame.organs) {
    sum = checksum_of(std::as_bytes(organ.nodes), sum);
    for (const Touch& touch : organ.touches.touches)
      sum = with(with(with(with(sum, touch.point), touch.normal), touch.depth), touch.time);
    sum = checksum_of(std::as_bytes(organ.pressure), sum);
  }
  return sum;
}

std::uint64_t checksum_with_faces(const RecordedFrame& frame) {
  std::uint64_t sum = checksum_of(frame);
  for (const RecordedOrganFrame& organ : frame.organs)
    for (const Touch& touch : organ.touches.touches) sum = with(sum, organ.id_of(touch));
  return sum;
}

}  // namespace trocar
