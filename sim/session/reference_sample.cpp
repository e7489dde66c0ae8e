#include "sim/session/reference_sample.hpp"

#include <algorithm>
#include <cmath>

#include "cpu_collision/reference.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Random vertices that a search for the nearest vertex tries as starting points.
constexpr int kProbes = 16;
// Maximum number of steps of a walk over the surface.
constexpr int kMostSteps = 64;
// A record's numbers are floats: their rounding error, relative to the coordinates.
constexpr double kFloatRounding = 4e-7;
// Further tolerance of a record, m. Depth: where a grazing ray leaves the capsule is ill-conditioned.
constexpr double kRecordBand = 2.0 * kBorderlineBand, kDepthBand = 1e-5;

// Returns the squared distance from the shaft at the end of the step, m^2: it finds near faces, it decides nothing.
double squared_distance(const ToolStep& step, const dvec3& point) {
  const dvec3 along = step.tip_after - step.pivot, from = point - step.pivot;
  const double share = std::clamp(glm::dot(from, along) / glm::dot(along, along), 0.0, 1.0);
  const dvec3 gap = from - share * along;
  return glm::dot(gap, gap);
}

double largest(const dvec3& p) { return std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}); }

const Touch* find(std::span<const Touch> touches, std::uint32_t face) {
  const auto found = std::lower_bound(touches.begin(), touches.end(), FaceId{face},
                                      [](const Touch& touch, FaceId wanted) { return touch.face < wanted; });
  return found != touches.end() && found->face == FaceId{face} ? &*found : nullptr;
}

// The same conditions for a part. A face that the part already touches when its interval begins was met before.
bool sound_part_record(const ToolStep& step, const Triangle& face, const Touch& touch, double earlier) {
  const MovingPart& part = step.part;
  const dvec3 point(touch.point), normal(touch.normal);
  const double speed = motion_bounds(*part.motion, *part.shape).speed, time = touch.time;
  const double band = kRecordBand + kFloatRounding * (largest(point) + speed);
  const auto gap = [&](double when, const Triangle& t) {
    return reference_part_distance(*part.shape, frame_at(*part.motion, *part.shape, when), t) - part.shape->radius;
  };
  const Triangle at_point{point, point, point};
  if (!(time >= part.from - kFloatRounding && time <= part.to + kFloatRounding) || !(touch.depth >= 0.f)) return false;
  if (!(std::abs(glm::length(normal) - 1.0) < 1e-5) || !(reference_distance(face, at_point) <= band)) return false;
  const bool met_before = time <= part.from + kFloatRounding;
  if (!(gap(time, at_point) <= band) || (!met_before && !(gap(time, at_point) >= -band))) return false;
  if (!met_before && !(gap(part.from + earlier * (time - part.from), face) >= -band)) return false;
  const dvec3 before_tool = point - static_cast<double>(touch.depth) * normal;
  return touch.depth == 0.f || std::abs(gap(part.end, {before_tool, before_tool, before_tool})) <= kDepthBand + band;
}

}  // namespace

bool sound_record(const ToolStep& step, const Triangle& face, const Touch& touch, double earlier) {
  if (step.part.shape) return sound_part_record(step, face, touch, earlier);
  const dvec3 point(touch.point), normal(touch.normal);
  const double scale =
      std::max({largest(point), largest(step.pivot), largest(step.tip_before), largest(step.tip_after)});
  const double motion = glm::length(step.tip_after - step.tip_before);
  const double band = kRecordBand + kFloatRounding * (scale + motion);
  const Triangle at_point{point, point, point};
  const auto shaft_at = [&](double time) {
    const dvec3 tip = pose_at(step, time).tip;
    return Triangle{step.pivot, tip, tip};
  };
  const double time = touch.time;
  if (!(time >= 0.0 && time <= 1.0) || !(touch.depth >= 0.f)) return false;
  if (!(std::abs(glm::length(normal) - 1.0) < 1e-5)) return false;
  if (!(reference_distance(face, at_point) <= band)) return false;
  const double apart = reference_distance(shaft_at(time), at_point);
  if (!(apart <= step.radius + band) || (time > 0.0 && !(apart >= step.radius - band))) return false;
  if (time > 0.0 && !(reference_distance(face, shaft_at(earlier * time)) >= step.radius - band)) return false;
  const dvec3 before_tool = point - static_cast<double>(touch.depth) * normal;
  const Triangle moved{before_tool, before_tool, before_tool};
  return touch.depth == 0.f || std::abs(reference_distance(shaft_at(1.0), moved) - step.radius) <= kDepthBand + band;
}

ReferenceSample::ReferenceSample(std::size_t answers, const ReferenceSampleParams& params)
    : params_(params), state_(params.seed), near_(answers, 0) {}

void ReferenceSample::open_frame(std::uint64_t of, bool more) {
  now_ = {.of = of};
  total_.of += of;
  more_ = more;
  start_ = Clock::now();
}

bool ReferenceSample::wants_more() const {
  if (now_.faces == 0) return true;
  if (!more_ || now_.faces >= params_.most_faces) return false;
  return std::chrono::duration<double, std::milli>(Clock::now() - start_).count() < params_.budget_ms;
}

// The generator is that of Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
std::uint32_t ReferenceSample::pick(std::uint32_t count) {
  state_ += 0x9e3779b97f4a7c15ull;
  std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
  return static_cast<std::uint32_t>(((mixed ^ (mixed >> 31)) >> 32) * count >> 32);
}

