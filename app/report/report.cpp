#include "app/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "geometry/error.hpp"
#include "geometry/units.hpp"
#include "mesh/base64.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/support/files.hpp"
#include "sim/support/markup.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

using nlohmann::json;

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
  return {{"low", {low.x * kMmPerMetre, low.y * kMmPerMetre, low.z * kMmPerMetre}},
          {"high", {high.x * kMmPerMetre, high.y * kMmPerMetre, high.z * kMmPerMetre}},
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
          {"radius_mm", tool.radius * kMmPerMetre},
          {"force", of(tool.force)},
          {"speed", of(tool.speed, kMmPerMetre)},
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
              {"touched_area_mm2", organ.touched_area * kMmPerMetre * kMmPerMetre},
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
json of(const EventPicture& picture);
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

json of(const EventPicture& picture) {
  return {{"time", picture.time}, {"text", picture.text}, {"png", base64(std::as_bytes(std::span(picture.png)))}};
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
          {"summary", of(session.summary)},
          {"pictures", list_of(session.pictures)}};
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

std::string filled_in(std::string_view text, std::initializer_list<Filling> fillings) {
  std::string out;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t open = std::min(text.find("{{", start), text.size());
    out += text.substr(start, open - start);
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    const std::string_view name = text.substr(open + 2, close == text.npos ? text.npos : close - open - 2);
    const auto* filling =
        std::find_if(fillings.begin(), fillings.end(), [&](const Filling& f) { return f.name == name; });
    if (filling == fillings.end())
      throw RunError(fmt::format("the report's template has an unknown placeholder '{}'", name));
    out += filling->content;
    start = close + 2;
  }
  return out;
}

std::string report_page(const std::string& title, const std::string& data, bool with_viewer, const std::string& links) {
  const WebFiles& files = web_files();
  return filled_in(files.page, {{"title", markup_escaped(title)},
                                {"style", files.style},
                                {"links", links},
                                {"data", data},
                                {"viewer", with_viewer ? files.viewer : std::string_view()},
                                {"viewer-licence", with_viewer ? markup_escaped(files.viewer_licence) : std::string()},
                                {"script", files.script}});
}

namespace {

constexpr std::size_t kLongestAddress = 2000;  // characters

bool is_plain(unsigned char c) {
  return c > ' ' && c < 0x7f && std::string_view("\"'<>\\^`{|}#").find(char(c)) == std::string_view::npos;
}

void require_address(const std::string& page) {
  const std::string_view text = page;
  const std::size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  const bool host = scheme > 0 && text.size() > scheme && text.size() <= kLongestAddress && text[scheme] != '/' &&
                    text[scheme] != '?' && std::ranges::all_of(text, is_plain);
  if (!host)
    throw InputError(fmt::format("--try-at: '{}' is not the address of a page; give one as https://example.org/trocar/",
                                 printable(page)));
}

std::vector<TriedTask> each_once(const std::vector<TriedTask>& tasks) {
  std::vector<TriedTask> once;
  for (const TriedTask& task : tasks)
    if (!task.scene.empty() && std::ranges::find(once, task.scene, &TriedTask::scene) == once.end())
      once.push_back(task);
  return once;
}

}  // namespace

std::string try_links(const std::string& page, const std::vector<TriedTask>& tasks) {
  if (page.empty()) return {};
  require_address(page);
  const std::vector<TriedTask> once = each_once(tasks);
  std::string links;
  for (const TriedTask& task : once) {
    const std::string text = once.size() == 1
                                 ? "Try this task in the browser"
                                 : fmt::format("Try in the browser: {}", task.title.empty() ? task.scene : task.title);
    links += fmt::format("{}<a href=\"{}\" rel=\"noreferrer\">{}</a>", links.empty() ? "" : "<br>",
                         markup_escaped(page + "#task=" + url_encoded(task.scene)), markup_escaped(text));
  }
  return links.empty() ? links : fmt::format("<p class=\"try\">{}</p>", links);
}

namespace {

// Several attempts are compared with less detailed timelines and paths, and without organs.
constexpr SummaryLimits kInFull = {4096, 8192, true}, kSideBySide = {512, 1024, false};

ReportSession session_of(const std::string& file, const SummaryLimits& limits, std::vector<TriedTask>& tasks) {
  const Recording recording(file);
  const Scene scene = recorded_scene(recording, file);
  tasks.push_back({recording.text("scene_name"), scene.title});
  Progress progress("report", recording.frame_count());
  return {
      score_recording(recording, file),
      {recording.clean(), recording.text("gl"), recording.text("mode"), recording.text("cover"),
       recording.text("frame_rate"), recording.text("backend_why")},
      summarise_session(recording, scene.scope.lens, limits, [&](std::size_t frames) { progress.advance_to(frames); })};
}

constexpr std::size_t kMostPictures = 6;

std::vector<EventPicture> pictures_of(const Attempt& attempt, const std::string& recording, const PictureDrawer& draw) {
  std::vector<EventPicture> pictures;
  std::vector<double> times;
  if (!attempt.task || !draw) return pictures;
  for (const TaskEvent& event : attempt.task->events) {
    if (!event.pictured || pictures.size() == kMostPictures) continue;
    pictures.push_back({event.time, event.text, {}});
    times.push_back(event.time);
  }
  if (times.empty()) return pictures;
  const std::vector<std::string> files = draw(recording, times);
  if (files.size() != pictures.size()) return {};
  for (std::size_t k = 0; k < files.size(); ++k) pictures[k].png = files[k];
  return pictures;
}

std::string title_of(const std::vector<ReportSession>& sessions) {
  if (sessions.size() > 1) return fmt::format("Trocar: {} attempts", sessions.size());
  const Attempt& attempt = sessions.front().attempt;
  return "Trocar: " + (attempt.scene_title.empty() ? attempt.file : attempt.scene_title);
}

// Puts the sessions in the order of their learning curve.
LearningCurve put_in_order(std::vector<ReportSession>& sessions) {
  std::vector<Attempt> attempts;
  for (const ReportSession& session : sessions) attempts.push_back(session.attempt);
  LearningCurve curve = learning_curve(attempts);
  std::vector<ReportSession> ordered;
  for (const std::size_t number : curve.order) ordered.push_back(std::move(sessions[number]));
  sessions = std::move(ordered);
  return curve;
}

}  // namespace

std::size_t write_report(const std::vector<std::string>& recordings, const std::filesystem::path& page, bool force,
                         const std::string& try_at, const PictureDrawer& draw) {
  try_links(try_at, {});  // refuses a wrong address before any work
  std::vector<NamedFile> inputs;
  for (const std::string& file : recordings) inputs.push_back({"the recording", file});
  refuse_same_files(inputs, {{"the page", page}});
  OutputFile out(page, OutputKind::Page);
  refuse_existing({{"the page", page}}, force);
  const bool single = recordings.size() == 1;
  std::vector<ReportSession> sessions;
  std::vector<TriedTask> tasks;
  for (const std::string& file : recordings)
    sessions.push_back(session_of(file, single ? kInFull : kSideBySide, tasks));
  if (single) sessions.front().pictures = pictures_of(sessions.front().attempt, recordings.front(), draw);
  std::optional<LearningCurve> curve;
  if (!single) curve = put_in_order(sessions);
  const std::string data = report_json(sessions, curve ? &*curve : nullptr);
  const std::string text = report_page(title_of(sessions), data, single, try_links(try_at, tasks));
  out.stream() << text;
  out.commit();
  return text.size();
}

}  // namespace trocar
