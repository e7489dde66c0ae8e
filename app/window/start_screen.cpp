#include "app/window/start_screen.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <sys/stat.h>

#include <algorithm>

#include "app/compare/backends.hpp"
#include "app/window/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/scene/level.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/support/names.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

constexpr float kListWidth = 400.f, kPanelHeight = 520.f, kValueFrom = 150.f, kValueWidth = 250.f;  // units
constexpr std::size_t kMostRecordings = 40;
constexpr int kFreshFrames = 4;

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

std::string when_written(const std::filesystem::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return {};
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(info.st_mtime));
}

}  // namespace

StartScreen::StartScreen(std::vector<ListedScene> scenes, std::filesystem::path recordings, SceneAccess access,
                         GlContext& context, std::string person)
    : scenes_(std::move(scenes)),
      folder_(std::move(recordings)),
      access_(std::move(access)),
      backends_(&context),
      person_(std::move(person)) {
  why_ = backends_.resolve(backend_, {}).why;
  if (!scenes_.empty()) select(0);
}

void StartScreen::select(std::size_t scene) {
  selected_ = scene;
  level_ = 1;
  devices_.clear();
  for (const InstrumentScene& instrument : scenes_[scene].scene.instruments) devices_.push_back(instrument.device);
  devices_.push_back(scenes_[scene].scene.scope.device);
  fault_ = scenes_[scene].fault;
}

void StartScreen::choose(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto same = [&](const ListedScene& listed) { return std::filesystem::equivalent(listed.file, file, ignored); };
  const auto found = std::find_if(scenes_.begin(), scenes_.end(), same);
  const auto number = static_cast<std::size_t>(found - scenes_.begin());
  if (found == scenes_.end())
    scenes_.push_back(listed_scene(file, access_));
  else
    *found = listed_scene(file, access_);
  select(number);
}

void StartScreen::restore(const LastChoice& last) {
  if (person_.empty()) person_ = last.person;
  backend_ = last.backend;
  why_ = backends_.resolve(backend_, {}).why;
  std::error_code none;
  if (last.scene.empty() || !std::filesystem::exists(last.scene, none)) return;
  choose(last.scene);
  level_ = std::min(last.level, std::max(levels_of(scenes_[selected_].scene), 1));
}

LastChoice StartScreen::choice() const {
  LastChoice last{person_, {}, level_, backend_};
  if (!scenes_.empty()) last.scene = scenes_[selected_].file;
  return last;
}

Scene StartScreen::scene() const {
  Scene scene = scenes_[selected_].scene;
  for (std::size_t k = 0; k < scene.instruments.size(); ++k) scene.instruments[k].device = devices_[k];
  scene.scope.device = devices_.back();
  return with_level(scene, level_);
}

void StartScreen::step(const WindowInput& input, double, bool listens) {
  const auto pressed = [&](Key key) { return std::ranges::find(input.pressed, key) != input.pressed.end(); };
  enter_ = pressed(Key::Enter) && listens;
  escape_ = pressed(Key::Escape);
}

