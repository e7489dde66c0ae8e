#include "app/window/editor/editor_screen.hpp"

#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "app/window/practice/practice.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"

namespace trocar {

void SceneOpenPanel::open(const std::vector<ListedScene>& listed, const std::filesystem::path& folder,
                          SceneAccess access) {
  access_ = std::move(access);
  entries_.clear();
  fault_.clear();
  for (const ListedScene& scene : listed) entries_.push_back({scene.title, scene.file});
  for (const ListedScene& own : list_scenes({folder})) {
    const bool known = std::ranges::any_of(entries_, [&](const Entry& entry) {
      std::error_code ignored;
      return std::filesystem::equivalent(entry.file, own.file, ignored);
    });
    if (!known && own.fault.empty()) entries_.push_back({own.title, own.file});
  }
  open_ = true;
}

// A scene that cannot be loaded is said here, so that the edited scene stays.
std::optional<std::filesystem::path> SceneOpenPanel::checked(const std::filesystem::path& file) {
  const ListedScene scene = listed_scene(file, access_);
  fault_ = scene.fault;
  if (!fault_.empty()) return {};
  open_ = false;
  return file;
}

std::optional<std::filesystem::path> SceneOpenPanel::draw(bool escape) {
  if (!open_) return {};
  const theme::Panel panel("open scene", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {620.f, 460.f}}, theme::PanelKind::Front,
                           0.97f);
  theme::headline(tr("Open a scene"));
  std::optional<std::filesystem::path> chosen;
  {
    const theme::Scope list = theme::child("scene files", {0.f, theme::px(300.f)}, ImGuiWindowFlags_NavFlattened, true);
    for (std::size_t k = 0; k < entries_.size() && !chosen; ++k) {
      const Entry& entry = entries_[k];
      const std::string label = fmt::format("{}   {}##{}", entry.title, entry.file.filename().string(), k);
      if (ImGui::Selectable(label.c_str())) chosen = checked(entry.file);
      theme::note_item("Open " + entry.file.filename().string());
    }
  }
  ImGui::SetNextItemWidth(-1.f);
  if (ImGui::InputTextWithHint("##scene file", "or type a file name and press Enter", &typed_,
                               ImGuiInputTextFlags_EnterReturnsTrue) &&
      !typed_.empty())
    chosen = checked(typed_);
  theme::note_item("Scene file");
  if (!fault_.empty()) theme::wrapped(fault_, theme::kBad);
  if (theme::button("Cancel", 110.f) || escape) open_ = false;
  return chosen;
}

