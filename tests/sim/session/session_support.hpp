// Provides what tests of sessions share. Units: seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sim/device/device.hpp"

namespace trocar {

constexpr double kFrame = 1.0 / 60.0;  // s

// Keeps the pose that the test sets.
class PosedDevice final : public Device {
 public:
  explicit PosedDevice(const DevicePose* pose) : pose_(pose) {}
  DevicePose pose(const FrameClock&) override { return *pose_; }

 private:
  const DevicePose* pose_;
};

// Repeats the same two seconds: once every buffer has held its largest frame, none grows.
class LoopingDevice final : public Device {
 public:
  explicit LoopingDevice(std::unique_ptr<Device> path) : path_(std::move(path)) {}
  DevicePose pose(const FrameClock& clock) override {
    const std::uint64_t frame = clock.frame % 120;
    return path_->pose({frame, static_cast<double>(frame) * kFrame});
  }

 private:
  std::unique_ptr<Device> path_;
};

// Computes FNV-1a, continued from `hash`.
inline std::uint64_t hash_of(std::uint64_t hash, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211ull;
  return hash;
}

}  // namespace trocar
