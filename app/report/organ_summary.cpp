#include "app/report/organ_summary.hpp"

#include <algorithm>
#include <limits>

namespace trocar {
namespace {

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

}  // namespace

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

}  // namespace trocar
