#include "app/window/practice/practice_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/compare/backends.hpp"
#include "app/window/input/keys.hpp"
#include "app/window/practice/plots.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

// How much of the task is done: targets, steps, and the task itself.
std::size_t reached_of(const TaskRun& task) {
  DrawnMarks marks;
  task.draw(marks);
  const auto done = std::ranges::count(marks.targets, MarkState::Done, &DrawnTarget::state);
  return static_cast<std::size_t>(done) + task.feed().step.value_or(0) + (task.feed().done ? 1 : 0);
}

}  // namespace

SoundCues sound_of(const Practice& practice, bool pulse) {
  SoundCues cues;
  if (practice.task()) {
    cues.errors = practice.task()->feed().errors;
    cues.reached = reached_of(*practice.task());
  }
  if (!practice.running()) return cues;
  cues.pulse = pulse;
  for (const Instrument& instrument : practice.session().instruments()) {
    if (instrument.kind != InstrumentKind::Hook) continue;
    cues.cut = cues.cut || instrument.energy == Diathermy::Cut;
    cues.coagulate = cues.coagulate || instrument.energy == Diathermy::Coagulate;
  }
  return cues;
}

namespace {

DrawnTicks first_of(const Practice& practice) {
  DrawnTicks ticks;
  ticks.keep(practice.session(), 0, practice.time());
  return ticks;
}

}  // namespace

PracticeView::PracticeView(GlContext& context, const Practice& practice)
    : ticks_(first_of(practice)),
      moment_(ticks_.at(0.0)),
      view_(context, moment_.organs, drawn_backdrops(practice.session().backdrops())) {}

namespace {

// Points a span of each part to a copy.
template <typename Part, typename Point>
void own(std::vector<Part>& parts, std::span<const Point> Part::*span, std::vector<std::vector<Point>>& copies) {
  copies.resize(parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    copies[k].assign((parts[k].*span).begin(), (parts[k].*span).end());
    parts[k].*span = copies[k];
  }
}

}  // namespace

void PracticeView::take(const Practice& practice, const WindowSettings& settings, std::span<const DrawnTool> ghosts) {
  late_ = practice.lost() > lost_;
  lost_ = practice.lost();
  moment_ = ticks_.at(practice.shown());
  tools_.assign(moment_.tools.begin(), moment_.tools.end());
  tools_.insert(tools_.end(), ghosts.begin(), ghosts.end());
  moment_.scope.field_of_view_deg = settings.field_of_view_deg.value_or(practice.scene().scope.field_of_view_deg);
  moment_.lens.barrel = settings.barrel.value_or(moment_.lens.barrel);
  marks_.targets.clear(), marks_.paths.clear(), marks_.zones.clear();
  if (practice.task() && practice.session().frames() > 0) practice.task()->draw(marks_);
  own(marks_.paths, &DrawnPath::points, points_);
  own(marks_.zones, &DrawnZone::outline, outlines_);
  keeper_.fix(settings.quality);
  settings_ = settings.view;
  settings_.quality = keeper_.quality();
  settings_.time = moment_.time;
}

double PracticeView::draw(const glm::ivec2& size) {
  const double draw_ms = timer_.time([&] {
    view_.draw(moment_.organs, tools_, *moment_.bonds, moment_.scope, moment_.lens, marks_, settings_, size.x, size.y);
  });
  keeper_.drawn(draw_ms, late_);
  return draw_ms;
}

