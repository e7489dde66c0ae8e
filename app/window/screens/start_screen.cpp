#include "app/window/screens/start_screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "app/window/practice/settings_panel.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

constexpr float kThumbWidth = 66.f, kCardHeight = 40.f, kCardPadding = 1.5f;  // units
constexpr int kColumns = 2, kFreshFrames = 4;

const char* title_of(SceneGroup group) {
  constexpr const char* titles[] = {msgid("Tasks, the easiest first"), msgid("Procedures"), msgid("Free practice"),
                                    msgid("Your scenes")};
  return titles[static_cast<std::size_t>(group)];
}

// Cuts off what lies outside a rectangle.
void clipped_text(const std::string& words, const ImVec2& at, const ImVec2& from, const ImVec2& to,
                  const glm::vec3& colour, float wrap = 0.f) {
  theme::note_words(words);
  const ImVec4 clip(from.x, from.y, to.x, to.y);
  ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), at, theme::packed(colour), words.c_str(),
                                      nullptr, wrap, &clip);
}

// A title beside the thumbnail, in the middle of the card's height; what does not fit into two lines is cut off. With a
// file name, the title has one line.
void card_title(const std::string& title, const std::string& file, const ImVec2& from, const ImVec2& to,
                const glm::vec3& colour) {
  const theme::WithLetters small(theme::Letters::Small);
  const float width = to.x - from.x, line = ImGui::GetTextLineHeight();
  const float wrap = file.empty() ? width : 0.f;
  const float lines =
      file.empty() ? std::min(ImGui::CalcTextSize(title.c_str(), nullptr, false, width).y, 2.f * line) : 2.f * line;
  const float top = 0.5f * (from.y + to.y - lines);
  clipped_text(title, {from.x, top}, from, to, colour, wrap);
  clipped_text(file, {from.x, top + line}, from, to, theme::kQuiet);
}

}  // namespace

void note_visible_item(std::string_view label) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  const ImVec2 middle(0.5f * (from.x + to.x), 0.5f * (from.y + to.y));
  if (ImGui::IsRectVisible(middle, {middle.x + 1.f, middle.y + 1.f})) theme::note_item(label);
}

void CardFocus::begin() {
  const int frame = ImGui::GetFrameCount();
  const bool appears = ImGui::IsWindowAppearing() || frame != frame_ + 1;
  frame_ = frame;
  fresh_ = appears ? kFreshFrames : std::max(fresh_ - 1, 0);
  if (appears) last_.reset();
  // A key that moves the focus is meant, however fresh the list is; the focus moves in the next frame.
  for (const ImGuiKey key : {ImGuiKey_UpArrow, ImGuiKey_DownArrow, ImGuiKey_LeftArrow, ImGuiKey_RightArrow})
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(key))) fresh_ = 0;
}

bool CardFocus::moved_to(std::size_t card) {
  if (!ImGui::IsItemFocused()) return false;
  const bool moved = last_ && *last_ != card && fresh_ == 0;
  last_ = card;
  return moved;
}

bool SceneShelf::card(const ListedScene& listed, std::size_t number, bool selected) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, pad = theme::px(kCardPadding);
  bool pressed = ImGui::Selectable(fmt::format("##{}", number).c_str(), selected, 0, {width, theme::px(kCardHeight)});
  const bool own = listed.group == SceneGroup::Own;
  note_visible_item(own ? listed.file.stem().string() : listed.title);
  if (selected && focus_.fresh()) ImGui::SetItemDefaultFocus();
  if (focus_.moved_to(number) && !selected) pressed = true;
  if (selected && reveal_) ImGui::SetScrollHereY(0.5f), reveal_ = false;
  const ImVec2 to(from.x + width, from.y + theme::px(kCardHeight));
  thumbnails_.draw_at(listed, from.x + pad, from.y + pad, theme::px(kThumbWidth));
  // Scenes that the user made from others have their titles.
  card_title(tr(listed.title), own ? listed.file.stem().string() : "", {from.x + theme::px(kThumbWidth + 10.f), from.y},
             {to.x - pad, to.y}, listed.fault.empty() ? theme::kText : theme::kBad);
  return pressed;
}

