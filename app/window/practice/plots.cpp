#include "app/window/practice/plots.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"

namespace trocar {

void StageHistory::add(std::span<const float> stage_ms, double draw_ms, double frame_ms) {
  for (std::size_t row = 0; row < kStages; ++row) rows_[row][next_] = row < stage_ms.size() ? stage_ms[row] : 0.f;
  rows_[kDraw][next_] = static_cast<float>(draw_ms);
  rows_[kFrame][next_] = static_cast<float>(frame_ms);
  next_ = (next_ + 1) % kFrames;
  count_ = std::min(count_ + 1, kFrames);
}

float StageHistory::at(std::size_t row, std::size_t back) const {
  return rows_[row][(next_ + 2 * kFrames - 1 - back) % kFrames];
}

float StageHistory::median(std::size_t row) const {
  if (count_ == 0) return 0.f;
  for (std::size_t back = 0; back < count_; ++back) sorted_[back] = at(row, back);
  const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
  std::nth_element(sorted_.begin(), middle, sorted_.begin() + static_cast<std::ptrdiff_t>(count_));
  return *middle;
}

double recent_median(std::span<const double> samples) {
  std::array<double, StageHistory::kFrames> last{};
  const std::size_t count = std::min(samples.size(), last.size());
  if (count == 0) return 0.0;
  std::copy(samples.end() - static_cast<std::ptrdiff_t>(count), samples.end(), last.begin());
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(last.begin(), middle, last.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

namespace {

// Short stages share a colour: eight colours are distinguishable, twelve are not.
struct Band {
  const char* label;
  glm::vec3 colour;
  std::vector<std::size_t> rows;
};

const std::vector<Band>& bands() {
  static const std::vector<Band> list = {{"tissue", theme::kVermilion, {kTissue}},
                                         {"contacts, cut", theme::kYellow, {kContacts, kCut}},
                                         {"update", theme::kBlue, {kUpdate}},
                                         {"query", theme::kSkyBlue, {kQuery}},
                                         {"check", theme::kPurple, {kCheck}},
                                         {"surface", theme::kGreen, {kSurface}},
                                         {"other", {0.55f, 0.55f, 0.55f}, {kDevices, kPairs, kRecord}},
                                         {"drawing", {0.36f, 0.40f, 0.45f}, {StageHistory::kDraw}}};
  return list;
}

float sum_at(const StageHistory& history, const Band& band, std::size_t back) {
  float sum = 0.f;
  for (const std::size_t row : band.rows) sum += history.at(row, back);
  return sum;
}

// Returns a round upper limit of the axis, above the longest frame.
float top_of(const StageHistory& history) {
  float highest = 1.f;
  for (std::size_t back = 0; back < history.frames(); ++back) {
    float sum = 0.f;
    for (const Band& band : bands()) sum += sum_at(history, band, back);
    highest = std::max(highest, sum);
  }
  for (const float top : {2.f, 5.f, 10.f, 20.f, 50.f, 100.f, 200.f, 500.f})
    if (highest <= top) return top;
  return highest;
}

void stack(const StageHistory& history) {
  const ImVec2 from = ImGui::GetCursorScreenPos(), size(ImGui::GetContentRegionAvail().x, theme::px(96.f));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, {from.x + size.x, from.y + size.y}, IM_COL32(0, 0, 0, 120));
  const float top = top_of(history), width = size.x / static_cast<float>(StageHistory::kFrames);
  for (std::size_t back = 0; back < history.frames(); ++back) {
    const float x = from.x + size.x - static_cast<float>(back + 1) * width;
    float y = from.y + size.y;
    for (const Band& band : bands()) {
      const float height = std::min(sum_at(history, band, back) / top * size.y, y - from.y);
      list.AddRectFilled({x, y - height}, {x + width + 0.5f, y}, theme::packed(band.colour));
      y -= height;
    }
  }
  const std::string scale = fmt::format("{:g} ms", top);
  list.AddText({from.x + theme::px(4.f), from.y + theme::px(2.f)}, theme::packed(theme::kText), scale.c_str());
  ImGui::Dummy(size);
}

void legend(const StageHistory& history) {
  for (const Band& band : bands()) {
    float median = 0.f;
    for (const std::size_t row : band.rows) median += history.median(row);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float side = theme::px(9.f), down = theme::px(3.f);
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + down}, {at.x + side, at.y + down + side},
                                              theme::packed(band.colour));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + theme::px(16.f));
    theme::row(band.label, fmt::format("{:.2f} ms", median));
  }
}

// Shows update and query time of the active backend and the checker.
void backend_rows(const Session& session) {
  for (const BackendTimes& times : session.backend_times()) {
    const double ms = recent_median(times.update_ms) + recent_median(times.query_ms);
    const bool answers = &times == session.backend_times().data();
    theme::row(times.name + (answers ? ", active" : ", check"),
               times.query_ms.empty() ? "no contact yet" : fmt::format("{:.3f} ms", ms));
  }
  theme::text("O: switch backend", theme::kQuiet);
  if (session.backend_times().size() < 2) return;
  theme::text(session.checking() ? "C: stop checking" : "C: check every frame", theme::kQuiet);
}

}  // namespace

void draw_plots(const StageHistory& history, const Session& session) {
  const theme::Panel panel("plots", {{1.f, 0.f}, {-8.f, 8.f}, {1.f, 0.f}, {214.f, 0.f}}, theme::PanelKind::Shown, 0.6f);
  const theme::WithLetters small(theme::Letters::Small);
  theme::heading("Frame time, medians");
  stack(history);
  legend(history);
  theme::heading("Touch query: update + query");
  backend_rows(session);
}

}  // namespace trocar
