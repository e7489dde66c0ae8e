#include "app/window/results_screen.hpp"

#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/theme.hpp"

namespace trocar {

ResultsScreen::ResultsScreen(std::filesystem::path recording) : recording_(std::move(recording)) {}

void ResultsScreen::step(const WindowInput& input, double, bool listens) {
  escape_ = listens && std::ranges::find(input.pressed, Key::Escape) != input.pressed.end();
}

void ResultsScreen::picture(const glm::ivec2& size) {
  glViewport(0, 0, size.x, size.y);
  glClearColor(0.04f, 0.05f, 0.06f, 1.f);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

Ask ResultsScreen::panels() {
  Ask ask = escape_ ? Ask::Back : Ask::Nothing;
  const theme::Panel panel("results", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {900.f, 0.f}}, theme::PanelKind::Used);
  {
    const theme::WithLetters title(theme::Letters::Title);
    theme::text("Results");
  }
  theme::text(fmt::format("recording: {}", recording_.string()), theme::kQuiet);
  ImGui::Spacing();
  if (theme::button("Again", 150.f, true)) ask = Ask::Again;
  ImGui::SameLine();
  if (theme::button("Replay", 150.f)) ask = Ask::OpenRecording;
  ImGui::SameLine();
  if (theme::button("Start screen", 150.f)) ask = Ask::Back;
  return ask;
}

ScreenStatus ResultsScreen::status() const {
  ScreenStatus status;
  status.phase = "results";
  status.file = recording_;
  return status;
}

}  // namespace trocar