namespace {

constexpr float kSettingFrom = 220.f;  // units

void slider(const char* label, const char* id, double& value, double low, double high, const char* format) {
  theme::label(label, kSettingFrom);
  ImGui::SliderScalar(id, ImGuiDataType_Double, &value, &low, &high, format, ImGuiSliderFlags_AlwaysClamp);
}

constexpr float kSecondFrom = 290.f;  // units, of the second setting of a row

void check_beside(std::string_view label, const char* id, bool& value) {
  ImGui::SameLine(theme::px(kSecondFrom));
  ImGui::AlignTextToFramePadding();
  theme::text(label, theme::kQuiet);
  ImGui::SameLine(theme::px(kSecondFrom + kSettingFrom - 30.f));
  ImGui::Checkbox(id, &value);
}

void check(std::string_view label, const char* id, bool& value) {
  theme::label(label, kSettingFrom);
  ImGui::Checkbox(id, &value);
}

void quality_choice(Quality now, WindowSettings& settings) {
  const std::string names[] = {"automatic", "low", "medium", "high"};
  const auto name_of = [&](Quality quality) { return names[static_cast<std::size_t>(quality) + 1]; };
  const std::string shown =
      settings.quality ? name_of(*settings.quality) : fmt::format("{}: {}", names[0], name_of(now));
  if (const auto chosen = theme::choice("Quality", shown, names, kSettingFrom))
    settings.quality = *chosen == 0 ? std::nullopt : std::optional(static_cast<Quality>(*chosen - 1));
}

void scope_settings(const Practice& practice, Quality quality, WindowSettings& settings) {
  theme::heading("Scope picture");
  double field = settings.field_of_view_deg.value_or(practice.scene().scope.field_of_view_deg);
  const double field_before = field;
  slider("Field of view", "##field", field, 20.0, 120.0, "%.0f\u00B0");
  if (field != field_before) settings.field_of_view_deg = field;
  double barrel = settings.barrel.value_or(practice.scene().scope.lens.barrel);
  const double barrel_before = barrel;
  slider("Barrel distortion", "##barrel", barrel, 0.0, 0.3, "%.2f");
  if (barrel != barrel_before) settings.barrel = barrel;
  quality_choice(quality, settings);
  check("Full screen (F11)", "##screen", settings.full_screen);
  check_beside("Circular view", "##round", settings.view.round_field);
}

void hand_settings(WindowSettings& settings) {
  theme::heading("Input");
  slider("Mouse and wheel sensitivity", "##speed", settings.hands.speed, 0.25, 4.0, "%.2f");
  check("Fulcrum effect", "##fulcrum", settings.hands.fulcrum);
}

// The backend takes effect from the next frame on.
void query_settings(Practice& practice, const KeyLayout& keys) {
  theme::heading("Touch queries");
  const std::string now = practice.session().backend().name;
  if (const auto chosen = theme::choice("Collision backend", now, backend_names(), kSettingFrom))
    practice.use_backend(backend_names()[*chosen]);
  if (practice.session().backend_times().size() < 2) return;
  bool checking = practice.session().checking();
  check(in_layout("Check with the OBB tree (C)", keys), "##check", checking);
  practice.session().set_checking(checking);
}

void ghost_choice(const KeyLayout& keys, WindowSettings& settings) {
  std::vector<std::string> names;
  for (const GhostMode mode : {GhostMode::Off, GhostMode::InTime, GhostMode::ByProgress})
    names.push_back(name_of(mode));
  const std::string label = in_layout("Expert's ghost (X)", keys);
  if (const auto chosen = theme::choice(label, name_of(settings.ghost), names, kSettingFrom))
    settings.ghost = static_cast<GhostMode>(*chosen);
}

void sound_settings(WindowSettings& settings) {
  theme::heading("Sound");
  slider("Volume (0: silent)", "##volume", settings.volume, 0.0, 1.0, "%.2f");
  check("Pulse", "##pulse", settings.pulse);
}

void panel_settings(const KeyLayout& keys, WindowSettings& settings) {
  theme::heading("Overlays");
  check(in_layout("Technical overlay (T)", keys), "##technical", settings.technical);
  check_beside(in_layout("Touched faces (G)", keys), "##touched", settings.view.show_touched);
  check(in_layout("Times of each stage (H)", keys), "##plots", settings.plots);
  check_beside(in_layout("List of contacts (L)", keys), "##contacts", settings.contacts);
  ghost_choice(keys, settings);
}

// Shows the tissue parameters, read-only; the scene editor changes them.
void tissue_table(const Scene& scene) {
  theme::heading("Tissue (change it in the scene editor)");
  const theme::Scope table = theme::table("tissue", 5, ImGuiTableFlags_SizingStretchProp);
  if (!table) return;
  for (const char* title : {"Organ", "Modulus", "Poisson", "Density", "Friction"}) {
    ImGui::TableNextColumn();
    theme::text(title, theme::kQuiet);
  }
  for (const OrganScene& organ : scene.organs) {
    for (const std::string& cell :
         {organ.name, fmt::format("{:g} kPa", organ.tissue.youngs_modulus * 1e-3f),
          fmt::format("{:g}", organ.tissue.poisson_ratio), fmt::format("{:g} kg/m\u00B3", organ.tissue.density),
          fmt::format("{:g}", organ.tissue.friction)}) {
      ImGui::TableNextColumn();
      theme::text(cell);
    }
  }
}

// Draws a panel in the centre. Returns false when the user has closed it.
bool draw_settings(Practice& practice, Quality quality, const KeyLayout& keys, WindowSettings& settings) {
  const theme::Panel panel("settings", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {540.f, 0.f}}, theme::PanelKind::Front, 0.94f);
  theme::headline("Settings");
  scope_settings(practice, quality, settings);
  hand_settings(settings);
  if (settings.technical) query_settings(practice, keys);
  sound_settings(settings);
  panel_settings(keys, settings);
  if (settings.technical) tissue_table(practice.scene());
  check("Pack recordings", "##pack", settings.pack);
  ImGui::Spacing();
  if (theme::button("Reset", 110.f)) settings = {};
  ImGui::SameLine();
  const bool open = !theme::button("Close", 110.f, true);
  ImGui::SameLine();
  theme::text("Kept for the next start", theme::kQuiet);
  return open;
}

