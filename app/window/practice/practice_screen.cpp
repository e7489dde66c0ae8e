#include "app/window/practice/practice_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/input/keys.hpp"
#include "app/window/practice/plots.hpp"
#include "app/window/practice/settings_panel.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"

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
  // Instruments that left the body for another one are not drawn.
  tools_.clear();
  for (std::size_t k = 0; k < moment_.tools.size(); ++k)
    if (!practice.hands().is_out(k)) tools_.push_back(moment_.tools[k]);
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
  settings_.look = practice.lens_look();
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
  return none.empty() ? trf("Expert's ghost: {}", tr(name_of(mode))) : none;
}

}  // namespace

PracticeScreen::PracticeScreen(std::unique_ptr<Practice> practice, WindowSettings& settings, GhostShow& ghost,
                               std::filesystem::path folder, GlContext* context)
    : practice_(std::move(practice)), settings_(settings), ghost_(ghost), folder_(std::move(folder)), disk_(folder_) {
  if (practice_->plan().lesson) lesson_.emplace();
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
  const bool other = practice_->hands().uses_other_hand() && input.down(Key::Shift);
  if (listens)
    for (const Key key : input.pressed) handle_key(key, other ? HandSide::Other : HandSide::Main);
  // Without keyboard input, the help covers the picture.
  practice_->cover(settings_open_ || !listens);
  practice_->advance(input, elapsed, settings_);
  follow_task(input);
  captions_.hear(sound(), elapsed);
  if (lesson_ && practice_->phase() != Phase::Ready)
    lesson_->see(
        lesson_view(practice_->session(), practice_->hands().in_hand(), practice_->phase() == Phase::Paused, elapsed));
  if (practice_->recorded()) disk_.measure(practice_->recording(), practice_->time());
  if (!practice_->plan().shown) disk_.watch(practice_->scene(), elapsed);
  if (std::string fault = practice_->new_fault(); !fault.empty()) say(std::move(fault));
  if (note_frames_ > 0 && --note_frames_ == 0) note_ = practice_->recording_fault();  // shown until the end
}

void PracticeScreen::handle_key(Key key, HandSide side) {
  switch (key) {
    case Key::Enter:
      if (lesson_ && lesson_->done()) ask_ = Ask::Back;
      if (lesson_ && practice_->running()) lesson_->skip();
      [[fallthrough]];
    case Key::Space:
      if (!settings_open_) start();
      break;
    case Key::Escape:
      if (settings_open_)
        settings_open_ = false;
      else if (leaving_ != Ask::Nothing)
        stay();
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
      practice_->hands().take_next(side);
      break;
    case Key::V:
      practice_->wipe_lens();
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
      if (key >= Key::Digit1 && key <= Key::Digit9)
        practice_->hands().take(static_cast<std::size_t>(key) - static_cast<std::size_t>(Key::Digit1), side);
      break;
  }
}

// Puts the instrument that the next step needs into the hand, as soon as no button and no pedal is down.
void PracticeScreen::follow_task(const WindowInput& input) {
  if (!practice_->task() || practice_->plan().performer || practice_->phase() != Phase::Running) return;
  const std::optional<std::size_t> wanted = practice_->task()->feed().tool;
  const bool works = input.left_button || input.down(Key::E) || input.down(Key::R) || input.down(Key::Space);
  if (wanted == wanted_ || works) return;
  wanted_ = wanted;
  if (!wanted) return;
  const HandSide side = practice_->hands().side_for(*wanted);
  if (practice_->hands().in_hand(side) == *wanted) return;
  practice_->hands().take(*wanted, side);
  if (practice_->hands().in_hand(side) == *wanted)
    say(trf("In your hand now: {} {}", *wanted + 1, tr(practice_->scene().instruments[*wanted].name)));
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
  say(trf("Picture saved to {}", file.string()));
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
  theme::heading(scope ? tr(std::string("In your hand: the scope"))
                       : trf("In your hand: {}", tr(instruments[in_hand].name)));
  for (const KeyLine& line : keys_of(scope ? std::nullopt : std::optional(instruments[in_hand].kind))) {
    theme::text(in_layout(tr(line.keys), *keys_), theme::kYellow);
    ImGui::SameLine(theme::px(170.f));
    theme::text(in_layout(tr(line.what), *keys_));
  }
  ImGui::Spacing();
  theme::text(tr("Keys 1 to 9 or Tab select an instrument or the scope. F1 shows all keys."), theme::kQuiet);
}