namespace {

constexpr double kLeastRing = 4.0;  // pixels

ImVec2 pixel_vec(const glm::dvec2& pixel) { return {static_cast<float>(pixel.x), static_cast<float>(pixel.y)}; }

void draw_ball(const Editor& editor, const Part& part, const EditorEye& eye, const glm::dvec2& size) {
  const Attachment& ball = editor.scene.organs[part.index].attachments[part.corner];
  const glm::dvec3 centre(ball.centre);
  const auto middle = pixel_of(eye, centre, size);
  const auto rim = pixel_of(eye, centre + static_cast<double>(ball.radius) * axes_of(eye.pose).right, size);
  if (!middle) return;
  const bool chosen = editor.chosen == part;
  const auto colour = theme::packed(chosen ? theme::kOrange : theme::kPurple);
  const double radius = rim ? std::max(kLeastRing, glm::distance(*middle, *rim)) : kLeastRing;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  // A ligament is drawn with a thin, a rigid attachment with a filled ball.
  if (!(ball.stiffness > 0.f))
    list.AddCircleFilled(pixel_vec(*middle), static_cast<float>(radius),
                         theme::packed(chosen ? theme::kOrange : theme::kPurple, 0.22f), 40);
  list.AddCircle(pixel_vec(*middle), static_cast<float>(radius), colour, 40, theme::px(chosen ? 2.5f : 1.5f));
  list.AddCircleFilled(pixel_vec(*middle), theme::px(4.f), colour);
}

void draw_band(const Editor& editor, std::size_t k, const EditorEye& eye, const glm::dvec2& size) {
  BandParams params = editor.scene.bands[k].params;
  const bool chosen = editor.chosen.kind == PartKind::Band && editor.chosen.index == k;
  const auto colour = theme::packed(chosen ? theme::kOrange : theme::kGreen);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  std::optional<glm::dvec2> at[4];
  for (std::size_t end = 0; end < 4; ++end) at[end] = pixel_of(eye, glm::dvec3(band_end(params, end)), size);
  const auto line = [&](std::size_t from, std::size_t to, float width) {
    if (at[from] && at[to]) list.AddLine(pixel_vec(*at[from]), pixel_vec(*at[to]), colour, theme::px(width));
  };
  line(0, 1, 2.5f), line(2, 3, 2.5f), line(0, 2, 1.2f), line(1, 3, 1.2f);
  for (const auto& end : at)
    if (chosen && end) list.AddCircleFilled(pixel_vec(*end), theme::px(4.f), colour);
}

// Returns whether these attachments are drawn and can be dragged.
bool shows_attachments(const Editor& editor, std::size_t organ) {
  return editor.chosen.kind == PartKind::Attachment ||
         (editor.chosen.kind == PartKind::Organ && editor.chosen.index == organ);
}

// Draws the attachments of the selected organ (of all organs when an attachment is selected), and every band. `size`:
// pixels.
void draw_tissue_marks(const Editor& editor, const EditorEye& eye, const glm::dvec2& size) {
  for (std::size_t k = 0; k < editor.scene.organs.size(); ++k)
    for (std::size_t a = 0; shows_attachments(editor, k) && a < editor.scene.organs[k].attachments.size(); ++a)
      draw_ball(editor, {PartKind::Attachment, k, a}, eye, size);
  for (std::size_t k = 0; k < editor.scene.bands.size(); ++k) draw_band(editor, k, eye, size);
}

constexpr double kTowardsPorts = 0.3;  // 1: so that organs and ports are visible at the start
// A still picture may take longer than a frame of a session.
constexpr QualityParams kPatient{200.0, 60.0};
constexpr double kGrab = 14.0;  // units: a click within this distance selects a handle

void label_at(const glm::dvec2& pixel, const std::string& words, const glm::vec3& colour) {
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const ImVec2 at(pixel_vec(pixel).x + theme::px(10.f), pixel_vec(pixel).y - theme::px(8.f));
  list.AddText({at.x + 1.f, at.y + 1.f}, IM_COL32(0, 0, 0, 220), words.c_str());
  list.AddText(at, theme::packed(colour), words.c_str());
}

std::vector<DrawnOrgan> organs_at_rest(const Editor& editor) {
  std::vector<DrawnOrgan> organs;
  for (std::size_t k = 0; k < editor.meshes().size(); ++k) {
    DrawnOrgan organ;
    organ.rest = editor.meshes()[k].view();
    organ.positions = editor.meshes()[k].positions;
    organ.colour = editor.scene.organs[k].colour;
    organ.look = editor.scene.organs[k].look;
    if (const auto& sheet = editor.scene.organs[k].sheet) organ.opacity = sheet_opacity(sheet->thickness);
    organs.push_back(organ);
  }
  return organs;
}

}  // namespace

EditorScreen::EditorScreen(const Scene& scene, Plan plan, const WindowSettings& settings, GlContext& context)
    : EditorScreen(copy_of(scene, plan.folder), plan, settings, context) {}

EditorScreen::EditorScreen(SceneCopy copy, Plan plan, const WindowSettings& settings, GlContext& context)
    : plan_(std::move(plan)),
      editor_(copy.scene),
      settings_(settings),
      view_(context, organs_at_rest(editor_), drawn_backdrops(editor_.scene.backdrops)),
      keeper_(kPatient),
      file_(copy.file.string()) {
  orbit_.target = glm::mix(editor_.middle(), editor_.middle_of_ports(), kTowardsPorts);
}

