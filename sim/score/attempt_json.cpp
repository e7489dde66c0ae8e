#include "sim/score/attempt_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/score/grade_text.hpp"

namespace trocar {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const Metric& metric, std::string_view kind) {
  Json json{{"id", metric.id}, {"label", metric.label}, {"unit", metric.unit}, {"value", number(metric.value)}};
  if (metric.good) json["good"] = number(*metric.good);
  if (metric.poor) json["poor"] = number(*metric.poor);
  if (const auto grade = mark_of(metric)) json["mark"] = *grade;
  if (!metric.note.empty()) json["note"] = metric.note;
  if (const GradeText text = grade_text(metric, kind); !text.why.empty()) {
    json["why"] = text.why;
    json["advice"] = text.advice;
  }
  return json;
}

Json json_of(const std::vector<Metric>& metrics, std::string_view kind) {
  Json json = Json::array();
  for (const Metric& metric : metrics) json.push_back(json_of(metric, kind));
  return json;
}

Json json_of(const TaskResult& task) {
  Json events = Json::array();
  for (const TaskEvent& event : task.events)
    events.push_back({{"time", number(event.time)}, {"error", event.error}, {"text", event.text}});
  Json json{{"kind", task.kind},
            {"title", task.title},
            {"finished", task.finished},
            {"score", number(task.score)},
            {"parts", json_of(task.parts, task.kind)},
            {"events", events}};
  if (!task.critical.empty()) json["critical"] = {{"error", task.critical}, {"cap", kMostAfterCritical}};
  return json;
}

Json json_of(const Attempt& attempt) {
  const std::string kind = attempt.task ? attempt.task->kind : "";
  Json instruments = Json::array();
  for (const InstrumentScore& instrument : attempt.instruments)
    instruments.push_back({{"name", instrument.name}, {"metrics", json_of(instrument.metrics, kind)}});
  return {{"file", attempt.file},
          {"scene", attempt.scene_title},
          {"level", attempt.level},
          {"date", attempt.date},
          {"version", attempt.version},
          {"machine", attempt.machine},
          {"backend", attempt.backend},
          {"person", attempt.person},
          {"activity", attempt.activity},
          {"ending", attempt.ending},
          {"duration_s", number(attempt.duration)},
          {"frames", attempt.frames},
          {"clock", attempt.clock},
          {"lost_time_s", number(attempt.lost_time)},
          {"lost_share", number(attempt.lost_share)},
          {"overall", json_of(attempt.overall, kind)},
          {"instruments", instruments},
          {"task", attempt.task ? json_of(*attempt.task) : Json(nullptr)}};
}

// Text from a file may contain invalid UTF-8; such bytes become U+FFFD.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string to_json(const Attempt& attempt) { return text_of(json_of(attempt)); }

std::string to_json(std::span<const Attempt> attempts) {
  Json list = Json::array();
  for (const Attempt& attempt : attempts) list.push_back(json_of(attempt));
  return text_of({{"format", "trocar-scores-1"}, {"attempts", list}});
}

}  // namespace trocar