std::optional<std::size_t> SceneShelf::draw(std::span<const ListedScene> scenes, std::size_t selected) {
  focus_.begin();
  std::optional<std::size_t> pressed;
  const theme::Scope padding = theme::with_cell_padding({theme::px(2.f), theme::px(1.f)});
  for (std::size_t k = 0; k < scenes.size();) {
    const SceneGroup group = scenes[k].group;
    theme::heading(tr(title_of(group)));
    {
      const theme::Scope table = theme::table(title_of(group), kColumns, ImGuiTableFlags_SizingStretchSame);
      if (!table) break;
      for (; k < scenes.size() && scenes[k].group == group; ++k) {
        ImGui::TableNextColumn();
        if (card(scenes[k], k, k == selected)) pressed = k;
      }
    }
    ImGui::Dummy({0.f, theme::px(2.f)});
  }
  return pressed;
}

namespace {

constexpr float kRowHeight = 40.f, kSignWidth = 30.f;  // units

glm::vec3 colour_of(StepState state) {
  switch (state) {
    case StepState::Passed:
      return theme::kGood;
    case StepState::Open:
      return theme::kSkyBlue;
    case StepState::RefresherDue:
      return theme::kYellow;
    case StepState::Locked:
      break;
  }
  return theme::kQuiet;
}

// A tick, a padlock, a ring; the text repeats it.
void draw_sign(StepState state, const ImVec2& middle) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto colour = theme::packed(colour_of(state));
  const float u = theme::px(1.f);
  const auto at = [&](float x, float y) { return ImVec2(middle.x + x * u, middle.y + y * u); };
  if (state == StepState::Locked) {
    list.AddRectFilled(at(-5.5f, -1.f), at(5.5f, 7.f), colour, 1.5f * u);
    list.PathArcTo(at(0.f, -1.f), 3.6f * u, -3.1416f, 0.f, 12);
    list.PathStroke(colour, 0, 1.7f * u);
    return;
  }
  list.AddCircle(middle, 7.5f * u, colour, 24, 1.7f * u);
  if (state == StepState::Open) return;
  list.PathLineTo(at(-3.5f, 0.3f));
  list.PathLineTo(at(-0.8f, 3.f));
  list.PathLineTo(at(3.8f, -3.f));
  list.PathStroke(colour, 0, 1.9f * u);
}

std::string state_line(const CourseView& view, std::size_t k) {
  const StepProgress& progress = view.progress[k];
  if (progress.state == StepState::Locked) return trf("needs: {}", needs_text(view, k));
  std::string line = progress.state == StepState::Open ? passes_text(view.curriculum.steps[k], progress)
                                                       : fmt::format("{}, {}", tr(state_name(progress.state)),
                                                                     passes_text(view.curriculum.steps[k], progress));
  if (progress.attempts > 0) line += "; " + ntrf("{} attempt", "{} attempts", progress.attempts, progress.attempts);
  return line;
}

void row_text(const std::string& words, const ImVec2& from, const ImVec2& to, const glm::vec3& colour) {
  clipped_text(words, from, from, to, colour);
}

}  // namespace

std::string progress_line(const LabDesk& desk) {
  if (desk.person().empty()) return {};
  if (!desk.view()) return desk.asking() ? tr("Asking the database...") : "";
  const CourseView& view = *desk.view();
  std::string line;
  if (!desk.why().empty())
    line = std::string(tr("The database does not answer. Known at this station:")) + " ";
  else if (!desk.known())
    return trf("New here: Add makes {} known, and so does Start.", desk.person());
  if (view.progress.empty()) return line + tr("no curriculum");
  line += trf("{} of {} steps passed.", steps_passed(view), view.progress.size());
  if (view.next) line += " " + trf("Next: {}.", step_title(view.curriculum.steps[*view.next]));
  return line;
}

