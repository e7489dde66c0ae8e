#include "app/window/replay/replay_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>

#include "app/lab/lab_attempt.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "app/window/widgets/theme.hpp"
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

std::vector<TimeMark> force_marks(std::span<const float> force, const MarkParams& params) {
  std::vector<TimeMark> marks;
  std::size_t highest = force.size();
  bool touching = false;
  for (std::size_t frame = 0; frame <= force.size(); ++frame) {
    const float now = frame < force.size() ? force[frame] : 0.f;
    if (now > params.peak && (highest == force.size() || now > force[highest])) highest = frame;
    if (now <= params.peak && highest < force.size()) {
      marks.push_back({highest, MarkKind::ForcePeak});
      highest = force.size();
    }
    if (now > params.touch && !touching) marks.push_back({frame, MarkKind::Touch});
    touching = now > params.touch;
  }
  std::ranges::stable_sort(marks, {}, &TimeMark::frame);
  return marks;
}

std::vector<float> profile_of(std::span<const float> values, std::size_t bins) {
  std::vector<float> profile(bins, 0.f);
  for (std::size_t k = 0; k < values.size(); ++k) {
    float& bin = profile[k * bins / values.size()];
    bin = std::max(bin, values[k]);
  }
  return profile;
}

namespace {

constexpr std::size_t kBins = 600;
constexpr double kScanMs = 5.0;    // ms  of a frame spent on scoring the task
constexpr double kHurryMs = 25.0;  // ms  the same while the shown frame has no marks yet
constexpr float kEvents = 400.f;   // units  the largest height of the list of events
constexpr float kTimeline = 46.f;  // units

glm::vec3 colour_of(MarkKind kind) {
  switch (kind) {
    case MarkKind::Touch:
      return theme::kSkyBlue;
    case MarkKind::ForcePeak:
      return theme::kYellow;
    case MarkKind::Error:
      return theme::kVermilion;
    case MarkKind::Note:
      break;
  }
  return theme::kGreen;
}

}  // namespace

ReplayScreen::ReplayScreen(const std::filesystem::path& recording, const WindowSettings& settings, GlContext& context,
                           std::optional<double> event)
    : file_(recording),
      settings_(settings),
      scene_(recording),
      playback_(scene_.recording().score_times()),
      view_(context, scene_.organs(), drawn_backdrops(scene_.scene().backdrops)),
      scan_(scene_.recording(), scene_.scene()) {
  find_marks();
  if (event) playback_.show(*event - kBeforeEvent);
}

double ReplayScreen::share_of(std::size_t frame) const {
  const auto& times = scene_.recording().score_times();
  return playback_.duration() > 0.0 ? (times[frame] - times.front()) / playback_.duration() : 0.0;
}

void ReplayScreen::find_marks() {
  const Recording& recording = scene_.recording();
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) {
    const std::vector<float> force = force_of(recording, tool);
    for (const TimeMark& mark : force_marks(force))
      marks_.push_back({mark, share_of(mark.frame),
                        mark.kind == MarkKind::Touch
                            ? fmt::format("{}: touch", recording.tools()[tool])
                            : fmt::format("{}: {:.1f} N", recording.tools()[tool], force[mark.frame])});
    profiles_.push_back(profile_of(force, std::min(kBins, force.size())));
    highest_ = std::max(highest_, *std::ranges::max_element(force));
  }
}

void ReplayScreen::note_events() {
  const auto& times = scene_.recording().score_times();
  events_ = scan_.events();
  for (const TaskEvent& event : events_) {
    const auto frame = static_cast<std::size_t>(std::ranges::lower_bound(times, event.time) - times.begin());
    const std::size_t shown = std::min(frame, times.size() - 1);
    marks_.push_back({{shown, event.error ? MarkKind::Error : MarkKind::Note}, share_of(shown), event.text});
  }
}

