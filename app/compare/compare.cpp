#include "app/compare/compare.hpp"

#include <algorithm>
#include <chrono>

#include "app/support/machine.hpp"
#include "cpu_collision/reference.hpp"

namespace trocar {
namespace {

// One backend at work: one query object per organ, and its samples.
struct Contestant {
  std::vector<std::unique_ptr<TouchQuery>> queries;           // [organ]
  std::vector<double> update_ms, query_ms, total_ms, gpu_ms;  // [frame]
  BackendResult result;
};

Contestant make_contestant(const std::string& name, const FrameSource& source, Backends& backends) {
  Contestant contestant;
  contestant.result.name = name;
  for (std::size_t organ = 0; organ < source.organ_count(); ++organ) {
    contestant.queries.push_back(backends.make(name));
    contestant.queries.back()->rebuild(source.organ(organ));
    require_start(*contestant.queries.back());
  }
  for (auto* samples : {&contestant.update_ms, &contestant.query_ms, &contestant.total_ms, &contestant.gpu_ms}) {
    samples->reserve(source.frame_count());
  }
  return contestant;
}

// The judge's answers of one frame: [organ][tool].
using Verdict = std::vector<std::vector<ReferenceAnswer>>;

Verdict judge_frame(const FrameSource& source) {
  Verdict verdict(source.organ_count());
  for (std::size_t organ = 0; organ < source.organ_count(); ++organ) {
    const MeshView mesh{source.positions(organ), source.organ(organ).faces};
    for (const ToolVolume& tool : source.tools()) {
      verdict[organ].push_back(reference_touched(mesh, tool, source.kind().set));
    }
  }
  return verdict;
}

void count(const TouchList& list, const std::vector<ReferenceAnswer>& answers, BackendResult& result) {
  result.touched += list.touches.size();
  for (std::size_t tool = 0; tool < answers.size(); ++tool) {
    const Agreement agreement = judge(answers[tool], list.of_tool(tool));
    result.borderline += agreement.borderline;
    result.disagreements += agreement.disagreements;
  }
}

// Returns how long it took, ms.
double rebuild(TouchQuery& query, const MeshView& mesh) {
  const auto start = std::chrono::steady_clock::now();
  query.rebuild(mesh);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void run_frame(Contestant& contestant, const FrameSource& source, const Verdict& verdict) {
  StageTimes sum;
  double query_ms = 0.0;
  for (std::size_t organ = 0; organ < contestant.queries.size(); ++organ) {
    TouchQuery& query = *contestant.queries[organ];
    if (source.reshaped(organ)) sum.update_ms += rebuild(query, {source.positions(organ), source.organ(organ).faces});
    query.update(source.positions(organ));
    const TouchList list = query.touched(source.tools(), source.kind().set);
    require_answer(query);
    sum.update_ms += query.times().update_ms;
    sum.gpu_ms += query.times().gpu_ms;
    query_ms += query.times().query_ms();
    const CostCounters counters = query.counters();
    contestant.result.volume_tests += static_cast<double>(counters.volume_tests);
    contestant.result.face_tests += static_cast<double>(counters.face_tests);
    contestant.result.updated_nodes += static_cast<double>(counters.updated_nodes);
    count(list, verdict[organ], contestant.result);
  }
  contestant.update_ms.push_back(sum.update_ms);
  contestant.query_ms.push_back(query_ms);
  contestant.total_ms.push_back(sum.update_ms + query_ms);
  contestant.gpu_ms.push_back(sum.gpu_ms);
}

BackendResult finish(Contestant& contestant) {
  BackendResult result = contestant.result;
  result.frames = contestant.total_ms.size();
  const double frames = std::max<double>(1.0, static_cast<double>(result.frames));
  result.update = summarise(std::move(contestant.update_ms));
  result.query = summarise(std::move(contestant.query_ms));
  result.total = summarise(std::move(contestant.total_ms));
  result.gpu = summarise(std::move(contestant.gpu_ms));
  result.volume_tests /= frames;
  result.face_tests /= frames;
  result.updated_nodes /= frames;
  for (const auto& query : contestant.queries) result.memory_bytes += query->memory_bytes();
  return result;
}

CompareReport describe(const FrameSource& source, Backends& backends) {
  CompareReport report;
  report.version = kVersion;
  report.machine = machine_description();
  report.gl = gl_description(backends);
  report.date = today();
  report.frames = source.frame_count();
  report.radius_mm = source.radius() * 1e3;
  report.kind = source.kind();
  for (std::size_t organ = 0; organ < source.organ_count(); ++organ) {
    report.faces += source.organ(organ).faces.size();
    report.vertices += source.organ(organ).positions.size();
  }
  return report;
}

}  // namespace

TimeSummary summarise(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double quantile) {
    return samples[static_cast<std::size_t>(quantile * static_cast<double>(samples.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.99), samples.front()};
}

std::uint64_t CompareReport::disagreements() const {
  std::uint64_t sum = 0;
  for (const auto& backend : backends) sum += backend.disagreements;
  return sum;
}

const BackendResult* CompareReport::find(std::string_view name) const {
  const auto found = std::find_if(backends.begin(), backends.end(), [&](const auto& b) { return b.name == name; });
  return found == backends.end() ? nullptr : &*found;
}

double CompareReport::speedup_over_obb(const BackendResult& backend) const {
  const BackendResult* obb = find("obb");
  return obb && backend.total.median > 0.0 ? obb->total.median / backend.total.median : 0.0;
}

CompareReport compare_backends(FrameSource& source, const std::vector<std::string>& names, Backends& backends,
                               const std::function<void(std::size_t)>& progress) {
  CompareReport report = describe(source, backends);
  std::vector<Contestant> contestants;
  for (const auto& name : names) contestants.push_back(make_contestant(name, source, backends));
  for (std::size_t frame = 0; frame < source.frame_count(); ++frame) {
    source.load(frame);
    report.tools = std::max(report.tools, source.tools().size());
    const Verdict verdict = judge_frame(source);
    // Each frame another backend begins, so that none always finds the caches warm.
    for (std::size_t turn = 0; turn < contestants.size(); ++turn) {
      run_frame(contestants[(turn + frame) % contestants.size()], source, verdict);
    }
    progress(frame + 1);
  }
  for (auto& contestant : contestants) report.backends.push_back(finish(contestant));
  return report;
}

}  // namespace trocar
