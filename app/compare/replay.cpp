#include "app/compare/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/compare/backends.hpp"
#include "deform/model_version.hpp"
#include "geometry/printable.hpp"
#include "sim/review/recorded_frames.hpp"

namespace trocar {
namespace {

struct AskedOrgan {
  RecordedOrganFrames frames;
  std::unique_ptr<TouchQuery> query;
  PartTouches touched = {};  // in the last frame
};

std::vector<AskedOrgan> organs_of(const Recording& recording, const std::string& backend, Backends& backends) {
  std::vector<AskedOrgan> organs;
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
    organs.push_back({RecordedOrganFrames(recording, organ), backends.make(backend), {}});
    organs.back().query->rebuild(organs.back().frames.mesh());
    require_start(*organs.back().query);
  }
  return organs;
}

// Returns whether the answer equals the recorded one. It lists slots of the current faces, a recording lists face ids.
bool same_touches(const PartTouches& answer, const RecordedOrganFrames& frames, bool by_parts) {
  const OrganFrame& recorded = frames.frame();
  const auto same = [&](const Touch& now, const Touch& then) {
    return frames.surface().ids[index(now.face)] == then.face;
  };
  return std::ranges::equal(answer.tool_first, recorded.first) &&
         std::ranges::equal(answer.touches, recorded.touches, same) &&
         (!by_parts || std::ranges::equal(answer.part, recorded.part));
}

// Returns true when the answers equal the recorded ones.
bool ask_again(AskedOrgan& organ, std::size_t frame, const RecordedTools& tools, ReplayResult& result) {
  if (organ.frames.load(frame)) {
    organ.query->rebuild(organ.frames.mesh());
    ++result.rebuilds;
  }
  organ.query->update(organ.frames.mesh().positions);
  result.touches += organ.frames.frame().touches.size();
  if (tools.by_parts()) result.tip_touches += organ.frames.frame().tip_ids.size();
  const TouchList answer = organ.query->touched(tools.volumes().volumes, TouchSet::Exact);
  require_answer(*organ.query);
  collect(answer, tools.volumes(), organ.touched);
  return same_touches(organ.touched, organ.frames, tools.by_parts());
}

}  // namespace

ReplayResult replay(const Recording& recording, const std::string& backend, Backends& backends,
                    const std::function<void(std::size_t)>& progress) {
  ReplayResult result;
  std::vector<AskedOrgan> organs = organs_of(recording, backend, backends);
  RecordedTools tools(recording);
  if (!tools.by_parts() && recording.has_tips()) {
    result.not_replayed = fmt::format(
        "the touches of the tips are not replayed: the recording has model version {} and this program {}; to replay "
        "them, use the version that recorded it ({})",
        recording.model_version(), kModelVersion, printable(recording.text("version")));
  }
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    tools.load(frame);
    bool same = true;
    for (AskedOrgan& organ : organs) same = ask_again(organ, frame, tools, result) && same;
    result.differing_frames += same ? 0 : 1;
    progress(frame + 1);
  }
  return result;
}

}  // namespace trocar
