#include "app/report/write_report.hpp"

#include <fmt/format.h>

#include "app/report/report.hpp"
#include "app/report/report_page.hpp"
#include "app/report/try_link.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/review/scored_session.hpp"
#include "sim/support/output_file.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
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
                         const std::string& try_at) {
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
  std::optional<LearningCurve> curve;
  if (!single) curve = put_in_order(sessions);
  const std::string data = report_json(sessions, curve ? &*curve : nullptr);
  const std::string text = report_page(title_of(sessions), data, single, try_links(try_at, tasks));
  out.stream() << text;
  out.commit();
  return text.size();
}

}  // namespace trocar
