// Writes the pages for the browser tests, from sessions made by formula: make_report_pages FOLDER. Files beside the
// pages hold the expected values.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "app/report/report.hpp"
#include "sim/score/attempt.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr std::size_t kFrames = 240;
constexpr float kRate = 60.f;
constexpr const char* kHostile =
    "</script><script>window.broken = 1</script>\"'&<img src=x onerror='window.broken = 2'><!-- \\u2028 {{data}}";

// A picture of 4 x 3 red pixels.
constexpr std::string_view kPng(
    "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x04\x00\x00\x00\x03\x08"
    "\x02\x00\x00\x00\x3b\x96\x39\x91\x00\x00\x00\x10\x49\x44\x41\x54\x08\xd7\x63\xfc\xcf\x80\x00\x4c\x0c"
    "\xb8\x38\x00\x26\x76\x01\x05\x2f\x9a\xd6\x4f\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82",
    73);

ToolSummary tool_of(const std::string& name, float phase) {
  ToolSummary tool;
  tool.name = name, tool.radius = 0.0025;
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    const float turn = 6.2831853f * static_cast<float>(frame) / kFrames + phase;
    tool.force.low.push_back(1.f + std::sin(turn));
    tool.speed.low.push_back(0.05f * (1.f + std::cos(2.f * turn)));
    tool.touched.low.push_back(std::floor(4.f + 4.f * std::sin(turn)));
    tool.pivot.emplace_back(0.1f, 0.12f, 0.2f);
    tool.tip.emplace_back(0.06f * std::cos(turn), 0.06f * std::sin(turn), 0.08f + 0.02f * std::sin(3.f * turn));
  }
  for (Envelope* curve : {&tool.force, &tool.speed, &tool.touched}) curve->high = curve->low;
  return tool;
}

// Returns a ball that was touched at its front, and burnt away at its top after half of the time.
OrganSummary ball(const std::string& name) {
  const TriangleMesh mesh = shapes::icosphere(4, 0.06f);
  OrganSummary organ;
  organ.name = name, organ.rest = mesh.positions, organ.faces = mesh.faces;
  for (std::uint32_t face = 0; face < organ.faces.size(); ++face) {
    const glm::vec3 corner = mesh.positions[mesh.faces[face].x];
    if (corner.z > 0.045f) organ.contact.push_back({face, 10.f * corner.z, 1e5f * corner.x});
    if (corner.y > 0.055f) organ.removed.push_back({face, 2.f});
  }
  organ.touched_area = 0.001;
  return organ;
}

SessionSummary summary_of(const std::string& tool) {
  SessionSummary summary;
  summary.frames = kFrames, summary.end = (kFrames - 1) / kRate;
  for (std::size_t frame = 0; frame < kFrames; ++frame) summary.bin_time.push_back(static_cast<float>(frame) / kRate);
  summary.step_time = summary.bin_time, summary.tools = {tool_of(tool, 0.f), tool_of("hook", 2.f)};
  summary.tools[1].energy = {{0.5, 1.0}, {2.0, 2.5}}, summary.tools[0].out_of_view = {{3.0, 3.5}};
  summary.collisions = {{1.5, 1.6}}, summary.organs = {ball("liver")};
  summary.stages = {{"query", 0.2, 0.9, 2.0}, {"tissue", 4.0, 6.0, 9.0}};
  summary.frame_time = {"frame", 5.0, 8.0, 11.0}, summary.check = {kFrames, 0, 0};
  summary.sample = {2 * kFrames, 5000 * kFrames, 0};
  return summary;
}

Attempt attempt_of(const std::string& text, double practice) {
  Attempt attempt;
  attempt.file = text + ".h5", attempt.scene_title = text, attempt.date = "2026-01-31", attempt.backend = "compute";
  attempt.machine = text, attempt.duration = 60.0 / practice, attempt.frames = kFrames;
  attempt.overall = {{"duration", "Time", "s", attempt.duration, 30.0, 90.0, ""},
                     {"bimanual_correlation",
                      "Bimanual speed correlation",
                      "",
                      std::numeric_limits<double>::quiet_NaN(),
                      {},
                      {},
                      text}};
  attempt.instruments = {{text, {{"path_length", "Path length", "mm", 1234.0 / practice, 400.0, 1600.0, ""}}},
                         {"hook", {{"path_length", "Path length", "mm", 321.5, 400.0, 1600.0, ""}}}};
  TaskResult task{"touch-targets", text, true, 73.4, {}, {}};
  task.parts = {{"task_time", "Time", "s", 41.25, 30.0, 90.0, ""}, {"task_errors", text, "", 2.0, 0.0, 5.0, ""}};
  task.events = {{1.25, false, "target 1 reached"}, {2.5, true, text}, {3.0, false, "done"}};
  attempt.task = task;
  return attempt;
}

ReportSession session_of(const std::string& text, double practice) {
  return {attempt_of(text, practice),
          {true, text, "swept", "capsule", "60", "named by the user"},
          summary_of(text),
          {{2.5, text, std::string(kPng)}}};
}

void save(const std::filesystem::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

void save_pages(const std::filesystem::path& folder) {
  const ReportSession one = session_of("probe", 1.0), hostile = session_of(kHostile, 1.0);
  save(folder / "one.html", report_page("one", report_json({one}), true));
  save(folder / "one.json", to_json(one.attempt));
  save(folder / "hostile.html", report_page(kHostile, report_json({hostile}), true));
  save(folder / "hostile.txt", kHostile);
  std::vector<ReportSession> sessions;
  std::vector<Attempt> attempts;
  for (int k = 1; k <= 5; ++k) {
    sessions.push_back(session_of("probe", std::pow(k, 0.4)));
    sessions.back().summary.organs.clear();
    attempts.push_back(sessions.back().attempt);
  }
  const LearningCurve curve = learning_curve(attempts);
  save(folder / "many.html", report_page("many", report_json(sessions, &curve), false));
}

}  // namespace
}  // namespace trocar

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_report_pages FOLDER\n");
    return 2;
  }
  trocar::save_pages(arguments[1]);
}
