#include "sim/inputs/input_log.hpp"

#include <algorithm>
#include <array>
#include <bit>

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

}  // namespace trocar
