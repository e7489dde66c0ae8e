#include "web/program/page_api.hpp"

#include <emscripten.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/view/view.hpp"
#include "deform/model_version.hpp"
#include "geometry/machine.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "web/gl/page_context.hpp"
#include "web/program/page_run.hpp"

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
  for (const CourseStep& step : load_curriculum().steps) {
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

// The six measures that the window and the report show first.
Json measures_json(const Attempt& attempt) {
  Json measures = Json::array();
  for (const Metric& metric : trainee_metrics(attempt))
    measures.push_back({{"id", metric.id},
                        {"label", metric.label},
                        {"unit", metric.unit},
                        {"value", number(metric.value)},
                        {"reference", reference_text(metric)}});
  return measures;
}

std::string result_text(const PageRun& run) {
  Json parts = Json::array(), events = Json::array();
  const Attempt attempt = run.measures();
  const TaskResult result = attempt.task.value_or(TaskResult{});
  for (const Metric& metric : result.parts) {
    const GradeText text = grade_text(metric, result.kind);
    const auto grade = mark_of(metric);
    parts.push_back({{"id", metric.id},
                     {"label", metric.label},
                     {"unit", metric.unit},
                     {"value", number(metric.value)},
                     {"grade", grade ? Json(*grade) : Json(nullptr)},
                     {"counted", grade ? Json(*counted_grade(result, metric)) : Json(nullptr)},
                     {"why", text.why},
                     {"advice", text.advice}});
  }
  for (const TaskEvent& event : result.events)
    events.push_back({{"time", event.time}, {"error", event.error}, {"text", event.text}});
  return text_of({{"finished", result.finished},
                  {"task", run.task() != nullptr},
                  {"score", result.score},
                  {"critical", cap_text(result)},
                  {"counted", counted_text(result)},
                  {"costly", costly_parts(result)},
                  {"measures", measures_json(attempt)},
                  {"no_judgement", no_judgement_text(attempt)},
                  {"parts", parts},
                  {"events", events},
                  {"duration", run.score_time()},
                  {"lost", run.lost()}});
}

constexpr std::size_t kPageKeys = 7;

// What the page has: the canvas, and one practice or replay.
struct Page {
  std::unique_ptr<GlContext> context;
  std::unique_ptr<PageRun> run;
  std::optional<SessionPicture> picture;
  HandInput input;
  HandSettings hands;
  ViewSettings view{.show_touched = false, .whole_field = true, .quality = Quality::Medium};
  std::array<bool, kPageKeys> keys{};
  double draw_ms = 0.0;
  std::string text, error;
};

Page& page() {
  static Page the_page;
  return the_page;
}

const char* answer(std::string text) {
  page().text = std::move(text);
  return page().text.c_str();
}

void close() {
  page().picture.reset();
  page().run.reset();
  page().keys = {};
  page().input = {};
}

void require_context() {
  if (page().context) return;
  std::string why;
  page().context = make_page_context("#picture", why);
  if (!page().context) throw std::runtime_error(why);
}

template <typename Make>
int open(const Make& make) {
  close();
  try {
    require_context();
    page().run = make();
    page().picture.emplace(*page().context, page().run->session());
    return 1;
  } catch (const std::exception& error) {
    page().error = error.what();
    close();
    return 0;
  }
}

bool down(PageKey key) { return page().keys[static_cast<std::size_t>(key)]; }

int between(bool more, bool less) { return (more ? 1 : 0) - (less ? 1 : 0); }

void apply_keys(HandInput& input) {
  input.cut = down(PageKey::Cut);
  input.coagulate = down(PageKey::Coagulate);
  input.fine = down(PageKey::Fine);
  input.roll = between(down(PageKey::RollRight), down(PageKey::RollLeft));
  input.insert = between(down(PageKey::In), down(PageKey::Out));
}

// The graphics hardware may still draw afterwards.
void draw(int width, int height) {
  const auto start = Clock::now();
  SessionLook look{.settings = page().view, .task = page().run->task()};
  look.settings.time = page().run->time();
  page().picture->draw(page().run->session(), look, width, height);
  page().draw_ms = milliseconds_since(start);
}

// Motion and notches belong to one picture; buttons and keys stay.
void forget_motion(HandInput& input) {
  input.motion = glm::dvec2(0.0);
  input.wheel = 0.0;
  input.jaws_pressed = false;
}

}  // namespace
}  // namespace trocar

