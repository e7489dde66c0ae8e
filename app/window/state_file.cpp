#include "app/window/state_file.hpp"

#include <nlohmann/json.hpp>

#include "sim/support/files.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

constexpr std::chrono::milliseconds kBetween{100};

void add_position(nlohmann::json& state, const char* key, const std::optional<glm::dvec3>& position) {
  if (position) state[key] = {1e3 * position->x, 1e3 * position->y, 1e3 * position->z};
}

}  // namespace

void StateFile::write(ScreenName screen, const ScreenStatus& status, std::span<const theme::ItemPosition> locations) {
  ++shown_;
  const auto now = std::chrono::steady_clock::now();
  if (file_.empty() || now - last_ < kBetween) return;
  last_ = now;
  nlohmann::json state = {{"screen", name_of(screen)},
                          {"phase", status.phase},
                          {"in_hand", status.in_hand},
                          {"file", text_of_bytes(status.file.string())},
                          {"frames", status.frames},
                          {"touched", status.touched},
                          {"note", status.note},
                          {"shown", shown_},
                          {"places", nlohmann::json::object()}};
  if (!status.disk.empty()) state["room"] = status.disk;
  if (!status.step.empty()) state["step"] = status.step;
  add_position(state, "tip_mm", status.tip);
  add_position(state, "goal_mm", status.goal);
  if (status.goal || status.progress > 0.0) state["progress"] = status.progress;
  for (const theme::ItemPosition& location : locations) {
    const glm::vec2 middle = 0.5f * (location.from + location.to);
    state["places"][location.label] = {static_cast<int>(middle.x), static_cast<int>(middle.y)};
  }
  try {
    OutputFile out(file_, OutputKind::Json);
    out.stream() << state.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    out.commit();
  } catch (const std::runtime_error&) {
    // The file was writable at the start; its reader sees that it is not updated.
  }
}

}  // namespace trocar
