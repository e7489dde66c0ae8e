#include "app/compare/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "app/compare/backends.hpp"
#include "deform/model_version.hpp"
#include "geometry/printable.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/session/tip_touch.hpp"

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
    require_start(*organs.back().query);
  }
  return organs;
}

// An answer lists slots of the current faces, a recording lists face ids.
bool same_faces(const TouchList& answer, const RecordedOrganFrames& frames) {
  const OrganFrame& recorded = frames.frame();
  const auto same = [&](const Touch& now, const Touch& then) {
    return frames.surface().ids[index(now.face)] == then.face;
  };
  return std::equal(answer.first.begin(), answer.first.end(), recorded.first.begin(), recorded.first.end()) &&
         std::equal(answer.touches.begin(), answer.touches.end(), recorded.touches.begin(), recorded.touches.end(),
                    same);
}

// Returns the tip shape of each instrument; empty for older recordings, which have none.
std::vector<TipTouch> tips_of(const Recording& recording) {
  std::vector<TipTouch> tips;
  std::istringstream lines(recording.text("tips"));
  std::string kind;
  for (JointLimits limits; recording.has_tips() && lines >> kind >> limits.widest_grip_deg;)
    if (const auto known = instrument_kind(kind); known && tips.size() < recording.tools().size())
      tips.emplace_back(*known, recording.tool_radius()[tips.size()], limits);
  if (tips.size() != recording.tools().size()) tips.clear();
  return tips;
}

bool is_of_this_model(const Recording& recording) { return recording.model_version() == kModelVersion; }

TipStance stance_of(const Recording& recording, std::size_t frame, std::size_t tool) {
  const glm::dvec2 roll_grip = recording.roll_grip(frame, tool);
  return {recording.pose(frame, tool), roll_grip.x, roll_grip.y};
}

// Returns true when the tips touch the recorded faces. `around`: the answers for the capsules around the tips.
bool same_tips(std::vector<TipTouch>& tips, const TouchList& around, const Recording& recording, std::size_t frame,
               const RecordedOrganFrames& organ) {
  const OrganFrame& recorded = organ.frame();
  for (std::size_t tool = 0; tool < tips.size(); ++tool) {
    const auto faces = tips[tool].touched(stance_of(recording, frame, tool), organ.mesh(), around.of_tool(tool));
    const auto then = std::span(recorded.tip_ids)
                          .subspan(recorded.tip_first[tool], recorded.tip_first[tool + 1] - recorded.tip_first[tool]);
    const auto same = [&](FaceId now, FaceId id) { return organ.surface().ids[index(now)] == id; };
    if (!std::equal(faces.begin(), faces.end(), then.begin(), then.end(), same)) return false;
  }
  return true;
}

// Returns true when the answers equal the recorded ones. `volumes`: first of the shafts, then around the tips.
bool ask_again(AskedOrgan& organ, const Recording& recording, std::size_t frame, std::span<const ToolVolume> volumes,
               std::vector<TipTouch>& tips, ReplayResult& result) {
  if (organ.frames.load(frame)) {
    organ.query->rebuild(organ.frames.mesh());
    ++result.rebuilds;
  }
  organ.query->update(organ.frames.mesh().positions);
  result.touches += organ.frames.frame().touches.size();
  if (!tips.empty()) result.tip_touches += organ.frames.frame().tip_ids.size();
  const TouchList answer = organ.query->touched(volumes, TouchSet::Exact);
  require_answer(*organ.query);
  const std::size_t tools = volumes.size() - tips.size();
  const TouchList shafts{answer.touches.first(answer.first[tools]), answer.first.first(tools + 1)};
  return same_faces(shafts, organ.frames) &&
         same_tips(tips, {answer.touches, answer.first.subspan(tools)}, recording, frame, organ.frames);
}

}  // namespace

ReplayResult replay(const Recording& recording, const std::string& backend, Backends& backends,
                    const std::function<void(std::size_t)>& progress) {
  ReplayResult result;
  std::vector<AskedOrgan> organs = organs_of(recording, backend, backends);
  std::vector<TipTouch> tips;
  if (is_of_this_model(recording)) {
    tips = tips_of(recording);
  } else if (recording.has_tips()) {
    result.not_replayed = fmt::format(
        "the touches of the tips are not replayed: the recording has model version {} and this program {}; to replay "
        "them, use the version that recorded it ({})",
        recording.model_version(), kModelVersion, printable(recording.text("version")));
  }
  std::vector<ToolVolume> volumes;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    recorded_volumes(recording, frame, TouchSet::Exact, volumes);
    for (std::size_t tool = 0; tool < tips.size(); ++tool)
      volumes.push_back(tips[tool].around(stance_of(recording, frame, tool)));
    bool same = true;
    for (AskedOrgan& organ : organs) same = ask_again(organ, recording, frame, volumes, tips, result) && same;
    result.differing_frames += same ? 0 : 1;
    progress(frame + 1);
  }
  return result;
}

}  // namespace trocar
