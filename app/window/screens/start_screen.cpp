#include "app/window/screens/start_screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>

#include "app/compare/backends.hpp"
#include "app/window/gui_scopes.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/scene/level.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/support/names.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

// Units.
constexpr float kPanelWidth = 1120.f, kListWidth = 450.f, kValueFrom = 150.f, kValueWidth = 250.f;
constexpr float kLeastHeight = 676.f, kMostHeight = 1000.f, kMargin = 44.f;  // of the panel; above and below it
constexpr float kPersonFrom = 486.f;
constexpr float kTitleAndButtons = 124.f;

// A panel for a window of 16 : 9; a higher window has room for longer lists.
float panel_height() {
  return std::clamp(ImGui::GetIO().DisplaySize.y / theme::px(1.f) - kMargin, kLeastHeight, kMostHeight);
}

// Draws the background, whose circles suggest the view through a scope.
void backdrop() {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.AddRectFilledMultiColor({0, 0}, screen, IM_COL32(16, 20, 25, 255), IM_COL32(20, 27, 34, 255),
                               IM_COL32(9, 11, 14, 255), IM_COL32(7, 9, 11, 255));
  for (int ring = 0; ring < 3; ++ring)
    list.AddCircle({0.86f * screen.x, 0.12f * screen.y}, theme::px(150.f + 70.f * static_cast<float>(ring)),
                   IM_COL32(86, 180, 233, 26 - 7 * ring), 96, theme::px(1.5f));
}

}  // namespace

StartScreen::StartScreen(std::vector<ListedScene> scenes, std::filesystem::path recordings, SceneAccess access,
                         GlContext& context, LabDesk& desk, const std::string& person, const LastChoice& last)
    : scenes_(std::move(scenes)),
      access_(std::move(access)),
      desk_(desk),
      login_(desk, person),
      recordings_(std::move(recordings)),
      backends_(&context),
      disk_(recordings_.folder()),
      backend_(last.backend) {
  why_ = backends_.resolve(backend_, {}).why;
  if (scenes_.empty()) return;
  select(listed(last.scene).value_or(0));
  if (last.level <= levels_of(scenes_[selected_].scene)) level_ = last.level;
}

void StartScreen::select(std::size_t scene) {
  selected_ = scene;
  level_ = 1;
  devices_.select(scenes_[scene].scene);
  fault_ = scenes_[scene].fault;
}

std::optional<std::size_t> StartScreen::listed(const std::filesystem::path& file) const {
  std::error_code ignored;
  for (std::size_t k = 0; k < scenes_.size(); ++k)
    if (std::filesystem::equivalent(scenes_[k].file, file, ignored)) return k;
  return std::nullopt;
}

void StartScreen::choose(const std::filesystem::path& file) {
  const std::size_t number = listed(file).value_or(scenes_.size());
  if (number == scenes_.size())
    scenes_.push_back(listed_scene(file, access_));
  else
    scenes_[number] = listed_scene(file, access_);
  sort_scenes(scenes_, desk_.curriculum());
  select(listed(file).value_or(0));
  devices_.use(device_choices(scenes_[selected_].scene));  // of the file as it is now
  shelf_.reveal();
}

void StartScreen::choose_step(std::size_t number) {
  const CourseStep& step = desk_.curriculum().steps[number];
  auto found = listed(step.scene);
  // A copy of the program's scenes, which TROCAR_DATA names, has the same file names.
  for (std::size_t k = 0; k < scenes_.size() && !found; ++k)
    if (scenes_[k].group != SceneGroup::Own && scene_key(scenes_[k].file) == scene_key(step.scene)) found = k;
  if (!found)
    choose(step.scene);
  else if (*found != selected_)
    select(*found);
  if (step.level <= levels_of(scenes_[selected_].scene)) level_ = step.level;
  shelf_.reveal();
}

// The step of the curriculum to which the chosen scene and level belong.
std::optional<std::size_t> StartScreen::chosen_step() const {
  const auto& steps = desk_.curriculum().steps;
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (steps[k].level == level_ && scene_key(steps[k].scene) == scene_key(scenes_[selected_].file)) return k;
  return std::nullopt;
}

