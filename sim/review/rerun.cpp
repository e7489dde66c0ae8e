#include "sim/review/rerun.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "sim/support/limits.hpp"

namespace trocar {
namespace {

// Gives what the session took from an instrument's device in each frame, one frame for each call. A frame in which the
// instrument was frozen repeats the pose before, with the pedal up.
class RecordedInput final : public Device {
 public:
  RecordedInput(const Recording& recording, std::size_t tool, InstrumentKind kind)
      : recording_(recording), tool_(tool), kind_(kind) {}

  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock&) override {
    const std::size_t frame = std::min(next_++, recording_.frame_count() - 1);
    const ToolPose pose = recording_.pose(frame, tool_);
    const RecordedHandle handle = recording_.handle(frame, tool_);
    const Diathermy pedal = kind_ == InstrumentKind::Suction ? pedal_of(handle.pump) : recording_.energy(frame, tool_);
    return {pose.pivot, pose.tip, recording_.roll_grip(frame, tool_).x, handle.aperture, pedal, handle.force};
  }

 private:
  // The two pedals of suction are those of diathermy.
  static Diathermy pedal_of(double pump) {
    return pump == 1.0 ? Diathermy::Cut : pump == 2.0 ? Diathermy::Coagulate : Diathermy::Off;
  }

  const Recording& recording_;
  std::size_t tool_;
  InstrumentKind kind_;
  std::size_t next_ = 0;
};

void require_inputs(const Recording& recording, const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: cannot be computed again: {}", file, why));
  };
  if (recording.model_version() != kModelVersion)
    refuse(
        fmt::format("it has version {} of the tissue model, and this program has {}; use the version that recorded it "
                    "({})",
                    recording.model_version(), kModelVersion, printable(recording.text("version"))));
  if (!recording.has_inputs()) refuse("it is older than format 2.9 and lacks the inputs of the handles");
  if (recording.pose_before(0, 0)) refuse("it began in the middle of a session");
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame)
    if (!(recording.step_time(frame) >= 0.0 && recording.step_time(frame) <= kLongestSession))
      refuse(fmt::format("the duration of frame {} is negative or not finite; the file is damaged", frame));
}

// The conditions of a mesh file (mesh/mesh_io.hpp).
void require_sound(const std::vector<glm::vec3>& rest, const std::string& organ, const std::string& file) {
  const auto far = [](const glm::vec3& p) {
    return !glm::all(glm::lessThanEqual(glm::abs(p), glm::vec3(static_cast<float>(kLargestCoordinate))));
  };
  if (std::ranges::any_of(rest, far))
    throw InputError(fmt::format("{}: organ {} has a vertex more than {:g} m away; the file is damaged", file, organ,
                                 kLargestCoordinate));
}

// The scene of the recording; its organs have the recorded surfaces, so that no other file is opened.
Scene scene_of(const Recording& recording, const std::string& file) {
  Scene scene = parse_scene(recording.text("scene"), file);
  const auto contradicts = [&] {
    return InputError(fmt::format("{}: its scene has other organs or instruments; the file is damaged", file));
  };
  if (scene.organs.size() != recording.organs().size() || scene.instruments.size() != recording.tools().size())
    throw contradicts();
  for (std::size_t k = 0; k < scene.organs.size(); ++k) {
    const OrganRecording& organ = recording.organs()[k];
    if (scene.organs[k].name != organ.name) throw contradicts();
    OrganSurface first;
    go_to_frame(organ.history, 0, first);
    require_sound(first.rest, organ.name, file);
    scene.organs[k].surface = TriangleMesh{first.rest, first.faces};
  }
  for (std::size_t k = 0; k < scene.instruments.size(); ++k)
    if (scene.instruments[k].name != recording.tools()[k]) throw contradicts();
  return scene;
}

}  // namespace

// Keeps the frame that the session's recorder appends.
class Rerun::Sink final : public RecordSink {
 public:
  void append(const RecordedFrame& frame) override { frame_ = frame; }
  bool failed() const noexcept override { return false; }
  std::string failure() const override { return {}; }
  void set_ending(Ending) override {}
  void close() override {}
  const RecordedFrame& frame() const { return frame_; }

 private:
  RecordedFrame frame_;
};

Rerun::Rerun(const Recording& recording, const std::string& file) : recording_(recording) {
  require_inputs(recording, file);
  scene_ = scene_of(recording, file);
  std::size_t tool = 0;
  session_ = std::make_unique<Session>(scene_, backends_, "scan", std::vector<CheckPlan>{},
                                       [&](const InstrumentScene& instrument) {
                                         return std::make_unique<RecordedInput>(recording, tool++, instrument.kind);
                                       });
  recorder_ = std::make_unique<SessionRecorder>(
      [this](const RecordingHeader&) {
        auto sink = std::make_unique<Sink>();
        sink_ = sink.get();
        return sink;
      },
      scene_, *session_, "");
}

Rerun::~Rerun() = default;

const RecordedFrame& Rerun::frame() const { return sink_->frame(); }

std::size_t Rerun::step() {
  const FrameClock clock{next_, recording_.times()[next_], 0.0, 0.0};
  session_->step(clock, recording_.step_time(next_));
  recorder_->append(*session_, clock);
  return next_++;
}

}  // namespace trocar