// Greedy descent over the surface, from the last frame's nearest vertex or from a random vertex that is nearer.
std::uint32_t ReferenceSample::nearest_vertex(std::size_t answer, const SampledAnswer& asked) {
  const MeshView& mesh = asked.mesh;
  const auto distance = [&](std::uint32_t vertex) {
    return squared_distance(asked.tool.step, dvec3(mesh.positions[vertex]));
  };
  const auto faces = static_cast<std::uint32_t>(mesh.faces.size());
  std::uint32_t nearest = mesh.faces[pick(faces)][pick(3)];
  auto keep_nearer = [&, least = distance(nearest)](std::uint32_t vertex) mutable {
    const double apart = distance(vertex);
    if (!(apart < least)) return;
    least = apart;
    nearest = vertex;
  };
  const std::uint32_t last = near_[answer];
  if (last + 1 < asked.around.first.size() && asked.around.first[last] != asked.around.first[last + 1])
    keep_nearer(last);
  for (int probe = 1; probe < kProbes; ++probe) keep_nearer(mesh.faces[pick(faces)][pick(3)]);
  for (int step = 0; step < kMostSteps; ++step) {
    const std::uint32_t from = nearest;
    for (std::uint32_t k = asked.around.first[from]; k < asked.around.first[from + 1]; ++k)
      for (int corner = 0; corner < 3; ++corner) keep_nearer(mesh.faces[index(asked.around.face[k])][corner]);
    if (nearest == from) break;
  }
  return near_[answer] = nearest;
}

// Returns a culled face around a vertex.
std::optional<std::uint32_t> ReferenceSample::culled_at(std::uint32_t vertex, const SampledAnswer& asked) {
  const std::uint32_t first = asked.around.first[vertex], count = asked.around.first[vertex + 1] - first;
  if (count == 0) return {};
  const std::uint32_t start = pick(count);
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t face = index(asked.around.face[first + (start + k) % count]);
    if (!find(asked.touches, face)) return face;
  }
  return {};
}

// Walks from a touched face in a random direction to the border of the touched region. If no face is touched: a face
// around the nearest vertex.
std::optional<std::uint32_t> ReferenceSample::culled_face(std::size_t answer, const SampledAnswer& asked) {
  const MeshView& mesh = asked.mesh;
  if (asked.touches.empty()) return culled_at(nearest_vertex(answer, asked), asked);
  const Touch& start = asked.touches[pick(static_cast<std::uint32_t>(asked.touches.size()))];
  std::uint32_t vertex = mesh.faces[index(start.face)][pick(3)];
  const dvec3 ahead(pick(2001) - 1000.0, pick(2001) - 1000.0, pick(2001) - 1000.0);
  for (int step = 0; step < kMostSteps; ++step) {
    if (const auto face = culled_at(vertex, asked)) return face;
    const std::uint32_t from = vertex;
    for (std::uint32_t k = asked.around.first[from]; k < asked.around.first[from + 1]; ++k) {
      const glm::uvec3& corners = mesh.faces[index(asked.around.face[k])];
      for (int corner = 0; corner < 3; ++corner) {
        const dvec3 gain(mesh.positions[corners[corner]] - mesh.positions[vertex]);
        if (glm::dot(gain, ahead) > 0.0) vertex = corners[corner];
      }
    }
    if (vertex == from) break;
  }
  const std::uint32_t any = pick(static_cast<std::uint32_t>(mesh.faces.size()));
  return find(asked.touches, any) ? std::nullopt : std::optional(any);
}

void ReferenceSample::compare_face(std::uint32_t face, const SampledAnswer& asked) {
  const ToolStep& step = asked.tool.step;
  const Triangle corners = triangle_of(asked.mesh.positions, asked.mesh.faces[face]);
  const Touch* touch = find(asked.touches, face);
  const double inside_by =
      step.part.shape ? -reference_part_gap(step.part, corners)
                      : step.radius - reference_distance(corners, {step.pivot, step.tip_before, step.tip_after});
  const bool differs = (inside_by >= 0.0) != (touch != nullptr), borderline = std::abs(inside_by) <= kBorderlineBand;
  SampleCount found{.faces = 1, .culled = touch ? 0u : 1u};
  if (differs) ++(borderline ? found.borderline : found.disagreements);
  if (touch && !differs && !sound_record(step, corners, *touch, pick(1000) * 1e-3)) ++found.disagreements;
  for (SampleCount* count : {&now_, &total_}) {
    count->faces += found.faces;
    count->culled += found.culled;
    count->borderline += found.borderline;
    count->disagreements += found.disagreements;
  }
}

void ReferenceSample::hold(std::size_t answer, const SampledAnswer& asked) {
  if (asked.mesh.faces.empty()) return;
  const bool culled = culled_next_;
  culled_next_ = !culled_next_;
  if (culled) {
    if (const auto face = culled_face(answer, asked)) return compare_face(*face, asked);
  }
  const auto touched = static_cast<std::uint32_t>(asked.touches.size());
  const std::uint32_t face = touched > 0 ? index(asked.touches[pick(touched)].face)
                                         : pick(static_cast<std::uint32_t>(asked.mesh.faces.size()));
  compare_face(face, asked);
}

}  // namespace trocar
