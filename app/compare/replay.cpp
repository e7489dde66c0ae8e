#include "app/compare/replay.hpp"

#include <algorithm>

#include "app/compare/recording_source.hpp"

namespace trocar {
namespace {

struct AskedOrgan {
  RecordedOrganFrames frames;
  std::unique_ptr<TouchQuery> query;
};

std::vector<AskedOrgan> organs_of(const Recording& recording, const std::string& backend, Backends& backends) {
  std::vector<AskedOrgan> organs;
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
    organs.push_back({RecordedOrganFrames(recording, organ), backends.make(backend)});
    organs.back().query->rebuild(organs.back().frames.mesh());
  }
  return organs;
}

// An answer names slots of the faces that live, a recording their ids.
bool same_faces(const TouchList& answer, const RecordedOrganFrames& frames) {
  const OrganFrame& recorded = frames.frame();
  const auto same = [&](const Touch& now, const Touch& then) {
    return frames.surface().ids[index(now.face)] == then.face;
  };
  return std::equal(answer.first.begin(), answer.first.end(), recorded.first.begin(), recorded.first.end()) &&
         std::equal(answer.touches.begin(), answer.touches.end(), recorded.touches.begin(), recorded.touches.end(),
                    same);
}

// True when the answer is the recorded one.
bool ask_again(AskedOrgan& organ, std::size_t frame, const std::vector<ToolVolume>& volumes, ReplayResult& result) {
  if (organ.frames.load(frame)) {
    organ.query->rebuild(organ.frames.mesh());
    ++result.rebuilds;
  }
  organ.query->update(organ.frames.mesh().positions);
  result.touches += organ.frames.frame().touches.size();
  return same_faces(organ.query->touched(volumes, TouchSet::Exact), organ.frames);
}

}  // namespace

ReplayResult replay(const Recording& recording, const std::string& backend, Backends& backends,
                    const std::function<void(std::size_t)>& progress) {
  ReplayResult result;
  std::vector<AskedOrgan> organs = organs_of(recording, backend, backends);
  std::vector<ToolVolume> volumes;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    recorded_volumes(recording, frame, TouchSet::Exact, volumes);
    bool same = true;
    for (AskedOrgan& organ : organs) same = ask_again(organ, frame, volumes, result) && same;
    result.differing_frames += same ? 0 : 1;
    progress(frame + 1);
  }
  return result;
}

}  // namespace trocar
