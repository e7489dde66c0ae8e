#include "app/window/screens/device_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/device/joints.hpp"

namespace trocar {
namespace {

// Draws what a device sends: the instrument in the cone of its limits about the trocar, seen from the side; handle
// above the abdominal wall, tip below it.
struct DevicePicture {
  JointLimits limits;
  const Joints* joints = nullptr;  // null: nothing is received
  const DevicePose* pose = nullptr;
  bool jaws = false;
  glm::vec3 colour{1.f};
  glm::vec2 size{400.f, 300.f};  // units
};

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

// Draws into the current panel.
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

constexpr float kDevicesWidth = 230.f, kFormWidth = 400.f, kScreenHeight = 556.f;  // units
constexpr float kBelowForms = 44.f;                                                // units: the buttons
constexpr float kFieldColumn = 110.f;
constexpr glm::vec2 kPictureSize{404.f, 300.f};

// A text field that counts when the user presses Enter or leaves it.
bool finished_text(const char* label, const char* hint, std::string& text) {
  theme::label(label, kFieldColumn);
  ImGui::InputTextWithHint(fmt::format("##{}", label).c_str(), hint, &text);
  theme::note_item(label);
  return ImGui::IsItemDeactivatedAfterEdit();
}

// Rounds without a negative zero.
double tenths(double value) { return std::round(10.0 * value) / 10.0 + 0.0; }

const char* pedal_text(Diathermy pedal) {
  switch (pedal) {
    case Diathermy::Off:
      return "up";
    case Diathermy::Cut:
      return "cut";
    case Diathermy::Coagulate:
      return "coagulate";
  }
  return "";
}

}  // namespace

DeviceScreen::DeviceScreen(Scene scene, std::vector<DeviceChoice> choices, SceneAccess access)
    : scene_(std::move(scene)), choices_(std::move(choices)), access_(std::move(access)) {
  // A gamepad moves the instrument in the picture, not the focus.
  ImGui::GetIO().ConfigFlags &= ~ImGuiConfigFlags_NavEnableGamepad;
  watch_ = std::make_unique<DeviceWatch>(scene_, choices_, access_);
  select(0);
}

DeviceScreen::~DeviceScreen() { ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_NavEnableGamepad; }

void DeviceScreen::select(std::size_t k) {
  selected_ = k;
  igtl_ = igtl_fields(choices_[k].source);
  const bool scope = k == scene_.instruments.size();
  file_ = scope ? choices_[k].source : choices_[k].trajectory.string();
  source_ = choices_[k].source;
}

void DeviceScreen::step(const WindowInput& input, double elapsed, bool listens) {
  escape_ = listens && input.went_down(Key::Escape);
  wheel_ = input.wheel;
  time_ += elapsed;
  if (changed_) {
    watch_.reset();  // a SpaceMouse can be open only once
    watch_ = std::make_unique<DeviceWatch>(scene_, choices_, access_);
    changed_ = false, time_ = 0.0;
  }
  watch_->read(time_);
}

void DeviceScreen::device_list() {
  theme::heading(tr("Instruments and scope"));
  for (std::size_t k = 0; k < choices_.size(); ++k) {
    const DeviceReading& reading = watch_->readings()[k];
    const theme::Scope id = theme::with_id(k);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::Selectable("##slot", k == selected_, 0, {0.f, theme::px(46.f)})) select(k);
    theme::note_item("Device of " + choices_[k].holds);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const glm::vec3 colour = k < scene_.instruments.size() ? theme::instrument_colour(k) : theme::kText;
    list.AddRectFilled({at.x + theme::px(4.f), at.y + theme::px(6.f)}, {at.x + theme::px(9.f), at.y + theme::px(40.f)},
                       theme::packed(colour), theme::px(2.f));
    list.AddText({at.x + theme::px(18.f), at.y + theme::px(4.f)}, theme::packed(theme::kText),
                 choices_[k].holds.c_str());
    const bool missing = !reading.fault.empty() || !reading.asks_host.empty();
    const std::string line = device_label(choices_[k].device) + (missing ? ": missing" : "");
    list.AddText({at.x + theme::px(18.f), at.y + theme::px(24.f)}, theme::packed(missing ? theme::kBad : theme::kQuiet),
                 line.c_str());
  }
}

void DeviceScreen::kind_choice() {
  DeviceChoice& choice = choices_[selected_];
  std::vector<std::string> kinds, labels;
  for (const std::string& name : device_names()) {
    if (selected_ == scene_.instruments.size() && name == "haptic") continue;
    kinds.push_back(name);
    labels.push_back(device_label(name));
  }
  const auto chosen = theme::choice("Device", device_label(choice.device), labels, kFieldColumn);
  if (!chosen || kinds[*chosen] == choice.device) return;
  choice.device = kinds[*chosen];
  changed_ = true;
}

void DeviceScreen::igtl_fields_of(DeviceChoice& choice) {
  bool done = finished_text("Host", "localhost", igtl_.host);
  done = finished_text("Port", "18944", igtl_.port) || done;
  done = finished_text("Tool", "any tool", igtl_.tool) || done;
  if (!done) return;
  choice.source = igtl_source_text(igtl_);
  changed_ = true;
}

