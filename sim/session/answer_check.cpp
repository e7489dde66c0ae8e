#include "sim/session/answer_check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cpu_collision/reference.hpp"

namespace trocar {

std::string sentence_of(const BackendFault& fault) {
  return fmt::format("frame {}: backend {}: {}; {}", fault.frame, fault.backend, sentence_of(fault.fault),
                     fault.check ? "it checks no further frame" : "scan answers from this frame on");
}

void FaultTeller::tell(const std::vector<BackendFault>& faults) {
  if (told_ >= faults.size()) return;
  // A progress bar may occupy the line: erase it first.
  const char* fresh_line = isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "";
  for (; told_ < faults.size(); ++told_) fmt::print(stderr, "{}{}\n", fresh_line, sentence_of(faults[told_]));
}

CrossCheckResult CrossCheck::compare(const MeshView& mesh, const ToolVolume& tool, TouchSet set,
                                     std::span<const Touch> first, std::span<const Touch> second) {
  CrossCheckResult result;
  differing_.clear();
  for (std::size_t i = 0, j = 0; i < first.size() || j < second.size();) {
    const bool take_first = j == second.size() || (i < first.size() && first[i].face <= second[j].face);
    const bool take_second = i == first.size() || (j < second.size() && second[j].face <= first[i].face);
    const FaceId face = take_first ? first[i].face : second[j].face;
    if (take_first && take_second) {
      ++result.in_both;
    } else {
      differing_.push_back(mesh.faces[index(face)]);
    }
    i += take_first ? 1 : 0;
    j += take_second ? 1 : 0;
  }
  if (differing_.empty()) return result;
  const MeshView only_differing{mesh.positions, differing_};
  result.borderline = static_cast<std::uint32_t>(reference_touched(only_differing, tool, set).borderline.size());
  result.disagreements = static_cast<std::uint32_t>(differing_.size()) - result.borderline;
  return result;
}

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

namespace {

// Every eighth face comes from any organ and tool, candidate pair or not: this covers the pairs that were not queried.
constexpr std::uint32_t kAnyPairEvery = 8;
// An organ without faces yields no sample; this many failures in a row end the frame's sampling.
constexpr int kMostFailures = 16;

void keep_sample(std::vector<double>& samples, std::size_t run, std::size_t limit, double value) {
  if (samples.size() < limit) {
    samples.push_back(value);
  } else if (limit > 0) {
    samples[run % limit] = value;
  }
}

}  // namespace

void BackendTimes::start_again() {
  for (auto* samples : {&update_ms, &query_ms, &gpu_ms}) samples->clear();
  touched = borderline = disagreements = 0;
  runs = 0;
}

void BackendTimes::reserve(std::size_t frames) {
  limit = frames;
  for (auto* samples : {&update_ms, &query_ms, &gpu_ms}) samples->reserve(frames);
}

void BackendTimes::keep(const StageTimes& sum) {
  keep_sample(update_ms, runs, limit, sum.update_ms);
  keep_sample(query_ms, runs, limit, sum.query_ms());
  keep_sample(gpu_ms, runs, limit, sum.gpu_ms);
  ++runs;
}

std::vector<BackendTimes> times_of(const std::vector<CheckPlan>& plan) {
  std::vector<BackendTimes> times(plan.size());
  for (std::size_t c = 0; c < plan.size(); ++c) times[c].name = plan[c].backend, times[c].every = plan[c].every;
  return times;
}

void sum_up(const TouchQuery& query, StageTimes& sum) {
  const StageTimes& times = query.times();
  sum.update_ms += times.update_ms;
  sum.submit_ms += times.submit_ms;
  sum.gpu_ms += times.gpu_ms;
  sum.read_back_ms += times.read_back_ms;
  sum.search_ms += times.search_ms;
  sum.refine_ms += times.refine_ms;
}

AnswerCheck::AnswerCheck(std::span<const Organ> organs, std::size_t parts, const std::vector<CheckPlan>& plan,
                         BackendMaker& backends)
    : sample_(organs.size() * parts) {
  for (const auto& check : plan) {
    Checker checker;
    for (const auto& organ : organs) {
      checker.queries.push_back(backends.make(check.backend));
      checker.queries.back()->rebuild(organ.mesh.view());
    }
    checkers_.push_back(std::move(checker));
  }
}

void AnswerCheck::rebuild(std::size_t organ, const MeshView& mesh) {
  for (Checker& checker : checkers_) checker.queries[organ]->rebuild(mesh);
}

void AnswerCheck::change_faces(std::size_t k, const Organ& organ) {
  for (Checker& checker : checkers_)
    checker.queries[k]->change_faces({organ.positions, organ.mesh.faces}, organ.removed_slots);
}

void AnswerCheck::check(const AnsweredFrame& answered, bool on, bool run_backends, std::span<BackendTimes> times,
                        std::vector<BackendFault>& faults, StageMs& stage_ms) {
  disagreements_ = 0;
  // The sample runs outside the timed stage, because a non-zero check time in a recording means that another backend
  // ran.
  sample_answers(answered, on);
  const StageTimer timer(stage_ms[kCheck]);
  if (!run_backends) return;
  for (std::size_t c = 0; c < checkers_.size(); ++c)
    if (answered.frame % times[c].every == 0 && !checkers_[c].failed) run(answered, checkers_[c], times[c], faults);
}

void AnswerCheck::run(const AnsweredFrame& answered, Checker& checker, BackendTimes& times,
                      std::vector<BackendFault>& faults) {
  StageTimes sum;
  for (std::size_t k = 0; k < answered.organs.size() && !checker.failed; ++k) {
    TouchQuery& query = *checker.queries[k];
    check_organ(answered, k, query, times, sum);
    if (query.fault() == TouchFault::None) continue;
    checker.failed = true;
    faults.push_back({answered.frame, times.name, query.fault(), true});
  }
  if (std::any_of(answered.asked.begin(), answered.asked.end(),
                  [](const AskedVolumes& asked) { return asked.anyone(); }))
    times.keep(sum);
}

// The checker answers about every volume. Only the volumes that the session's own backend was queried about are timed.
void AnswerCheck::check_organ(const AnsweredFrame& answered, std::size_t k, TouchQuery& query, BackendTimes& times,
                              StageTimes& sum) {
  const Organ& organ = answered.organs[k];
  const AskedVolumes& asked = answered.asked[k];
  const MeshView mesh{organ.positions, organ.mesh.faces};
  const TouchList asked_about = asked.answer();
  const auto compare = [&](std::span<const ToolVolume> tools, std::span<const std::uint32_t> which) {
    const TouchList answer = query.touched(tools, TouchSet::Exact);
    if (query.fault() != TouchFault::None) return;
    times.touched += answer.touches.size();
    for (std::size_t i = 0; i < tools.size(); ++i) {
      const CrossCheckResult result =
          cross_check_.compare(mesh, tools[i], TouchSet::Exact, asked_about.of_tool(which[i]), answer.of_tool(i));
      times.borderline += result.borderline;
      times.disagreements += result.disagreements;
      disagreements_ += result.disagreements;
    }
  };
  query.update(organ.positions);
  if (asked.anyone()) {
    compare(asked.near, asked.near_k);
    sum_up(query, sum);
  }
  if (!asked.far.empty()) compare(asked.far, asked.far_k);
}

void AnswerCheck::sample_face(const AnsweredFrame& answered, std::size_t organ_number, std::size_t volume) {
  const Organ& organ = answered.organs[organ_number];
  const FrameVolumes& frame = answered.volumes;
  const TouchList all = answered.asked[organ_number].answer();
  sample_.hold(organ_number * frame.parts.size() + frame.part_of_volume[volume],
               {{organ.positions, organ.mesh.faces}, organ.around, frame.volumes[volume], all.of_tool(volume)});
}

// Seven of eight faces come from candidate pairs.
void AnswerCheck::sample_answers(const AnsweredFrame& answered, bool more) {
  std::uint64_t answers = 0;
  std::uint32_t near = 0;
  const auto organs = static_cast<std::uint32_t>(answered.organs.size());
  const auto volumes = static_cast<std::uint32_t>(answered.volumes.volumes.size());
  for (std::size_t k = 0; k < answered.organs.size(); ++k) {
    answers += answered.organs[k].mesh.faces.size() * volumes;
    near += static_cast<std::uint32_t>(answered.asked[k].near_k.size());
  }
  sample_.open_frame(answers, more);
  if (organs == 0 || volumes == 0) return;
  for (int failures = 0; sample_.wants_more() && failures < kMostFailures;) {
    const std::uint64_t before = sample_.now().faces;
    if (near == 0 || sample_.pick(kAnyPairEvery) == 0) {
      const std::uint32_t organ = sample_.pick(organs);
      sample_face(answered, organ, sample_.pick(volumes));
    } else {
      std::uint32_t chosen = sample_.pick(near);
      std::size_t organ = 0;
      while (chosen >= answered.asked[organ].near_k.size())
        chosen -= static_cast<std::uint32_t>(answered.asked[organ++].near_k.size());
      sample_face(answered, organ, answered.asked[organ].near_k[chosen]);
    }
    failures = sample_.now().faces == before ? failures + 1 : 0;
  }
  disagreements_ += static_cast<std::uint32_t>(sample_.now().disagreements);
}

}  // namespace trocar
