#include "app/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cpu_collision/reference.hpp"
#include "geometry/machine.hpp"
#include "sim/support/markup.hpp"
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

namespace {

// Returns counters and memory, or dashes for a backend that does not report them.
std::string costs_of(const BackendResult& b) {
  if (b.memory_bytes == 0) return fmt::format(" {:>8} {:>8} {:>8} {:>8}", "-", "-", "-", "-");
  return fmt::format(" {:>8.0f} {:>8.0f} {:>8.0f} {:>8.2f}", b.volume_tests, b.face_tests, b.updated_nodes,
                     static_cast<double>(b.memory_bytes) / (1024.0 * 1024.0));
}

}  // namespace

std::string pace(double own_ms, double other_ms) {
  // Below this ratio the times are equal to one decimal.
  constexpr double kEqual = 1.05;
  if (!(own_ms > 0.0) || !(other_ms > 0.0)) return "";
  if (other_ms >= kEqual * own_ms) return fmt::format("{:.1f} times faster", other_ms / own_ms);
  if (own_ms >= kEqual * other_ms) return fmt::format("{:.1f} times slower", own_ms / other_ms);
  return "as fast";
}

std::string compare_table(const CompareReport& report) {
  std::string text =
      fmt::format("{} faces, {} vertices, {} frames, {} tools, radius {} mm, {} {} {}\n{}\nOpenGL: {}\n", report.faces,
                  report.vertices, report.frames, report.tools, report.radius_mm, name_of(report.kind.mode),
                  name_of(report.kind.cover), name_of(report.kind.set), report.machine, report.gl);
  text += fmt::format("{:<14} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>6} {:>9} {:>8} {:>8} {:>8} {:>8} {:>19}\n",
                      "backend", "update ms", "query ms", "total ms", "p99 ms", "frames", "touched", "border",
                      "disagree", "Nv", "Np", "Nu", "MiB", "against obb");
  const BackendResult* obb = report.find("obb");
  for (const auto& b : report.backends) {
    const std::string against = obb ? pace(b.total.median, obb->total.median) : "";
    text += fmt::format("{:<14} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>7} {:>9} {:>6} {:>9}{} {:>19}\n", b.name,
                        b.update.median, b.query.median, b.total.median, b.total.p99, b.frames, b.touched, b.borderline,
                        b.disagreements, costs_of(b), against.empty() ? "-" : against);
  }
  text += "frames: timed frames; touched: faces in the answers of these frames, counted once per volume\n";
  text += "Nv, Np, Nu: volumes tested, faces tested, nodes updated per frame (mean); MiB: memory in use\n";
  return text;
}

std::string compare_csv(const CompareReport& report) {
  std::string text =
      "backend,frames,update_ms_median,update_ms_p99,query_ms_median,query_ms_p99,total_ms_median,total_ms_p99,"
      "gpu_ms_median,touched,borderline,disagreements,volume_tests,face_tests,updated_nodes,memory_bytes,"
      "speedup_over_obb\n";
  for (const auto& b : report.backends)
    text +=
        fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{},{},{},{:.1f},{:.1f},{:.1f},{},{:.3f}\n",
                    b.name, b.frames, b.update.median, b.update.p99, b.query.median, b.query.p99, b.total.median,
                    b.total.p99, b.gpu.median, b.touched, b.borderline, b.disagreements, b.volume_tests, b.face_tests,
                    b.updated_nodes, b.memory_bytes, report.speedup_over_obb(b));
  return text;
}

std::string compare_json(const CompareReport& report) {
  const auto summary = [](const TimeSummary& times) {
    return nlohmann::ordered_json{{"median", times.median}, {"p99", times.p99}, {"minimum", times.minimum}};
  };
  nlohmann::ordered_json json = {{"version", report.version},
                                 {"machine", report.machine},
                                 {"gl", report.gl},
                                 {"date", report.date},
                                 {"faces", report.faces},
                                 {"vertices", report.vertices},
                                 {"frames", report.frames},
                                 {"tools", report.tools},
                                 {"radius_mm", report.radius_mm},
                                 {"mode", name_of(report.kind.mode)},
                                 {"cover", name_of(report.kind.cover)},
                                 {"set", name_of(report.kind.set)}};
  json["backends"] = nlohmann::ordered_json::object();
  json["speedup_over_obb"] = nlohmann::ordered_json::object();
  for (const auto& b : report.backends) {
    json["backends"][b.name] = {{"update_ms", summary(b.update)},
                                {"query_ms", summary(b.query)},
                                {"total_ms", summary(b.total)},
                                {"gpu_ms", summary(b.gpu)},
                                {"frames", b.frames},
                                {"touched", b.touched},
                                {"borderline", b.borderline},
                                {"disagreements", b.disagreements},
                                {"volume_tests", b.volume_tests},
                                {"face_tests", b.face_tests},
                                {"updated_nodes", b.updated_nodes},
                                {"memory_bytes", b.memory_bytes}};
    if (const double speedup = report.speedup_over_obb(b); speedup > 0.0) json["speedup_over_obb"][b.name] = speedup;
  }
  return json.dump(2) + "\n";
}