void ReplayScreen::step(const WindowInput& input, double elapsed, bool listens) {
  back_ = false;
  if (listens)
    for (const Key key : input.pressed) handle_key(key, input.down(Key::Shift));
  const bool behind = scan_.marks().frames() <= playback_.frame();
  if (!scanned_ && scan_.work(behind ? kHurryMs : kScanMs)) {
    scanned_ = true;
    note_events();
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

void ReplayScreen::draw_profiles(const glm::vec2& from, const glm::vec2& size) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t tool = 0; tool < profiles_.size(); ++tool) {
    const auto& profile = profiles_[tool];
    const auto at = [&](std::size_t bin) {
      const float x = (static_cast<float>(bin) + 0.5f) / static_cast<float>(profile.size());
      return ImVec2(from.x + x * size.x, from.y + size.y * (1.f - 0.8f * profile[bin] / highest_));
    };
    for (std::size_t bin = 1; bin < profile.size(); ++bin)
      list.AddLine(at(bin - 1), at(bin), theme::packed(theme::instrument_colour(tool), 0.9f), theme::px(1.3f));
  }
}

// Notes and errors are drawn at the top edge, touches and peaks at the bottom.
void ReplayScreen::draw_marks(const glm::vec2& from, const glm::vec2& size) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const TimelineMark* hovered = nullptr;
  for (const TimelineMark& mark : marks_) {
    const float x = from.x + static_cast<float>(mark.share) * size.x, r = theme::px(4.f);
    const bool top = mark.mark.kind == MarkKind::Error || mark.mark.kind == MarkKind::Note;
    const ImU32 colour = theme::packed(colour_of(mark.mark.kind));
    if (top)
      list.AddTriangleFilled({x - r, from.y}, {x + r, from.y}, {x, from.y + 1.8f * r}, colour);
    else
      list.AddLine({x, from.y + size.y}, {x, from.y + size.y - theme::px(7.f)}, colour, theme::px(1.5f));
    if (ImGui::IsItemHovered() && std::abs(mouse.x - x) < r) hovered = &mark;
  }
  if (hovered)
    ImGui::SetTooltip("%s  %s", clock_text(hovered->share * playback_.duration()).c_str(), hovered->words.c_str());
}

void ReplayScreen::timeline() {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const glm::vec2 from(corner.x, corner.y), size(std::max(ImGui::GetContentRegionAvail().x, 1.f), theme::px(kTimeline));
  ImGui::InvisibleButton("timeline", {size.x, size.y});
  theme::note_item("timeline");
  if (ImGui::IsItemActive())
    playback_.seek(playback_.frame_at_share(static_cast<double>((ImGui::GetIO().MousePos.x - from.x) / size.x)));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(corner, {from.x + size.x, from.y + size.y}, IM_COL32(0, 0, 0, 150), theme::px(4.f));
  draw_profiles(from, size);
  draw_marks(from, size);
  const float x = from.x + static_cast<float>(playback_.share()) * size.x;
  list.AddLine({x, from.y}, {x, from.y + size.y}, theme::packed(theme::kText), theme::px(2.f));
  const std::string scale = fmt::format("{:.1f} N", highest_ / 0.8f);
  list.AddText({from.x + theme::px(5.f), from.y + theme::px(1.f)}, theme::packed(theme::kQuiet), scale.c_str());
}

Ask ReplayScreen::controls() {
  const theme::Panel panel("controls", {{0.5f, 1.f}, {0.f, -8.f}, {0.5f, 1.f}, {1264.f, 104.f}}, theme::PanelKind::Used,
                           0.8f);
  timeline();
  if (theme::button("|<", 40.f)) playback_.seek(0);
  ImGui::SameLine();
  if (theme::button("<", 40.f)) playback_.step(-1);
  ImGui::SameLine();
  if (theme::button(playback_.playing() ? "Pause" : "Play", 90.f, true)) playback_.toggle();
  ImGui::SameLine();
  if (theme::button(">", 40.f)) playback_.step(1);
  ImGui::SameLine();
  if (theme::button("Slower", 80.f)) playback_.faster(-1);
  ImGui::SameLine();
  if (theme::button("Faster", 80.f)) playback_.faster(1);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  theme::text(fmt::format("{:g}x   {} of {}   frame {} of {}", playback_.speed(), clock_text(playback_.time()),
                          clock_text(playback_.duration()), playback_.frame() + 1, scene_.recording().frame_count()));
  for (const auto& [kind, words] : {std::pair{MarkKind::Touch, "touch"},
                                    {MarkKind::ForcePeak, "force peak"},
                                    {MarkKind::Note, "reached"},
                                    {MarkKind::Error, "error"}}) {
    ImGui::SameLine(0.f, theme::px(16.f));
    theme::text(words, colour_of(kind));
  }
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetWindowWidth() - theme::px(112.f));
  return theme::button("Back", 100.f) || back_ ? Ask::Back : Ask::Nothing;
}