EditorEye EditorScreen::eye() const { return through_scope_ ? eye_of(editor_.scene.scope) : orbit_.eye(); }

glm::dvec2 EditorScreen::pinhole() const { return pinhole_from_seen(eye().lens, seen_at(pointer_, size_)); }

std::vector<EditorScreen::Handle> EditorScreen::handles() const {
  std::vector<Handle> list;
  const EditorEye seen = eye();
  const auto add = [&](const Part& part, const glm::dvec3& point) {
    if (const auto pixel = pixel_of(seen, point, size_)) list.push_back({part, *pixel});
  };
  const Scene& scene = editor_.scene;
  if (scene.task) {
    for (std::size_t k = 0; k < scene.task->locations.size(); ++k)
      add({PartKind::Target, k}, glm::dvec3(scene.task->locations[k].location));
    for (std::size_t k = 0; through_scope_ && k < scene.task->zones.size(); ++k)
      for (std::size_t corner = 0; corner < scene.task->zones[k].outline.size(); ++corner)
        list.push_back({{PartKind::Zone, k, corner},
                        pixel_at(seen_from_pinhole(seen.lens, scene.task->zones[k].outline[corner]), size_)});
  }
  for (std::size_t k = 0; k < scene.instruments.size(); ++k) {
    add({PartKind::Tip, k}, scene.instruments[k].tip);
    if (!through_scope_) add({PartKind::Instrument, k}, scene.instruments[k].pivot);
  }
  if (!through_scope_) add({PartKind::Scope}, glm::dvec3(scene.scope.target));
  for (std::size_t k = 0; k < scene.organs.size(); ++k)
    for (std::size_t a = 0; shows_attachments(editor_, k) && a < scene.organs[k].attachments.size(); ++a)
      add({PartKind::Attachment, k, a}, glm::dvec3(scene.organs[k].attachments[a].centre));
  for (std::size_t k = 0; k < scene.bands.size(); ++k) {
    BandParams params = scene.bands[k].params;
    for (std::size_t end = 0; end < 4; ++end) add({PartKind::Band, k, end}, glm::dvec3(band_end(params, end)));
  }
  return list;
}

void EditorScreen::press() {
  const Ray ray = ray_through(eye(), pointer_, size_);
  note_.clear();
  if (doing_ == Doing::AddTarget) {
    if (const auto pick = editor_.pick(ray))
      editor_.add_target(*pick);
    else
      note_ = "no organ at this point; click on an organ";
  } else if (doing_ == Doing::AddPort) {
    if (editor_.add_port(ray))
      doing_ = Doing::Choose;
    else
      note_ = "the abdominal wall is not at this point; click elsewhere";
  } else if (doing_ == Doing::AddZone) {
    editor_.add_corner(pinhole());
  } else {
    for (const Handle& handle : handles()) {
      if (glm::distance(handle.pixel, pointer_) > theme::px(static_cast<float>(kGrab))) continue;
      editor_.chosen = handle.part;
      dragging_ = true;
      return;
    }
    if (const auto pick = editor_.pick(ray)) editor_.chosen = {PartKind::Organ, pick->organ};
  }
}

void EditorScreen::drag_chosen() {
  const Ray ray = ray_through(eye(), pointer_, size_);
  if (editor_.chosen.kind == PartKind::Target) {
    if (const auto pick = editor_.pick(ray)) editor_.move_target(*pick);
  } else if (editor_.chosen.kind == PartKind::Zone) {
    editor_.move_corner(pinhole());
  } else {
    editor_.drag(ray, axes_of(eye().pose).forward);
  }
}

