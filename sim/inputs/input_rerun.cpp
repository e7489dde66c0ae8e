#include "sim/inputs/input_rerun.hpp"

#include <fmt/format.h>

#include "geometry/error.hpp"
#include "sim/record/frame_checksum.hpp"

namespace trocar {
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
