#include "sim/session/answer_check.hpp"

#include <algorithm>

namespace trocar {
namespace {

// Every eighth face comes from any organ and tool, candidate pair or not: this covers the pairs that were not queried.
constexpr std::uint32_t kAnyPairEvery = 8;
// An organ without faces yields no sample; this many failures in a row end the frame's sampling.
constexpr int kMostVain = 16;

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
  const TouchList asked_about{organ.answered, organ.answered_first};
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
  const TouchList all{organ.answered, organ.answered_first};
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
  for (int vain = 0; sample_.wants_more() && vain < kMostVain;) {
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
    vain = sample_.now().faces == before ? vain + 1 : 0;
  }
  disagreements_ += static_cast<std::uint32_t>(sample_.now().disagreements);
}

}  // namespace trocar
