#include "app/window/practice/practice_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include "app/window/key_table.hpp"
#include "app/window/practice/plots.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/settings_panel.hpp"
#include "app/window/task_panel.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
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
  return none.empty() ? fmt::format("Expert's ghost: {}", name_of(mode)) : none;
}

}  // namespace

PracticeScreen::PracticeScreen(std::unique_ptr<Practice> practice, WindowSettings& settings, GhostShow& ghost,
                               std::filesystem::path folder, GlContext* context)
    : practice_(std::move(practice)), settings_(settings), ghost_(ghost), folder_(std::move(folder)), disk_(folder_) {
  if (context) view_.emplace(*context, *practice_);
}

bool PracticeScreen::in_hand() const { return practice_->phase() == Phase::Running && !settings_open_; }

void PracticeScreen::step(const WindowInput& input, double elapsed, bool listens) {
  ask_ = Ask::Nothing;
  keys_ = &input.keys();
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
  if (view_) view_->draw(*practice_, settings_, ghost_.tools(*practice_, settings_.ghost), size);
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
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::wrapped(scene.task && !scene.task->title.empty() ? scene.task->title : scene.title);
  }
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
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("Paused");
  }
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
             practice_->frame_ms(), practice_->lost(), settings_.technical});
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
