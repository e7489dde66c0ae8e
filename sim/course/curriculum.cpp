#include "sim/course/curriculum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/files.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

constexpr std::string_view kTaskIds[] = {
    "task_bad_clips",   "task_beside",          "task_bile",       "task_blood",         "task_burn_depth",
    "task_burnt",       "task_burnt_beside",    "task_clips",      "task_cut_miss",      "task_detour",
    "task_deviation",   "task_drops",           "task_duct_burns", "task_energy_in_air", "task_errors",
    "task_grasps",      "task_grasps_beside",   "task_highest",    "task_lost",          "task_lost_contact",
    "task_mistels",     "task_offset",          "task_other_cuts", "task_overload_time", "task_overshoot",
    "task_peak_force",  "task_ring_drops",      "task_rings",      "task_rings_lost",    "task_tears",
    "task_time",        "task_too_near",        "task_torn",       "task_tremor",        "task_view",
    "task_view_detour", "task_worst_deviation", "task_wrong",      "task_zone_depth",    "task_zone_entries",
    "task_zone_time"};

constexpr std::string_view kSessionIds[] = {"angular_path",
                                            "bimanual_correlation",
                                            "collision_time",
                                            "collisions",
                                            "depth",
                                            "duration",
                                            "economy",
                                            "faces_burnt",
                                            "faces_torn",
                                            "force_integral",
                                            "force_time",
                                            "frozen_time",
                                            "idle",
                                            "inside_time",
                                            "ldlj",
                                            "ldlj_movement",
                                            "log_jerk",
                                            "lost_share",
                                            "mean_speed",
                                            "mean_squared_jerk",
                                            "movements",
                                            "noise",
                                            "out_of_view_count",
                                            "out_of_view_time",
                                            "path_inefficiency",
                                            "path_length",
                                            "peak_force",
                                            "peak_pressure",
                                            "peak_speed",
                                            "pressure_time",
                                            "roll_path",
                                            "sparc",
                                            "sparc_movement",
                                            "volume",
                                            "worst_lost_share",
                                            "zone_count",
                                            "zone_time"};

}  // namespace

std::span<const std::string_view> task_metric_ids() { return kTaskIds; }
std::span<const std::string_view> session_metric_ids() { return kSessionIds; }

bool is_metric_id(std::string_view id) {
  return std::ranges::count(kTaskIds, id) > 0 || std::ranges::count(kSessionIds, id) > 0;
}

