#include "app/window/replay/replay_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>

#include "app/lab/lab_attempt.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

constexpr double kSpeeds[] = {0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0};

}  // namespace

double Playback::speed() const { return kSpeeds[speed_]; }

std::size_t Playback::frame_at(double time) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  return after == times_.begin() ? 0 : static_cast<std::size_t>(after - times_.begin()) - 1;
}

void Playback::advance(double elapsed) {
  if (!playing_) return;
  time_ = std::min(time_ + elapsed * speed(), times_.back());
  frame_ = frame_at(time_);
  if (frame_ + 1 == times_.size()) playing_ = false;
}

void Playback::toggle() {
  if (!playing_ && frame_ + 1 == times_.size()) seek(0);
  playing_ = !playing_;
}

void Playback::step(int frames) {
  playing_ = false;
  const auto last = static_cast<std::ptrdiff_t>(times_.size()) - 1;
  seek(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(frame_) + frames, 0, last)));
}

void Playback::seek(std::size_t frame) {
  frame_ = std::min(frame, times_.size() - 1);
  time_ = times_[frame_];
}

void Playback::show(double time) {
  playing_ = false;
  seek(frame_at(time));
}

void Playback::faster(int steps) {
  const auto last = static_cast<int>(std::size(kSpeeds)) - 1;
  speed_ = static_cast<std::size_t>(std::clamp(static_cast<int>(speed_) + steps, 0, last));
}

double Playback::share() const { return duration() > 0.0 ? time() / duration() : 0.0; }

std::size_t Playback::frame_at_share(double share) const {
  return frame_at(times_.front() + std::clamp(share, 0.0, 1.0) * duration());
}

namespace {

constexpr double kScanMs = 5.0;    // ms  of a frame spent on scoring the task
constexpr double kHurryMs = 25.0;  // ms  the same while the shown frame has no marks yet
constexpr float kEvents = 400.f;   // units  the largest height of the list of events
constexpr float kTimeline = 46.f;  // units
constexpr float kPointed = 4.f;    // units  from a mark to the pointer that shows its words

}  // namespace

ReplayScreen::ReplayScreen(const std::filesystem::path& recording, const WindowSettings& settings, GlContext& context,
                           FilmMaker& films, std::optional<double> event)
    : file_(recording),
      settings_(settings),
      films_(films),
      scene_(recording),
      playback_(scene_.recording().score_times()),
      view_(context, scene_.organs(), drawn_backdrops(scene_.scene().backdrops)),
      scan_(scene_.recording(), scene_.scene()),
      timeline_(scene_.recording()) {
  if (event) playback_.show(*event - kBeforeEvent);
}

void ReplayScreen::step(const WindowInput& input, double elapsed, bool listens) {
  back_ = false;
  if (listens)
    for (const Key key : input.pressed) handle_key(key, input.down(Key::Shift));
  const bool behind = scan_.marks().frames() <= playback_.frame();
  if (!scanned_ && scan_.work(behind ? kHurryMs : kScanMs)) {
    scanned_ = true;
    events_ = scan_.events();
    timeline_.add(events_);
  }
  playback_.advance(elapsed);
  scene_.load(playback_.frame());
}

void ReplayScreen::show_error(std::optional<double> time) {
  if (time) playback_.show(*time);
}

void ReplayScreen::handle_key(Key key, bool shift) {
  switch (key) {
    case Key::N:
      show_error(shift ? previous_error(events_, now()) : next_error(events_, now()));
      break;
    case Key::Space:
      playback_.toggle();
      break;
    case Key::Left:
      playback_.step(-1);
      break;
    case Key::Right:
      playback_.step(1);
      break;
    case Key::Home:
      playback_.seek(0);
      break;
    case Key::End:
      playback_.seek(scene_.recording().frame_count() - 1);
      break;
    case Key::Up:
      playback_.faster(1);
      break;
    case Key::Down:
      playback_.faster(-1);
      break;
    case Key::Escape:
      back_ = true;
      break;
    default:
      break;
  }
}