constexpr int kNoteFrames = 180;
constexpr float kMenuButton = 220.f;  // units

// Where the task continues.
std::optional<glm::dvec3> goal_of(const TaskRun& task) {
  DrawnMarks marks;
  task.draw(marks);
  for (const DrawnTarget& target : marks.targets)
    if (target.state == MarkState::Next) return glm::dvec3(target.location);
  for (const DrawnPath& path : marks.paths)
    if (path.done < path.points.size()) return glm::dvec3(path.points[path.done]);
  return std::nullopt;
}

std::string ghost_note(const Practice& practice, GhostMode mode) {
  const std::string none = GhostShow::why_none(practice, mode);
  return none.empty() ? fmt::format("Expert's ghost: {}", name_of(mode)) : none;
}

}  // namespace

PracticeScreen::PracticeScreen(std::unique_ptr<Practice> practice, WindowSettings& settings, GhostShow& ghost,
                               std::filesystem::path folder, GlContext* context)
    : practice_(std::move(practice)), settings_(settings), ghost_(ghost), folder_(std::move(folder)), disk_(folder_) {
  if (!context) return;
  view_.emplace(*context, *practice_);
  practice_->draw_beside(
      [this](const Session& session, std::uint64_t tick, double time) { view_->keep(session, tick, time); });
}

bool PracticeScreen::in_hand() const { return practice_->phase() == Phase::Running && !settings_open_; }

void PracticeScreen::step(const WindowInput& input, double elapsed, bool listens) {
  ask_ = Ask::Nothing;
  keys_ = &input.keys();
  practice_->settle();
  if (listens)
    for (const Key key : input.pressed) handle_key(key);
  // Without keyboard input, the help covers the picture.
  practice_->cover(settings_open_ || !listens);
  practice_->advance(input, elapsed, settings_);
  if (practice_->recorded()) disk_.measure(practice_->recording(), practice_->time());
  if (!practice_->plan().shown) disk_.watch(practice_->scene(), elapsed);
  if (std::string fault = practice_->new_fault(); !fault.empty()) say(std::move(fault));
  if (note_frames_ > 0 && --note_frames_ == 0) note_ = practice_->recording_fault();  // shown until the end
}

