#include "app/window/replay/film.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/view/film_file.hpp"
#include "app/window/replay/replay_scene.hpp"
#include "app/window/replay/timeline.hpp"
#include "app/window/widgets/gui.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/files.hpp"

namespace trocar {
namespace {

constexpr float kSide = 262.f;         // units  beside the round picture at 16:9
constexpr float kFilmTimeline = 40.f;  // units
constexpr double kEventShown = 2.5;    // s
constexpr double kScanned = 100.0;     // ms  of work on the score between two looks

// The text and the timeline over the pictures of a film.
class FilmPanels {
 public:
  FilmPanels(const ReplayScene& scene, const TaskScan& scan, const FilmPlan& plan)
      : scene_(scene), scan_(scan), timeline_(scene.recording()), result_(scan.result()), speed_(plan.speed) {
    if (result_) timeline_.add(result_->events);
  }

  void draw(std::size_t frame) const {
    const auto& times = scene_.recording().score_times();
    const double begin = times.front(), now = times[frame] - begin, duration = times.back() - begin;
    state(frame, now, duration);
    if (result_) result();
    if (const TaskEvent* event = event_at(times[frame])) sentence(*event);
    const theme::Panel panel("timeline", {{0.5f, 1.f}, {0.f, -6.f}, {0.5f, 1.f}, {1268.f, kFilmTimeline + 16.f}},
                             theme::PanelKind::Shown, 0.f);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    timeline_.draw({corner.x, corner.y}, {ImGui::GetContentRegionAvail().x, theme::px(kFilmTimeline)},
                   duration > 0.0 ? now / duration : 0.0);
  }

 private:
  // The event that is told: the last one, an error before others.
  const TaskEvent* event_at(double now) const {
    if (!result_) return nullptr;
    if (const TaskEvent* error = error_at(result_->events, now)) return error;
    const auto shown = [&](const TaskEvent& event) { return event.time <= now && now < event.time + kEventShown; };
    const auto last = std::find_if(result_->events.rbegin(), result_->events.rend(), shown);
    return last == result_->events.rend() ? nullptr : &*last;
  }

  void state(std::size_t frame, double now, double duration) const {
    const theme::Panel panel("state", {{0.f, 0.f}, {6.f, 6.f}, {}, {kSide, 0.f}}, theme::PanelKind::Shown, 0.6f);
    const Scene& scene = scene_.scene();
    theme::heading(result_ ? result_->title : scene.title);
    theme::row("Time", trf("{} of {}", clock_text(now), clock_text(duration)));
    if (speed_ != 1.0) theme::row("Speed", fmt::format("{:g}x", speed_));
    if (!result_ || scan_.moments().empty()) return;
    const TaskMoment& moment = scan_.moments()[std::min(frame, scan_.moments().size() - 1)];
    theme::row("Errors", fmt::format("{}", moment.errors), moment.errors > 0 ? theme::kBad : theme::kGood);
    theme::row("Score so far", score_text(moment.score));
    theme::bar(moment.progress, theme::kGreen, fmt::format("{:.0f} %", 100.0 * moment.progress));
    theme::wrapped(scan_.hints()[moment.hint]);
  }

  void result() const {
    const theme::Panel panel("result", {{1.f, 0.f}, {-6.f, 6.f}, {1.f, 0.f}, {kSide, 0.f}}, theme::PanelKind::Shown,
                             0.6f);
    theme::heading(tr("Result"));
    {
      const theme::WithLetters large(theme::Letters::Heading);
      const std::string score = score_text(result_->score);
      theme::text(result_->finished ? trf("{} of 100", score) : trf("{} of 100, not finished", score),
                  result_->finished ? theme::kGood : theme::kYellow);
    }
    const theme::WithLetters small(theme::Letters::Small);
    if (const std::string cap = cap_text(*result_); !cap.empty()) theme::wrapped(cap, theme::kBad);
    if (const std::string counted = counted_text(*result_); !counted.empty()) theme::wrapped(counted, theme::kYellow);
    for (const Metric& part : result_->parts) {
      const auto grade = counted_grade(*result_, part);
      if (!grade) continue;
      theme::wrapped(fmt::format("{}: {}", tr(part.label), value_with_unit(part.value, part.unit)), theme::kQuiet);
      theme::bar(*grade, theme::kBlue, fmt::format("{:.0f} %", 100.0 * *grade), 14.f);
    }
  }

