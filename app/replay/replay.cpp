#include "app/replay/replay.hpp"

#include <fmt/format.h>

#include <array>

#include "deform/model_version.hpp"
#include "geometry/error.hpp"
#include "sim/review/recorded_frames.hpp"

namespace trocar {
namespace {

class RecordingSource final : public FrameSource {
 public:
  explicit RecordingSource(const std::filesystem::path& file) : recording_(file), recorded_tools_(recording_) {
    for (std::size_t organ = 0; organ < recording_.organs().size(); ++organ) organs_.emplace_back(recording_, organ);
    reshaped_.resize(organs_.size());
  }

  std::size_t frame_count() const override { return recording_.frame_count(); }
  std::size_t organ_count() const override { return organs_.size(); }
  MeshView organ(std::size_t organ) const override { return organs_[organ].surface().at_rest(); }
  bool reshaped(std::size_t organ) const override { return reshaped_[organ]; }
  std::span<const glm::vec3> positions(std::size_t organ) const override { return organs_[organ].mesh().positions; }
  std::span<const ToolVolume> tools() const override { return recorded_tools_.volumes().volumes; }
  QueryKind kind() const override { return {recording_.mode(), recording_.cover(), TouchSet::Exact}; }
  double radius() const override { return recording_.tool_radius().front(); }

  void load(std::size_t frame) override {
    for (std::size_t organ = 0; organ < organs_.size(); ++organ) reshaped_[organ] = organs_[organ].load(frame);
    recorded_tools_.load(frame);
  }

 private:
  Recording recording_;
  std::vector<RecordedOrganFrames> organs_;
  std::vector<char> reshaped_;  // [organ]
  RecordedTools recorded_tools_;
};

}  // namespace

std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file) {
  return std::make_unique<RecordingSource>(file);
}

namespace {

struct AskedOrgan {
  RecordedOrganFrames frames;
  std::unique_ptr<TouchQuery> query;
  PartTouches touched = {};  // in the last frame
  std::vector<std::array<std::uint32_t, 3>> now = {}, then = {};
};

std::vector<AskedOrgan> organs_of(const Recording& recording, const std::string& backend, Backends& backends) {
  std::vector<AskedOrgan> organs;
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
    organs.push_back({RecordedOrganFrames(recording, organ), backends.make(backend), {}, {}, {}});
    organs.back().query->rebuild(organs.back().frames.mesh());
    require_start(*organs.back().query);
  }
  return organs;
}

// The shapes of the tips belong to the model: only recordings of the same model have the same.
bool is_of_this_model(const Recording& recording) { return recording.model_version() == kModelVersion; }

// A touch of a recording or of an answer: tool, part, id of the face.
using PartFace = std::array<std::uint32_t, 3>;

// Lists the touches; only those of the shafts, part 0, when `shafts` is set.
template <typename IdOf>
void list_touches(std::span<const Touch> touches, std::span<const std::uint32_t> first,
                  std::span<const std::uint8_t> part, bool shafts, IdOf id_of, std::vector<PartFace>& listed) {
  listed.clear();
  for (std::uint32_t tool = 0; tool + 1 < first.size(); ++tool)
    for (std::uint32_t i = first[tool]; i < first[tool + 1]; ++i)
      if (!shafts || part[i] == 0) listed.push_back({tool, part[i], index(id_of(touches[i].face))});
}

// Returns whether the answer equals the recorded one. It lists slots of the current faces, a recording lists face ids.
bool same_touches(AskedOrgan& organ, bool shafts) {
  const OrganFrame& recorded = organ.frames.frame();
  const PartTouches& answer = organ.touched;
  const auto id_of_slot = [&](FaceId slot) { return organ.frames.surface().ids[index(slot)]; };
  list_touches(answer.touches, answer.tool_first, answer.part, shafts, id_of_slot, organ.now);
  list_touches(
      recorded.touches, recorded.first, recorded.part, shafts, [](FaceId id) { return id; }, organ.then);
  return organ.now == organ.then;
}

// Returns true when the answers equal the recorded ones.
bool ask_again(AskedOrgan& organ, std::size_t frame, const RecordedTools& tools, bool shafts, ReplayResult& result) {
  if (organ.frames.load(frame)) {
    organ.query->rebuild(organ.frames.mesh());
    ++result.rebuilds;
  }
  organ.query->update(organ.frames.mesh().positions);
  result.touches += organ.frames.frame().touches.size();
  if (!shafts) result.tip_touches += organ.frames.frame().tip_ids.size();
  const TouchList answer = organ.query->touched(tools.volumes().volumes, TouchSet::Exact);
  require_answer(*organ.query);
  collect(answer, tools.volumes(), organ.touched);
  return same_touches(organ, shafts);
}

}  // namespace

ReplayResult replay(const Recording& recording, const std::string& backend, Backends& backends,
                    const std::function<void(std::size_t)>& progress) {
  ReplayResult result;
  std::vector<AskedOrgan> organs = organs_of(recording, backend, backends);
  RecordedTools tools(recording);
  const bool shafts = !is_of_this_model(recording);
  if (shafts) {
    result.not_replayed = fmt::format(
        "the touches of the tips are not replayed: the recording has model version {} and this program {}; to replay "
        "them, use the version that recorded it ({})",
        recording.model_version(), kModelVersion, printable(recording.text("version")));
  }
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    tools.load(frame);
    bool same = true;
    for (AskedOrgan& organ : organs) same = ask_again(organ, frame, tools, shafts, result) && same;
    result.differing_frames += same ? 0 : 1;
    progress(frame + 1);
  }
  return result;
}

}  // namespace trocar