LastChoice StartScreen::choice() const {
  LastChoice last{{}, level_, backend_};
  if (!scenes_.empty()) last.scene = scenes_[selected_].file;
  return last;
}

Scene StartScreen::scene() const {
  return with_level(with_devices(scenes_[selected_].scene, devices_.choices()), level_);
}

void StartScreen::step(const WindowInput& input, double elapsed, bool listens) {
  if (follow_ && desk_.person() == login_.person() && desk_.view()) {
    follow_ = false;
    if (const auto next = desk_.view()->next) choose_step(*next);
    course_.reveal();
  }
  if (!scenes_.empty() && scenes_[selected_].fault.empty() && !performer())
    devices_.watch(scenes_[selected_].scene, access_, elapsed);
  else
    devices_.rest();
  if (!scenes_.empty() && scenes_[selected_].fault.empty()) disk_.watch(scenes_[selected_].scene, elapsed);
  const auto pressed = [&](Key key) { return std::ranges::find(input.pressed, key) != input.pressed.end(); };
  enter_ = pressed(Key::Enter) && listens;
  escape_ = pressed(Key::Escape);
}

void StartScreen::picture(const glm::ivec2& size) {
  glViewport(0, 0, size.x, size.y);
  glClearColor(0.04f, 0.05f, 0.06f, 1.f);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void StartScreen::left_tabs() {
  const theme::Scope tabs = theme::tab_bar("lists");
  if (!tabs) return;
  if (const theme::Scope tab = theme::tab("Scenes")) {
    theme::note_item("Scenes");
    course_open_ = false;
    const theme::Scope list = theme::child("scenes", {0.f, 0.f}, ImGuiWindowFlags_NavFlattened);
    if (const auto scene = shelf_.draw(scenes_, selected_)) select(*scene);
  } else {
    theme::note_item("Scenes");
  }
  const auto flags = open_course_ ? ImGuiTabItemFlags_SetSelected : ImGuiTabItemFlags_None;
  open_course_ = false;
  if (const theme::Scope tab = theme::tab("Curriculum", flags)) {
    theme::note_item("Curriculum");
    course_open_ = true;
    const theme::Scope list = theme::child("steps", {0.f, 0.f}, ImGuiWindowFlags_NavFlattened);
    if (const auto step = course_.draw(desk_, chosen_step())) choose_step(*step);
  } else {
    theme::note_item("Curriculum");
  }
}

void StartScreen::details() {
  const ListedScene& listed = scenes_[selected_];
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::wrapped(listed.title);
  }
  if (!listed.fault.empty()) {
    theme::wrapped(listed.fault, theme::kBad);
    return;
  }
  if (listed.task()) {
    if (const std::string kind = title_of(listed.scene.task->kind); kind != listed.title)
      theme::text(kind, theme::kSkyBlue);
    ImGui::Spacing();
    theme::wrapped(listed.scene.task->instructions);
  } else {
    theme::wrapped("Free practice: no scored task; everything is recorded and measured.");
  }
  ImGui::Spacing();
  theme::wrapped(preview_of(listed.scene), theme::kQuiet);
  if (listed.group == SceneGroup::Own) theme::wrapped(listed.file.string(), theme::kQuiet);
  if (const std::string room = disk_.text(); !room.empty())
    theme::wrapped(room, disk_.state() == DiskState::Enough ? theme::kQuiet : theme::kBad);
  if (const auto step = chosen_step()) draw_step(desk_, *step);
  ImGui::Dummy({0.f, theme::px(6.f)});
}

std::optional<Skill> StartScreen::performer() const {
  if (who_ == 0 || !scenes_[selected_].task()) return {};
  return who_ == 1 ? Skill::Expert : Skill::Clumsy;
}