void DeviceScreen::file_fields_of(DeviceChoice& choice) {
  const bool scope = selected_ == scene_.instruments.size();
  if (finished_text("File", scope ? "recording: .h5" : "motion: .csv, or a recording: .h5", file_)) {
    if (scope)
      choice.source = file_.empty() ? file_ : std::filesystem::absolute(file_).string();
    else
      choice.trajectory = file_;
    choice.typed = changed_ = true;
  }
  if (!scope && file_.ends_with(".h5") && finished_text("Recorded as", "its name in the recording", source_)) {
    choice.source = source_;
    changed_ = true;
  }
}

void DeviceScreen::axis_fields(AxisScale& axes) {
  constexpr double kLeast = 0.1, kMost = 4.0;
  struct Line {
    const char* label;
    double* scale;
  };
  theme::heading(tr("Calibration"));
  for (const Line& line : {Line{"Right, left", &axes.right}, Line{"Up, down", &axes.up}, Line{"In, out", &axes.in},
                           Line{"Roll", &axes.roll}}) {
    double size = std::clamp(std::abs(*line.scale), kLeast, kMost);
    bool reversed = *line.scale < 0.0;
    theme::label(line.label, kFieldColumn, 150.f);
    const bool moved = ImGui::SliderScalar(fmt::format("##{}", line.label).c_str(), ImGuiDataType_Double, &size,
                                           &kLeast, &kMost, "\u00D7 %.2f", ImGuiSliderFlags_Logarithmic);
    const bool left = ImGui::IsItemDeactivatedAfterEdit();
    theme::note_item(line.label);
    ImGui::SameLine();
    const bool turned = ImGui::Checkbox(fmt::format("reversed##{}", line.label).c_str(), &reversed);
    theme::note_item(fmt::format("Reverse {}", line.label));
    if (moved || turned) *line.scale = reversed ? -size : size;
    changed_ = changed_ || left || turned;
  }
}

// The user holds the tool as the instrument is at the start, and presses the button.
void DeviceScreen::registration_fields(Registration& registration) {
  theme::heading(tr("Calibration"));
  const auto found = watch_->registration_of_start(selected_);
  if (theme::button("Set start pose", 150.f, false, found.has_value())) {
    registration = *found;
    changed_ = true;
  }
  ImGui::SameLine();
  if (theme::button("Clear", 90.f, false, registration != Registration{})) {
    registration = {};
    changed_ = true;
  }
  const theme::WithLetters small(theme::Letters::Small);
  theme::wrapped(
      tr("Hold the tool as the instrument is in the scene at the start, its shaft through the trocar. Then press Set "
         "start "
         "pose."),
      theme::kQuiet);
  theme::wrapped(registration == Registration{}
                     ? std::string("Not calibrated: the tracker sends poses in the world of the scene.")
                     : trf("Calibrated: turned by {:.1f}\u00B0, moved by {:.1f} mm.",
                           glm::length(registration.turn_deg), 1e3 * glm::length(registration.move)));
}

void DeviceScreen::host_question(const std::string& host) {
  theme::wrapped(trf("{} is another machine. Connect only if you trust this machine and the author of the scene.",
                     printable(host)),
                 theme::kBad);
  if (theme::button("Connect", 150.f)) {
    access_.hosts.push_back(host);
    changed_ = true;
  }
}

void DeviceScreen::what_it_does() const {
  const std::string& device = choices_[selected_].device;
  if (device == "mouse")
    theme::wrapped(tr("Drag in the picture to try it; the wheel inserts and withdraws."), theme::kQuiet);
  if (device == "igtl")
    theme::wrapped(tr("Tool: the name of its TRANSFORM messages, or of its element of TDATA. Press Enter to connect."),
                   theme::kQuiet);
  if (device == "haptic")
    theme::wrapped(tr("A simulated hand follows the scene's script at 1 kHz; no hardware is needed."), theme::kQuiet);
  if (device == "gamepad")
    theme::wrapped(tr("Number or name: which gamepad, for example 1; empty: the first one."), theme::kQuiet);
}

void DeviceScreen::fields() {
  DeviceChoice& choice = choices_[selected_];
  theme::headline(choice.holds);
  kind_choice();
  if (choice.device == "igtl") igtl_fields_of(choice);
  if (choice.device == "trajectory") file_fields_of(choice);
  if (choice.device == "gamepad" && finished_text("Number, name", "the first one", source_)) {
    choice.source = source_;
    changed_ = true;
  }
  ImGui::Spacing();
  {
    const theme::WithLetters small(theme::Letters::Small);
    what_it_does();
  }
  ImGui::Spacing();
  const DeviceReading& reading = watch_->readings()[selected_];
  if (!reading.state.empty()) theme::wrapped(reading.state, reading.fault.empty() ? theme::kGood : theme::kQuiet);
  if (!reading.fault.empty()) theme::wrapped(reading.fault, theme::kBad);
  if (!reading.asks_host.empty()) host_question(reading.asks_host);
  ImGui::Spacing();
  if (choice.device == "igtl") registration_fields(choice.registration);
  if (choice.device == "mouse" || choice.device == "gamepad" || choice.device == "spacemouse") axis_fields(choice.axes);
}

