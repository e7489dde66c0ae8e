#include "sim/review/compact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "geometry/error.hpp"
#include "sim/hdf5/pack.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_target.hpp"
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

namespace {

constexpr double kKeyPeriod = 5.0;  // s  between frames whose nodes stay

template <typename T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

// Compares the numbers of two touches; not their faces.
bool same_touch(const Touch& a, const Touch& b) {
  return std::memcmp(&a.point, &b.point, sizeof a.point) == 0 &&
         std::memcmp(&a.normal, &b.normal, sizeof a.normal) == 0 &&
         std::memcmp(&a.depth, &b.depth, sizeof a.depth) == 0 && std::memcmp(&a.time, &b.time, sizeof a.time) == 0;
}

bool same_faces(const OrganFrame& recorded, const RecordedOrganFrame& again) {
  const auto same = [&](const Touch& then, const Touch& now) { return then.face == again.id_of(now); };
  return std::ranges::equal(recorded.touches, again.touches.touches, same);
}

// Returns what differs between an organ as it was recorded and as it was computed again; an empty text: no bit.
std::string difference(const OrganFrame& recorded, const RecordedOrganFrame& again) {
  const std::span<const Touch> touches = again.touches.touches;
  if (!same_bits<glm::vec3>(recorded.nodes, again.nodes)) return "the positions of the tissue";
  if (!same_faces(recorded, again) || !std::ranges::equal(recorded.touches, touches, same_touch)) return "the touches";
  if (!same_bits<float>(recorded.pressure, again.pressure)) return "the pressures";
  return {};
}

void require_same(const Recording& recording, const Rerun& rerun, std::size_t frame, const std::string& file) {
  OrganFrame recorded;
  for (std::size_t k = 0; k < recording.organs().size(); ++k) {
    recording.read_frame(frame, k, recorded);
    if (const std::string what = difference(recorded, rerun.frame().organs[k]); !what.empty())
      throw InputError(
          fmt::format("{}: {} of frame {}, organ {}, differ when the session is computed again, so the "
                      "recording has no compact form; pack it without --compact",
                      file, what, frame, recording.organs()[k].name));
  }
}

[[noreturn]] void stop(const std::filesystem::path& out) {
  throw RunError(fmt::format("{}: not written, because the program was interrupted", out.string()));
}

// Tables of a compact recording that other forms do not have.
class KeyTables {
 public:
  KeyTables(H5File& to, const std::vector<OrganRecording>& organs)
      : key_frame_(make_column(to, ColumnGroup::Compact, kKeyFrame, {}, Storage::Deflated)),
        checksum_(make_column(to, ColumnGroup::Compact, kFrameChecksum, {}, Storage::Deflated)) {
    for (const OrganRecording& organ : organs)
      nodes_.push_back(
          make_column(to, ColumnGroup::Organ, kKeyNodes, {.nodes = organ.nodes}, Storage::Deflated, organ.name));
  }

  void append(const RecordedFrame& frame, std::uint32_t number) {
    const std::uint64_t sum = checksum_of(frame);
    checksum_.append(std::as_bytes(std::span(&sum, 1)));
    if (number > 0 && frame.time < next_) return;
    next_ = frame.time + kKeyPeriod;
    key_frame_.append(std::as_bytes(std::span(&number, 1)));
    for (std::size_t k = 0; k < nodes_.size(); ++k) nodes_[k].append(std::as_bytes(frame.organs[k].nodes));
  }

 private:
  H5Table key_frame_, checksum_;
  std::vector<H5Table> nodes_;  // [organ]
  double next_ = 0.0;           // s  time of the next key frame
};

// Columns of a full recording that a compact one lacks.
class LackingColumns {
 public:
  LackingColumns(H5File& to, const std::vector<OrganRecording>& organs) {
    const auto& columns = columns_of(ColumnGroup::Organ);
    for (std::size_t organ = 0; organ < organs.size(); ++organ)
      for (std::size_t k = 0; k < columns.size(); ++k)
        if (columns[k].is_in(RecordingForm::Full) && !columns[k].is_in(RecordingForm::Compact))
          columns_.push_back({organ, &columns[k],
                              make_column(to, ColumnGroup::Organ, k, {.nodes = organs[organ].nodes}, Storage::Plain,
                                          organs[organ].name)});
  }

  void append(const RecordedFrame& frame) {
    for (auto& [organ, column, table] : columns_) {
      rows_.clear();
      column->fill(rows_, {.frame = &frame, .organ = &frame.organs[organ]});
      table.append(rows_);
    }
  }

 private:
  struct Lacking {
    std::size_t organ;
    const Column* column;
    H5Table table;
  };
  std::vector<Lacking> columns_;
  Bytes rows_;
};

// Throws InputError unless a frame that was computed again is the recorded one.
void require_recorded(const Recording& recording, const RecordedFrame& again, std::uint64_t checksum, std::size_t frame,
                      const std::string& file) {
  OrganFrame recorded;
  bool same = checksum == checksum_of(again);
  for (std::size_t k = 0; k < recording.organs().size() && same; ++k) {
    recording.read_frame(frame, k, recorded);
    same = same_faces(recorded, again.organs[k]);
  }
  if (!same)
    throw InputError(
        fmt::format("{}: frame {} cannot be computed again as it was recorded; the file is damaged", file, frame));
}

}  // namespace

void compact_recording(const std::filesystem::path& in, const std::filesystem::path& out, const FramesDone& done) {
  const Recording recording(in);
  require_finished(recording, in, recording.form());
  write_whole_recording(out, [&](H5File& to) {
    copy_recording(recording, H5File::open(in), to, RecordingForm::Compact);
    Rerun rerun(recording, in.string());
    KeyTables tables(to, recording.organs());
    for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
      rerun.step();
      require_same(recording, rerun, frame, in.string());
      tables.append(rerun.frame(), static_cast<std::uint32_t>(frame));
      if (!done(frame + 1)) stop(out);
    }
  });
}

void expand_recording(const std::filesystem::path& compact, const std::filesystem::path& out, const FramesDone& done) {
  const Recording recording(compact, nullptr, FormsRead::All);
  require_finished(recording, compact, RecordingForm::Compact);
  const H5File from = H5File::open(compact);
  const auto checksums = from.table(path_of(ColumnGroup::Compact, kFrameChecksum), Cell::U64).read_all<std::uint64_t>();
  if (checksums.size() < recording.frame_count())
    throw InputError(fmt::format("{}: a frame has no checksum; the file is damaged", compact.string()));
  write_whole_recording(out, [&](H5File& to) {
    copy_recording(recording, from, to, RecordingForm::Full);
    Rerun rerun(recording, compact.string());
    LackingColumns columns(to, recording.organs());
    for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
      rerun.step();
      require_recorded(recording, rerun.frame(), checksums[frame], frame, compact.string());
      columns.append(rerun.frame());
      if (!done(frame + 1)) stop(out);
    }
  });
}

}  // namespace trocar
