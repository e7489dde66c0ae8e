#include "app/window/state_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace trocar {
namespace {

constexpr std::chrono::milliseconds kBetween{100};

}  // namespace

void StateFile::write(ScreenName screen, const ScreenStatus& status, std::span<const theme::ButtonPlace> places) {
  ++shown_;
  const auto now = std::chrono::steady_clock::now();
  if (file_.empty() || now - last_ < kBetween) return;
  last_ = now;
  nlohmann::json state = {
      {"screen", name_of(screen)},    {"phase", status.phase},   {"in_hand", status.in_hand},
      {"file", status.file.string()}, {"frames", status.frames}, {"touched", status.touched},
      {"note", status.note},          {"shown", shown_},         {"places", nlohmann::json::object()}};
  for (const theme::ButtonPlace& place : places) {
    const glm::vec2 middle = 0.5f * (place.from + place.to);
    state["places"][place.label] = {static_cast<int>(middle.x), static_cast<int>(middle.y)};
  }
  auto beside = file_;
  beside += ".new";
  std::ofstream(beside) << state.dump() << '\n';
  std::error_code ignored;
  std::filesystem::rename(beside, file_, ignored);
}

}  // namespace trocar