void DeviceScreen::numbers() const {
  const DeviceReading& reading = watch_->readings()[selected_];
  const theme::WithLetters small(theme::Letters::Small);
  if (!reading.pose) return theme::text(tr("No pose is received"), theme::kQuiet);
  const Joints& joints = reading.joints;
  const DevicePose& pose = *reading.pose;
  theme::row("Pan, tilt", fmt::format("{:.1f}\u00B0, {:.1f}\u00B0", tenths(joints.pan_deg), tenths(joints.tilt_deg)));
  theme::row("Depth", fmt::format("{:.1f} mm", 1e3 * joints.depth));
  theme::row("Roll", fmt::format("{:.1f}\u00B0", tenths(pose.roll_deg)));
  theme::row("Tip", fmt::format("{:.1f}, {:.1f}, {:.1f} mm", 1e3 * pose.tip.x, 1e3 * pose.tip.y, 1e3 * pose.tip.z));
  if (has_aperture()) theme::row("Jaws", trf("{:.0f} % open", 100.0 * pose.grip));
  if (selected_ < scene_.instruments.size())
    theme::row("Pedal", pedal_text(pose.energy), pose.energy == Diathermy::Off ? theme::kText : theme::kOrange);
  theme::row("Rate", reading.rate ? trf("{:.0f} Hz", *reading.rate) : std::string("read at each frame"));
  if (reading.age) theme::row("Age of the last pose", fmt::format("{:.0f} ms", 1e3 * *reading.age));
}

bool DeviceScreen::has_aperture() const {
  if (selected_ >= scene_.instruments.size()) return false;
  const InstrumentKind kind = scene_.instruments[selected_].kind;
  return has_jaws(kind) || kind == InstrumentKind::Scissors;
}

void DeviceScreen::live_picture() {
  const DeviceReading& reading = watch_->readings()[selected_];
  theme::heading(tr("What the device sends"));
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const glm::vec3 colour = selected_ < scene_.instruments.size() ? theme::instrument_colour(selected_) : theme::kText;
  const float room = ImGui::GetContentRegionAvail().x / theme::px(kPictureSize.x);
  const glm::vec2 size = std::clamp(room, 0.2f, 1.f) * kPictureSize;
  draw_device_picture({watch_->limits(selected_), reading.pose ? &reading.joints : nullptr,
                       reading.pose ? &*reading.pose : nullptr, has_aperture(), colour, size});
  ImGui::SetCursorScreenPos(corner);
  ImGui::InvisibleButton("##picture", {theme::px(size.x), theme::px(size.y)});
  theme::note_item("Picture");
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  if (ImGui::IsItemActive()) watch_->move_mouse(selected_, moved.x, -moved.y, 0.0);
  if (ImGui::IsItemHovered()) watch_->move_mouse(selected_, 0.0, 0.0, wheel_);
  numbers();
}

Ask DeviceScreen::panels() {
  const theme::Panel panel("devices", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {1120.f, 676.f}}, theme::PanelKind::Used, 0.55f);
  theme::headline(tr("Devices"));
  theme::text(scene_.title.empty() ? scene_.file.filename().string() : scene_.title, theme::kQuiet);
  ImGui::Spacing();
  {
    const theme::Scope slots =
        theme::child("slots", {theme::px(kDevicesWidth), theme::height_above(kScreenHeight, kBelowForms)},
                     ImGuiWindowFlags_NavFlattened);
    device_list();
  }
  ImGui::SameLine(0.f, theme::px(20.f));
  {
    const theme::Scope form =
        theme::child("form", {theme::px(kFormWidth), theme::height_above(kScreenHeight, kBelowForms)},
                     ImGuiWindowFlags_NavFlattened);
    fields();
  }
  ImGui::SameLine(0.f, theme::px(20.f));
  {
    const theme::Scope live = theme::child("live", {0.f, theme::height_above(kScreenHeight, kBelowForms)},
                                           ImGuiWindowFlags_NavFlattened | ImGuiWindowFlags_NoScrollWithMouse);
    live_picture();
  }
  return theme::button("Done", 150.f, true) || escape_ ? Ask::Back : Ask::Nothing;
}

ScreenStatus DeviceScreen::status() const {
  const DeviceReading& reading = watch_->readings()[selected_];
  ScreenStatus status;
  status.phase = !reading.asks_host.empty() ? "asks" : !reading.fault.empty() ? "missing" : "ready";
  status.in_hand = choices_[selected_].holds;
  status.file = scene_.file;
  status.note = reading.fault.empty() ? reading.state : reading.fault;
  if (reading.pose) status.tip = reading.pose->tip;
  if (reading.rate) status.frames = static_cast<std::uint64_t>(*reading.rate);
  return status;
}

}  // namespace trocar
