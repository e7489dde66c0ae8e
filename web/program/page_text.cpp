#include "web/program/page_text.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "deform/model_version.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/grade_text.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// JSON has no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Free practice: scenes without a task.
constexpr const char* kPractices[] = {"scenes/liver_and_stomach.toml", "scenes/gallbladder_bed.toml",
                                      "scenes/four_instruments.toml"};

Json task_json(const std::string& file) {
  const Scene scene = load_scene(data_file(file));
  Json levels = Json::array();
  for (int level = 1; level <= levels_of(scene); ++level) levels.push_back(level_name(scene, level));
  const std::string stem = std::filesystem::path(file).stem().string();
  return {{"file", file},
          {"title", scene.task && !scene.task->title.empty() ? scene.task->title : scene.title},
          {"kind", scene.task ? stem : ""},
          {"levels", levels},
          {"picture", stem + ".png"},
          {"seconds", scene.task ? scene.task->time_good : 0.0},
          {"instructions", scene.task ? scene.task->instructions : ""}};
}

// The tasks in the order of the curriculum, each once.
std::vector<std::string> files_in_order() {
  std::vector<std::string> files;
  for (const CourseStep& step : load_curriculum(data_file("curricula/basic.toml")).steps) {
    const auto file = std::filesystem::path(step.scene).lexically_normal();
    const std::string relative = "scenes/" + file.parent_path().filename().string() + "/" + file.filename().string();
    if (std::find(files.begin(), files.end(), relative) == files.end()) files.push_back(relative);
  }
  files.insert(files.end(), std::begin(kPractices), std::end(kPractices));
  return files;
}

Json instruments_json(const Session& session) {
  Json list = Json::array();
  for (std::size_t k = 0; k < session.instruments().size(); ++k) {
    std::size_t touched = 0;
    for (const Organ& organ : session.organs())
      if (!organ.touches.first.empty()) touched += organ.touches.of_tool(k).size();
    const Instrument& instrument = session.instruments()[k];
    list.push_back({{"name", instrument.name}, {"kind", name_of(instrument.kind)}, {"touched", touched}});
  }
  return list;
}

Json stages_json(const Session& session) {
  Json stages = Json::object();
  for (std::size_t k = 0; k < kStages; ++k) stages[stage_names()[k]] = number(session.stage_ms()[k]);
  return stages;
}

}  // namespace

std::string version_text() { return text_of({{"program", kVersion}, {"model_version", kModelVersion}}); }

std::string tasks_text() {
  Json tasks = Json::array();
  for (const std::string& file : files_in_order()) tasks.push_back(task_json(file));
  return text_of(tasks);
}

std::string status_text(const PageRun& run, double draw_ms) {
  const Session& session = run.session();
  const TaskFeed feed = run.task() ? run.task()->feed() : TaskFeed{};
  const auto in_hand = run.in_hand();
  const Scene& scene = run.scene();
  return text_of({{"phase", static_cast<int>(run.phase())},
                  {"title", scene.task && !scene.task->title.empty() ? scene.task->title : scene.title},
                  {"instructions", scene.task ? scene.task->instructions : ""},
                  {"hint", feed.hint},
                  {"warning", feed.warning},
                  {"elapsed", run.task() ? feed.elapsed : run.score_time()},
                  {"time_limit", scene.task ? scene.task->time_limit : 0.0},
                  {"progress", feed.progress},
                  {"score", feed.score},
                  {"errors", feed.errors},
                  {"instruments", instruments_json(session)},
                  {"in_hand", in_hand ? static_cast<int>(*in_hand) : -1},
                  {"scope_moves", session.scope().device != nullptr},
                  {"lost", run.lost()},
                  {"frames", session.frames()},
                  {"touched", session.touched()},
                  {"disagreements", session.disagreements()},
                  {"compared", session.sample().faces},
                  {"stage_ms", stages_json(session)},
                  {"draw_ms", draw_ms},
                  {"replay", run.replay()},
                  {"differs", run.differing()}});
}

std::string result_text(const PageRun& run) {
  Json parts = Json::array(), events = Json::array();
  TaskResult result;
  if (run.task()) result = run.task()->result();
  for (const Metric& metric : result.parts) {
    const GradeText text = grade_text(metric, result.kind);
    const auto grade = mark_of(metric);
    parts.push_back({{"id", metric.id},
                     {"label", metric.label},
                     {"unit", metric.unit},
                     {"value", number(metric.value)},
                     {"grade", grade ? Json(*grade) : Json(nullptr)},
                     {"why", text.why},
                     {"advice", text.advice}});
  }
  for (const TaskEvent& event : result.events)
    events.push_back({{"time", event.time}, {"error", event.error}, {"text", event.text}});
  return text_of({{"finished", result.finished},
                  {"task", run.task() != nullptr},
                  {"score", result.score},
                  {"critical", cap_text(result)},
                  {"parts", parts},
                  {"events", events},
                  {"duration", run.score_time()},
                  {"lost", run.lost()}});
}

}  // namespace trocar
