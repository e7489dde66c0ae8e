#include "app/window/practice/disk_watch.hpp"

#include <fmt/format.h>

#include "sim/hdf5/recorder.hpp"

namespace trocar {
namespace {

constexpr double kDiskPeriod = 2.0;      // s  between two questions to the disk
constexpr double kLeastMeasured = 10.0;  // s  a shorter recording consists of meshes

}  // namespace

void DiskWatch::watch(const Scene& scene, double elapsed) {
  scene_ = fmt::format("{} {}", scene.file.string(), scene.frame_rate);
  needed_ = scene.task ? scene.task->time_limit : 0.0;
  ask_disk(elapsed);
  ask_rate(scene);
}

void DiskWatch::ask_disk(double elapsed) {
  since_ += elapsed;
  if (auto answer = asked_disk_.poll(); answer && answer->value) take(*answer->value);
  if (since_ < kDiskPeriod || asked_disk_.busy()) return;
  since_ = 0.0;
  asked_disk_ = Task<Answer>([folder = folder_, recording = recording_, seconds = recorded_] {
    std::error_code error;
    const auto bytes = recording.empty() ? 0 : std::filesystem::file_size(recording, error);
    return Answer{free_space(folder), error ? 0 : bytes, seconds};
  });
}

void DiskWatch::take(const Answer& answer) {
  free_ = answer.free;
  if (answer.seconds > kLeastMeasured && answer.recorded > 0)
    measured_ = static_cast<double>(answer.recorded) / answer.seconds;
}

// One scene at a time, and each once; a scene whose meshes cannot be read has no rate.
void DiskWatch::ask_rate(const Scene& scene) {
  if (auto answer = asked_rate_.poll()) rates_[asked_scene_] = answer->value.value_or(0.0);
  if (asked_rate_.busy() || rates_.contains(scene_)) return;
  asked_scene_ = scene_;
  asked_rate_ = Task<double>([scene] { return recording_rate(scene); });
}

void DiskWatch::measure(const std::filesystem::path& recording, double seconds) {
  recording_ = recording;
  recorded_ = seconds;
}

std::optional<double> DiskWatch::seconds() const {
  const auto estimate = rates_.find(scene_);
  const double rate = measured_ > 0.0 ? measured_ : estimate == rates_.end() ? 0.0 : estimate->second;
  if (!free_ || rate <= 0.0) return {};
  return static_cast<double>(*free_) / rate;
}

DiskState DiskWatch::state() const {
  const auto left = seconds();
  return left ? disk_state(*left, needed_) : DiskState::Enough;
}

std::string DiskWatch::text() const {
  const auto left = seconds();
  return left ? disk_text(*left, needed_) : std::string();
}

std::string DiskWatch::warning() const {
  const auto left = seconds();
  return left ? low_disk_text(*left) : std::string();
}

}  // namespace trocar
