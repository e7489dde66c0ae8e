#include "app/compare/session_report.hpp"

#include <fmt/format.h>

#include "sim/support/process.hpp"

namespace trocar {
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
