#include "app/report/session_summary.hpp"

#include <algorithm>
#include <limits>

#include "app/compare/compare.hpp"

namespace trocar {
namespace {

// What needs every touch of a recording.
struct TouchedFaces {
  std::vector<std::vector<std::uint32_t>> of_tool;  // [tool][frame] faces, of all organs
  std::vector<OrganSummary> organs;                 // with shapes and contacts only if `surfaces`
};

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Contact of each face, accumulated over the frames.
struct ContactSums {
  std::vector<float> seconds, pressure;  // [id] s, Pa
  std::vector<std::size_t> last;         // [id] frame that touched it last

  explicit ContactSums(std::size_t faces) : seconds(faces, 0.f), pressure(faces, 0.f), last(faces, kNever) {}

  // A face that two tools touch in the same frame counts once.
  void add(const std::vector<std::uint32_t>& faces, std::size_t frame, float dt) {
    for (const std::uint32_t face : faces) {
      if (face >= last.size()) continue;
      if (last[face] != frame) seconds[face] += dt;
      last[face] = frame;
    }
  }

  void add_pressure(const OrganFrame& content) {
    for (std::size_t k = 0; k < content.touches.size(); ++k)
      if (const std::uint32_t face = index(content.touches[k].face); face < pressure.size())
        pressure[face] = std::max(pressure[face], content.pressure[k]);
  }
};

// Lists the ids of the faces that a tool touches, by its shaft or its tip, each once, ascending.
void faces_of_tool(const OrganFrame& content, std::size_t tool, std::vector<std::uint32_t>& faces) {
  faces.clear();
  for (std::uint32_t k = content.first[tool]; k < content.first[tool + 1]; ++k)
    faces.push_back(index(content.touches[k].face));
  if (tool + 1 < content.tip_first.size())
    for (std::uint32_t k = content.tip_first[tool]; k < content.tip_first[tool + 1]; ++k)
      faces.push_back(index(content.tip_ids[k]));
  std::sort(faces.begin(), faces.end());
  faces.erase(std::unique(faces.begin(), faces.end()), faces.end());
}

// Returns the duration of a frame, s: the time since the frame before; for the first frame, the time until the second.
float frame_length(const std::vector<double>& times, std::size_t frame) {
  if (times.size() < 2) return 0.f;
  const std::size_t end = std::max<std::size_t>(frame, 1);
  return static_cast<float>(times[end] - times[end - 1]);
}

float area(const OrganSummary& organ, std::uint32_t face) {
  const glm::uvec3& corners = organ.faces[face];
  const glm::vec3 origin = organ.rest[corners.x];
  return 0.5f * glm::length(glm::cross(organ.rest[corners.y] - origin, organ.rest[corners.z] - origin));
}

float time_of(const std::vector<double>& times, std::uint32_t frame) {
  return static_cast<float>(frame < times.size() ? times[frame] : times.back());
}

void add_surface(const SurfaceHistory& history, const std::vector<double>& times, OrganSummary& organ) {
  organ.faces = history.faces;
  organ.rest = history.rest;
  for (std::uint32_t face = 0; face < history.face_born.size(); ++face)
    if (history.face_born[face] > 0) organ.born.push_back({face, time_of(times, history.face_born[face])});
  for (std::size_t row = 0; row < history.removed.size(); ++row)
    organ.removed.push_back({index(history.removed[row]), time_of(times, history.removed_frame[row])});
}

void add_contacts(const ContactSums& sums, OrganSummary& organ) {
  for (std::uint32_t face = 0; face < sums.last.size(); ++face) {
    if (sums.last[face] == kNever) continue;
    organ.contact.push_back({face, sums.seconds[face], sums.pressure[face]});
    organ.touched_area += area(organ, face);
  }
}

TouchedFaces summarise_touches(const Recording& recording, bool surfaces,
                               const std::function<void(std::size_t)>& progress) {
  const std::size_t tools = recording.tools().size(), frames = recording.frame_count();
  TouchedFaces out{std::vector(tools, std::vector<std::uint32_t>(frames, 0)), {}};
  std::vector<ContactSums> sums;
  for (const OrganRecording& organ : recording.organs()) sums.emplace_back(organ.history.faces.size());
  OrganFrame content;
  std::vector<std::uint32_t> faces;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    for (std::size_t organ = 0; organ < sums.size(); ++organ) {
      recording.read_frame(frame, organ, content);
      for (std::size_t tool = 0; tool < tools; ++tool) {
        faces_of_tool(content, tool, faces);
        out.of_tool[tool][frame] += static_cast<std::uint32_t>(faces.size());
        sums[organ].add(faces, frame, frame_length(recording.score_times(), frame));
      }
      sums[organ].add_pressure(content);
    }
    progress(frame + 1);
  }
  for (std::size_t organ = 0; organ < sums.size(); ++organ) {
    out.organs.emplace_back().name = recording.organs()[organ].name;
    if (!surfaces) continue;
    add_surface(recording.organs()[organ].history, recording.score_times(), out.organs.back());
    add_contacts(sums[organ], out.organs.back());
  }
  return out;
}

constexpr float kCheckedMs = 2e-3f;    // ms  a skipped check takes less
constexpr float kBuriedTip = 0.5e-3f;  // m   below this it may be the surface's roughness

// Frames in groups of equal size; the last one may be smaller.
struct Grouping {
  std::size_t frames, stride;
  Grouping(std::size_t frames, std::size_t most) : frames(frames), stride((frames + most - 1) / most) {}
  std::size_t count() const { return (frames + stride - 1) / stride; }
};

template <typename ValueOf>
Envelope envelope(const Grouping& bins, ValueOf value_of) {
  Envelope out;
  for (std::size_t bin = 0; bin < bins.count(); ++bin) {
    const std::size_t end = std::min(bins.frames, (bin + 1) * bins.stride);
    float low = value_of(bin * bins.stride), high = low;
    for (std::size_t frame = bin * bins.stride + 1; frame < end; ++frame) {
      const float value = value_of(frame);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    out.low.push_back(low);
    out.high.push_back(high);
  }
  return out;
}

// Returns the time intervals in which `is` holds; a frame lasts until the next one. Gaps up to `shortest` are closed.
template <typename Is>
std::vector<Span> spans(const std::vector<double>& times, double shortest, Is is) {
  std::vector<Span> out;
  for (std::size_t frame = 0; frame < times.size(); ++frame) {
    if (!is(frame)) continue;
    const double end = frame + 1 < times.size() ? times[frame + 1] : times[frame];
    if (!out.empty() && times[frame] - out.back().to <= shortest) {
      out.back().to = end;
    } else {
      out.push_back({times[frame], end});
    }
  }
  return out;
}

float speed(const Recording& recording, std::size_t frame, std::size_t tool) {
  if (frame == 0) return 0.f;
  const double dt = recording.score_times()[frame] - recording.score_times()[frame - 1];
  const double distance = glm::distance(recording.pose(frame, tool).tip, recording.pose(frame - 1, tool).tip);
  return dt > 0.0 ? static_cast<float>(distance / dt) : 0.f;
}

void add_paths(const Recording& recording, std::size_t tool, const Grouping& steps, ToolSummary& summary) {
  for (std::size_t step = 0; step < steps.count(); ++step) {
    const ToolPose pose = recording.pose(step * steps.stride, tool);
    summary.pivot.emplace_back(pose.pivot);
    summary.tip.emplace_back(pose.tip);
  }
}

bool out_of_view(const Recording& recording, const Lens& lens, std::size_t frame, std::size_t tool) {
  return recording.hidden(frame).tip(tool) ||
         !seen_point(recording.scope(frame), lens, recording.pose(frame, tool).tip).visible;
}

ToolSummary summarise_tool(const Recording& recording, const Lens& lens, std::size_t tool, const Grouping& bins,
                           const std::vector<std::uint32_t>& touched) {
  const auto& times = recording.score_times();
  const double shortest = (times.back() - times.front()) / 2000.0;
  ToolSummary summary;
  summary.name = recording.tools()[tool];
  summary.radius = recording.tool_radius()[tool];
  summary.force = envelope(bins, [&](std::size_t frame) { return glm::length(recording.force(frame, tool)); });
  summary.speed = envelope(bins, [&](std::size_t frame) { return speed(recording, frame, tool); });
  summary.touched = envelope(bins, [&](std::size_t frame) { return static_cast<float>(touched[frame]); });
  summary.energy =
      spans(times, shortest, [&](std::size_t frame) { return recording.energy(frame, tool) != Diathermy::Off; });
  summary.inside =
      spans(times, shortest, [&](std::size_t frame) { return recording.tip_depth(frame, tool) > kBuriedTip; });
  summary.without_device =
      spans(times, shortest, [&](std::size_t frame) { return recording.state(frame, tool) != ToolState::Good; });
  summary.out_of_view =
      spans(times, shortest, [&](std::size_t frame) { return out_of_view(recording, lens, frame, tool); });
  return summary;
}

std::vector<Span> collisions(const Recording& recording) {
  const std::size_t tools = recording.tools().size();
  const auto any = [&](std::size_t frame) {
    for (std::size_t first = 0; first < tools; ++first)
      for (std::size_t second = first + 1; second < tools; ++second)
        if (const auto clash = recording.clash(frame, first, second); clash && clash->distance < 0.f) return true;
    return false;
  };
  return spans(recording.score_times(), (recording.score_times().back() - recording.score_times().front()) / 2000.0,
               any);
}

StageSummary summarise_stage(const std::string& name, const std::vector<double>& ms) {
  const TimeSummary times = summarise(ms);
  return {name, times.median, times.p99, *std::max_element(ms.begin(), ms.end())};
}

void add_stages(const Recording& recording, SessionSummary& summary) {
  std::vector<double> ms(recording.frame_count()), all(recording.frame_count(), 0.0);
  for (std::size_t stage = 0; stage < recording.stages().size(); ++stage) {
    for (std::size_t frame = 0; frame < ms.size(); ++frame) all[frame] += ms[frame] = recording.stage_ms(frame, stage);
    summary.stages.push_back(summarise_stage(recording.stages()[stage], ms));
  }
  summary.frame_time = summarise_stage("frame", all);
}

CheckSummary summarise_check(const Recording& recording) {
  const auto& stages = recording.stages();
  const auto stage = static_cast<std::size_t>(std::find(stages.begin(), stages.end(), "check") - stages.begin());
  CheckSummary check;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const std::uint32_t faces = recording.disagreements(frame);
    check.faces += faces;
    check.frames_disagreeing += faces > 0 ? 1 : 0;
    check.frames += faces > 0 || (stage < stages.size() && recording.stage_ms(frame, stage) > kCheckedMs) ? 1 : 0;
  }
  if (check.faces == 0 && check.frames * 100 < recording.frame_count()) check.frames = 0;
  return check;
}

SampleSummary summarise_sample(const Recording& recording) {
  SampleSummary sum;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const auto [faces, answers, wrong] = recording.sample(frame);
    sum.faces += faces, sum.answers += answers, sum.wrong += wrong;
  }
  return sum;
}

}  // namespace