void StartScreen::level_choice() {
  const Scene& scene = scenes_[selected_].scene;
  const auto label = [&](int level) {
    const std::string name = level_name(scene, level);
    return name.empty() ? fmt::format("Level {}", level) : fmt::format("Level {}: {}", level, name);
  };
  const int levels = levels_of(scene);
  if (levels < 2) return;
  theme::label("Level", kValueFrom, kValueWidth);
  const theme::Scope list = theme::combo("##level", label(level_));
  if (!list) return theme::note_item("Level");
  for (int level = 1; level <= levels; ++level) {
    if (ImGui::Selectable(label(level).c_str(), level == level_)) level_ = level;
    theme::note_item(label(level));
  }
}

void StartScreen::who_choice() {
  constexpr const char* names[] = {"Practice", "Expert demonstration", "Novice demonstration"};
  theme::label("Mode", kValueFrom, kValueWidth);
  const theme::Scope list = theme::combo("##who", names[who_]);
  if (!list) return theme::note_item("Mode");
  for (std::size_t k = 0; k < std::size(names); ++k) {
    if (ImGui::Selectable(names[k], k == who_)) who_ = k;
    theme::note_item(names[k]);
  }
}

void StartScreen::device_choice(const char* label, std::size_t k) {
  std::string& device = devices_.device(k);
  theme::label(label, kValueFrom, kValueWidth);
  if (const theme::Scope list = theme::combo(fmt::format("##device {}", label).c_str(), device)) {
    for (const std::string& name : device_names()) {
      if (ImGui::Selectable(name.c_str(), name == device)) device = name;
      theme::note_item(name);
    }
  } else {
    theme::note_item(label);
  }
  devices_.draw_fault(k, kValueFrom);
}

void StartScreen::backend_choice() {
  theme::label("Collision backend", kValueFrom, kValueWidth);
  if (const theme::Scope list = theme::combo("##backend", backend_)) {
    std::vector<std::string> names = {"auto"};
    names.insert(names.end(), backend_names().begin(), backend_names().end());
    for (const std::string& name : names) {
      if (!ImGui::Selectable(name.c_str(), name == backend_)) continue;
      backend_ = name;
      why_ = backends_.resolve(name, {}).why;
    }
  }
  const theme::WithLetters small(theme::Letters::Small);
  ImGui::SetCursorPosX(theme::px(kValueFrom));
  theme::wrapped(why_, theme::kQuiet);
}

void StartScreen::choices() {
  theme::heading("Setup");
  const Scene& scene = scenes_[selected_].scene;
  level_choice();
  if (scene.task) who_choice();
  if (!performer()) {
    for (std::size_t k = 0; k < scene.instruments.size(); ++k) device_choice(scene.instruments[k].name.c_str(), k);
    device_choice("scope", scene.instruments.size());
  }
  backend_choice();
}

Ask StartScreen::buttons() {
  const bool can_start = !scenes_.empty() && scenes_[selected_].fault.empty() && login_.valid();
  const bool devices = can_start && !devices_.blocks();
  Ask ask = Ask::Nothing;
  if (theme::button("Start", 150.f, true, devices) || (enter_ && devices)) ask = Ask::Practise;
  ImGui::SameLine();
  if (theme::button("Open recording...", 170.f)) recordings_.open();
  ImGui::SameLine();
  if (theme::button("People...", 130.f)) ask = Ask::OpenLibrary;
  ImGui::SameLine();
  if (theme::button("Devices...", 130.f, false, can_start)) ask = Ask::OpenDevices;
  ImGui::SameLine();
  if (theme::button("Edit scene", 130.f, false, can_start)) ask = Ask::Edit;
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetWindowWidth() - theme::px(110.f + 12.f));
  if (theme::button("Quit", 110.f)) ask = Ask::Quit;
  devices_.draw_why_not();
  return ask;
}

bool StartScreen::must_ask() {
  if (performer()) return false;  // a scripted trainee connects to no device
  const Scene chosen = scene();
  refuse_outside_files(without_typed_files(chosen, devices_.choices()), access_);
  asked_hosts_ = hosts_to_allow(chosen, access_);
  return !asked_hosts_.empty();
}