namespace {

constexpr FileKind kCurriculumFile{"curriculum", std::uint64_t{1} << 20};
constexpr int kCurriculumSchema = 1;
constexpr std::size_t kLongestLine = 200, kLongestSource = 400;  // characters
constexpr std::size_t kMostSources = 50, kMostLimits = 50;
constexpr double kLongestPause = 3650.0;      // days  ten years
constexpr Limits kMetricValues{-1e12, 1e12};  // in the metric's unit

int whole_number(TomlTable& table, const char* key, Limits limits, int usual) {
  if (!table.find(key)) return usual;
  const double value = table.number(key, limits);
  if (value != std::floor(value)) table.fail(key, "must be a whole number");
  return static_cast<int>(value);
}

std::string shown_text(TomlTable& table, const char* key) {
  const std::string text = table.text(key);
  if (text.empty() || printable(text, kLongestLine) != text)
    table.fail(key, fmt::format("must be 1 to {} printable characters on one line", kLongestLine));
  return text;
}

// Reads a list of texts; an absent one is empty.
std::vector<std::string> texts(TomlTable& table, const char* key) {
  std::vector<std::string> list;
  if (!table.find(key)) return list;
  for (const auto& element : table.list(key)) {
    const std::string* text = std::get_if<std::string>(&element);
    if (!text) table.fail(key, "must be text in quotes, or a list of texts");
    list.push_back(*text);
  }
  return list;
}

std::vector<std::string> read_sources(TomlTable& root) {
  std::vector<std::string> sources = texts(root, "sources");
  if (sources.size() > kMostSources) root.fail("sources", fmt::format("has more than {} texts", kMostSources));
  for (const std::string& source : sources)
    if (source.empty() || printable(source, kLongestSource) != source)
      root.fail("sources", fmt::format("each must be 1 to {} printable characters on one line", kLongestSource));
  return sources;
}

// The scene of a step, when its file was read.
using StepScene = std::optional<Scene>;

// Accepts "task_time", "duration", and with the name of an instrument "left grasper.path_length".
void check_metric(TomlTable& table, const std::string& metric, const StepScene& scene) {
  const std::size_t dot = metric.rfind('.');
  const std::string id = dot == std::string::npos ? metric : metric.substr(dot + 1);
  if (!is_metric_id(id))
    table.fail("metric", fmt::format("'{}' is not the id of a metric; docs/tasks.md and docs/metrics.md list them",
                                     printable(metric)));
  if (dot == std::string::npos) return;
  const std::string instrument = metric.substr(0, dot);
  if (id.starts_with("task_"))
    table.fail("metric", fmt::format("'{}' is not a metric of an instrument; write {} alone", printable(metric), id));
  if (scene && std::ranges::count(scene->instruments, instrument, &InstrumentScene::name) == 0)
    table.fail("metric", fmt::format("the scene has no instrument '{}'; name one of its instruments before the dot",
                                     printable(instrument)));
}

void read_limits(TomlTable& step, const char* key, const StepScene& scene, std::vector<MetricLimit>& limits) {
  for (TomlTable& table : step.tables(key)) {
    MetricLimit limit{table.text("metric"), table.number("value", kMetricValues), std::string_view(key) == "at_most"};
    check_metric(table, limit.metric, scene);
    table.refuse_unknown_keys();
    limits.push_back(std::move(limit));
  }
  if (limits.size() > kMostLimits) step.fail(key, fmt::format("a step has at most {} limits", kMostLimits));
}

void read_after(TomlTable& table, const std::vector<CourseStep>& earlier, CourseStep& step) {
  for (const std::string& name : texts(table, "requires")) {
    const auto found = std::ranges::find(earlier, name, &CourseStep::name);
    if (found == earlier.end())
      table.fail("requires", fmt::format("no earlier step has the name '{}'; a step can require only steps above it",
                                         printable(name)));
    const auto number = static_cast<std::size_t>(found - earlier.begin());
    if (std::ranges::count(step.after, number) > 0)
      table.fail("requires", fmt::format("names '{}' twice; remove one", printable(name)));
    step.after.push_back(number);
  }
}

StepScene read_scene_of(TomlTable& table, const std::filesystem::path& folder, bool open, CourseStep& step) {
  const std::string name = table.text("scene");
  if (name.empty() || name.find('\0') != name.npos) table.fail("scene", "must name a scene file: .toml");
  step.scene = folder / name;
  step.level = whole_number(table, "level", {1.0, kMostLevels}, 1);
  if (!open) return {};
  std::error_code error;
  if (!std::filesystem::exists(step.scene, error))
    table.fail("scene", fmt::format("there is no file {}; paths are relative to the curriculum", printable(name)));
  Scene scene = load_scene(step.scene);
  if (!scene.task) table.fail("scene", "has no [task], so it cannot be passed; name a scene with a task");
  if (step.level > levels_of(scene))
    table.fail(table.has("level") ? "level" : "scene",
               fmt::format("the scene has no level {}; it has levels 1 to {}", step.level, levels_of(scene)));
  return scene;
}

void read_passes(TomlTable& table, const StepScene& scene, CourseStep& step) {
  table.optional("least_score", step.pass.least_score, {0.0, 100.0});
  table.optional("no_critical_error", step.pass.no_critical_error);
  read_limits(table, "at_most", scene, step.pass.limits);
  read_limits(table, "at_least", scene, step.pass.limits);
  step.in_a_row = whole_number(table, "in_a_row", {1.0, kMostPasses}, 1);
  step.in_all = whole_number(table, "in_all", {1.0, kMostPasses}, step.in_a_row);
  if (step.in_all < step.in_a_row)
    table.fail("in_all",
               fmt::format("must be at least in_a_row = {}, because it counts those passes too", step.in_a_row));
  table.optional("refresher_days", step.refresher_days, {0.0, kLongestPause});
}

CourseStep read_step(TomlTable& table, const Curriculum& curriculum, bool open_scenes) {
  CourseStep step;
  step.name = table.text("name");
  if (const std::string fault = name_fault(step.name); !fault.empty()) table.fail("name", fault);
  if (std::ranges::count(curriculum.steps, step.name, &CourseStep::name) > 0)
    table.fail("name", fmt::format("two steps have the name '{}'; give each its own name", printable(step.name)));
  step.title = table.find("title") ? shown_text(table, "title") : step.name;
  const StepScene scene = read_scene_of(table, curriculum.file.parent_path(), open_scenes, step);
  for (const CourseStep& other : curriculum.steps)
    if (scene_key(other.scene) == scene_key(step.scene) &&
        other.scene.lexically_normal() != step.scene.lexically_normal())
      table.fail("scene", fmt::format("has the same file name as the scene of the step '{}'; rename one of the files",
                                      printable(other.name)));
  read_passes(table, scene, step);
  read_after(table, curriculum.steps, step);
  table.refuse_unknown_keys();
  return step;
}

Curriculum read(const std::string& text, const std::filesystem::path& file, bool open_scenes) {
  TomlTable root = TomlTable::parse(file, text);
  if (const int schema = whole_number(root, "schema", {1.0, 1e6}, 1); schema > kCurriculumSchema)
    root.fail("schema", fmt::format("is {}, but this version reads schemas up to {}; use a later version of Trocar",
                                    schema, kCurriculumSchema));
  Curriculum curriculum;
  curriculum.file = file;
  curriculum.title = shown_text(root, "title");
  curriculum.sources = read_sources(root);
  std::vector<TomlTable> steps = root.tables("step");
  if (steps.empty()) root.fail("step", "is missing; a curriculum needs at least one [[step]]");
  if (steps.size() > std::size_t{kMostSteps})
    root.fail("step", fmt::format("a curriculum has at most {} steps; divide it", kMostSteps));
  for (TomlTable& table : steps) curriculum.steps.push_back(read_step(table, curriculum, open_scenes));
  root.refuse_unknown_keys();
  return curriculum;
}

}  // namespace

std::string scene_key(const std::filesystem::path& scene) { return scene.stem().string(); }

Curriculum load_curriculum(std::filesystem::path file) {
  if (file.empty()) file = data_file("curricula/basic.toml");
  std::string text = read_whole_file(file, kCurriculumFile);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return read(text, file, true);
}

Curriculum parse_curriculum(const std::string& text, const std::filesystem::path& file) {
  return read(text, file, false);
}

}  // namespace trocar