void draw_step(const LabDesk& desk, std::size_t number) {
  if (!desk.view() || number >= desk.view()->progress.size()) return;
  const CourseView& view = *desk.view();
  const CourseStep& step = view.curriculum.steps[number];
  const StepProgress& progress = view.progress[number];
  ImGui::Spacing();
  if (progress.state == StepState::Locked)
    theme::wrapped(
        trf("Step of the curriculum, locked; it needs: {}. Attempts count once it is open.", needs_text(view, number)),
        theme::kYellow);
  else
    theme::wrapped(trf("Step of the curriculum, {}: {}.", tr(state_name(progress.state)), passes_text(step, progress)),
                   progress.state == StepState::RefresherDue ? theme::kYellow : theme::kGood);
  theme::wrapped(trf("A pass has {}.", criteria_text(step)), theme::kQuiet);
}

bool CoursePanel::row(const CourseView& view, std::size_t k, bool selected) {
  const CourseStep& step = view.curriculum.steps[k];
  const StepProgress& progress = view.progress[k];
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme::px(kRowHeight);
  bool pressed = ImGui::Selectable(fmt::format("##step{}", k).c_str(), selected, 0, {width, height});
  note_visible_item("step " + step.name);
  if (selected && focus_.fresh()) ImGui::SetItemDefaultFocus();
  if (focus_.moved_to(k) && !selected) pressed = true;
  if (selected && reveal_) ImGui::SetScrollHereY(0.5f), reveal_ = false;
  draw_sign(progress.state, {from.x + theme::px(14.f), from.y + 0.5f * height});
  const bool locked = progress.state == StepState::Locked;
  const float left = from.x + theme::px(kSignWidth), right = from.x + width - theme::px(6.f);
  const std::string best = progress.best ? trf("best {}", score_text(*progress.best)) : std::string();
  const theme::WithLetters small(theme::Letters::Small);
  const float best_at = right - ImGui::CalcTextSize(best.c_str()).x;
  row_text(best, {best_at, from.y + theme::px(5.f)}, {right, from.y + height}, theme::kQuiet);
  row_text(step_title(step), {left, from.y + theme::px(5.f)}, {best_at - theme::px(6.f), from.y + height},
           locked ? theme::kQuiet : theme::kText);
  row_text(state_line(view, k), {left, from.y + theme::px(21.f)}, {right, from.y + height}, colour_of(progress.state));
  return pressed;
}

std::optional<std::size_t> CoursePanel::draw(const LabDesk& desk, const std::optional<std::size_t>& selected) {
  focus_.begin();
  std::optional<std::size_t> pressed;
  const bool unnamed = desk.person().empty();
  if (unnamed)
    theme::wrapped(tr("Name a person above: passes are then kept, and the steps open one by one."), theme::kQuiet);
  if (!unnamed && !desk.view()) {
    theme::text(tr("Asking for your attempts..."), theme::kQuiet);
    return {};
  }
  if (unnamed && !without_attempts_) without_attempts_ = course_view(desk.curriculum(), {}, now_in_seconds());
  const CourseView& view = unnamed ? *without_attempts_ : *desk.view();
  theme::heading(tr(view.curriculum.title));
  for (std::size_t k = 0; k < view.progress.size(); ++k)
    if (row(view, k, k == selected)) pressed = k;
  return pressed;
}

namespace {

constexpr float kFieldWidth = 250.f, kLabelWidth = 66.f;  // units

}  // namespace

PersonLogin::PersonLogin(LabDesk& desk, std::string person) : desk_(desk), person_(std::move(person)) {
  desk_.log_in(valid() ? person_ : "", false);
}

bool PersonLogin::valid() const { return person_.empty() || name_fault(person_).empty(); }

void PersonLogin::log_in() {
  if (valid() && (person_ != desk_.person() || (!person_.empty() && !desk_.known())))
    desk_.log_in(person_, !person_.empty());
}

bool PersonLogin::known_people() {
  bool chosen = false;
  ImGui::SetNextWindowSizeConstraints({theme::px(kFieldWidth), 0.f}, {theme::px(2.f * kFieldWidth), theme::px(400.f)});
  const theme::Scope list = theme::combo("##people", "", ImGuiComboFlags_NoPreview | ImGuiComboFlags_PopupAlignLeft);
  if (!list) {
    theme::note_item("Known people");
    return false;
  }
  if (desk_.people().empty()) theme::text(tr("No people yet"), theme::kQuiet);
  for (const std::string& id : desk_.people()) {
    if (ImGui::Selectable(id.c_str(), id == person_)) {
      person_ = id;
      desk_.log_in(person_, false);
      chosen = true;
    }
    theme::note_item("person " + id);
  }
  return chosen;
}