void ReplayScreen::picture(const glm::ivec2& size) {
  ViewSettings settings = settings_.view;
  keeper_.fix(settings_.quality);
  settings.quality = keeper_.quality();
  settings.time = playback_.time();
  drawn_ = {};
  // A frame that is not scored yet has no marks.
  if (scanned_ || scene_.frame() < scan_.marks().frames()) scan_.marks().get(scene_.frame(), drawn_);
  keeper_.drawn(timer_.time([&] {
    view_.draw(scene_.organs(), scene_.tools(), scene_.bonds(), scene_.scope(), scene_.lens(), drawn_, settings, size.x,
               size.y);
  }));
}

void ReplayScreen::timeline() {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const glm::vec2 from(corner.x, corner.y), size(std::max(ImGui::GetContentRegionAvail().x, 1.f), theme::px(kTimeline));
  ImGui::InvisibleButton("timeline", {size.x, size.y});
  theme::note_item("timeline");
  if (ImGui::IsItemActive())
    playback_.seek(playback_.frame_at_share(static_cast<double>((ImGui::GetIO().MousePos.x - from.x) / size.x)));
  timeline_.draw(from, size, playback_.share());
  if (!ImGui::IsItemHovered()) return;
  const double pointed = static_cast<double>((ImGui::GetIO().MousePos.x - from.x) / size.x);
  if (const TimelineMark* mark = timeline_.mark_at(pointed, static_cast<double>(theme::px(kPointed) / size.x)))
    ImGui::SetTooltip("%s  %s", clock_text(mark->share * playback_.duration()).c_str(), mark->words.c_str());
}

Ask ReplayScreen::controls() {
  const theme::Panel panel("controls", {{0.5f, 1.f}, {0.f, -8.f}, {0.5f, 1.f}, {1264.f, 104.f}}, theme::PanelKind::Used,
                           0.8f);
  timeline();
  if (theme::button("|<", 40.f)) playback_.seek(0);
  ImGui::SameLine();
  if (theme::button("<", 40.f)) playback_.step(-1);
  ImGui::SameLine();
  if (theme::button(playback_.playing() ? msgid("Pause") : msgid("Play"), 90.f, true)) playback_.toggle();
  ImGui::SameLine();
  if (theme::button(">", 40.f)) playback_.step(1);
  ImGui::SameLine();
  if (theme::button("Slower", 80.f)) playback_.faster(-1);
  ImGui::SameLine();
  if (theme::button("Faster", 80.f)) playback_.faster(1);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  theme::text(trf("{:g}x   {} of {}   frame {} of {}", playback_.speed(), clock_text(playback_.time()),
                  clock_text(playback_.duration()), playback_.frame() + 1, scene_.recording().frame_count()));
  for (const MarkKind kind : {MarkKind::Touch, MarkKind::ForcePeak, MarkKind::Note, MarkKind::Error}) {
    ImGui::SameLine(0.f, theme::px(16.f));
    theme::text(words_of(kind), colour_of(kind));
  }
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetWindowWidth() - theme::px(112.f));
  return theme::button("Back", 100.f) || back_ ? Ask::Back : Ask::Nothing;
}

void ReplayScreen::tool_numbers(std::size_t tool) const {
  const Recording& recording = scene_.recording();
  const std::size_t frame = scene_.frame();
  theme::text(tr(recording.tools()[tool]), theme::instrument_colour(tool));
  const ToolPose pose = recording.pose(frame, tool);
  theme::row("Force", fmt::format("{:.2f} N", glm::length(recording.force(frame, tool))));
  theme::row("Depth", fmt::format("{:.1f} mm", 1e3 * glm::length(pose.tip - pose.pivot)));
  if (const ToolState state = recording.state(frame, tool); state != ToolState::Good)
    theme::text(state == ToolState::Lost    ? tr("Device disconnected")
                : state == ToolState::Stale ? tr("Device not responding")
                                            : tr("No valid pose"),
                theme::kBad);
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
    const std::size_t faces = scene_.touched(organ, tool);
    if (faces == 0) continue;
    theme::row("  " + tr(recording.organs()[organ].name),
               settings_.technical ? trf("{} faces, {:.1f} kPa", faces, 1e-3f * scene_.pressure(organ, tool))
                                   : trf("{} faces", faces));
  }
}

