#include "sim/inputs/input_rerun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "geometry/error.hpp"

namespace trocar {
namespace {

std::array<std::uint64_t, 9> bits_of(const DevicePose& pose) {
  const std::array<double, 9> numbers{pose.pivot.x, pose.pivot.y,  pose.pivot.z, pose.tip.x,     pose.tip.y,
                                      pose.tip.z,   pose.roll_deg, pose.grip,    pose.grip_force};
  std::array<std::uint64_t, 9> bits{};
  std::transform(numbers.begin(), numbers.end(), bits.begin(),
                 [](double number) { return std::bit_cast<std::uint64_t>(number); });
  return bits;
}

class LoggingDevice final : public Device {
 public:
  LoggingDevice(InputLog& log, std::size_t number, std::unique_ptr<Device> device)
      : log_(log), number_(number), device_(std::move(device)) {}

  // The frame is added to the log when it is over.
  DevicePose pose(const FrameClock& clock) override {
    const DevicePose pose = device_->pose(clock);
    const DeviceHealth health = device_->health();
    std::vector<LoggedPose>& poses = log_.devices[number_].poses;
    if (poses.empty() || poses.back().health != health || !same_bits(poses.back().pose, pose))
      poses.push_back({static_cast<std::uint32_t>(log_.frames.size()), pose, health});
    return pose;
  }
  DeviceHealth health() const override { return device_->health(); }
  bool follows_ticks() const override { return device_->follows_ticks(); }
  void suspend() override { device_->suspend(); }
  void feel(const Felt& felt) override { device_->feel(felt); }

 private:
  InputLog& log_;
  std::size_t number_;
  std::unique_ptr<Device> device_;
};

class ReplayedInput final : public Device {
 public:
  explicit ReplayedInput(const LoggedDevice& logged) : logged_(logged) {}

  DevicePose pose(const FrameClock&) override {
    while (at_ + 1 < logged_.poses.size() && logged_.poses[at_ + 1].frame <= frame_) ++at_;
    ++frame_;
    return logged_.poses[at_].pose;
  }
  DeviceHealth health() const override { return logged_.poses[at_].health; }
  bool follows_ticks() const override { return logged_.follows_ticks; }

 private:
  const LoggedDevice& logged_;
  std::size_t at_ = 0;
  std::uint32_t frame_ = 0;  // of the next call
};

}  // namespace

bool same_bits(const DevicePose& a, const DevicePose& b) { return a.energy == b.energy && bits_of(a) == bits_of(b); }

std::unique_ptr<Device> logged(InputLog& log, const std::string& name, std::unique_ptr<Device> device) {
  log.devices.push_back({name, device->follows_ticks(), {}});
  return std::make_unique<LoggingDevice>(log, log.devices.size() - 1, std::move(device));
}

std::unique_ptr<Device> replayed(const InputLog& log, std::size_t device) {
  return std::make_unique<ReplayedInput>(log.devices[device]);
}

void InputLogger::suspend_devices() {
  session_.suspend_devices();
  suspended_ = true;
}

void InputLogger::step(const FrameClock& clock, double duration, double field_of_view_deg) {
  session_.set_field_of_view(field_of_view_deg);
  session_.step(clock, duration);
  log_.frames.push_back({clock, duration, field_of_view_deg, std::exchange(suspended_, false), {}});
}

namespace {

class SummingSink final : public RecordSink {
 public:
  SummingSink(std::unique_ptr<RecordSink> sink, FrameSums& sums) : sink_(std::move(sink)), sums_(sums) {}

  void append(const RecordedFrame& frame) override {
    sums_ = {checksum_with_faces(frame), 0};
    for (const RecordedOrganFrame& organ : frame.organs)
      sums_.touched += static_cast<std::uint32_t>(organ.touches.touches.size());
    sink_->append(frame);
  }
  bool failed() const noexcept override { return sink_->failed(); }
  std::string failure() const override { return sink_->failure(); }
  void set_ending(Ending ending) override { sink_->set_ending(ending); }
  void close() override { sink_->close(); }

 private:
  std::unique_ptr<RecordSink> sink_;
  FrameSums& sums_;
};

class NoSink final : public RecordSink {
 public:
  void append(const RecordedFrame&) override {}
  bool failed() const noexcept override { return false; }
  std::string failure() const override { return {}; }
  void set_ending(Ending) override {}
  void close() override {}
};

bool belongs(const LoggedDevice& device, const std::string& name) {
  return device.name == name && !device.poses.empty();
}

void require_instruments(const InputLog& log, const Scene& scene) {
  const std::size_t instruments = scene.instruments.size();
  bool same = log.devices.size() == instruments || log.devices.size() == instruments + 1;
  for (std::size_t k = 0; k < instruments && same; ++k) same = belongs(log.devices[k], scene.instruments[k].name);
  if (same && log.devices.size() > instruments) same = belongs(log.devices.back(), kScopeName);
  if (same) return;
  throw InputError(fmt::format("{}: the logged inputs belong to a scene with other instruments", scene.file.string()));
}

}  // namespace

OpenSink with_sums(OpenSink open, FrameSums& sums) {
  return [open = std::move(open), &sums](const RecordingHeader& header) {
    return std::make_unique<SummingSink>(open(header), sums);
  };
}

OpenSink no_recording() {
  return [](const RecordingHeader&) { return std::make_unique<NoSink>(); };
}

InputRerun::InputRerun(const InputLog& log, const Scene& scene, BackendMaker& backends, const std::string& backend,
                       const std::vector<CheckPlan>& checks)
    : log_(log) {
  require_instruments(log, scene);
  std::size_t device = 0;
  session_.emplace(scene, backends, backend, checks, [&](const InstrumentScene&) { return replayed(log, device++); });
  session_->set_scope_device(device < log.devices.size() ? replayed(log, device) : nullptr);
}

std::optional<FrameClock> InputRerun::step() {
  if (next_ == log_.frames.size()) return {};
  const LoggedFrame& frame = log_.frames[next_++];
  if (frame.suspended) session_->suspend_devices();
  session_->set_field_of_view(frame.field_of_view_deg);
  session_->step(frame.clock, frame.step);
  return frame.clock;
}

}  // namespace trocar