using trocar::page;

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* trocar_version() { return trocar::answer(trocar::version_text()); }

EMSCRIPTEN_KEEPALIVE const char* trocar_tasks() {
  try {
    return trocar::answer(trocar::tasks_text());
  } catch (const std::exception& error) {
    page().error = error.what();
    return trocar::answer("[]");
  }
}

EMSCRIPTEN_KEEPALIVE int trocar_open(const char* scene, int level, int shown) {
  return trocar::open([&] { return trocar::make_practice(scene, level, shown != 0); });
}
EMSCRIPTEN_KEEPALIVE int trocar_open_replay(const char* attempt) {
  return trocar::open([&] { return trocar::make_replay(attempt); });
}
EMSCRIPTEN_KEEPALIVE void trocar_close() { trocar::close(); }
EMSCRIPTEN_KEEPALIVE const char* trocar_error() { return page().error.c_str(); }

EMSCRIPTEN_KEEPALIVE void trocar_start() {
  if (page().run) page().run->start();
}
EMSCRIPTEN_KEEPALIVE void trocar_pause() {
  page().keys = {};
  if (page().run) page().run->pause();
}
EMSCRIPTEN_KEEPALIVE void trocar_resume() {
  if (page().run) page().run->resume();
}
EMSCRIPTEN_KEEPALIVE void trocar_finish() {
  if (page().run) page().run->finish();
}

EMSCRIPTEN_KEEPALIVE void trocar_pointer(double right_pixels, double down_pixels, int buttons) {
  trocar::HandInput& input = page().input;
  input.motion += glm::dvec2(right_pixels, -down_pixels);
  const bool left = (buttons & 1) != 0;
  input.jaws_pressed = input.jaws_pressed || (left && !input.jaws_down);
  input.jaws_down = left;
  input.scope = (buttons & 2) != 0;
}
EMSCRIPTEN_KEEPALIVE void trocar_wheel(double notches) { page().input.wheel += notches; }
EMSCRIPTEN_KEEPALIVE void trocar_key(int key, int down) {
  if (key >= 0 && static_cast<std::size_t>(key) < page().keys.size())
    page().keys[static_cast<std::size_t>(key)] = down != 0;
}
EMSCRIPTEN_KEEPALIVE void trocar_take(int number) {
  if (page().run && page().run->hands() && number >= 0) page().run->hands()->take(static_cast<std::size_t>(number));
}
EMSCRIPTEN_KEEPALIVE void trocar_settings(double sensitivity, int fulcrum, int quality, int show_touched) {
  page().hands = {std::clamp(sensitivity, 0.25, 4.0), fulcrum != 0};
  page().view.quality = static_cast<trocar::Quality>(std::clamp(quality, 0, 2));
  page().view.show_touched = show_touched != 0;
}

EMSCRIPTEN_KEEPALIVE int trocar_picture(double elapsed, int width, int height) {
  if (!page().run) return 0;
  trocar::apply_keys(page().input);
  page().run->advance(elapsed, page().input, page().hands);
  trocar::forget_motion(page().input);
  trocar::draw(width, height);
  return static_cast<int>(page().run->phase());
}

EMSCRIPTEN_KEEPALIVE const char* trocar_status() {
  return page().run ? trocar::answer(trocar::status_text(*page().run, page().draw_ms)) : "{}";
}
EMSCRIPTEN_KEEPALIVE const char* trocar_result() {
  return page().run ? trocar::answer(trocar::result_text(*page().run)) : "{}";
}
EMSCRIPTEN_KEEPALIVE const char* trocar_attempt() { return page().run ? trocar::answer(page().run->attempt()) : ""; }
}