void EditorScreen::step(const WindowInput& input, double, bool listens) {
  back_ = escape_ = false;
  pointer_free_ = !ImGui::GetIO().WantCaptureMouse;
  const glm::dvec2 moved(input.pointer - pointer_);
  pointer_ = input.pointer;
  if (listens)
    for (const Key key : input.pressed) handle_key(key, input);
  if (input.left_pressed && pointer_free_) press();
  if (dragging_ && input.left_button && moved != glm::dvec2(0.0)) drag_chosen();
  if (!input.left_button) dragging_ = false;
  if (pointer_free_ && !through_scope_) {
    if (input.right_button) orbit_.turn(input.pointer_motion.x, input.pointer_motion.y);
    if (input.wheel != 0.0) orbit_.approach(input.wheel);
  }
  editor_.commit(input.left_button || !listens);
  ++frames_;
}

void EditorScreen::handle_key(Key key, const WindowInput& input) {
  const bool control = input.down(Key::Control), shift = input.down(Key::Shift);
  if (key == Key::Escape) escape();
  if (open_panel_.is_open()) return;
  if (key == Key::Z && control && !shift) editor_.undo();
  if ((key == Key::Y && control) || (key == Key::Z && control && shift)) editor_.redo();
  if (key == Key::S && control) save();
  if (key == Key::Delete) editor_.remove_chosen();
  if (key == Key::Enter && doing_ == Doing::AddZone) {
    editor_.close_zone();
    doing_ = Doing::Choose;
  }
}

void EditorScreen::escape() {
  escape_ = true;
  if (open_panel_.is_open()) return;
  if (doing_ == Doing::Choose) back_ = true;
  doing_ = Doing::Choose;
  editor_.draft.clear();
}

void EditorScreen::picture(const glm::ivec2& size) {
  size_ = size;
  std::vector<DrawnTool> tools;
  for (const InstrumentScene& instrument : editor_.scene.instruments)
    tools.push_back({{instrument.pivot, instrument.tip, instrument.radius},
                     0.0,
                     1.0,
                     false,
                     instrument.kind,
                     Diathermy::Off,
                     false,
                     instrument.limits});
  ViewSettings settings;
  keeper_.fix(settings_.quality);
  settings.quality = keeper_.quality();
  settings.round_field = through_scope_;
  const EditorEye seen = eye();
  keeper_.drawn(timer_.time(
      [&] { view_.draw(organs_at_rest(editor_), tools, {}, seen.pose, seen.lens, {}, settings, size.x, size.y); }));
}

void EditorScreen::draw_port(std::size_t k) const {
  const InstrumentScene& instrument = editor_.scene.instruments[k];
  const EditorEye seen = eye();
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const glm::vec3 colour = theme::instrument_colour(k);
  const bool chosen = editor_.chosen.index == k &&
                      (editor_.chosen.kind == PartKind::Instrument || editor_.chosen.kind == PartKind::Tip);
  const auto tip = pixel_of(seen, instrument.tip, size_), port = pixel_of(seen, instrument.pivot, size_);
  if (tip) list.AddCircle(pixel_vec(*tip), theme::px(6.f), theme::packed(colour), 24, theme::px(chosen ? 3.f : 1.5f));
  if (through_scope_ || !port) return;
  if (tip) list.AddLine(pixel_vec(*port), pixel_vec(*tip), theme::packed(colour, 0.6f), theme::px(1.5f));
  list.AddCircle(pixel_vec(*port), theme::px(9.f), theme::packed(colour), 32, theme::px(chosen ? 4.f : 2.5f));
  label_at(*port, instrument.name, colour);
}

