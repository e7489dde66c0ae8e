#include "sim/score/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "geometry/translate.hpp"
#include "sim/score/lost_time.hpp"
#include "sim/score/trainee_summary.hpp"

namespace trocar {

std::optional<double> mark_of(const Metric& metric) {
  if (!metric.good || !metric.poor || !std::isfinite(metric.value)) return {};
  if (*metric.good == *metric.poor) return metric.value == *metric.good ? 1.0 : 0.0;
  // Adding zero turns -0.0 into 0.0.
  return std::clamp((metric.value - *metric.poor) / (*metric.good - *metric.poor), 0.0, 1.0) + 0.0;
}

namespace {

// The text of a critical error without what the log has added (TaskLog::grave).
std::string without_mark(const std::string& text) {
  const std::string_view mark = tr("critical: {}");
  const std::size_t place = mark.find("{}");
  if (place == std::string_view::npos) return text;
  const std::string_view front = mark.substr(0, place), back = mark.substr(place + 2);
  if (text.size() < front.size() + back.size() || !text.starts_with(front) || !text.ends_with(back)) return text;
  return text.substr(front.size(), text.size() - front.size() - back.size());
}

}  // namespace

std::string cap_text(const TaskResult& task) {
  if (task.critical.empty()) return {};
  // What ended the task may be the consequence of the first critical error.
  const auto last = std::find_if(task.events.rbegin(), task.events.rend(), &TaskEvent::critical);
  const std::string end = last == task.events.rend() ? task.critical : without_mark(last->text);
  if (!task.ended_by_critical)
    return trf("Critical error: {}. The score is at most {:.0f}.", task.critical, kMostAfterCritical);
  if (end == task.critical)
    return trf("Critical error: {}. It ended the task, and the score is at most {:.0f}.", task.critical,
               kMostAfterCritical);
  return trf("Critical error: {}. Then the task ended: {}. The score is at most {:.0f}.", task.critical, end,
             kMostAfterCritical);
}

std::string slow_machine_text(const Attempt& attempt) {
  if (!(std::max(attempt.lost_share, attempt.worst_lost) > LostTime::kMost)) return {};
  // A shorter attempt has no worst part, and its share is that of the window.
  std::string text =
      attempt.duration < LostTime::kWindow
          ? trf("The machine was too slow for this scene: {:.1f} s of the simulation were lost. Tissue and instruments "
                "moved slower than they should.",
                attempt.lost_time)
          : trf("The machine was too slow for this scene: {:.1f} s of the simulation were lost, {:.0f} % of the time, "
                "{:.0f} % of the worst {:.0f} s. Tissue and instruments moved slower than they should.",
                attempt.lost_time, 100.0 * attempt.lost_share, 100.0 * attempt.worst_lost, LostTime::kWindow);
  if (attempt.clock == "wall")
    text += " " + trf("This attempt is practice and does not count. {}", tr(kSlowAdvice.data()));
  return text;
}

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

// With `counted`: the grade with which a part counts.
Json parts_json(const TaskResult& task) {
  Json json = json_of(task.parts, task.kind);
  for (std::size_t k = 0; k < task.parts.size(); ++k)
    if (const auto grade = counted_grade(task, task.parts[k])) json[k]["counted"] = *grade;
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
            {"score_text", score_text(task.score)},
            {"progress", number(task.progress)},
            {"counted", counted_text(task)},
            {"parts", parts_json(task)},
            {"events", events}};
  if (!task.critical.empty())
    json["critical"] = {{"error", task.critical},
                        {"cap", kMostAfterCritical},
                        {"ended", task.ended_by_critical},
                        {"text", cap_text(task)}};
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
          {"worst_lost_share", number(attempt.worst_lost)},
          {"slow_machine", slow_machine_text(attempt)},
          {"no_judgement", no_judgement_text(attempt)},
          {"summary", json_of(trainee_metrics(attempt), kind)},
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

namespace {

constexpr std::array kSentences = {
    // Every kind of task
    GradeSentences{"task_time", "", "The task took {}",
                   "Plan the next movement while you finish this one, and move without pauses."},
    GradeSentences{"task_overload_time", "", "An instrument pressed or pulled above the force limit for {}",
                   "When the warning about force appears, draw back before you go on."},
    GradeSentences{"task_peak_force", "", "The largest force of an instrument, after the filter, was {}",
                   "Approach tissue slowly, and stop when it begins to give way."},
    GradeSentences{"task_tremor", "", "While the tip moved slowly, its tremor above 5 Hz was {}, root mean square",
                   "Rest your forearms and hold the handle loosely while you work slowly."},
    GradeSentences{"task_errors", "", "The number of errors was {}",
                   "Read the list of events, and watch the seconds before each error in the replay."},
    GradeSentences{"task_zone_entries", "", "The number of entries into the task's zones was {}",
                   "Draw the instrument back before you cross to the other side of a zone."},
    GradeSentences{"task_zone_time", "", "An instrument was inside a zone for {}",
                   "When a zone is marked as entered, leave it at once, along the path on which you came."},
    GradeSentences{"task_zone_depth", "", "The deepest point of an instrument in a zone was {} from its edge",
                   "Keep at least the width of a shaft away from the edge of a zone."},
    // Touch the targets, keep out of a zone
    GradeSentences{"task_detour", "", "The path of the tip between the targets was {} times the straight-line distance",
                   "Look at the next target before you leave this one, and go there in a straight line."},
    GradeSentences{"task_wrong", "", "The number of targets touched before their turn was {}",
                   "Touch only the highlighted target."},
    GradeSentences{"task_beside", "", "Tissue was touched away from the targets for {}",
                   "Lift the tip off the tissue between two targets."},
    // Navigate the camera
    GradeSentences{"task_detour", "navigate-camera",
                   "The path of the scope's tip was {} times the straight-line distance",
                   "Draw the scope back a little, turn it to the next target, and then move closer."},
    GradeSentences{"task_view_detour", "", "The viewing direction turned {} times as far as the direct turns",
                   "Turn the scope steadily to the target, and do not search to and fro."},
    GradeSentences{"task_offset", "", "A shown target was {} away from the centre of the view on average",
                   "Centre the target before you move closer."},
    GradeSentences{"task_lost", "", "The number of times a target was lost before its time was over was {}",
                   "Hold the scope still until the target changes colour."},
    GradeSentences{"task_too_near", "", "The number of times the lens came too near to a target was {}",
                   "Stop moving closer when the target is large enough, because tissue soils the lens."},
    // Follow a curve
    GradeSentences{"task_deviation", "", "The tip was {} off the line on average",
                   "Slow down in bends, and keep the tip on the middle of the line."},
    GradeSentences{"task_worst_deviation", "", "The largest distance of the tip from the line was {}",
                   "When the tip leaves the line, return to it before you go on."},
    GradeSentences{"task_lost_contact", "", "The number of times the tip lost contact with the organ was {}",
                   "Press lightly and evenly, and follow the height of the surface."},
    // Grasp and lift
    GradeSentences{"task_grasps", "", "The number of grasps was {}",
                   "Open the jaws wide and take enough tissue, so that one grasp holds."},
    GradeSentences{"task_grasps_beside", "", "The number of grasps that missed the target was {}",
                   "Put the open jaws on the target, and check their position before you close them."},
    GradeSentences{"task_drops", "", "The number of drops was {}",
                   "Keep the jaws closed until the task says that it is done."},
    GradeSentences{"task_tears", "", "The number of tears was {}",
                   "Pull slowly, and pause when the tissue is stretched."},
    GradeSentences{"task_highest", "", "The target was lifted by {}", "Stop lifting when the hint says to hold."},
    // Burn along a line
    GradeSentences{"task_burnt", "", "The burnt share of the line was {}",
                   "Burn the whole line, with both ends, before you release the pedal."},
    GradeSentences{"task_burnt_beside", "", "The length burnt off the line was {}",
                   "Press the pedal only while the tip is on the line."},
    GradeSentences{"task_overshoot", "", "The burn reached {} beyond an end of the line",
                   "Release the pedal before the hook comes to the end of the line."},
    GradeSentences{"task_energy_in_air", "", "Diathermy was on without contact for {}",
                   "Touch the tissue first, and then press the pedal."},
    // Clip and cut, operations
    GradeSentences{"task_clips", "", "The number of clips used was {}",
                   "Check that both legs surround the duct before you close the applier."},
    GradeSentences{"task_bad_clips", "", "The number of clips that closed no duct completely was {}",
                   "Hold the applier across the duct, and advance it until the duct fills the clip."},
    GradeSentences{"task_cut_miss", "", "The cut farthest from its target missed it by {}",
                   "Leave room between the clips, and cut at the target."},
    GradeSentences{
        "task_duct_burns", "", "The number of burns of ducts and vessels was {}",
        "See the whole bare wire and its foot before you press the pedal, and pull the fat away from the duct "
        "first."},
    GradeSentences{
        "task_view", "", "At the first clip or cut, the critical view of safety had {} points",
        "Clear the triangle and the lower third of the bed until only duct and artery enter the gallbladder, "
        "look from both sides, and only then clip."},
    GradeSentences{"task_other_cuts", "", "The number of cuts and tears of organs that are not ducts was {}",
                   "Keep blades and jaws away from organs that must stay whole, and pull gently."},
    GradeSentences{"task_other_cuts", "clip-and-cut", "The number of cuts in organs that are not ducts was {}",
                   "See where both blades are before you close the scissors."},
    GradeSentences{"task_torn", "", "The share of strands that were torn, not cut or burnt, was {}",
                   "Divide strands under light tension with the hook, before the pull breaks them."},
    GradeSentences{"task_burn_depth", "", "The deepest burn reached {}",
                   "Lift a strand off the organ before you burn it."},
    GradeSentences{"task_blood", "", "The organs lost {} of blood",
                   "Coagulate or clip the source as soon as an organ bleeds."},
    GradeSentences{"task_bile", "", "The volume of spilt bile was {}",
                   "Keep the hot hook and the tips of the jaws away from the wall of the gallbladder."},
    // Whole session and instruments
    GradeSentences{"duration", "", "The scored time was {}",
                   "Practise the slow steps alone, and compare your time with the target time."},
    GradeSentences{"collisions", "", "The number of collisions between instruments was {}",
                   "Move one instrument at a time when two are close to each other."},
    GradeSentences{"peak_pressure", "", "The largest pressure on tissue was {}",
                   "Press with the side of the instrument, which spreads the force over a larger area."},
    GradeSentences{"out_of_view_time", "", "The tip was out of view or behind an organ for {}",
                   "Move the scope before the instrument, so that the tip always stays in the picture."},
    GradeSentences{"peak_force", "", "The largest force in a single frame was {}",
                   "Reduce your speed before contact, because a fast tip hits the tissue hard."},
    GradeSentences{"force_time", "", "The force in single frames was above the limit for {}",
                   "Feel for resistance, and release the tissue when it does not give way."},
    GradeSentences{"inside_time", "", "The tip was inside an organ for {}",
                   "Do not push the tip through a surface, and come from a side where the tissue can move away."},
    GradeSentences{"zone_time", "", "An instrument appeared in a forbidden zone for {}",
                   "Plan a path around the zones before you move an instrument."},
    GradeSentences{"zone_count", "", "The number of entries into forbidden zones was {}",
                   "Watch the whole shaft, because a zone counts for the shaft too."},
};

const GradeSentences* sentences_of(std::string_view id, std::string_view kind) {
  const GradeSentences* found = nullptr;
  for (const GradeSentences& row : kSentences)
    if (row.id == id && (row.kind == kind || (!found && *row.kind == '\0'))) found = &row;
  return found;
}

}  // namespace

std::span<const GradeSentences> grade_sentences() { return kSentences; }

std::string value_with_unit(double value, std::string_view unit) {
  const std::string number = std::abs(value) >= 100.0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  return unit.empty() ? number : fmt::format("{} {}", number, tr(std::string(unit)));
}

GradeText grade_text(const Metric& metric, std::string_view kind) {
  const GradeSentences* row = mark_of(metric) ? sentences_of(metric.id, kind) : nullptr;
  if (!row) return {};
  const bool small_is_good = *metric.good <= *metric.poor;
  const std::string reason = fmt::format(fmt::runtime(tr(row->reason)), value_with_unit(metric.value, metric.unit));
  const std::string good = value_with_unit(*metric.good, metric.unit),
                    poor = value_with_unit(*metric.poor, metric.unit);
  return {small_is_good ? trf("{} (full grade up to {}, grade 0 from {}).", reason, good, poor)
                        : trf("{} (full grade from {}, grade 0 down to {}).", reason, good, poor),
          tr(row->advice)};
}

}  // namespace trocar