void PracticeScreen::ready_panel() {
  const Scene& scene = practice_->scene();
  const theme::Panel panel("ready", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {520.f, 0.f}}, theme::PanelKind::Front, 0.92f);
  theme::headline(tr(scene.task && !scene.task->title.empty() ? scene.task->title : scene.title), true);
  ImGui::Spacing();
  theme::wrapped(scene.task ? tr(scene.task->instructions)
                            : tr("Free practice. Everything is recorded; Esc pauses, Finish ends the session."));
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
  theme::headline(tr("Paused"));
  ImGui::Spacing();
  if (theme::button("Resume (Esc)", kMenuButton, true)) practice_->resume();
  if (practice_->plan().shown) {
    if (theme::button("Back to the task", kMenuButton)) ask_ = Ask::Again;
  } else if (!lesson_) {
    if (theme::button("Finish", kMenuButton)) practice_->stop();
    if (theme::button("Restart", kMenuButton) && !ask_to_leave(Ask::Again)) ask_ = Ask::Again;
  }
  if (theme::button("Settings (F2)", kMenuButton)) settings_open_ = true;
  if (theme::button("Start screen", kMenuButton) && !ask_to_leave(Ask::Back)) ask_ = Ask::Back;
}

bool PracticeScreen::ask_to_leave(Ask ask) {
  const bool recorded = practice_->recorded() && practice_->activity() == Activity::Attempt;
  if (!recorded || practice_->phase() == Phase::Ended || leaving_ == ask) return false;
  practice_->pause();
  leaving_ = ask;
  return true;
}

void PracticeScreen::stay() {
  leaving_ = Ask::Nothing;
  practice_->resume();
}

void PracticeScreen::leave_panel() {
  theme::dim_screen();
  const theme::Panel panel("leave", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {430.f, 0.f}}, theme::PanelKind::Front, 0.95f);
  theme::headline(tr("End this attempt?"));
  theme::wrapped(practice_->scene().task ? tr("The task is not done. The attempt ends here and is kept as abandoned.")
                                         : tr("The session ends here. Its recording is kept."));
  ImGui::Spacing();
  const char* const what = leaving_ == Ask::Again  ? msgid("End and restart")
                           : leaving_ == Ask::Quit ? msgid("End and quit")
                                                   : msgid("End and leave");
  if (theme::button("Go on (Esc)", 150.f, true)) stay();
  ImGui::SameLine();
  if (theme::button(what, 170.f)) ask_ = leaving_;
}

// An attempt that cannot be recorded does not begin; a demonstration before it is not recorded.
bool PracticeScreen::no_room() const { return !practice_->plan().shown && !practice_->plan().lesson && disk_.blocks(); }

void PracticeScreen::start() {
  if (practice_->phase() == Phase::Ready && !no_room()) practice_->start();
}

// What the trainee must know about the disk, before and during the attempt.
std::string PracticeScreen::disk_note() const {
  if (practice_->plan().shown || practice_->plan().lesson) return {};
  if (practice_->phase() == Phase::Ready) return disk_.state() == DiskState::Enough ? "" : disk_.text();
  return practice_->recorded() ? disk_.warning() : "";
}

// The last message or, without one, what lasts.
std::string PracticeScreen::lasting_note() const {
  if (!note_.empty()) return note_;
  if (std::string room = disk_note(); !room.empty()) return room;
  if (const std::string& fault = practice_->hands().fault(); !fault.empty()) return fault;
  if (practice_->plan().shown) return tr("The expert shows the task. Esc: pause, back to the task");
  if (practice_->running() && ghost_.waits()) return tr("The expert's ghost is being computed");
  return {};
}

