#include "app/window/replay/timeline.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/replay/replay_scene.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"

namespace trocar {
namespace {

constexpr std::size_t kBins = 600;
constexpr float kForceHeight = 0.8f;  // of the timeline's, of the largest force

}  // namespace

glm::vec3 colour_of(MarkKind kind) {
  switch (kind) {
    case MarkKind::Touch:
      return theme::kSkyBlue;
    case MarkKind::ForcePeak:
      return theme::kYellow;
    case MarkKind::Error:
      return theme::kVermilion;
    case MarkKind::Note:
      break;
  }
  return theme::kGreen;
}

const char* words_of(MarkKind kind) {
  constexpr const char* kWords[] = {msgid("touch"), msgid("force peak"), msgid("reached"), msgid("error")};
  return tr(kWords[static_cast<std::size_t>(kind)]);
}

std::vector<TimeMark> force_marks(std::span<const float> force, const MarkParams& params) {
  std::vector<TimeMark> marks;
  std::size_t highest = force.size();
  bool touching = false;
  for (std::size_t frame = 0; frame <= force.size(); ++frame) {
    const float now = frame < force.size() ? force[frame] : 0.f;
    if (now > params.peak && (highest == force.size() || now > force[highest])) highest = frame;
    if (now <= params.peak && highest < force.size()) {
      marks.push_back({highest, MarkKind::ForcePeak});
      highest = force.size();
    }
    if (now > params.touch && !touching) marks.push_back({frame, MarkKind::Touch});
    touching = now > params.touch;
  }
  std::ranges::stable_sort(marks, {}, &TimeMark::frame);
  return marks;
}

std::vector<float> profile_of(std::span<const float> values, std::size_t bins) {
  std::vector<float> profile(bins, 0.f);
  for (std::size_t k = 0; k < values.size(); ++k) {
    float& bin = profile[k * bins / values.size()];
    bin = std::max(bin, values[k]);
  }
  return profile;
}

Timeline::Timeline(const Recording& recording) : recording_(&recording) {
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) {
    const std::vector<float> force = force_of(recording, tool);
    for (const TimeMark& mark : force_marks(force))
      marks_.push_back({mark, share_of(mark.frame),
                        mark.kind == MarkKind::Touch
                            ? trf("{}: touch", recording.tools()[tool])
                            : fmt::format("{}: {:.1f} N", recording.tools()[tool], force[mark.frame])});
    profiles_.push_back(profile_of(force, std::min(kBins, force.size())));
    highest_ = std::max(highest_, *std::ranges::max_element(force));
  }
}

double Timeline::share_of(std::size_t frame) const {
  const auto& times = recording_->score_times();
  const double duration = times.back() - times.front();
  return duration > 0.0 ? (times[frame] - times.front()) / duration : 0.0;
}

void Timeline::add(std::span<const TaskEvent> events) {
  const auto& times = recording_->score_times();
  for (const TaskEvent& event : events) {
    const auto frame = static_cast<std::size_t>(std::ranges::lower_bound(times, event.time) - times.begin());
    const std::size_t shown = std::min(frame, times.size() - 1);
    marks_.push_back({{shown, event.error ? MarkKind::Error : MarkKind::Note}, share_of(shown), event.text});
  }
}

void Timeline::draw_profiles(const glm::vec2& from, const glm::vec2& size) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t tool = 0; tool < profiles_.size(); ++tool) {
    const auto& profile = profiles_[tool];
    const auto at = [&](std::size_t bin) {
      const float x = (static_cast<float>(bin) + 0.5f) / static_cast<float>(profile.size());
      return ImVec2(from.x + x * size.x, from.y + size.y * (1.f - kForceHeight * profile[bin] / highest_));
    };
    for (std::size_t bin = 1; bin < profile.size(); ++bin)
      list.AddLine(at(bin - 1), at(bin), theme::packed(theme::instrument_colour(tool), 0.9f), theme::px(1.3f));
  }
}

// Notes and errors are drawn at the top edge, touches and peaks at the bottom.
void Timeline::draw_marks(const glm::vec2& from, const glm::vec2& size) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const TimelineMark& mark : marks_) {
    const float x = from.x + static_cast<float>(mark.share) * size.x, r = theme::px(4.f);
    const bool top = mark.mark.kind == MarkKind::Error || mark.mark.kind == MarkKind::Note;
    const ImU32 colour = theme::packed(colour_of(mark.mark.kind));
    if (top)
      list.AddTriangleFilled({x - r, from.y}, {x + r, from.y}, {x, from.y + 1.8f * r}, colour);
    else
      list.AddLine({x, from.y + size.y}, {x, from.y + size.y - theme::px(7.f)}, colour, theme::px(1.5f));
  }
}

void Timeline::draw(const glm::vec2& from, const glm::vec2& size, double share) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled({from.x, from.y}, {from.x + size.x, from.y + size.y}, IM_COL32(0, 0, 0, 150), theme::px(4.f));
  draw_profiles(from, size);
  draw_marks(from, size);
  const float x = from.x + static_cast<float>(share) * size.x;
  list.AddLine({x, from.y}, {x, from.y + size.y}, theme::packed(theme::kText), theme::px(2.f));
  const std::string scale = fmt::format("{:.1f} N", highest_ / kForceHeight);
  list.AddText({from.x + theme::px(5.f), from.y + theme::px(1.f)}, theme::packed(theme::kQuiet), scale.c_str());
}

const TimelineMark* Timeline::mark_at(double share, double reach) const {
  const auto near = [&](const TimelineMark& mark) { return std::abs(mark.share - share) < reach; };
  const auto found = std::find_if(marks_.rbegin(), marks_.rend(), near);
  return found == marks_.rend() ? nullptr : &*found;
}

}  // namespace trocar