std::vector<BackendSummary> summarise_backends(const Recording& recording) {
  std::vector<BackendSummary> backends;
  std::string last = recording.text("backend");
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    std::string name = recording.backend(frame);
    const TouchFault fault = recording.backend_fault(frame);
    if (frame > 0 && name == last && fault == TouchFault::None) continue;
    const std::string why = fault == TouchFault::None ? "" : last + ": " + std::string(sentence_of(fault));
    backends.push_back({name, frame, recording.times()[frame], why});
    last = std::move(name);
  }
  return backends;
}

SessionSummary summarise_session(const Recording& recording, const Lens& lens, const SummaryLimits& limits,
                                 const std::function<void(std::size_t)>& progress) {
  const auto& times = recording.score_times();
  const Grouping bins(times.size(), limits.bins), steps(times.size(), limits.steps);
  SessionSummary summary;
  summary.begin = times.front();
  summary.end = times.back();
  summary.frames = times.size();
  for (std::size_t bin = 0; bin < bins.count(); ++bin)
    summary.bin_time.push_back(static_cast<float>(times[bin * bins.stride]));
  for (std::size_t step = 0; step < steps.count(); ++step) {
    summary.step_time.push_back(static_cast<float>(times[step * steps.stride]));
    summary.scope.emplace_back(recording.scope(step * steps.stride).eye);
  }
  TouchedFaces touched = summarise_touches(recording, limits.surfaces, progress);
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) {
    summary.tools.push_back(summarise_tool(recording, lens, tool, bins, touched.of_tool[tool]));
    add_paths(recording, tool, steps, summary.tools.back());
  }
  summary.collisions = collisions(recording);
  summary.organs = std::move(touched.organs);
  add_stages(recording, summary);
  summary.check = summarise_check(recording);
  summary.sample = summarise_sample(recording);
  summary.backends = summarise_backends(recording);
  return summary;
}

}  // namespace trocar
