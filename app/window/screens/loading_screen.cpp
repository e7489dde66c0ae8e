#include "app/window/screens/loading_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <cmath>

#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/scene/task_scene.hpp"

namespace trocar {
namespace {

constexpr float kLoadingWidth = 420.f, kLoadingBar = 6.f;  // units
constexpr double kLoadingRound = 1.6;                      // s  in which the bar's mark goes there and back
constexpr float kLoadingMark = 0.25f;                      // 1  of the bar

// The remaining time is not known, so a mark moves from side to side.
void moving_bar(double time) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme::px(kLoadingBar);
  const double turn = std::fmod(time / kLoadingRound, 1.0);
  const auto at = static_cast<float>(turn < 0.5 ? 2.0 * turn : 2.0 - 2.0 * turn);
  const float left = from.x + at * (1.f - kLoadingMark) * width;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, {from.x + width, from.y + height}, theme::packed(theme::kQuiet, 0.25f), 0.5f * height);
  list.AddRectFilled({left, from.y}, {left + kLoadingMark * width, from.y + height}, theme::packed(theme::kSkyBlue),
                     0.5f * height);
  ImGui::Dummy({width, height});
}

}  // namespace

LoadingScreen::LoadingScreen(const Scene& scene, const PracticePlan& plan, GlContext* context)
    : title_(tr(scene.task && !scene.task->title.empty() ? scene.task->title : scene.title)), backend_(plan.backend) {
  loading_ = Task<Loaded>([scene, plan = PracticePlan(plan), context]() mutable {
    // A backend on the graphics card is made in the window's thread, by take().
    plan.backend = "scan";
    Loaded loaded;
    try {
      loaded.practice = std::make_unique<Practice>(scene, plan, context);
    } catch (...) {
      loaded.fault = std::current_exception();
    }
    return loaded;
  });
}

void LoadingScreen::step(const WindowInput& input, double elapsed, bool listens) {
  elapsed_ += elapsed;
  back_ = listens && input.went_down(Key::Escape);
  if (!loaded_) loaded_ = loading_.poll();
}

Ask LoadingScreen::panels() {
  const theme::Panel panel("loading", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {kLoadingWidth, 0.f}}, theme::PanelKind::Front,
                           0.92f);
  theme::headline(title_, true);
  theme::text(trf("Preparing organs and instruments: {:.0f} s", elapsed_), theme::kQuiet);
  ImGui::Spacing();
  moving_bar(elapsed_);
  ImGui::Spacing();
  if (theme::button("Back", 110.f) || back_) return Ask::Back;
  return loaded_ ? Ask::Loaded : Ask::Nothing;
}

ScreenStatus LoadingScreen::status() const {
  ScreenStatus status;
  status.phase = "loading";
  return status;
}

std::unique_ptr<Practice> LoadingScreen::take() {
  if (!loaded_->value) throw RunError(loaded_->fault);
  if (loaded_->value->fault) std::rethrow_exception(loaded_->value->fault);
  std::unique_ptr<Practice> practice = std::move(loaded_->value->practice);
  practice->take_backend(backend_);
  return practice;
}

}  // namespace trocar