namespace {

constexpr double kLeft = 120.0, kRight = 90.0, kTop = 58.0, kRow = 26.0, kWidth = 760.0, kBottom = 46.0;

// The axis, in milliseconds, covers whole decades.
LogAxis axis_for(const CompareReport& report) {
  double smallest = 1.0, largest = 1e-3;
  for (const auto& b : report.backends) {
    if (b.total.median <= 0.0) continue;
    smallest = std::min(smallest, b.query.median > 0.0 ? b.query.median : b.total.median);
    largest = std::max(largest, b.total.median);
  }
  return {std::pow(10.0, std::floor(std::log10(smallest * 0.5))), std::pow(10.0, std::ceil(std::log10(largest * 1.1))),
          kLeft, kWidth - kRight};
}

}  // namespace

std::string compare_svg(const CompareReport& report) {
  const LogAxis axis = axis_for(report);
  const double height = kTop + kRow * static_cast<double>(report.backends.size()) + kBottom;
  const double base = height - kBottom + 4.0;
  std::string svg = svg_opening(
      {.width = kWidth,
       .height = height,
       .title = "Touch query, time per frame (median)",
       .subtitle = fmt::format("{} faces, {} frames, {} {} {}; update and read-back included; {} disagreements",
                               report.faces, report.frames, name_of(report.kind.mode), name_of(report.kind.cover),
                               name_of(report.kind.set), report.disagreements())});
  for (double tick = axis.low; tick <= axis.high * 1.001; tick *= 10.0) {
    svg += fmt::format(
        "<line x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}' class='grid'/>"
        "<text x='{0:.1f}' y='{3}' text-anchor='middle' fill='#555'>{4:g} ms</text>\n",
        axis(tick), kTop, base, base + 18.0, tick);
  }
  double y = kTop;
  for (const auto& b : report.backends) {
    const double end = axis(b.total.median);
    const bool on_gpu = b.name == "compute" || b.name == "occlusion" || b.name == "select";
    svg += fmt::format(
        "<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>"
        "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='16' rx='2' fill='{}'/>"
        "<rect x='{:.1f}' y='{:.1f}' width='3' height='16' fill='#222'/>"
        "<text x='{:.1f}' y='{:.1f}'>{:.3g} ms</text>\n",
        kLeft - 8.0, y + 17.0, b.name, kLeft, y + 4.0, std::max(1.0, end - kLeft), on_gpu ? "#0072b2" : "#e69f00",
        axis(b.query.median) - 3.0, y + 4.0, end + 6.0, y + 17.0, b.total.median);
    y += kRow;
  }
  const double legend = height - 18.0;
  double x = kLeft;
  for (const auto& [colour, what] : {std::pair("#0072b2", "OpenGL"), std::pair("#e69f00", "CPU"),
                                     std::pair("#222", "tick: the query without the update")}) {
    svg += fmt::format("<rect x='{}' y='{}' width='12' height='12' fill='{}'/><text x='{}' y='{}'>{}</text>\n", x,
                       legend, colour, x + 18.0, legend + 11.0, what);
    x += 90.0;
  }
  return svg + "</svg>\n";
}

namespace {

BackendResult result_of(const BackendTimes& times) {
  BackendResult result;
  result.name = times.name;
  result.frames = times.update_ms.size();
  result.update = summarise(times.update_ms);
  result.query = summarise(times.query_ms);
  result.gpu = summarise(times.gpu_ms);
  std::vector<double> total(times.update_ms);
  for (std::size_t k = 0; k < total.size(); ++k) total[k] += times.query_ms[k];
  result.total = summarise(std::move(total));
  result.touched = times.touched;
  result.borderline = times.borderline;
  result.disagreements = times.disagreements;
  return result;
}

}  // namespace

CompareReport session_report(const Session& session, const Scene& scene, const std::string& gl) {
  CompareReport report;
  report.version = kVersion;
  report.machine = machine_description();
  report.gl = gl;
  report.date = today();
  for (const auto& organ : session.organs()) {
    report.faces += organ.mesh.faces.size();
    report.vertices += organ.mesh.positions.size();
  }
  report.frames = session.frames();
  report.tools = session.instruments().size();
  report.radius_mm = session.instruments().front().radius * 1e3;
  report.kind = {scene.query.mode, scene.query.cover, TouchSet::Exact};
  for (const auto& times : session.backend_times()) report.backends.push_back(result_of(times));
  return report;
}

std::string sample_sentence(const SampleCount& sample) {
  return fmt::format(
      "{} faces compared with the double reference, {} of them reported untouched, of {} answers: {} wrong",
      sample.faces, sample.culled, sample.of, sample.disagreements);
}

}  // namespace trocar
