// trocar report: recordings as a page for a browser: one of them in full, or several side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/commands/commands.hpp"
#include "app/record/recording.hpp"
#include "app/report/report_json.hpp"
#include "app/report/report_page.hpp"
#include "app/scene/scene.hpp"
#include "app/score/score_recording.hpp"
#include "app/support/output_file.hpp"
#include "app/support/progress.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

// Several attempts beside each other: timelines and paths in less detail, organs not at all.
constexpr SummaryLimits kInFull = {4096, 8192, true}, kSideBySide = {512, 1024, false};

// The recorded scene, or nothing where this version cannot read it: then the lens is the usual one.
std::optional<Scene> scene_of(const Recording& recording, const std::string& file) {
  try {
    return parse_scene(recording.text("scene"), file);
  } catch (const InputError&) {
    return {};
  }
}

ReportSession session_of(const std::string& file, const SummaryLimits& limits) {
  const Recording recording(file);
  const std::optional<Scene> scene = scene_of(recording, file);
  Progress progress("report", recording.frame_count());
  return {score_recording(recording, file),
          {recording.clean(), recording.text("gl"), recording.text("mode"), recording.text("cover"),
           recording.text("frame_rate")},
          summarise_session(recording, scene ? scene->scope.lens : Lens{}, limits,
                            [&](std::size_t frames) { progress.advance_to(frames); })};
}

std::string title_of(const std::vector<ReportSession>& sessions) {
  if (sessions.size() > 1) return fmt::format("Trocar: {} attempts", sessions.size());
  const Attempt& attempt = sessions.front().attempt;
  return "Trocar: " + (attempt.scene_title.empty() ? attempt.file : attempt.scene_title);
}

// The sessions in the order of their learning curve.
LearningCurve put_in_order(std::vector<ReportSession>& sessions) {
  std::vector<Attempt> attempts;
  for (const ReportSession& session : sessions) attempts.push_back(session.attempt);
  LearningCurve curve = learning_curve(attempts);
  std::vector<ReportSession> ordered;
  for (const std::size_t place : curve.order) ordered.push_back(std::move(sessions[place]));
  sessions = std::move(ordered);
  return curve;
}

void run(const std::vector<std::string>& files, const std::string& out) {
  OutputFile page(out);
  const bool single = files.size() == 1;
  std::vector<ReportSession> sessions;
  for (const std::string& file : files) sessions.push_back(session_of(file, single ? kInFull : kSideBySide));
  std::optional<LearningCurve> curve;
  if (!single) curve = put_in_order(sessions);
  const std::string data = report_json(sessions, curve ? &*curve : nullptr);
  const std::string text = report_page(title_of(sessions), data, single);
  page.stream() << text;
  page.commit();
  fmt::print("{}: {} of {:.1f} MB; open it in a browser\n", out,
             single ? "a report" : fmt::format("a comparison of {} attempts", files.size()),
             static_cast<double>(text.size()) / 1e6);
}

}  // namespace

void add_report_command(CLI::App& program) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto out = std::make_shared<std::string>();
  CLI::App* sub = program.add_subcommand("report", "A recording as a page for a browser; several: side by side");
  sub->add_option("recordings", *files, "Sessions: .h5, in the order they were made")->required();
  sub->add_option("-o,--out", *out, "Page: .html")->required();
  sub->callback([files, out] { run(*files, *out); });
}

}  // namespace trocar
