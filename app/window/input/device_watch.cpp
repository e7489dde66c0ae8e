#include "app/window/input/device_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/input/hands.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/link/igtl_device.hpp"
#include "sim/review/recorded_frames.hpp"

namespace trocar {

std::vector<DeviceChoice> device_choices(const Scene& scene) {
  std::vector<DeviceChoice> choices;
  for (const InstrumentScene& instrument : scene.instruments)
    choices.push_back({instrument.name, instrument.device, instrument.source, instrument.trajectory, instrument.axes,
                       instrument.registration});
  choices.push_back({"scope", scene.scope.device, scene.scope.source, {}, scene.scope.axes, scene.scope.registration});
  return choices;
}

Scene with_devices(const Scene& scene, const std::vector<DeviceChoice>& choices) {
  Scene chosen = scene;
  for (std::size_t k = 0; k < chosen.instruments.size(); ++k) {
    chosen.instruments[k].device = choices[k].device;
    chosen.instruments[k].source = choices[k].source;
    chosen.instruments[k].trajectory = choices[k].trajectory;
    chosen.instruments[k].axes = choices[k].axes;
    chosen.instruments[k].registration = choices[k].registration;
  }
  chosen.scope.device = choices.back().device;
  chosen.scope.source = choices.back().source;
  chosen.scope.axes = choices.back().axes;
  chosen.scope.registration = choices.back().registration;
  return chosen;
}

Scene without_typed_files(Scene scene, const std::vector<DeviceChoice>& choices) {
  for (std::size_t k = 0; k < scene.instruments.size(); ++k)
    if (choices[k].typed) scene.instruments[k].trajectory.clear();
  if (choices.back().typed && scene.scope.device == "trajectory") scene.scope.source.clear();
  return scene;
}

IgtlFields igtl_fields(const std::string& source) {
  IgtlFields fields;
  const auto slash = source.find('/');
  if (slash != std::string::npos) fields.tool = source.substr(slash + 1);
  const std::string address = source.substr(0, slash);
  const auto colon = address.rfind(':');
  fields.host = address.substr(0, colon);
  if (colon != std::string::npos) fields.port = address.substr(colon + 1);
  if (fields.host.empty()) fields.host = IgtlSource().host;
  if (colon == std::string::npos) fields.port = std::to_string(IgtlSource().port);
  return fields;
}

std::string igtl_source_text(const IgtlFields& fields) { return fields.host + ":" + fields.port + "/" + fields.tool; }

std::string device_label(const std::string& device) {
  struct Label {
    const char *device, *label;
  };
  constexpr Label kLabels[] = {{"mouse", "Mouse and keyboard"},
                               {"gamepad", "Gamepad"},
                               {"spacemouse", "SpaceMouse"},
                               {"igtl", "Tracker (OpenIGTLink)"},
                               {"haptic", "Simulated force-feedback device"},
                               {"script", "Script"},
                               {"trajectory", "Recorded motion"}};
  for (const Label& label : kLabels)
    if (device == label.device) return label.label;
  return device;
}

namespace {

constexpr double kTryAgainAfter = 1.0;  // s   a daemon or a gamepad may come later
constexpr double kCountFor = 0.5;       // s   a rate is counted over this time
constexpr double kFirstPose = 1.0;      // s   a server may take this long to send its first pose
constexpr double kOldAge = 0.2;         // s   longer than a network delays a pose now and then

// "instrument grasper: no such file" -> "no such file": the panel shows the sentence below the instrument's name.
std::string without_holder(const std::string& sentence) {
  for (const char* prefix : {"instrument ", "scope: "}) {
    if (!sentence.starts_with(prefix)) continue;
    const auto colon = sentence.find(": ");
    return colon == std::string::npos ? sentence : sentence.substr(colon + 2);
  }
  return sentence;
}

// Begins with a capital letter, unless the first word is the name of a file.
std::string as_sentence(std::string text) {
  const std::size_t end = text.find_first_of(" :");
  const bool word = text.substr(0, end).find_first_of("/.=\"") == std::string::npos;
  if (word && !text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string tool_text(const IgtlSource& source) {
  return source.tool.empty() ? std::string("any tool") : printable(source.tool);
}

// A tracked motion, and how long it is.
std::string motion_text(const Trajectory& motion) {
  const double seconds = motion.rows.back().time - motion.rows.front().time;
  return fmt::format("{} {}, {:.1f} s, repeated here", motion.rows.size(), motion.rows.size() == 1 ? "row" : "rows",
                     seconds);
}

}  // namespace

DeviceHardware hardware_of_this_machine() {
  const auto names = [] {
    std::vector<std::string> list;
    for (const GamepadInfo& pad : list_gamepads())
      if (pad.mapped) list.push_back(fmt::format("{} ({})", pad.number, printable(pad.name)));
    return list;
  };
  return {glfw_gamepad, names};
}

DeviceWatch::DeviceWatch(const Scene& scene, std::vector<DeviceChoice> choices, const SceneAccess& access,
                         DeviceHardware hardware)
    : scene_(with_devices(scene, choices)), access_(access), hardware_(std::move(hardware)) {
  context_.gamepad = hardware_.gamepad;
  slots_.resize(choices.size());
  readings_.resize(choices.size());
  for (std::size_t k = 0; k < choices.size(); ++k) {
    slots_[k].choice = choices[k];
    const bool scope = k == scene.instruments.size();
    const ScopePose pose = scene.scope.pose();
    const glm::dvec3 pivot = scope ? pose.port : scene.instruments[k].pivot;
    const glm::dvec3 tip = scope ? pose.eye : scene.instruments[k].tip;
    const glm::dvec3 axis = scope ? glm::dvec3(0.0) : scene.instruments[k].axis;
    slots_[k].centre = remote_centre(pivot, axis == glm::dvec3(0.0) ? tip - pivot : axis);
    slots_[k].start = {pivot, tip, scope ? pose.spin_deg : 0.0};
    slots_[k].limits = scope ? scene.scope.limits : scene.instruments[k].limits;
    open(k, 0.0);
  }
  const ScopeAxes axes = axes_of(scene.scope.pose());
  for (HandDevice* hand : context_.rates) hand->set_screen(axes.right, axes.up);
  for (const Slot& slot : slots_)
    if (slot.mouse) slot.mouse->set_screen(axes.right, axes.up);
}

DeviceWatch::~DeviceWatch() = default;

std::unique_ptr<Device> DeviceWatch::make(std::size_t k) {
  Slot& slot = slots_[k];
  const bool scope = k == scene_.instruments.size();
  if (slot.choice.device == "trajectory") {
    const std::filesystem::path file = scope ? std::filesystem::path(slot.choice.source) : slot.choice.trajectory;
    if (file.empty()) throw InputError("No file is chosen; type the name of a recorded motion: .csv, or a recording");
    if (!slot.choice.typed) refuse_outside_files(scene_, access_);
    Trajectory motion = scope ? load_scope_motion(folder_of_scope(scene_) / file)
                              : load_motion(file, slot.choice.source, slot.choice.holds);
    slot.state = motion_text(motion);
    slot.length = motion.rows.back().time - motion.rows.front().time;
    return make_replay_device(std::move(motion));
  }
  if (scope) return make_scope_device(scene_.scope, folder_of_scope(scene_), context_);
  slot.state = slot.choice.device == "script" ? "Follows its script" : "";
  return make_device(scene_.instruments[k], context_);
}

void DeviceWatch::open(std::size_t k, double time) {
  Slot& slot = slots_[k];
  DeviceReading& reading = readings_[k];
  reading = {};
  slot.again = time + kTryAgainAfter;
  try {
    if (slot.choice.device == "igtl") {
      const std::string host = parse_igtl_source(slot.choice.source).host;
      if (std::ranges::count(hosts_to_allow(scene_, access_), host) > 0) {
        reading.asks_host = host;
        reading.state = fmt::format("{} is another machine: not connected yet", printable(host));
        return;
      }
    }
    slot.device = make(k);
    slot.igtl = dynamic_cast<IgtlDevice*>(slot.device.get());
    slot.mouse = dynamic_cast<MouseDevice*>(slot.device.get());
    if (!slot.device) slot.state = "Does not move";
  } catch (const std::runtime_error& error) {
    reading.fault = as_sentence(without_holder(error.what()));
    reading.blocks = true;
  }
}

void DeviceWatch::describe_igtl(std::size_t k, double time) {
  Slot& slot = slots_[k];
  DeviceReading& reading = readings_[k];
  const IgtlSource source = parse_igtl_source(slot.choice.source);
  const std::string address = fmt::format("{}:{}", printable(source.host), source.port);
  const IgtlStatus status = slot.igtl->status();
  if (time - slot.counted >= kCountFor) {
    slot.rate = static_cast<double>(status.poses - slot.poses) / (time - slot.counted);
    slot.counted = time, slot.poses = status.poses;
  }
  if (!status.connected) {
    reading.pose.reset();
    reading.state = "Connecting to " + address;
    if (status.failures > 0)
      reading.fault = fmt::format(
          "No OpenIGTLink server answers at {}; start the tracker's program, or change the address", address);
    return;
  }
  reading.state = "Connected to " + address;
  if (!status.heard) reading.pose.reset();
  if (!status.sound) {
    reading.fault =
        "The latest matrix is not a tool pose: a rotation in millimetres, its tip at most 2 m from the trocar; "
        "calibrate the tracker";
    return;
  }
  if (!status.heard) {
    if (!status.others.empty())
      reading.fault = fmt::format("{} sends poses of {}, but none of {}; choose one of these names", address,
                                  printable(fmt::format("{}", fmt::join(status.others, ", "))), tool_text(source));
    else if (time > kFirstPose)
      reading.fault = fmt::format("{} answers, but sends no pose of {}", address, tool_text(source));
    return;
  }
  reading.rate = slot.rate;
  reading.age = status.age;
  if (status.age > kOldAge)
    reading.fault =
        fmt::format("The last pose is {:.1f} s old; the device must send at least 25 each second", status.age);
}

void DeviceWatch::describe_gamepad(std::size_t k) {
  DeviceReading& reading = readings_[k];
  const std::vector<std::string> connected = hardware_.gamepads();
  if (slots_[k].device->health() == DeviceHealth::Good) {
    reading.state = fmt::format("Connected: {}", fmt::join(connected, ", "));
    return;
  }
  reading.pose.reset();
  if (connected.empty())
    reading.fault = "No gamepad is connected; connect one, or choose another device";
  else if (!slots_[k].choice.source.empty())
    reading.fault = fmt::format("No gamepad has the number or name '{}'; connected: {}",
                                printable(slots_[k].choice.source), fmt::join(connected, ", "));
}

void DeviceWatch::describe(std::size_t k, const DevicePose& pose) {
  Slot& slot = slots_[k];
  DeviceReading& reading = readings_[k];
  reading.pose = pose;
  if (slot.choice.device == "gamepad") describe_gamepad(k);
  if (slot.choice.device == "spacemouse") {
    const bool good = slot.device->health() == DeviceHealth::Good;
    reading.state = good ? "spacenavd answers" : "";
    if (!good) reading.fault = "The SpaceMouse daemon spacenavd does not answer any more; start it again";
  }
}

void DeviceWatch::read(double time) {
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    Slot& slot = slots_[k];
    DeviceReading& reading = readings_[k];
    if (!slot.device) {
      if (slot.choice.device == "spacemouse" && time >= slot.again) open(k, time);
      if (reading.fault.empty() && reading.asks_host.empty()) reading.state = slot.state;
      continue;
    }
    reading = {};
    reading.state = slot.state;
    const double played = slot.length > 0.0 ? std::fmod(time, slot.length) : time;
    const DevicePose pose = slot.device->pose({0, played, time, 0.0});
    describe(k, pose);
    if (slot.igtl) describe_igtl(k, time);
    if (reading.pose) reading.joints = joints_of(slot.centre, slot.limits, *reading.pose);
  }
}

void DeviceWatch::move_mouse(std::size_t k, double right, double up, double wheel) {
  MouseDevice* mouse = k < slots_.size() ? slots_[k].mouse : nullptr;
  if (!mouse) return;
  mouse->move(right, up);
  mouse->insert(wheel);
}

std::optional<Registration> DeviceWatch::registration_of_start(std::size_t k) const {
  const Slot& slot = slots_[k];
  const auto sent = slot.igtl ? slot.igtl->status().sent : std::nullopt;
  if (!sent) return {};
  return registration_between(*sent, matrix_of(slot.centre, slot.start));
}

bool DeviceWatch::blocks() const { return std::ranges::any_of(readings_, &DeviceReading::blocks); }

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