void PracticeScreen::lesson_panel() const {
  const theme::Panel panel("lesson", {{0.f, 0.f}, {8.f, 8.f}, {}, {320.f, 0.f}}, theme::PanelKind::Shown, 0.85f);
  theme::heading(lesson_->done() ? tr(std::string("First lesson"))
                                 : trf("First lesson, {} of {}", lesson_->number() + 1, Lesson::kParts));
  theme::headline(lesson_->title());
  theme::wrapped(in_layout(lesson_->text(), *keys_));
  ImGui::Spacing();
  if (!lesson_->done()) theme::bar(lesson_->progress(), theme::kGreen);
  const theme::WithLetters small(theme::Letters::Small);
  theme::text(
      lesson_->done() ? tr("Enter: back to the start screen") : tr("Enter: the next exercise. Esc: pause, leave"),
      theme::kQuiet);
}

void PracticeScreen::note_panel(const std::string& note) const {
  const theme::Panel panel("note", {{0.5f, 1.f}, {0.f, -8.f}, {0.5f, 1.f}}, theme::PanelKind::Shown, 0.6f);
  const theme::WithLetters small(theme::Letters::Small);
  theme::text(note, theme::kText);
}

// What sounds, for those who do not hear it, above the messages.
void PracticeScreen::caption_panel() const {
  const theme::Panel panel("captions", {{0.5f, 1.f}, {0.f, -44.f}, {0.5f, 1.f}}, theme::PanelKind::Shown, 0.7f);
  for (const std::string_view line : captions_.lines()) theme::text(tr(line.data()), theme::kText);  // literals
}

Ask PracticeScreen::panels() {
  const bool recording = practice_->phase() == Phase::Running || practice_->phase() == Phase::Paused;
  const bool shown = practice_->plan().shown;
  hud_.draw(practice_->session(),
            {practice_->hands().in_hand(), recording && !shown && !lesson_ && practice_->recording_fault().empty(),
             practice_->frame_ms(), practice_->lost(), practice_->is_slow(), settings_.technical,
             practice_->task() ? practice_->task()->feed().tool : std::nullopt, &practice_->hands()});
  if (recording && practice_->task()) draw_task(*practice_->task(), pictures_);
  if (lesson_) lesson_panel();
  if (std::string fault = pictures_.new_fault(); !fault.empty()) say(std::move(fault));
  if (settings_.captions && !captions_.lines().empty()) caption_panel();
  if (settings_.plots) draw_plots(practice_->history(), practice_->session());
  if (settings_.contacts) draw_contacts(practice_->session(), contacts_);
  if (const std::string note = lasting_note(); !note.empty()) note_panel(note);
  if (settings_open_) {
    settings_open_ =
        draw_settings(practice_.get(), view_ ? std::optional(view_->quality()) : std::nullopt, *keys_, settings_);
  } else if (practice_->phase() == Phase::Ready) {
    ready_panel();
  } else if (practice_->phase() == Phase::Paused) {
    leaving_ == Ask::Nothing ? pause_panel() : leave_panel();
  }
  if (practice_->phase() == Phase::Ended && ask_ == Ask::Nothing) ask_ = shown ? Ask::Again : Ask::Finish;
  return ask_;
}

ScreenStatus PracticeScreen::status() const {
  const Session& session = practice_->session();
  ScreenStatus status;
  status.phase = settings_open_ ? "settings" : leaving_ != Ask::Nothing ? "leaving" : name_of(practice_->phase());
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
  if (lesson_) status.step = lesson_->title(), status.progress = lesson_->progress();
  if (practice_->task()) status.goal = goal_of(*practice_->task());
  if (practice_->task()) status.progress = practice_->task()->feed().progress;
  return status;
}

}  // namespace trocar
