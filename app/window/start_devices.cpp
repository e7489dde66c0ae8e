#include "app/window/start_devices.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"

namespace trocar {

void StartDevices::select(const Scene& scene) {
  if (!choices_.empty()) kept_[selected_] = choices_;
  selected_ = scene.file;
  choices_ = device_choices(scene);
  const auto kept = kept_.find(scene.file);
  const auto same = [](const DeviceChoice& a, const DeviceChoice& b) { return a.holds == b.holds; };
  if (kept != kept_.end() && std::ranges::equal(kept->second, choices_, same)) choices_ = kept->second;
  rest();
}

void StartDevices::use(std::vector<DeviceChoice> choices) {
  if (choices.size() == choices_.size()) choices_ = std::move(choices);
  rest();
}

void StartDevices::rest() {
  watch_.reset();
  watched_.clear();
}

void StartDevices::watch(const Scene& scene, const SceneAccess& access, double elapsed) {
  if (choices_.empty() || choices_.size() != scene.instruments.size() + 1) return rest();
  time_ += elapsed;
  if (!watch_ || watched_ != choices_ || scene_ != scene.file) {
    rest();  // a SpaceMouse can be open only once
    watch_ = std::make_unique<DeviceWatch>(scene, choices_, access);
    watched_ = choices_, scene_ = scene.file, time_ = 0.0;
  }
  watch_->read(time_);
}

void StartDevices::draw_fault(std::size_t k, float from) const {
  if (!watch_ || k >= watch_->readings().size() || watch_->readings()[k].fault.empty()) return;
  const theme::WithLetters small(theme::Letters::Small);
  ImGui::SetCursorPosX(theme::px(from));
  theme::wrapped(watch_->readings()[k].fault, theme::kBad);
}

void StartDevices::draw_why_not() const {
  if (!blocks()) return;
  const auto& readings = watch_->readings();
  const auto first = std::ranges::find_if(readings, &DeviceReading::blocks);
  const theme::WithLetters small(theme::Letters::Small);
  theme::text(fmt::format("{}: {}", choices_[static_cast<std::size_t>(first - readings.begin())].holds, first->fault),
              theme::kBad);
}

std::string StartDevices::faults() const {
  std::string text;
  if (!watch_) return text;
  for (std::size_t k = 0; k < watch_->readings().size(); ++k)
    if (const std::string& fault = watch_->readings()[k].fault; !fault.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", choices_[k].holds, fault);
  return text;
}

}  // namespace trocar
