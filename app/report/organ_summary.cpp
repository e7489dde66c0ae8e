#include "app/report/organ_summary.hpp"

#include <algorithm>
#include <limits>

namespace trocar {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// What is known of each face while the frames go by.
struct ContactSums {
  std::vector<float> seconds, pressure;  // [id] s, Pa
  std::vector<std::size_t> last;         // [id] frame that touched it last

  explicit ContactSums(std::size_t faces) : seconds(faces, 0.f), pressure(faces, 0.f), last(faces, kNever) {}

  // A face that two tools touch in one frame is touched for one frame.
  void add(const OrganFrame& content, std::size_t frame, float dt) {
    for (std::size_t k = 0; k < content.touches.size(); ++k) {
      const std::uint32_t face = index(content.touches[k].face);
      if (face >= last.size()) continue;
      if (last[face] != frame) seconds[face] += dt;
      last[face] = frame;
      pressure[face] = std::max(pressure[face], content.pressure[k]);
    }
  }
};

// s  that a frame lasted: the time since the one before, for the first that until the second.
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
  for (std::size_t row = 0; row < history.gone.size(); ++row)
    organ.gone.push_back({index(history.gone[row]), time_of(times, history.gone_frame[row])});
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
  for (std::size_t frame = 0; frame < frames; ++frame) {
    for (std::size_t organ = 0; organ < sums.size(); ++organ) {
      recording.read_frame(frame, organ, content);
      for (std::size_t tool = 0; tool < tools; ++tool)
        out.of_tool[tool][frame] += content.first[tool + 1] - content.first[tool];
      sums[organ].add(content, frame, frame_length(recording.times(), frame));
    }
    progress(frame + 1);
  }
  for (std::size_t organ = 0; organ < sums.size(); ++organ) {
    out.organs.emplace_back().name = recording.organs()[organ].name;
    if (!surfaces) continue;
    add_surface(recording.organs()[organ].history, recording.times(), out.organs.back());
    add_contacts(sums[organ], out.organs.back());
  }
  return out;
}

}  // namespace trocar