void StartScreen::picture(const glm::ivec2& size) {
  glViewport(0, 0, size.x, size.y);
  glClearColor(0.04f, 0.05f, 0.06f, 1.f);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void StartScreen::scene_entry(std::size_t k) {
  const ListedScene& listed = scenes_[k];
  const std::string label = fmt::format("{}##{}", listed.title, k);
  if (!listed.fault.empty()) ImGui::PushStyleColor(ImGuiCol_Text, {0.97f, 0.60f, 0.22f, 1.f});
  if (ImGui::Selectable(label.c_str(), k == selected_, 0, {0.f, theme::px(22.f)})) select(k);
  if (!listed.fault.empty()) ImGui::PopStyleColor();
  theme::note_item(listed.title);
  if (fresh_ > 0 && k == selected_) ImGui::SetItemDefaultFocus();
  if (ImGui::IsItemFocused() && k != selected_ && fresh_ == 0) select(k);
}

void StartScreen::scene_list() {
  fresh_ = ImGui::IsWindowAppearing() ? kFreshFrames : std::max(fresh_ - 1, 0);
  ImGui::BeginChild("scenes", {theme::px(kListWidth), theme::px(kPanelHeight)}, false, ImGuiWindowFlags_NavFlattened);
  ImGui::PushStyleVar(ImGuiStyleVar_SelectableTextAlign, {0.02f, 0.5f});
  for (const bool tasks : {true, false}) {
    bool any = false;
    for (std::size_t k = 0; k < scenes_.size(); ++k) {
      if (scenes_[k].task() != tasks) continue;
      if (!any) theme::heading(tasks ? "Tasks" : "Free practice");
      any = true;
      scene_entry(k);
    }
    if (any) ImGui::Dummy({0.f, theme::px(8.f)});
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
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
    theme::text(title_of(listed.scene.task->kind), theme::kSkyBlue);
    ImGui::Spacing();
    theme::wrapped(listed.scene.task->instructions);
  } else {
    theme::wrapped("Free practice: no scored task; everything is recorded and measured.");
  }
  ImGui::Spacing();
  theme::wrapped(preview_of(listed.scene), theme::kQuiet);
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
  if (!ImGui::BeginCombo("##level", label(level_).c_str())) return theme::note_item("Level");
  for (int level = 1; level <= levels; ++level) {
    if (ImGui::Selectable(label(level).c_str(), level == level_)) level_ = level;
    theme::note_item(label(level));
  }
  ImGui::EndCombo();
}

void StartScreen::who_choice() {
  constexpr const char* names[] = {"Practice", "Expert demonstration", "Novice demonstration"};
  theme::label("Mode", kValueFrom, kValueWidth);
  if (!ImGui::BeginCombo("##who", names[who_])) return theme::note_item("Mode");
  for (std::size_t k = 0; k < std::size(names); ++k) {
    if (ImGui::Selectable(names[k], k == who_)) who_ = k;
    theme::note_item(names[k]);
  }
  ImGui::EndCombo();
}

void StartScreen::device_choice(const char* label, std::string& device) {
  theme::label(label, kValueFrom, kValueWidth);
  const bool open = ImGui::BeginCombo(fmt::format("##device {}", label).c_str(), device.c_str());
  if (!open) return theme::note_item(label);
  for (const std::string& name : device_names()) {
    if (ImGui::Selectable(name.c_str(), name == device)) device = name;
    theme::note_item(name);
  }
  ImGui::EndCombo();
}

void StartScreen::choices() {
  theme::heading("Setup");
  theme::label("Collision backend", kValueFrom, kValueWidth);
  if (ImGui::BeginCombo("##backend", backend_.c_str())) {
    std::vector<std::string> names = {"auto"};
    names.insert(names.end(), backend_names().begin(), backend_names().end());
    for (const std::string& name : names) {
      if (!ImGui::Selectable(name.c_str(), name == backend_)) continue;
      backend_ = name;
      why_ = backends_.resolve(name, {}).why;
    }
    ImGui::EndCombo();
  }
  {
    const theme::WithLetters small(theme::Letters::Small);
    ImGui::SetCursorPosX(theme::px(kValueFrom));
    theme::wrapped(why_, theme::kQuiet);
  }
  const Scene& scene = scenes_[selected_].scene;
  level_choice();
  if (scene.task) who_choice();
  if (!performer()) {
    for (std::size_t k = 0; k < scene.instruments.size(); ++k)
      device_choice(scene.instruments[k].name.c_str(), devices_[k]);
    device_choice("scope", devices_.back());
  }
  if (performer()) return;
  theme::label("Person (optional)", kValueFrom, kValueWidth);
  ImGui::InputTextWithHint("##person", "id that attempts are kept under", &person_);
  theme::note_item("Person");
  const std::string wrong = person_.empty() ? "" : name_fault(person_);
  if (!wrong.empty()) theme::wrapped(wrong, theme::kBad);
}

Ask StartScreen::buttons() {
  const bool named = person_.empty() || name_fault(person_).empty();
  const bool can_start = !scenes_.empty() && scenes_[selected_].fault.empty() && named;
  Ask ask = Ask::Nothing;
  if (theme::button("Start", 150.f, true, can_start) || (enter_ && can_start && !choosing_recording_))
    ask = Ask::Practise;
  ImGui::SameLine();
  if (theme::button("Open recording...", 170.f)) {
    list_recordings();
    choosing_recording_ = true;
  }
  ImGui::SameLine();
  if (theme::button("People...", 130.f)) ask = Ask::OpenLibrary;
  ImGui::SameLine();
  if (theme::button("Edit scene", 130.f, false, can_start)) ask = Ask::Edit;
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetWindowWidth() - theme::px(110.f + 12.f));
  if (theme::button("Quit", 110.f)) ask = Ask::Quit;
  return ask;
}

