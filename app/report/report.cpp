#include "app/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/score/attempt_json.hpp"
#include "sim/support/base64.hpp"

namespace trocar {
namespace {

using nlohmann::json;

constexpr double kMm = 1e3;  // mm in a metre
constexpr float kSteps = 65535.f;

template <typename Value>
json packed(const char* type, const std::vector<Value>& values) {
  return {{"type", type}, {"data", base64(std::as_bytes(std::span(values)))}};
}
json floats(const std::vector<float>& values) { return packed("f32", values); }

json whole_numbers(const std::vector<std::uint32_t>& values) {
  const bool small = std::all_of(values.begin(), values.end(), [](std::uint32_t value) { return value <= 0xffffu; });
  if (!small) return packed("u32", values);
  return packed("u16", std::vector<std::uint16_t>(values.begin(), values.end()));
}

// Returns {low, high: corners of the box, mm; steps: x, y, z of each point, 0 at low, 65535 at high}.
json locations(const std::vector<glm::vec3>& metres) {
  glm::vec3 low(std::numeric_limits<float>::max()), high(std::numeric_limits<float>::lowest());
  for (const glm::vec3& point : metres) {
    low = glm::min(low, point);
    high = glm::max(high, point);
  }
  if (metres.empty()) low = high = glm::vec3(0.f);
  std::vector<std::uint16_t> steps;
  steps.reserve(metres.size() * 3);
  for (const glm::vec3& point : metres)
    for (int axis = 0; axis < 3; ++axis) {
      const float extent = high[axis] - low[axis];
      steps.push_back(extent > 0.f
                          ? static_cast<std::uint16_t>(std::lround((point[axis] - low[axis]) / extent * kSteps))
                          : std::uint16_t{0});
    }
  return {{"low", {low.x * kMm, low.y * kMm, low.z * kMm}},
          {"high", {high.x * kMm, high.y * kMm, high.z * kMm}},
          {"steps", packed("u16", steps)}};
}

json of(const Envelope& envelope, double scale = 1.0) {
  Envelope scaled = envelope;
  for (auto* side : {&scaled.low, &scaled.high})
    for (float& value : *side) value = static_cast<float>(value * scale);
  if (scaled.low == scaled.high) return {{"high", floats(scaled.high)}};
  return {{"low", floats(scaled.low)}, {"high", floats(scaled.high)}};
}

json of(const std::vector<Span>& spans) {
  json list = json::array();
  for (const Span& span : spans) list.push_back({span.from, span.to});
  return list;
}

json of(const ToolSummary& tool) {
  return {{"name", tool.name},
          {"radius_mm", tool.radius * kMm},
          {"force", of(tool.force)},
          {"speed", of(tool.speed, kMm)},
          {"touched", of(tool.touched)},
          {"pivot", locations(tool.pivot)},
          {"tip", locations(tool.tip)},
          {"energy", of(tool.energy)},
          {"out_of_view", of(tool.out_of_view)},
          {"inside", of(tool.inside)},
          {"without_device", of(tool.without_device)}};
}

// Returns a list of structs as columns.
template <typename Row, typename Value>
std::vector<Value> column(const std::vector<Row>& rows, Value Row::*member) {
  std::vector<Value> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(row.*member);
  return values;
}

json of(const std::vector<FaceMoment>& moments) {
  return {{"face", whole_numbers(column(moments, &FaceMoment::face))},
          {"time", floats(column(moments, &FaceMoment::time))}};
}

json of(const OrganSummary& organ) {
  json out = {{"name", organ.name}};
  if (organ.faces.empty()) return out;
  std::vector<std::uint32_t> corners;
  corners.reserve(organ.faces.size() * 3);
  for (const glm::uvec3& face : organ.faces) corners.insert(corners.end(), {face.x, face.y, face.z});
  out.update({{"vertices", locations(organ.rest)},
              {"faces", whole_numbers(corners)},
              {"born", of(organ.born)},
              {"gone", of(organ.removed)},
              {"touched_area_mm2", organ.touched_area * kMm * kMm},
              {"contact",
               {{"face", whole_numbers(column(organ.contact, &FaceContact::face))},
                {"seconds", floats(column(organ.contact, &FaceContact::seconds))},
                {"pressure", floats(column(organ.contact, &FaceContact::pressure))}}}});
  return out;
}

json of(const StageSummary& stage) {
  return {{"name", stage.name}, {"median", stage.median}, {"p99", stage.p99}, {"longest", stage.longest}};
}

json of(const BackendSummary& backend) {
  return {{"name", backend.name}, {"frame", backend.frame}, {"time", backend.time}, {"fault", backend.fault}};
}

json of(const ReportSession& session);
json of(const MetricCurve& curve);

template <typename Part>
json list_of(const std::vector<Part>& parts) {
  json list = json::array();
  for (const Part& part : parts) list.push_back(of(part));
  return list;
}

json of(const SessionSummary& summary) {
  return {{"begin", summary.begin},
          {"end", summary.end},
          {"frames", summary.frames},
          {"bin_time", floats(summary.bin_time)},
          {"step_time", floats(summary.step_time)},
          {"tools", list_of(summary.tools)},
          {"collisions", of(summary.collisions)},
          {"scope", locations(summary.scope)},
          {"organs", list_of(summary.organs)},
          {"stages", list_of(summary.stages)},
          {"frame_time", of(summary.frame_time)},
          {"backends", list_of(summary.backends)},
          {"check",
           {{"frames", summary.check.frames},
            {"frames_disagreeing", summary.check.frames_disagreeing},
            {"faces", summary.check.faces}}},
          {"sample",
           {{"faces", summary.sample.faces}, {"answers", summary.sample.answers}, {"wrong", summary.sample.wrong}}}};
}

json of(const ReportSession& session) {
  return {{"attempt", json::parse(to_json(session.attempt))},
          {"recording",
           {{"clean", session.facts.clean},
            {"gl", session.facts.gl},
            {"mode", session.facts.mode},
            {"cover", session.facts.cover},
            {"frame_rate", session.facts.frame_rate},
            {"backend_why", session.facts.backend_why}}},
          {"summary", of(session.summary)}};
}

json of(const MetricCurve& curve) {
  const auto& fit = curve.fit;
  return {
      {"instrument", curve.instrument},
      {"id", curve.id},
      {"label", curve.label},
      {"unit", curve.unit},
      {"values", curve.values},  // NaN becomes null
      {"fit", fit ? json{{"limit", fit->limit}, {"gain", fit->gain}, {"rate", fit->rate}, {"explained", fit->explained}}
                  : json()}};
}

// In JSON, '<' occurs only in strings; escaping it there keeps a string from ending the <script> element.
std::string without_angle_brackets(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char letter : text) {
    if (letter == '<') {
      out += "\\u003c";
    } else {
      out += letter;
    }
  }
  return out;
}

}  // namespace

std::string report_json(const std::vector<ReportSession>& sessions, const LearningCurve* curve) {
  json all = {{"sessions", list_of(sessions)}};
  if (curve) all["curves"] = list_of(curve->curves);
  return without_angle_brackets(all.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace trocar