  static void sentence(const TaskEvent& event) {
    const theme::Panel panel("event", {{0.5f, 1.f}, {0.f, -kFilmTimeline - 28.f}, {0.5f, 1.f}}, theme::PanelKind::Shown,
                             0.75f);
    theme::text(event.error ? "! " + event.text : event.text, event.error ? theme::kBad : theme::kGood);
  }

  const ReplayScene& scene_;
  const TaskScan& scan_;
  Timeline timeline_;
  std::optional<TaskResult> result_;
  double speed_;
};

// Which frame each picture shows: the last that begins at or before the picture's time.
std::vector<std::size_t> frames_of(const Recording& recording, const FilmPlan& plan) {
  const std::vector<double>& times = recording.score_times();
  const double end = times.back() - times.front(), to = std::min(plan.to, end);
  if (plan.from > end) throw InputError(fmt::format("--from: the recording ends at {:.2f} s", end));
  if (plan.from > to) throw InputError(fmt::format("--to: {:g} s is before --from, {:g} s", plan.to, plan.from));
  const double seconds = (to - plan.from) / plan.speed;
  std::vector<std::size_t> frames(std::max<std::size_t>(std::lround(seconds * plan.rate), 1));
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const double time = times.front() + plan.from + plan.speed * static_cast<double>(k) / plan.rate;
    const auto after = std::upper_bound(times.begin(), times.end(), time) - times.begin();
    frames[k] = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - 1, 0));
  }
  return frames;
}

void check_size(const FilmPlan& plan) {
  for (const auto& [option, pixels] : {std::pair{"--width", plan.width}, {"--height", plan.height}})
    if (pixels % 2 != 0)
      throw InputError(
          fmt::format("{}: {} is odd, and a film has even numbers of pixels; use {}", option, pixels, pixels + 1));
}

// Draws the pictures of a film.
class FilmCamera {
 public:
  FilmCamera(ReplayScene& scene, const TaskScan& scan, const FilmPlan& plan, GlContext& context)
      : scene_(scene),
        scan_(scan),
        plan_(plan),
        quality_(plan.quality.value_or(context.info().software ? Quality::Medium : Quality::High)),
        view_(context, scene.organs(), drawn_backdrops(scene.scene().backdrops)),
        target_(plan.width, plan.height, quality_ == Quality::High ? 4 : 1) {
    if (plan.plain) return;
    panels_ = std::make_unique<FilmPanels>(scene, scan, plan);
    gui_ = std::make_unique<PictureGui>(glm::ivec2(plan.width, plan.height));
  }

  std::vector<glm::u8vec3> picture(std::size_t frame) {
    scene_.load(frame);
    ViewSettings settings{.show_touched = false, .whole_field = true, .quality = quality_};
    settings.time = scene_.recording().score_times()[frame];
    scan_.marks().get(frame, marks_);
    target_.bind();
    view_.draw(scene_.organs(), scene_.tools(), scene_.bonds(), scene_.scope(), scene_.lens(), marks_, settings,
               plan_.width, plan_.height);
    if (gui_) gui_->draw([&] { panels_->draw(frame); });
    std::vector<glm::u8vec3> pixels = target_.pixels();
    PictureTarget::unbind();
    return pixels;
  }

 private:
  ReplayScene& scene_;
  const TaskScan& scan_;
  const FilmPlan& plan_;
  Quality quality_;
  View view_;
  PictureTarget target_;
  DrawnMarks marks_;
  std::unique_ptr<FilmPanels> panels_;
  std::unique_ptr<PictureGui> gui_;
};

}  // namespace

FilmSummary write_film(const std::filesystem::path& recording, const std::filesystem::path& out, const FilmPlan& plan,
                       GlContext& context, const PicturesDone& done) {
  check_size(plan);
  ReplayScene scene(recording);
  const std::vector<std::size_t> frames = frames_of(scene.recording(), plan);
  FilmFile film(out, {plan.width, plan.height}, plan.rate);
  const auto go_on = [&](std::size_t pictures) {
    if (!done(pictures, frames.size())) throw RunError("interrupted; no film was written");
  };
  TaskScan scan(scene.recording(), scene.scene());
  while (!scan.work(kScanned)) go_on(0);
  FilmCamera camera(scene, scan, plan, context);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    film.add(camera.picture(frames[k]));
    go_on(k + 1);
  }
  film.commit();
  return {frames.size(), static_cast<double>(frames.size()) / plan.rate};
}

}  // namespace trocar
