#include "app/window/device_picture.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

constexpr double kConeDepth = 0.20, kHandleLength = 0.13;  // m
constexpr double kAcross = 0.60;                           // m     shown from left to right
constexpr double kLookDown = 0.35;                         // 1     how far the view is from above
constexpr int kRimPoints = 64;

// The frame of the trocar: x right, y to the head, z into the body. The view looks from the feet, slightly from above.
class SideView {
 public:
  SideView(const ImVec2& from, const ImVec2& size)
      : middle_(from.x + 0.5f * size.x, from.y + 0.40f * size.y), scale_(size.x / static_cast<float>(kAcross)) {}
  ImVec2 at(const glm::dvec3& p) const {
    const double right = p.x, down = p.z - kLookDown * p.y;
    return {middle_.x + scale_ * static_cast<float>(right), middle_.y + scale_ * static_cast<float>(down)};
  }

 private:
  ImVec2 middle_;
  float scale_;
};

glm::dvec3 along(double pan_deg, double tilt_deg, double depth) {
  return glm::dvec3(matrix_of({}, {pan_deg, tilt_deg, 0.0, depth, 0.0})[3]);
}

void draw_wall(ImDrawList& list, const SideView& view) {
  constexpr double kHalf = 0.18;
  const std::array<ImVec2, 4> corners{view.at({-kHalf, -kHalf, 0.0}), view.at({kHalf, -kHalf, 0.0}),
                                      view.at({kHalf, kHalf, 0.0}), view.at({-kHalf, kHalf, 0.0})};
  list.AddQuadFilled(corners[0], corners[1], corners[2], corners[3], IM_COL32(200, 150, 120, 34));
  list.AddQuad(corners[0], corners[1], corners[2], corners[3], IM_COL32(200, 150, 120, 90), theme::px(1.f));
}

// The rim of what the limits allow, at one distance from the trocar.
void draw_cone(ImDrawList& list, const SideView& view, const JointLimits& limits) {
  const auto rim = [&](int k) {
    const double angle = 2.0 * 3.14159265358979 * k / kRimPoints;
    const double tilt = std::sin(angle);
    return view.at(along(limits.pan_deg * std::cos(angle),
                         tilt > 0.0 ? tilt * limits.highest_tilt_deg : -tilt * limits.lowest_tilt_deg, kConeDepth));
  };
  const ImVec2 trocar = view.at(glm::dvec3(0.0));
  for (int k = 0; k < kRimPoints; ++k) {
    list.AddTriangleFilled(trocar, rim(k), rim(k + 1), theme::packed(theme::kSkyBlue, 0.06f));
    list.AddLine(rim(k), rim(k + 1), theme::packed(theme::kQuiet, 0.55f), theme::px(1.2f));
    if (k % (kRimPoints / 8) == 0) list.AddLine(trocar, rim(k), theme::packed(theme::kQuiet, 0.22f), theme::px(1.f));
  }
}

void draw_jaws(ImDrawList& list, const SideView& view, const Joints& joints, double grip, std::uint32_t colour) {
  const glm::dmat4 tip = matrix_of({}, joints);
  for (const double side : {-1.0, 1.0}) {
    const double half = 0.5 * glm::radians(70.0 * grip);
    const glm::dvec4 end(side * 0.03 * std::sin(half), 0.0, 0.03 * std::cos(half), 1.0);
    list.AddLine(view.at(glm::dvec3(tip[3])), view.at(glm::dvec3(tip * end)), colour, theme::px(2.5f));
  }
}

// The disc of the handle has a mark, which turns with the roll.
void draw_handle(ImDrawList& list, const SideView& view, const Joints& joints, std::uint32_t colour) {
  const glm::dvec3 away = along(joints.pan_deg, joints.tilt_deg, -kHandleLength);
  const ImVec2 at = view.at(away);
  const double roll = glm::radians(joints.spin_deg);
  const float radius = theme::px(15.f);
  list.AddCircleFilled(at, radius, IM_COL32(24, 30, 36, 255), 32);
  list.AddCircle(at, radius, colour, 32, theme::px(2.f));
  list.AddLine(at,
               {at.x + radius * static_cast<float>(std::sin(roll)), at.y - radius * static_cast<float>(std::cos(roll))},
               colour, theme::px(2.5f));
}

}  // namespace

void draw_device_picture(const DevicePicture& shown) {
  const ImVec2 from = ImGui::GetCursorScreenPos(), pixels(theme::px(shown.size.x), theme::px(shown.size.y));
  const ImVec2 to(from.x + pixels.x, from.y + pixels.y);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, to, IM_COL32(0, 0, 0, 110), theme::px(4.f));
  list.PushClipRect(from, to, true);
  const SideView view(from, pixels);
  draw_cone(list, view, shown.limits);
  draw_wall(list, view);
  if (shown.joints && shown.pose) {
    const Joints& joints = *shown.joints;
    const auto shade = theme::packed(shown.colour);
    const glm::dvec3 handle = along(joints.pan_deg, joints.tilt_deg, -kHandleLength);
    const glm::dvec3 tip = along(joints.pan_deg, joints.tilt_deg, joints.depth);
    list.AddLine(view.at(handle), view.at(tip), shade, theme::px(3.f));
    if (shown.jaws) draw_jaws(list, view, joints, shown.pose->grip, shade);
    draw_handle(list, view, joints, shade);
    if (shown.pose->energy != Diathermy::Off)
      list.AddCircleFilled(view.at(tip), theme::px(6.f), theme::packed(theme::kOrange));
  }
  list.AddCircleFilled(view.at(glm::dvec3(0.0)), theme::px(4.f), theme::packed(theme::kText));
  list.AddText({from.x + theme::px(8.f), from.y + theme::px(6.f)}, theme::packed(theme::kQuiet), "handle");
  list.AddText({from.x + theme::px(8.f), to.y - theme::px(22.f)}, theme::packed(theme::kQuiet), "patient");
  list.PopClipRect();
}

}  // namespace trocar