void PracticeScreen::handle_key(Key key) {
  switch (key) {
    case Key::Enter:
    case Key::Space:
      if (!settings_open_) start();
      break;
    case Key::Escape:
      if (settings_open_)
        settings_open_ = false;
      else if (practice_->phase() == Phase::Ready)
        ask_ = Ask::Back;
      else if (practice_->phase() == Phase::Running)
        practice_->pause();
      else
        practice_->resume();
      break;
    case Key::F2:
      settings_open_ = !settings_open_;
      break;
    case Key::Tab:
      practice_->hands().take_next();
      break;
    case Key::T:
      settings_.technical = !settings_.technical;
      settings_.view.show_touched = settings_.technical;
      break;
    case Key::G:
      settings_.view.show_touched = !settings_.view.show_touched;
      break;
    case Key::C:
      practice_->session().set_checking(!practice_->session().checking());
      break;
    case Key::O:
      say(practice_->switch_backend());
      break;
    case Key::H:
      settings_.plots = !settings_.plots;
      break;
    case Key::L:
      settings_.contacts = !settings_.contacts;
      break;
    case Key::X:
      settings_.ghost = next(settings_.ghost);
      say(ghost_note(*practice_, settings_.ghost));
      break;
    case Key::P:
      picture_wanted_ = true;
      break;
    default:
      break;
  }
}

void PracticeScreen::picture(const glm::ivec2& size) {
  if (view_) {
    view_->take(*practice_, settings_, ghost_.tools(*practice_, settings_.ghost));
    // A session that the program is about to leave stands still.
    if (ask_ == Ask::Nothing) practice_->begin_ticks();
    practice_->note_drawing(view_->draw(size));
  }
  if (!picture_wanted_) return;
  picture_wanted_ = false;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  const auto file = free_name(folder_, "picture", ".png");
  save_screen_png(file, size.x, size.y);
  say(fmt::format("Picture saved to {}", file.string()));
}

void PracticeScreen::say(std::string note) {
  note_ = std::move(note);
  note_frames_ = kNoteFrames;
}

// Names what moves and works the instrument in the hand.
void PracticeScreen::key_lines() const {
  const auto& instruments = practice_->scene().instruments;
  const std::size_t in_hand = practice_->hands().in_hand();
  const bool scope = practice_->hands().scope_in_hand();
  if (in_hand >= instruments.size() && !scope) return;
  theme::heading(scope ? "In your hand: the scope" : fmt::format("In your hand: {}", instruments[in_hand].name));
  for (const KeyLine& line : keys_of(scope ? std::nullopt : std::optional(instruments[in_hand].kind))) {
    theme::text(in_layout(line.keys, *keys_), theme::kYellow);
    ImGui::SameLine(theme::px(170.f));
    theme::text(in_layout(line.what, *keys_));
  }
  ImGui::Spacing();
  theme::text("Tab selects the next instrument or the scope. F1 shows all keys.", theme::kQuiet);
}

void PracticeScreen::ready_panel() {
  const Scene& scene = practice_->scene();
  const theme::Panel panel("ready", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {520.f, 0.f}}, theme::PanelKind::Front, 0.92f);
  theme::headline(scene.task && !scene.task->title.empty() ? scene.task->title : scene.title, true);
  ImGui::Spacing();
  theme::wrapped(scene.task ? scene.task->instructions
                            : "Free practice. Everything is recorded; Esc pauses, Finish ends the session.");
  ImGui::Spacing();
  key_lines();
  ImGui::Dummy({0.f, theme::px(6.f)});
  if (theme::button("Start (Enter)", 160.f, true, !no_room())) start();
  if (scene.task && !practice_->plan().performer) {
    ImGui::SameLine();
    if (theme::button("Show me", 100.f)) ask_ = Ask::ShowMe;
  }
  ImGui::SameLine();
  if (theme::button("Settings", 100.f)) settings_open_ = true;
  ImGui::SameLine();
  if (theme::button("Back", 100.f)) ask_ = Ask::Back;
}