void EditorScreen::draw_reticle(const Part& part, const glm::vec3& colour) const {
  const auto same = [&](const Handle& handle) {
    const bool corner = part.kind != PartKind::Attachment || handle.part.corner == part.corner;
    return handle.part.kind == part.kind && handle.part.index == part.index && corner;
  };
  const auto list_of = handles();
  const auto found = std::ranges::find_if(list_of, same);
  if (found == list_of.end()) return;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const ImVec2 at = pixel_vec(found->pixel);
  const float inner = theme::px(13.f), outer = theme::px(22.f), wide = theme::px(2.f);
  list.AddCircle(at, 0.5f * (inner + outer), IM_COL32(0, 0, 0, 160), 40, theme::px(5.f));
  list.AddCircle(at, 0.5f * (inner + outer), theme::packed(colour), 40, wide);
  for (const ImVec2& way : {ImVec2(1.f, 0.f), ImVec2(-1.f, 0.f), ImVec2(0.f, 1.f), ImVec2(0.f, -1.f)})
    list.AddLine({at.x + inner * way.x, at.y + inner * way.y}, {at.x + outer * way.x, at.y + outer * way.y},
                 theme::packed(colour), wide);
  if (part.kind != PartKind::Instrument)  // a port always shows its name
    label_at(found->pixel + glm::dvec2(0.0, static_cast<double>(outer) + 2.0), title_of(editor_, part), colour);
}

// The directions in which a port moves: along the wall.
void EditorScreen::draw_wall_axes(std::size_t k) const {
  constexpr double kArm = 0.02;  // m
  const EditorEye seen = eye();
  const glm::dvec3 port(editor_.scene.instruments[k].pivot);
  const auto middle = pixel_of(seen, port, size_);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  for (const glm::dvec3& way :
       {glm::dvec3(kArm, 0, 0), glm::dvec3(-kArm, 0, 0), glm::dvec3(0, kArm, 0), glm::dvec3(0, -kArm, 0)}) {
    const auto end = pixel_of(seen, port + way, size_);
    if (!middle || !end) continue;
    const glm::dvec2 along = *end - *middle;
    const double length = glm::length(along);
    if (length < 4.0) continue;
    const glm::dvec2 unit = along / length, aside(-unit.y, unit.x);
    const double head = static_cast<double>(theme::px(6.f));
    list.AddLine(pixel_vec(*middle), pixel_vec(*end), theme::packed(theme::kOrange, 0.8f), theme::px(1.5f));
    list.AddTriangleFilled(pixel_vec(*end), pixel_vec(*end - head * (unit + 0.5 * aside)),
                           pixel_vec(*end - head * (unit - 0.5 * aside)), theme::packed(theme::kOrange, 0.8f));
  }
}

std::optional<Part> EditorScreen::under_pointer() const {
  if (doing_ != Doing::Choose || dragging_ || !pointer_free_) return {};
  for (const Handle& handle : handles())
    if (glm::distance(handle.pixel, pointer_) <= static_cast<double>(theme::px(static_cast<float>(kGrab))))
      return handle.part;
  return {};
}

void EditorScreen::draw_targets() const {
  const TaskScene& task = *editor_.scene.task;
  const EditorEye seen = eye();
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const bool line = task.kind == TaskKind::FollowCurve || task.kind == TaskKind::BurnLine;
  std::optional<glm::dvec2> before;
  for (std::size_t k = 0; k < task.locations.size(); ++k) {
    const auto pixel = pixel_of(seen, glm::dvec3(task.locations[k].location), size_);
    if (!pixel) continue;
    if (line && before)
      list.AddLine(pixel_vec(*before), pixel_vec(*pixel), theme::packed(theme::kYellow, 0.8f), theme::px(2.f));
    before = pixel;
    const bool chosen = editor_.chosen == Part{PartKind::Target, k};
    list.AddCircleFilled(pixel_vec(*pixel), theme::px(chosen ? 7.f : 5.f),
                         theme::packed(chosen ? theme::kOrange : theme::kYellow));
    list.AddCircle(pixel_vec(*pixel), theme::px(chosen ? 7.f : 5.f), IM_COL32(0, 0, 0, 255), 24, theme::px(1.2f));
    label_at(*pixel, fmt::format("{}", k + 1), theme::kYellow);
  }
}