void ReplayScreen::tool_numbers(std::size_t tool) const {
  const Recording& recording = scene_.recording();
  const std::size_t frame = scene_.frame();
  theme::text(recording.tools()[tool], theme::instrument_colour(tool));
  const ToolPose pose = recording.pose(frame, tool);
  theme::row("Force", fmt::format("{:.2f} N", glm::length(recording.force(frame, tool))));
  theme::row("Depth", fmt::format("{:.1f} mm", 1e3 * glm::length(pose.tip - pose.pivot)));
  if (const ToolState state = recording.state(frame, tool); state != ToolState::Good)
    theme::text(state == ToolState::Lost    ? "Device disconnected"
                : state == ToolState::Stale ? "Device not responding"
                                            : "No valid pose",
                theme::kBad);
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
    const std::size_t faces = scene_.touched(organ, tool);
    if (faces == 0) continue;
    theme::row("  " + recording.organs()[organ].name,
               settings_.technical ? fmt::format("{} faces, {:.1f} kPa", faces, 1e-3f * scene_.pressure(organ, tool))
                                   : fmt::format("{} faces", faces));
  }
}

void ReplayScreen::numbers() const {
  const theme::Panel panel("numbers", {{1.f, 0.f}, {-8.f, 8.f}, {1.f, 0.f}, {214.f, 0.f}}, theme::PanelKind::Shown,
                           0.6f);
  const theme::WithLetters small(theme::Letters::Small);
  theme::heading("This frame");
  for (std::size_t tool = 0; tool < scene_.tools().size(); ++tool) tool_numbers(tool);
  if (!settings_.technical) return;
  float sum = 0.f;
  for (std::size_t stage = 0; stage < scene_.recording().stages().size(); ++stage)
    sum += scene_.recording().stage_ms(scene_.frame(), stage);
  theme::heading("Session");
  theme::row("Frame time", fmt::format("{:.1f} ms", sum));
  theme::row("Disagreements", fmt::format("{}", scene_.recording().disagreements(scene_.frame())));
  theme::row("Collision backend", scene_.recording().text("backend"));
}

void ReplayScreen::header() {
  const theme::Panel panel("replay", {{0.f, 0.f}, {8.f, 8.f}, {}, {214.f, 0.f}}, theme::PanelKind::Used, 0.6f);
  theme::heading("Replay");
  const theme::WithLetters small(theme::Letters::Small);
  theme::wrapped(scene_.scene().title.empty() ? file_.stem().string() : scene_.scene().title);
  theme::wrapped(file_.filename().string(), theme::kQuiet);
  if (const auto date = date_in_text(scene_.recording().text("date")))
    theme::text(local_text_of_date(*date), theme::kQuiet);
  if (!scene_.scene().task) return;
  theme::heading("Events");
  const std::size_t frames = scene_.recording().frame_count();
  if (!scanned_) {
    const double share = static_cast<double>(scan_.marks().frames()) / static_cast<double>(frames);
    theme::bar(share, theme::kBlue, fmt::format("scored: {:.0f} %", 100.0 * share));
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
  status.note = error ? "! " + error->text : scanned_ ? "scored" : "";
  return status;
}

}  // namespace trocar