void StartScreen::list_recordings() {
  recordings_.clear();
  std::error_code error;
  std::vector<std::filesystem::directory_entry> files;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".h5") files.push_back(*entry);
  std::ranges::sort(files,
                    [&](const auto& a, const auto& b) { return a.last_write_time(error) > b.last_write_time(error); });
  if (files.size() > kMostRecordings) files.resize(kMostRecordings);
  for (const auto& file : files)
    recordings_.push_back(
        {file.path(), fmt::format("{}   {}", when_written(file.path()), file.path().filename().string())});
}

Ask StartScreen::recordings_panel() {
  const theme::Panel panel("recordings", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {620.f, 460.f}}, theme::PanelKind::Used,
                           0.55f);
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("Open a recording");
  }
  Ask ask = Ask::Nothing;
  theme::text(fmt::format("in {}, newest first", std::filesystem::absolute(folder_).string()), theme::kQuiet);
  ImGui::BeginChild("files", {0.f, theme::px(300.f)}, true, ImGuiWindowFlags_NavFlattened);
  if (recordings_.empty()) theme::text("No recordings in this folder", theme::kQuiet);
  for (const RecordingFile& recording : recordings_) {
    if (ImGui::Selectable(recording.label.c_str())) {
      recording_ = recording.file;
      ask = Ask::OpenRecording;
    }
    theme::note_item(recording.file.filename().string());
  }
  ImGui::EndChild();
  ImGui::SetNextItemWidth(-1.f);
  const bool typed = ImGui::InputTextWithHint("##typed", "or type a file name and press Enter", &typed_,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  if (typed && !typed_.empty()) {
    recording_ = typed_;
    ask = Ask::OpenRecording;
  }
  if (theme::button("Cancel", 110.f) || escape_ || ask != Ask::Nothing) choosing_recording_ = false;
  return ask;
}

bool StartScreen::must_ask() {
  if (performer()) return false;  // a scripted trainee connects to no device
  const Scene chosen = scene();
  refuse_outside_files(chosen, access_);
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
  const Ask ask = choosing_recording_ ? recordings_panel() : main_panel();
  return ask == Ask::Practise && must_ask() ? Ask::Nothing : ask;
}

Ask StartScreen::main_panel() {
  const theme::Panel panel("start", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {1120.f, 676.f}}, theme::PanelKind::Used, 0.55f);
  {
    const theme::WithLetters title(theme::Letters::Title);
    theme::text("Trocar");
  }
  ImGui::SameLine(theme::px(210.f));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + theme::px(22.f));
  theme::text("Laparoscopic surgery trainer", theme::kQuiet);
  ImGui::Dummy({0.f, theme::px(4.f)});
  scene_list();
  ImGui::SameLine(0.f, theme::px(24.f));
  ImGui::BeginChild("details", {0.f, theme::px(kPanelHeight)}, false, ImGuiWindowFlags_NavFlattened);
  if (scenes_.empty()) {
    theme::wrapped("No scene found; set TROCAR_DATA to Trocar's data folder.", theme::kBad);
  } else {
    details();
    if (scenes_[selected_].fault.empty()) choices();
    if (!fault_.empty() && fault_ != scenes_[selected_].fault) theme::wrapped(fault_, theme::kBad);
  }
  ImGui::EndChild();
  return buttons();
}

ScreenStatus StartScreen::status() const {
  ScreenStatus status;
  status.phase = !asked_hosts_.empty() ? "hosts" : choosing_recording_ ? "recordings" : "scenes";
  if (!scenes_.empty()) status.file = scenes_[selected_].file;
  status.note = fault_;
  return status;
}

}  // namespace trocar