void EditorScreen::draw_zones() const {
  const EditorEye seen = eye();
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const auto outline = [&](const std::vector<glm::dvec2>& corners, const glm::vec3& colour, bool closed) {
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const ImVec2 at = pixel_vec(pixel_at(seen_from_pinhole(seen.lens, corners[k]), size_));
      list.AddCircleFilled(at, theme::px(4.f), theme::packed(colour));
      if (k + 1 == corners.size() && !closed) break;
      const ImVec2 to = pixel_vec(pixel_at(seen_from_pinhole(seen.lens, corners[(k + 1) % corners.size()]), size_));
      list.AddLine(at, to, theme::packed(colour), theme::px(2.f));
    }
  };
  if (editor_.scene.task)
    for (std::size_t k = 0; k < editor_.scene.task->zones.size(); ++k) {
      const bool chosen = editor_.chosen.kind == PartKind::Zone && editor_.chosen.index == k;
      outline(editor_.scene.task->zones[k].outline, chosen ? theme::kOrange : theme::kVermilion, true);
    }
  outline(editor_.draft, theme::kOrange, false);
}

void EditorScreen::draw_handles() const {
  for (std::size_t k = 0; k < editor_.scene.instruments.size(); ++k) draw_port(k);
  if (!through_scope_) {
    const EditorEye seen = eye();
    const auto tip = pixel_of(seen, glm::dvec3(editor_.scene.scope.eye), size_);
    const auto target = pixel_of(seen, glm::dvec3(editor_.scene.scope.target), size_);
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    if (tip && target)
      list.AddLine(pixel_vec(*tip), pixel_vec(*target), theme::packed(theme::kText, 0.45f), theme::px(1.2f));
    if (tip) label_at(*tip, "scope", theme::kText);
    if (target) list.AddCircle(pixel_vec(*target), theme::px(5.f), theme::packed(theme::kText), 16, theme::px(1.5f));
  } else {
    draw_zones();
  }
  draw_tissue_marks(editor_, eye(), size_);
  if (editor_.scene.task) draw_targets();
  if (editor_.chosen.kind == PartKind::Instrument && !through_scope_ && editor_.has(editor_.chosen))
    draw_wall_axes(editor_.chosen.index);
  if (editor_.has(editor_.chosen)) draw_reticle(editor_.chosen, theme::kOrange);
  // What the pointer is on, in the list or in the view.
  const auto pointed = pointed_ ? pointed_ : under_pointer();
  if (pointed && *pointed != editor_.chosen && editor_.has(*pointed)) draw_reticle(*pointed, theme::kText);
}

// What the bars leave between them.
EditorSides EditorScreen::sides() const {
  constexpr float kGap = 8.f, kLeastHeight = 120.f;  // units
  const float screen = ImGui::GetIO().DisplaySize.y / theme::px(1.f), top = bar_height_ + 2.f * kGap;
  return {top, std::max(screen - top - save_height_ - 2.f * kGap, kLeastHeight)};
}

const char* EditorScreen::hint() const {
  switch (doing_) {
    case Doing::AddTarget:
      return "Click on an organ: a target, or the next point of the curve or line";
    case Doing::AddPort:
      return "Click where the port passes the abdominal wall";
    case Doing::AddZone:
      return "Click the corners in the scope's picture; Enter closes the zone";
    case Doing::Choose:
      break;
  }
  return through_scope_ ? "View through the scope; drag the handles"
                        : "Drag the handles; right button turns the view, wheel zooms";
}

