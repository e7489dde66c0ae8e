#include "app/compare/compare.hpp"

#include <algorithm>

#include "cpu_collision/reference.hpp"
#include "geometry/stopwatch.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

// One backend in the comparison: one query object per organ, and the measured times.
struct BackendRun {
  std::vector<std::unique_ptr<TouchQuery>> queries;           // [organ]
  std::vector<double> update_ms, query_ms, total_ms, gpu_ms;  // [frame]
  BackendResult result;
};

BackendRun make_backend_run(const std::string& name, const FrameSource& source, Backends& backends) {
  BackendRun run;
  run.result.name = name;
  for (std::size_t organ = 0; organ < source.organ_count(); ++organ) {
    run.queries.push_back(backends.make(name));
    run.queries.back()->rebuild(source.organ(organ));
    require_start(*run.queries.back());
  }
  for (auto* samples : {&run.update_ms, &run.query_ms, &run.total_ms, &run.gpu_ms}) {
    samples->reserve(source.frame_count());
  }
  return run;
}

// The answers of the reference in one frame: [organ][tool].
using ReferenceFrame = std::vector<std::vector<ReferenceAnswer>>;

ReferenceFrame ask_reference(const FrameSource& source) {
  ReferenceFrame reference(source.organ_count());
  for (std::size_t organ = 0; organ < source.organ_count(); ++organ) {
    const MeshView mesh{source.positions(organ), source.organ(organ).faces};
    for (const ToolVolume& tool : source.tools()) {
      reference[organ].push_back(reference_touched(mesh, tool, source.kind().set));
    }
  }
  return reference;
}

void count(const TouchList& list, const std::vector<ReferenceAnswer>& answers, BackendResult& result) {
  result.touched += list.touches.size();
  for (std::size_t tool = 0; tool < answers.size(); ++tool) {
    const Agreement agreement = compare_with_reference(answers[tool], list.of_tool(tool));
    result.borderline += agreement.borderline;
    result.disagreements += agreement.disagreements;
  }
}

// Returns the duration in ms.
double rebuild(TouchQuery& query, const MeshView& mesh) {
  const auto start = Clock::now();
  query.rebuild(mesh);
  return milliseconds_since(start);
}

void run_frame(BackendRun& run, const FrameSource& source, const ReferenceFrame& reference) {
  StageTimes sum;
  double query_ms = 0.0;
  for (std::size_t organ = 0; organ < run.queries.size(); ++organ) {
    TouchQuery& query = *run.queries[organ];
    if (source.reshaped(organ)) sum.update_ms += rebuild(query, {source.positions(organ), source.organ(organ).faces});
    query.update(source.positions(organ));
    const TouchList list = query.touched(source.tools(), source.kind().set);
    require_answer(query);
    sum.update_ms += query.times().update_ms;
    sum.gpu_ms += query.times().gpu_ms;
    query_ms += query.times().query_ms();
    const CostCounters counters = query.counters();
    run.result.volume_tests += static_cast<double>(counters.volume_tests);
    run.result.face_tests += static_cast<double>(counters.face_tests);
    run.result.updated_nodes += static_cast<double>(counters.updated_nodes);
    count(list, reference[organ], run.result);
  }
  run.update_ms.push_back(sum.update_ms);
  run.query_ms.push_back(query_ms);
  run.total_ms.push_back(sum.update_ms + query_ms);
  run.gpu_ms.push_back(sum.gpu_ms);
}

BackendResult finish(BackendRun& run) {
  BackendResult result = run.result;
  result.frames = run.total_ms.size();
  const double frames = std::max<double>(1.0, static_cast<double>(result.frames));
  result.update = summarise(std::move(run.update_ms));
  result.query = summarise(std::move(run.query_ms));
  result.total = summarise(std::move(run.total_ms));
  result.gpu = summarise(std::move(run.gpu_ms));
  result.volume_tests /= frames;
  result.face_tests /= frames;
  result.updated_nodes /= frames;
  for (const auto& query : run.queries) result.memory_bytes += query->memory_bytes();
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
  std::vector<BackendRun> runs;
  for (const auto& name : names) runs.push_back(make_backend_run(name, source, backends));
  for (std::size_t frame = 0; frame < source.frame_count(); ++frame) {
    source.load(frame);
    report.tools = std::max(report.tools, source.tools().size());
    const ReferenceFrame reference = ask_reference(source);
    // The order rotates from frame to frame, so that no backend always runs with warm caches.
    for (std::size_t turn = 0; turn < runs.size(); ++turn) {
      run_frame(runs[(turn + frame) % runs.size()], source, reference);
    }
    progress(frame + 1);
  }
  for (auto& run : runs) report.backends.push_back(finish(run));
  return report;
}

}  // namespace trocar