bool PersonLogin::draw() {
  const theme::Scope group = theme::group();
  theme::label("Person", kLabelWidth, kFieldWidth);
  bool in = ImGui::InputTextWithHint("##person", tr("name or id"), &person_,
                                     ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool left = ImGui::IsItemDeactivatedAfterEdit();
  theme::note_item("Person");
  if (in && valid())
    log_in();
  else if (left && valid() && person_ != desk_.person())
    desk_.log_in(person_, false);
  ImGui::SameLine(0.f, theme::px(2.f));
  const bool chosen = known_people();
  ImGui::SameLine();
  const bool is_new = valid() && !person_.empty() && !(person_ == desk_.person() && desk_.known());
  const bool added = theme::button("Add", 0.f, false, is_new);
  if (added) log_in();
  return chosen || added || (in && valid() && !person_.empty());
}

namespace {

// Units.
constexpr float kPanelWidth = 1120.f, kValueFrom = 150.f, kValueWidth = 250.f;
constexpr float kListShare = 0.4f;                                           // 1  of the panel's width
constexpr float kLeastHeight = 676.f, kMostHeight = 1000.f, kMargin = 44.f;  // of the panel; above and below it
constexpr float kTitleAndButtons = 124.f, kButtonRow = 34.f;
constexpr float kButtonsWidth = 1040.f;  // of a single row

// A panel for a window of 16 : 9; a higher window has room for longer lists. With large letters it fills the window.
glm::vec2 panel_size() {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float unit = theme::px(1.f);
  return {std::min(kPanelWidth, screen.x / unit),
          std::min(std::clamp(screen.y / unit - kMargin, kLeastHeight, kMostHeight), screen.y / unit)};
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
                         GlContext& context, LabDesk& desk, const std::string& person, const LastChoice& last,
                         WindowSettings& settings)
    : scenes_(std::move(scenes)),
      access_(std::move(access)),
      settings_(settings),
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
  patient_.reset(), patient_text_.clear();
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
  patient_.reset(), patient_text_.clear();
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
  return with_level(with_anatomy(with_devices(scenes_[selected_].scene, devices_.choices()), patient_), level_);
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
  speeds_.watch(scenes_, selected_);
  enter_ = input.went_down(Key::Enter) && listens && !settings_open_;
  escape_ = input.went_down(Key::Escape);
  keys_ = &input.keys();
  if (input.went_down(Key::F2)) settings_open_ = !settings_open_;
  if (escape_) settings_open_ = false;
}

void StartScreen::rest() {
  devices_.rest();
  speeds_.rest();
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

// Once, until the lesson is begun or declined.
void StartScreen::offer_lesson() {
  theme::wrapped(tr("New here? The first lesson takes five minutes: the hand, the grip, the pedal and the scope."),
                 theme::kYellow);
  if (theme::button("Begin the lesson", 160.f)) lesson_ = true;
  ImGui::SameLine();
  if (theme::button("Not now", 100.f)) settings_.lesson_offered = true;
  ImGui::Separator();
}

void StartScreen::details() {
  const ListedScene& listed = scenes_[selected_];
  if (!settings_.lesson_offered) offer_lesson();
  theme::headline(tr(listed.title), true);
  if (!listed.fault.empty()) {
    theme::wrapped(listed.fault, theme::kBad);
    return;
  }
  if (listed.task()) {
    if (const std::string kind = title_of(listed.scene.task->kind); kind != listed.title)
      theme::text(tr(kind), theme::kSkyBlue);
    ImGui::Spacing();
    theme::wrapped(tr(listed.scene.task->instructions));
  } else {
    theme::wrapped(tr("Free practice: no scored task; everything is recorded and measured."));
  }
  ImGui::Spacing();
  theme::wrapped(preview_of(listed.scene), theme::kQuiet);
  if (listed.group == SceneGroup::Own) theme::wrapped(listed.file.string(), theme::kQuiet);
  if (const std::string room = disk_.text(); !room.empty())
    theme::wrapped(room, disk_.state() == DiskState::Enough ? theme::kQuiet : theme::kBad);
  if (const std::string slow = speeds_.text(scenes_, selected_); !slow.empty()) theme::wrapped(slow, theme::kBad);
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
    const std::string name = tr(level_name(scene, level));
    return name.empty() ? trf("Level {}", level) : trf("Level {}: {}", level, name);
  };
  std::vector<std::string> names;
  for (int level = 1; level <= levels_of(scene); ++level) names.push_back(label(level));
  if (names.size() < 2) return;
  if (const auto chosen = theme::choice("Level", label(level_), names, kValueFrom, kValueWidth))
    level_ = static_cast<int>(*chosen) + 1;
}

// The anatomy: as in the file, or one of the first seeds.
void StartScreen::patient_choice() {
  constexpr std::uint32_t kPatients = 24;
  const Scene& scene = scenes_[selected_].scene;
  if (!scene.anatomy) return;
  std::vector<std::string> names = {tr("as in the file")};
  for (std::uint32_t seed = 1; seed <= kPatients; ++seed) names.push_back(trf("patient {}", seed));
  if (const auto chosen = theme::choice("Patient", names[patient_.value_or(0)], names, kValueFrom, kValueWidth)) {
    patient_.reset(), patient_text_.clear();
    try {
      if (*chosen > 0) {
        patient_text_ = text_of(vary_anatomy(scene, static_cast<std::uint32_t>(*chosen)), *scene.anatomy);
        patient_ = static_cast<std::uint32_t>(*chosen);
      }
    } catch (const InputError& error) {
      fault_ = error.what();
    }
  }
  if (patient_text_.empty()) return;
  const theme::WithLetters small(theme::Letters::Small);
  ImGui::SetCursorPosX(theme::px(kValueFrom));
  theme::wrapped(patient_text_, theme::kQuiet);
}

void StartScreen::who_choice() {
  const std::string names[] = {tr("Practice"), tr("Expert demonstration"), tr("Novice demonstration")};
  who_ = theme::choice("Mode", names[who_], names, kValueFrom, kValueWidth).value_or(who_);
}

void StartScreen::device_choice(const char* label, std::size_t k) {
  std::string& device = devices_.device(k);
  if (const auto chosen = theme::choice(label, device, device_names(), kValueFrom, kValueWidth))
    device = device_names()[*chosen];
  devices_.draw_fault(k, kValueFrom);
}

void StartScreen::backend_choice() {
  std::vector<std::string> names = {"auto"};
  names.insert(names.end(), backend_names().begin(), backend_names().end());
  if (const auto chosen = theme::choice("Collision backend", backend_, names, kValueFrom, kValueWidth)) {
    backend_ = names[*chosen];
    why_ = backends_.resolve(backend_, {}).why;
  }
  const theme::WithLetters small(theme::Letters::Small);
  ImGui::SetCursorPosX(theme::px(kValueFrom));
  theme::wrapped(why_, theme::kQuiet);
}

void StartScreen::choices() {
  theme::heading(tr("Setup"));
  const Scene& scene = scenes_[selected_].scene;
  level_choice();
  patient_choice();
  if (scene.task) who_choice();
  if (!performer()) {
    for (std::size_t k = 0; k < scene.instruments.size(); ++k) device_choice(scene.instruments[k].name.c_str(), k);
    device_choice("scope", scene.instruments.size());
  }
  if (settings_.technical) backend_choice();
}

Ask StartScreen::buttons() {
  const bool can_start = !scenes_.empty() && scenes_[selected_].fault.empty() && login_.valid();
  const bool devices = can_start && !devices_.blocks();
  Ask ask = Ask::Nothing;
  if (std::exchange(lesson_, false)) ask = Ask::Lesson;
  if (theme::button("Start", 130.f, true, devices) || (enter_ && devices)) ask = Ask::Practise;
  const auto beside = [&](const char* label, float width, bool enabled = true) {
    theme::beside_or_below(width);
    return theme::button(label, width, false, enabled);
  };
  if (beside("Open recording...", 160.f)) recordings_.open();
  if (beside("People...", 100.f)) ask = Ask::OpenLibrary;
  if (beside("Devices...", 105.f, can_start)) ask = Ask::OpenDevices;
  if (beside("Edit scene", 105.f, can_start)) ask = Ask::Edit;
  if (beside("First lesson", 115.f)) ask = Ask::Lesson;
  if (beside("Settings", 90.f)) settings_open_ = true;
  if (beside("Help", 70.f)) ask = Ask::Help;
  if (beside("Quit", 70.f)) ask = Ask::Quit;
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
  theme::headline(tr("Connect to another machine?"));
  theme::wrapped(
      trf("This scene connects to {} and lets it move instruments. Connect only if you trust this "
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
  if (settings_open_)
    settings_open_ = draw_settings(nullptr, std::nullopt, *keys_, settings_);
  else if (!recordings_.is_open())
    ask = main_panel();
  else if (recordings_.draw(escape_, desk_.attempts()))
    ask = Ask::OpenRecording;
  return ask == Ask::Practise && must_ask() ? Ask::Nothing : ask;
}

void StartScreen::title_bar() {
  const float top = ImGui::GetCursorPosY();
  {
    const theme::WithLetters title(theme::Letters::Title);
    theme::text(tr("Trocar"));
  }
  const float below = ImGui::GetCursorPosY();
  ImGui::SetCursorPos({theme::px(210.f), top + theme::px(22.f)});
  theme::text(tr("Laparoscopic surgery trainer"), theme::kQuiet);
  const float from = kListShare * ImGui::GetWindowWidth() + theme::px(36.f);
  ImGui::SetCursorPos({from, top});
  {
    const theme::Scope group = theme::group();
    if (login_.draw()) open_course_ = follow_ = true;
  }
  const theme::WithLetters small(theme::Letters::Small);
  ImGui::SetCursorPos({from, top + theme::px(34.f)});
  const std::string wrong = login_.valid() ? "" : name_fault(login_.person());
  if (wrong.empty())
    theme::text(progress_line(desk_), desk_.why().empty() ? theme::kQuiet : theme::kBad);
  else
    theme::text(wrong, theme::kBad);
  ImGui::SetCursorPosY(below + theme::px(4.f));
}

void StartScreen::right_side(float height) {
  const theme::Scope right = theme::child("details", {0.f, height}, ImGuiWindowFlags_NavFlattened);
  if (scenes_.empty())
    return theme::wrapped(tr("No scene found; set TROCAR_DATA to Trocar's data folder."), theme::kBad);
  details();
  if (scenes_[selected_].fault.empty()) choices();
  if (!fault_.empty() && fault_ != scenes_[selected_].fault) theme::wrapped(fault_, theme::kBad);
}

Ask StartScreen::main_panel() {
  const glm::vec2 size = panel_size();
  const theme::Panel panel("start", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, size}, theme::PanelKind::Used, 0.55f);
  title_bar();
  const float rows = size.x < kButtonsWidth ? kButtonRow : 0.f;
  const float list_height = theme::px(size.y - kTitleAndButtons - rows);
  {
    const theme::Scope left =
        theme::child("left", {kListShare * theme::px(size.x), list_height}, ImGuiWindowFlags_NavFlattened);
    left_tabs();
  }
  ImGui::SameLine(0.f, theme::px(24.f));
  right_side(list_height);
  return buttons();
}

ScreenStatus StartScreen::status() const {
  ScreenStatus status;
  status.phase = !asked_hosts_.empty()   ? "hosts"
                 : settings_open_        ? "settings"
                 : recordings_.is_open() ? "recordings"
                 : course_open_          ? "curriculum"
                                         : "scenes";
  status.file = scene_file();
  status.note = fault_.empty() ? devices_.faults() : fault_;
  status.disk = disk_.text();
  if (!scenes_.empty()) status.speed = speeds_.of(scenes_[selected_]);
  status.step = login_.person() == desk_.person() ? progress_line(desk_) : "";
  return status;
}

}  // namespace trocar