Ask StartScreen::hosts_panel() {
  const theme::Panel panel("hosts", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {620.f, 0.f}}, theme::PanelKind::Front, 0.95f);
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("Connect to another machine?");
  }
  theme::wrapped(
      fmt::format("This scene connects to {} and lets it move instruments. Connect only if you trust this "
                  "machine and the author of the scene.",
                  printable(fmt::format("{}", fmt::join(asked_hosts_, ", ")), kLongestText)));
  ImGui::Dummy({0.f, theme::px(6.f)});
  Ask ask = Ask::Nothing;
  if (theme::button("Connect", 150.f)) {
    access_.hosts.insert(access_.hosts.end(), asked_hosts_.begin(), asked_hosts_.end());
    ask = Ask::Practise;
  }
  ImGui::SameLine();
  if (theme::button("Do not connect", 150.f, true) || escape_ || ask != Ask::Nothing) asked_hosts_.clear();
  return ask;
}

Ask StartScreen::panels() {
  backdrop();
  if (!asked_hosts_.empty()) return hosts_panel();
  Ask ask = Ask::Nothing;
  if (!recordings_.is_open())
    ask = main_panel();
  else if (recordings_.draw(escape_))
    ask = Ask::OpenRecording;
  return ask == Ask::Practise && must_ask() ? Ask::Nothing : ask;
}

void StartScreen::title_bar() {
  const float top = ImGui::GetCursorPosY();
  {
    const theme::WithLetters title(theme::Letters::Title);
    theme::text("Trocar");
  }
  const float below = ImGui::GetCursorPosY();
  ImGui::SetCursorPos({theme::px(210.f), top + theme::px(22.f)});
  theme::text("Laparoscopic surgery trainer", theme::kQuiet);
  ImGui::SetCursorPos({theme::px(kPersonFrom), top});
  {
    const theme::Scope group = theme::group();
    if (login_.draw()) open_course_ = follow_ = true;
  }
  const theme::WithLetters small(theme::Letters::Small);
  ImGui::SetCursorPos({theme::px(kPersonFrom), top + theme::px(34.f)});
  const std::string wrong = login_.valid() ? "" : name_fault(login_.person());
  if (wrong.empty())
    theme::text(progress_line(desk_), desk_.why().empty() ? theme::kQuiet : theme::kBad);
  else
    theme::text(wrong, theme::kBad);
  ImGui::SetCursorPosY(below + theme::px(4.f));
}

void StartScreen::right_side(float height) {
  const theme::Scope right = theme::child("details", {0.f, height}, ImGuiWindowFlags_NavFlattened);
  if (scenes_.empty()) return theme::wrapped("No scene found; set TROCAR_DATA to Trocar's data folder.", theme::kBad);
  details();
  if (scenes_[selected_].fault.empty()) choices();
  if (!fault_.empty() && fault_ != scenes_[selected_].fault) theme::wrapped(fault_, theme::kBad);
}

Ask StartScreen::main_panel() {
  const float height = panel_height();
  const theme::Panel panel("start", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {kPanelWidth, height}}, theme::PanelKind::Used,
                           0.55f);
  title_bar();
  const float list_height = theme::px(height - kTitleAndButtons);
  {
    const theme::Scope left = theme::child("left", {theme::px(kListWidth), list_height}, ImGuiWindowFlags_NavFlattened);
    left_tabs();
  }
  ImGui::SameLine(0.f, theme::px(24.f));
  right_side(list_height);
  return buttons();
}

ScreenStatus StartScreen::status() const {
  ScreenStatus status;
  status.phase = !asked_hosts_.empty()   ? "hosts"
                 : recordings_.is_open() ? "recordings"
                 : course_open_          ? "curriculum"
                                         : "scenes";
  status.file = scene_file();
  status.note = fault_.empty() ? devices_.faults() : fault_;
  status.disk = disk_.text();
  status.step = login_.person() == desk_.person() ? progress_line(desk_) : "";
  return status;
}

}  // namespace trocar