void EditorScreen::toolbar() {
  const theme::Panel panel("toolbar", {{0.5f, 0.f}, {0.f, 8.f}, {0.5f, 0.f}, {1264.f, 0.f}}, theme::PanelKind::Used,
                           0.8f);
  const auto mode = [&](const char* label, Doing doing, bool through_scope) {
    if (theme::button(label, 112.f, doing_ == doing)) {
      doing_ = doing;
      editor_.draft.clear();
      if (doing != Doing::Choose) through_scope_ = through_scope;
    }
    theme::beside_or_below(112.f);
  };
  mode("Select / Move", Doing::Choose, false);
  mode("Add target", Doing::AddTarget, through_scope_);
  mode("Add port", Doing::AddPort, false);
  mode("Add zone", Doing::AddZone, true);
  if (theme::button(through_scope_ ? "Outside view" : "Scope view", 112.f)) {
    through_scope_ = !through_scope_;
    doing_ = Doing::Choose;
  }
  theme::beside_or_below(70.f);
  if (theme::button("Undo", 70.f, false, editor_.can_undo())) editor_.undo();
  theme::beside_or_below(70.f);
  if (theme::button("Redo", 70.f, false, editor_.can_redo())) editor_.redo();
  theme::beside_or_below(80.f);
  if (theme::button("Open...", 80.f)) open_panel_.open(plan_.listed, plan_.folder, plan_.access);
  theme::beside_or_below(300.f);
  {
    const theme::WithLetters small(theme::Letters::Small);
    ImGui::AlignTextToFramePadding();
    theme::wrapped(hint(), theme::kQuiet);
  }
  bar_height_ = ImGui::GetWindowHeight() / theme::px(1.f);
}

bool EditorScreen::save() {
  try {
    editor_.save(file_, replace_);
    note_ = trf("Saved to {}", file_);
    return true;
  } catch (const std::runtime_error& error) {
    note_ = error.what();
    return false;
  }
}

Ask EditorScreen::save_bar() {
  const theme::Panel panel("save", {{0.5f, 1.f}, {0.f, -8.f}, {0.5f, 1.f}, {1264.f, 0.f}}, theme::PanelKind::Used,
                           0.8f);
  Ask ask = Ask::Nothing;
  // What the checkbox and the buttons leave, in a small window with large letters less.
  ImGui::SetNextItemWidth(
      std::clamp(ImGui::GetContentRegionAvail().x - theme::px(660.f), theme::px(140.f), theme::px(520.f)));
  ImGui::InputText("##file", &file_);
  ImGui::SameLine();
  ImGui::Checkbox("Overwrite existing", &replace_);
  ImGui::SameLine();
  if (theme::button("Save", 90.f, true)) save();
  ImGui::SameLine();
  if (theme::button("Save and practise", 160.f) && save()) ask = Ask::Practise;
  theme::beside_or_below(180.f);
  ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), ImGui::GetWindowWidth() - theme::px(192.f)));
  if (theme::button(leave_ ? "Discard changes?" : "Back", 180.f) || back_) {
    if (!editor_.changed() || leave_) ask = Ask::Back;
    leave_ = true;
  }
  {
    const theme::WithLetters small(theme::Letters::Small);
    if (!note_.empty())
      theme::wrapped(note_);
    else if (!editor_.fault().empty())
      theme::wrapped(editor_.fault(), theme::kBad);
    else
      theme::text(editor_.changed() ? "Unsaved changes" : "No changes", theme::kQuiet);
  }
  save_height_ = ImGui::GetWindowHeight() / theme::px(1.f);
  return ask;
}

// With unsaved changes the first choice only asks.
Ask EditorScreen::open_panel() {
  const auto file = open_panel_.draw(escape_);
  if (!file) return Ask::Nothing;
  if (editor_.changed() && opened_ != *file) {
    opened_ = *file;
    note_ = "The changes are not saved; save them, or open the scene again to discard them";
    return Ask::Nothing;
  }
  opened_ = *file;
  return Ask::Edit;
}

Ask EditorScreen::panels() {
  draw_handles();
  toolbar();
  const Ask ask = save_bar();
  pointed_ = draw_parts(editor_, sides());
  draw_fields(editor_, sides());
  const Ask other = open_panel();
  return other == Ask::Nothing ? ask : other;
}

ScreenStatus EditorScreen::status() const {
  ScreenStatus status;
  status.phase = open_panel_.is_open() ? "open" : through_scope_ ? "scope" : "outside";
  status.file = editor_.saved();
  status.frames = frames_;
  status.note = note_.empty() ? editor_.fault() : note_;
  return status;
}

}  // namespace trocar