void ReplayScreen::numbers() const {
  const theme::Panel panel("numbers", {{1.f, 0.f}, {-8.f, 8.f}, {1.f, 0.f}, {214.f, 0.f}}, theme::PanelKind::Shown,
                           0.6f);
  const theme::WithLetters small(theme::Letters::Small);
  theme::heading(tr("This frame"));
  for (std::size_t tool = 0; tool < scene_.tools().size(); ++tool) tool_numbers(tool);
  if (!settings_.technical) return;
  float sum = 0.f;
  for (std::size_t stage = 0; stage < scene_.recording().stages().size(); ++stage)
    sum += scene_.recording().stage_ms(scene_.frame(), stage);
  theme::heading(tr("Session"));
  theme::row("Frame time", fmt::format("{:.1f} ms", sum));
  theme::row("Disagreements", fmt::format("{}", scene_.recording().disagreements(scene_.frame())));
  theme::row("Collision backend", scene_.recording().text("backend"));
}

void ReplayScreen::header() {
  const theme::Panel panel("replay", {{0.f, 0.f}, {8.f, 8.f}, {}, {214.f, 0.f}}, theme::PanelKind::Used, 0.6f);
  theme::heading(tr("Replay"));
  const theme::WithLetters small(theme::Letters::Small);
  theme::wrapped(scene_.scene().title.empty() ? file_.stem().string() : tr(scene_.scene().title));
  theme::wrapped(file_.filename().string(), theme::kQuiet);
  if (const auto date = date_in_text(scene_.recording().text("date")))
    theme::text(local_text_of_date(*date), theme::kQuiet);
  films_.button(file_, 100.f);
  if (!films_.text().empty()) theme::wrapped(films_.text(), theme::kQuiet);
  if (!scene_.scene().task) return;
  theme::heading(tr("Events"));
  const std::size_t frames = scene_.recording().frame_count();
  if (!scanned_) {
    const double share = static_cast<double>(scan_.marks().frames()) / static_cast<double>(frames);
    theme::bar(share, theme::kBlue, trf("scored: {:.0f} %", 100.0 * share));
    return;
  }
  const theme::Scope list =
      theme::child("events", {0.f, std::clamp(events_height_, theme::px(20.f), theme::px(kEvents))});
  if (const auto pressed = draw_events(events_, scene_.recording().score_times().front(), now()))
    playback_.show(events_[*pressed].time - kBeforeEvent);
  events_height_ = ImGui::GetCursorPosY();
}

// The sentence of the error that the picture shows.
void ReplayScreen::explanation() const {
  const TaskEvent* error = error_at(events_, now());
  if (!error) return;
  const theme::Panel panel("explanation", {{0.5f, 1.f}, {0.f, -120.f}, {0.5f, 1.f}}, theme::PanelKind::Shown, 0.75f);
  theme::text("! " + error->text, theme::kBad);
}

Ask ReplayScreen::panels() {
  header();
  explanation();
  numbers();
  return controls();
}

// The hum of the diathermy while the replay plays.
SoundCues ReplayScreen::sound() const {
  SoundCues cues;
  if (!playback_.playing()) return cues;
  for (const DrawnTool& tool : scene_.tools()) {
    if (tool.kind != InstrumentKind::Hook) continue;
    cues.cut = cues.cut || tool.energy == Diathermy::Cut;
    cues.coagulate = cues.coagulate || tool.energy == Diathermy::Coagulate;
  }
  return cues;
}

ScreenStatus ReplayScreen::status() const {
  ScreenStatus status;
  status.phase = playback_.playing() ? "playing" : "paused";
  status.file = file_;
  status.frames = playback_.frame();
  for (std::size_t organ = 0; organ < scene_.organs().size(); ++organ)
    for (std::size_t tool = 0; tool < scene_.tools().size(); ++tool)
      status.touched += static_cast<std::uint32_t>(scene_.touched(organ, tool));
  const TaskEvent* error = error_at(events_, now());
  status.film = films_.text();
  status.note = error ? "! " + error->text : scanned_ ? "scored" : "";
  return status;
}

}  // namespace trocar