void PracticeScreen::pause_panel() {
  theme::dim_screen();
  const theme::Panel panel("pause", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}}, theme::PanelKind::Front, 0.95f);
  theme::headline("Paused");
  ImGui::Spacing();
  if (theme::button("Resume (Esc)", kMenuButton, true)) practice_->resume();
  if (practice_->plan().shown) {
    if (theme::button("Back to the task", kMenuButton)) ask_ = Ask::Again;
  } else {
    if (theme::button("Finish", kMenuButton)) practice_->stop();
    if (theme::button("Restart", kMenuButton)) ask_ = Ask::Again;
  }
  if (theme::button("Settings (F2)", kMenuButton)) settings_open_ = true;
  if (theme::button("Start screen", kMenuButton)) ask_ = Ask::Back;
}

// An attempt that cannot be recorded does not begin; a demonstration before it is not recorded.
bool PracticeScreen::no_room() const { return !practice_->plan().shown && disk_.blocks(); }

void PracticeScreen::start() {
  if (practice_->phase() == Phase::Ready && !no_room()) practice_->start();
}

// What the trainee must know about the disk, before and during the attempt.
std::string PracticeScreen::disk_note() const {
  if (practice_->plan().shown) return {};
  if (practice_->phase() == Phase::Ready) return disk_.state() == DiskState::Enough ? "" : disk_.text();
  return practice_->recorded() ? disk_.warning() : "";
}

// The last message or, without one, what lasts.
std::string PracticeScreen::lasting_note() const {
  if (!note_.empty()) return note_;
  if (std::string room = disk_note(); !room.empty()) return room;
  if (practice_->plan().shown) return "The expert shows the task. Esc: pause, back to the task";
  if (practice_->running() && ghost_.waits()) return "The expert's ghost is being computed";
  return {};
}

void PracticeScreen::note_panel(const std::string& note) const {
  const theme::Panel panel("note", {{0.5f, 1.f}, {0.f, -8.f}, {0.5f, 1.f}}, theme::PanelKind::Shown, 0.6f);
  const theme::WithLetters small(theme::Letters::Small);
  theme::text(note, theme::kText);
}

Ask PracticeScreen::panels() {
  const bool recording = practice_->phase() == Phase::Running || practice_->phase() == Phase::Paused;
  const bool shown = practice_->plan().shown;
  hud_.draw(practice_->session(),
            {practice_->hands().in_hand(), recording && !shown && practice_->recording_fault().empty(),
             practice_->frame_ms(), practice_->lost(), practice_->is_slow(), settings_.technical,
             practice_->task() ? practice_->task()->feed().tool : std::nullopt});
  if (recording && practice_->task()) draw_task(*practice_->task(), pictures_);
  if (std::string fault = pictures_.new_fault(); !fault.empty()) say(std::move(fault));
  if (settings_.plots) draw_plots(practice_->history(), practice_->session());
  if (settings_.contacts) draw_contacts(practice_->session(), contacts_);
  if (const std::string note = lasting_note(); !note.empty()) note_panel(note);
  if (settings_open_) {
    settings_open_ = draw_settings(*practice_, view_ ? view_->quality() : Quality::High, *keys_, settings_);
  } else if (practice_->phase() == Phase::Ready) {
    ready_panel();
  } else if (practice_->phase() == Phase::Paused) {
    pause_panel();
  }
  if (practice_->phase() == Phase::Ended && ask_ == Ask::Nothing) ask_ = shown ? Ask::Again : Ask::Finish;
  return ask_;
}

ScreenStatus PracticeScreen::status() const {
  const Session& session = practice_->session();
  ScreenStatus status;
  status.phase = settings_open_ ? "settings" : name_of(practice_->phase());
  const std::size_t in_hand = practice_->hands().in_hand();
  if (in_hand < session.instruments().size())
    status.in_hand = session.instruments()[in_hand].name, status.tip = session.instruments()[in_hand].pose.tip;
  else if (practice_->hands().scope_in_hand())
    status.in_hand = "scope";
  status.file = practice_->recording();
  status.frames = session.frames();
  status.touched = session.touched();
  status.note = note_;
  status.disk = disk_note();
  if (practice_->task()) status.goal = goal_of(*practice_->task());
  if (practice_->task()) status.progress = practice_->task()->feed().progress;
  return status;
}

}  // namespace trocar
