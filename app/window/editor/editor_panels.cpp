#include "app/window/editor/editor_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <concepts>
#include <span>

#include "app/window/screens/scene_list.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_keys.hpp"
#include "sim/scene/task_scene.hpp"

namespace trocar {
namespace {

constexpr float kFieldFrom = 104.f;  // units
constexpr double kMmDrag = 0.2;      // mm per pixel

std::string hidden_id(const char* label) { return fmt::format("##{}", label); }

// A value is written only after a change, so that an unchanged number keeps its bits. Shows a number in the file's
// unit: `value` times `per_unit`, from `low` to `high` of that unit.
template <std::floating_point Number>
void number(const char* label, Number& value, double per_unit, double low, double high, const char* format) {
  theme::label(label, kFieldFrom);
  double shown = static_cast<double>(value) * per_unit;
  const float pace = static_cast<float>((high - low) * 1e-3);
  if (ImGui::DragScalar(hidden_id(label).c_str(), ImGuiDataType_Double, &shown, pace, &low, &high, format,
                        ImGuiSliderFlags_AlwaysClamp))
    value = static_cast<Number>(shown / per_unit);
  theme::note_item(label);
}

template <typename Vector>
void position(const char* label, Vector& point) {
  theme::label(label, kFieldFrom);
  double mm[3] = {1e3 * static_cast<double>(point.x), 1e3 * static_cast<double>(point.y),
                  1e3 * static_cast<double>(point.z)};
  if (ImGui::DragScalarN(hidden_id(label).c_str(), ImGuiDataType_Double, mm, 3, static_cast<float>(kMmDrag), nullptr,
                         nullptr, "%.0f"))
    point = Vector(mm[0] * 1e-3, mm[1] * 1e-3, mm[2] * 1e-3);
}

void number(const char* label, int& value, int low, int high) {
  theme::label(label, kFieldFrom);
  ImGui::DragInt(hidden_id(label).c_str(), &value, 0.1f, low, high, "%d", ImGuiSliderFlags_AlwaysClamp);
  theme::note_item(label);
}

void flag(const char* label, bool& value) {
  theme::label(label, kFieldFrom);
  ImGui::Checkbox(hidden_id(label).c_str(), &value);
  theme::note_item(label);
}

void direction(const char* label, glm::vec3& vector) {
  theme::label(label, kFieldFrom);
  glm::vec3 shown = vector;
  if (ImGui::DragFloat3(hidden_id(label).c_str(), &shown.x, 0.01f, -1.f, 1.f, "%.2f", ImGuiSliderFlags_AlwaysClamp))
    vector = shown;
}

void words(const char* label, std::string& text) {
  theme::label(label, kFieldFrom);
  ImGui::InputText(hidden_id(label).c_str(), &text);
  theme::note_item(label);
}

// The same of an enumeration whose values are shown by their titles.
template <typename Kind>
void kind_choice(const char* label, std::span<const Kind> kinds, Kind& value) {
  std::vector<std::string> titles;
  for (const Kind kind : kinds) titles.push_back(title_of(kind));
  if (const auto chosen = theme::choice(label, title_of(value), titles, kFieldFrom)) value = kinds[*chosen];
}

// `none`: what an empty value is called; null: it must not be empty. Returns whether the value changed.
bool choice(const char* label, std::vector<std::string> names, std::string& value, const char* none = nullptr) {
  if (none) names.insert(names.begin(), none);
  const auto chosen = theme::choice(label, value.empty() && none ? none : value, names, kFieldFrom);
  if (chosen) value = none && *chosen == 0 ? "" : names[*chosen];
  return chosen.has_value();
}

void rule_fields(TaskScene& task) {
  TaskRules& rules = task.rules;
  number("Many errors", rules.many_errors, 1.0, 1.0, 50.0, "%.0f");
  switch (task.kind) {
    case TaskKind::NavigateCamera:
      number("Near enough", rules.readable, 1.0, 0.01, 1.0, "%.2f half heights");
      number("Too near", rules.too_near, 1e3, 0.0, 100.0, "%.0f mm");
      break;
    case TaskKind::TouchTargets:
    case TaskKind::KeepOut:
      number("Wrong after", rules.deliberate, 1.0, 0.0, 5.0, "%.2f s");
      break;
    case TaskKind::BurnLine:
      number("Enough", rules.enough, 1.0, 0.01, 1.0, "%.2f of the line");
      number("In air after", rules.off_tissue_after, 1.0, 0.0, 5.0, "%.2f s");
      break;
    case TaskKind::LiftOrgan:
      number("Drop above", rules.lifted, 1e3, 0.0, 50.0, "%.1f mm");
      number("Slipped by", rules.slipped, 1e3, 0.1, 50.0, "%.1f mm");
      break;
    case TaskKind::ClipAndCut:
    case TaskKind::Operation:
      number("Clips staying", rules.clips_staying, 1.0, 0.0, 10.0, "%.0f");
      break;
    case TaskKind::FollowCurve:
      break;
  }
}

void task_fields(Editor& editor) {
  Scene& scene = editor.scene;
  theme::heading(tr("Scene and task"));
  words("Title", scene.title);
  bool task = scene.task.has_value();
  flag("Scored task", task);
  if (task != scene.task.has_value()) task ? (void)scene.task.emplace() : scene.task.reset();
  if (!scene.task) return;
  TaskScene& t = *scene.task;
  kind_choice<TaskKind>("Kind", kTaskKinds, t.kind);
  words("Task title", t.title);
  theme::text(tr("Instructions"), theme::kQuiet);
  ImGui::InputTextMultiline("##instructions", &t.instructions, {-1.f, theme::px(64.f)});
  theme::wrapped(t.instructions, theme::kQuiet);  // the field does not wrap its lines
  std::vector<std::string> names;
  for (const InstrumentScene& instrument : scene.instruments) names.push_back(instrument.name);
  choice("Instrument", names, t.instrument, "any");
}

// Target, force and tremor limits, times, and the thresholds of the task's kind.
void mark_fields(TaskScene& task) {
  theme::heading(tr("Limits and pass marks"));
  number("Target time", task.time_good, 1.0, 0.1, 3600.0, "%.0f s");
  number("Time limit", task.time_limit, 1.0, 0.2, 3600.0, "%.0f s");
  number("Force limit", task.most_force, 1.0, 0.01, 20.0, "%.2f N");
  number("Tremor limit", task.most_tremor, 1e3, 0.0, 10.0, "%.2f mm");
  theme::wrapped(tr("Full grade up to target time, force and tremor limit; tremor 0: not graded."), theme::kQuiet);
  number("Tolerance", task.tolerance, 1e3, 0.1, 100.0, "%.1f mm");
  number("Hold", task.hold, 1.0, 0.0, 60.0, "%.1f s");
  if (task.kind == TaskKind::LiftOrgan) number("Lift", task.lift, 1e3, 0.1, 200.0, "%.0f mm");
  rule_fields(task);
  theme::wrapped(tr("Many errors: with as many the grade for errors is 0."), theme::kQuiet);
  if (!task.levels.empty())
    theme::wrapped(tr("The levels of this task keep their own values, which replace these."), theme::kQuiet);
}

std::vector<std::string> organ_names(const Editor& editor) {
  std::vector<std::string> names;
  for (const OrganScene& organ : editor.scene.organs) names.push_back(organ.name);
  return names;
}

void limit_fields(Editor& editor, TaskLimit& limit) {
  theme::heading(tr("Limit of an organ"));
  theme::wrapped(tr("More than this is a critical error; 0: unlimited."), theme::kQuiet);
  choice("Organ", organ_names(editor), limit.organ);
  number("Deepest burn", limit.deepest_burn, 1e3, 0.0, 50.0, "%.1f mm");
  flag("No diathermy", limit.no_diathermy);
  number("Blood", limit.most_blood_ml, 1.0, 0.0, 1000.0, "%.0f ml");
  number("Bile", limit.most_bile_ml, 1.0, 0.0, 1000.0, "%.0f ml");
}

void attachment_fields(Editor& editor, Attachment& attachment) {
  theme::heading(tr("Attachment"));
  theme::wrapped("The tissue of the " + editor.scene.organs[editor.chosen.index].name +
                     " in this ball is fixed; with a stiffness it is held by a ligament.",
                 theme::kQuiet);
  position("Centre, mm", attachment.centre);
  number("Radius", attachment.radius, 1e3, 0.1, 200.0, "%.1f mm");
  bool ligament = attachment.stiffness > 0.f;
  constexpr float kUsualLigament = 100.f;  // N/m
  const bool was = ligament;
  flag("Ligament", ligament);
  if (ligament != was) attachment.stiffness = ligament ? kUsualLigament : 0.f;
  if (ligament) number("Stiffness", attachment.stiffness, 1.0, 0.1, 2000.0, "%.1f N/m");
  flag("Diaphragm", attachment.diaphragm);
  theme::wrapped(tr("Diaphragm: it moves with the breath."), theme::kQuiet);
}

void layer_fields(Editor& editor, LayerScene& layer) {
  theme::heading(tr("Layer of connective tissue"));
  words("Name", layer.name);
  choice("Organ", organ_names(editor), layer.organ);
  choice("Joined to", organ_names(editor), layer.to);
  LayerParams& params = layer.params;
  number("Reach", params.reach, 1e3, 0.0, 30.0, "%.1f mm");
  position("Near, mm", params.centre);
  number("Within", params.radius, 1e3, 0.1, 1000.0, "%.0f mm");
  number("Modulus", params.modulus, 1e-3, 0.001, 500.0, "%.2f kPa");
  number("Thickness", params.thickness, 1e3, 0.1, 20.0, "%.1f mm");
  number("Break strain", params.break_strain, 1.0, 0.01, 10.0, "%.2f");
}

void band_fields(Editor& editor, BandScene& band) {
  theme::heading(tr("Band or ligament"));
  words("Name", band.name);
  choice("From organ", organ_names(editor), band.organ);
  choice("To", organ_names(editor), band.to, "abdominal wall");
  BandParams& params = band.params;
  position("From, mm", params.from_start);
  position("  to", params.from_end);
  position("To, mm", params.to_start);
  position("  to ", params.to_end);
  number("Strands", params.strands, 1, 200);
  number("Modulus", params.modulus, 1e-3, 0.001, 5000.0, "%.2f kPa");
  number("Section", params.section_mm2, 1.0, 0.01, 200.0, "%.1f mm\u00B2");
  number("Rest strain", params.rest_strain, 1.0, -0.9, 1.0, "%.2f");
  number("Break strain", params.break_strain, 1.0, 0.01, 10.0, "%.2f");
}

void breathing_fields(Breathing& breathing) {
  theme::heading(tr("Breathing"));
  theme::wrapped(tr("Moves every attachment that is on the diaphragm."), theme::kQuiet);
  number("Amplitude", breathing.amplitude, 1e3, 0.0, 40.0, "%.1f mm");
  number("Rate", breathing.rate, 60.0, 0.0, 60.0, "%.0f / min");
  direction("Inspiration", breathing.direction);
}

constexpr float kPartsWidth = 214.f, kFieldsWidth = 270.f;  // units

// The sign of a part, as large as a line, about its middle. Those of ports, tips, targets, zones, balls and bands are
// as in the view.
void draw_sign(const Editor& editor, const Part& part, const ImVec2& middle, float r) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto at = [&](float x, float y) { return ImVec2(middle.x + x * r, middle.y + y * r); };
  const auto quiet = theme::packed(theme::kQuiet);
  const float thin = theme::px(1.5f);
  switch (part.kind) {
    case PartKind::Task:
    case PartKind::Marks:
      list.AddRect(at(-0.7f, -0.9f), at(0.7f, 0.9f), quiet, 0.f, 0, thin);
      for (const float y : {-0.4f, 0.05f, 0.5f}) list.AddLine(at(-0.4f, y), at(0.4f, y), quiet, thin);
      break;
    case PartKind::Breathing:
      list.AddBezierQuadratic(at(-0.9f, 0.5f), at(0.f, -1.2f), at(0.9f, 0.5f), quiet, thin, 12);
      list.AddLine(at(0.f, -0.1f), at(0.f, 0.9f), quiet, thin);
      break;
    case PartKind::Scope:
      list.AddLine(at(-0.9f, 0.9f), at(-0.1f, 0.1f), theme::packed(theme::kText), 2.f * thin);
      list.AddCircle(at(0.3f, -0.3f), 0.55f * r, theme::packed(theme::kText), 16, thin);
      break;
    case PartKind::Organ:
      list.AddCircleFilled(at(-0.15f, 0.1f), 0.75f * r,
                           theme::packed(glm::sqrt(editor.scene.organs[part.index].colour)));
      list.AddCircleFilled(at(0.4f, -0.2f), 0.5f * r, theme::packed(glm::sqrt(editor.scene.organs[part.index].colour)));
      break;
    case PartKind::Attachment:
      if (!(editor.scene.organs[part.index].attachments[part.corner].stiffness > 0.f))
        list.AddCircleFilled(middle, 0.8f * r, theme::packed(theme::kPurple, 0.35f));
      list.AddCircle(middle, 0.8f * r, theme::packed(theme::kPurple), 20, thin);
      list.AddCircleFilled(middle, 0.25f * r, theme::packed(theme::kPurple));
      break;
    case PartKind::Layer:
      for (const float y : {-0.5f, 0.5f}) list.AddLine(at(-0.9f, y), at(0.9f, y), theme::packed(theme::kGreen), thin);
      for (const float x : {-0.6f, 0.f, 0.6f})
        list.AddLine(at(x, -0.5f), at(x, 0.5f), theme::packed(theme::kGreen, 0.6f), thin);
      break;
    case PartKind::Band:
      list.AddLine(at(-0.8f, -0.7f), at(-0.8f, 0.7f), theme::packed(theme::kGreen), 2.f * thin);
      list.AddLine(at(0.8f, -0.4f), at(0.8f, 0.4f), theme::packed(theme::kGreen), 2.f * thin);
      list.AddLine(at(-0.8f, -0.7f), at(0.8f, -0.4f), theme::packed(theme::kGreen), thin);
      list.AddLine(at(-0.8f, 0.7f), at(0.8f, 0.4f), theme::packed(theme::kGreen), thin);
      break;
    case PartKind::Limit:
      list.AddCircle(middle, 0.8f * r, theme::packed(theme::kBad), 20, thin);
      list.AddLine(at(-0.55f, 0.55f), at(0.55f, -0.55f), theme::packed(theme::kBad), thin);
      break;
    case PartKind::Instrument:
    case PartKind::Tip: {
      const auto colour = theme::packed(theme::instrument_colour(part.index));
      list.AddCircle(at(-0.35f, -0.35f), 0.55f * r, colour, 20, 1.5f * thin);
      list.AddLine(at(-0.35f, -0.35f), at(0.8f, 0.8f), colour, thin);
      break;
    }
    case PartKind::Target:
      list.AddCircleFilled(middle, 0.6f * r, theme::packed(theme::kYellow));
      list.AddCircle(middle, 0.6f * r, IM_COL32(0, 0, 0, 255), 16, thin);
      break;
    case PartKind::Zone: {
      const ImVec2 corners[] = {at(-0.8f, -0.3f), at(0.1f, -0.8f), at(0.8f, 0.1f), at(-0.2f, 0.8f)};
      list.AddConvexPolyFilled(corners, 4, theme::packed(theme::kVermilion, 0.35f));
      list.AddPolyline(corners, 4, theme::packed(theme::kVermilion), ImDrawFlags_Closed, thin);
      break;
    }
  }
}

// An entry of the list: the sign, and the title in as many lines as it needs.
void part(Editor& editor, const Part& which, std::optional<Part>& pointed) {
  const std::string label = title_of(editor, which);
  const bool corner = which.kind != PartKind::Attachment || editor.chosen.corner == which.corner;
  const bool same =
      editor.chosen.kind == which.kind || (editor.chosen.kind == PartKind::Tip && which.kind == PartKind::Instrument);
  const bool chosen = same && editor.chosen.index == which.index && corner;
  const std::string id = fmt::format("##{} {} {} {}", label, static_cast<int>(which.kind), which.index, which.corner);
  const float line = ImGui::GetTextLineHeight(), aside = line + theme::px(6.f);
  const float width = std::max(ImGui::GetContentRegionAvail().x - aside, line);
  const float height = ImGui::CalcTextSize(label.c_str(), nullptr, false, width).y;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::Selectable(id.c_str(), chosen, 0, {0.f, height})) editor.chosen = which;
  if (ImGui::IsItemHovered()) pointed = which;
  if (ImGui::IsItemVisible()) theme::note_item(label);
  theme::note_words(label);
  draw_sign(editor, which, {at.x + 0.5f * line, at.y + 0.5f * line}, 0.45f * line);
  ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.x + aside, at.y},
                                      theme::packed(theme::kText), label.c_str(), nullptr, width);
}

void organ_fields(Editor& editor) {
  OrganScene& organ = editor.scene.organs[editor.chosen.index];
  theme::heading(tr("Organ"));
  theme::text(organ.name);
  theme::wrapped(organ.tube ? origin_of(organ) : organ.mesh.filename().string(), theme::kQuiet);
  theme::label("Material", kFieldFrom);
  if (const theme::Scope list = theme::combo("##material", "Select...")) {
    for (const Material& material : kMaterials)
      if (ImGui::Selectable(material.name)) use(material, organ.tissue);
  }
  TissueParams& tissue = organ.tissue;
  number("Modulus", tissue.youngs_modulus, 1e-3, 0.1, 200.0, "%.2f kPa");
  number("Poisson", tissue.poisson_ratio, 1.0, 0.25, 0.49, "%.2f");
  number("Density", tissue.density, 1.0, 500.0, 2000.0, "%.0f kg/m\u00B3");
  number("Friction", tissue.friction, 1.0, 0.0, 2.0, "%.2f");
  number("Damping", tissue.damping_time, 1e3, 0.0, 10.0, "%.2f ms");
  number("Lattice", tissue.node_spacing, 1e3, 3.0, 30.0, "%.1f mm");
  theme::label("Colour", kFieldFrom);
  ImGui::ColorEdit3("##colour", &organ.colour.x, ImGuiColorEditFlags_NoInputs | ImGuiColorEditFlags_Float);
  kind_choice<TissueLook>("Look", kTissueLooks, organ.look);
  if (theme::button("Add attachment", 150.f)) editor.add_attachment(editor.chosen.index);
}

void instrument_fields(InstrumentScene& instrument) {
  theme::heading(tr("Instrument"));
  words("Name", instrument.name);
  kind_choice<InstrumentKind>("Kind", kInstrumentKinds, instrument.kind);
  choice("Device", device_names(), instrument.device);
  words("Source", instrument.source);
  number("Radius", instrument.radius, 1e3, 1.0, 10.0, "%.2f mm");
  position("Port, mm", instrument.pivot);
  position("Tip, mm", instrument.tip);
  JointLimits& limits = instrument.limits;
  number("Most pan", limits.pan_deg, 1.0, 0.0, 89.0, "%.0f\u00B0");
  number("Lowest tilt", limits.lowest_tilt_deg, 1.0, -89.0, 0.0, "%.0f\u00B0");
  number("Highest tilt", limits.highest_tilt_deg, 1.0, 0.0, 89.0, "%.0f\u00B0");
  number("Deepest", limits.deepest, 1e3, 1.0, 500.0, "%.0f mm");
}

void scope_fields(ScopeScene& scope) {
  theme::heading(tr("Scope"));
  bool oblique = scope.angle_deg > 0.f;
  const bool was = oblique;
  flag("30\u00B0 scope", oblique);
  if (oblique != was) scope.angle_deg = oblique ? 30.f : 0.f;
  number("Field of view", scope.field_of_view_deg, 1.0, 20.0, 120.0, "%.0f\u00B0");
  number("Light post", scope.spin_deg, 1.0, -180.0, 180.0, "%.0f\u00B0");
  number("Barrel", scope.lens.barrel, 1.0, 0.0, 0.3, "%.2f");
  position("Tip, mm", scope.eye);
  position("Looks at, mm", scope.target);
  choice("Device", device_names(), scope.device);
}

void target_fields(Editor& editor) {
  auto& locations = editor.scene.task->locations;
  const std::size_t index = editor.chosen.index;
  theme::heading(tr("Target"));
  theme::text(trf("number {} of {}, on the {}", index + 1, locations.size(), locations[index].organ));
  position("At, mm", locations[index].location);
  if (theme::button("Earlier", 80.f, false, index > 0)) {
    std::swap(locations[index], locations[index - 1]);
    --editor.chosen.index;
  }
  ImGui::SameLine();
  if (theme::button("Later", 80.f, false, index + 1 < locations.size())) {
    std::swap(locations[index], locations[index + 1]);
    ++editor.chosen.index;
  }
}

void zone_fields(TaskZone& zone) {
  theme::heading(tr("Zone"));
  theme::wrapped(tr("A forbidden zone in the scope's picture. Drag its corners there."), theme::kQuiet);
  for (const glm::dvec2& corner : zone.outline) theme::text(fmt::format("{:6.3f}  {:6.3f}", corner.x, corner.y));
}

// Organs, each with its attachments below it.
void organ_parts(Editor& editor, std::optional<Part>& pointed) {
  const Scene& scene = editor.scene;
  theme::heading(tr("Organs"));
  for (std::size_t k = 0; k < scene.organs.size(); ++k) {
    part(editor, {PartKind::Organ, k}, pointed);
    const auto& attachments = scene.organs[k].attachments;
    const theme::Scope indented = theme::indent(theme::px(10.f));
    for (std::size_t a = 0; a < attachments.size(); ++a) part(editor, {PartKind::Attachment, k, a}, pointed);
  }
}

void bond_parts(Editor& editor, std::optional<Part>& pointed) {
  const Scene& scene = editor.scene;
  theme::heading(tr("Connective tissue"));
  for (std::size_t k = 0; k < scene.layers.size(); ++k) part(editor, {PartKind::Layer, k}, pointed);
  for (std::size_t k = 0; k < scene.bands.size(); ++k) part(editor, {PartKind::Band, k}, pointed);
  if (theme::button("Add band", 84.f)) editor.add_band();
  ImGui::SameLine();
  if (theme::button("Add layer", 84.f, false, scene.organs.size() > 1)) editor.add_layer();
}

void task_parts(Editor& editor, std::optional<Part>& pointed) {
  const TaskScene& task = *editor.scene.task;
  theme::heading(tr("Targets"));
  for (std::size_t k = 0; k < task.locations.size(); ++k) part(editor, {PartKind::Target, k}, pointed);
  theme::heading(tr("Zones"));
  for (std::size_t k = 0; k < task.zones.size(); ++k) part(editor, {PartKind::Zone, k}, pointed);
  if (task.kind != TaskKind::Operation) return;
  theme::heading(tr("Limits of organs"));
  for (std::size_t k = 0; k < task.limits.size(); ++k) part(editor, {PartKind::Limit, k}, pointed);
  if (theme::button("Add limit", 90.f)) editor.add_limit();
}

// Draws the fields of the selected part; returns whether it can be removed.
bool fields_of_chosen(Editor& editor) {
  Scene& scene = editor.scene;
  const Part chosen = editor.chosen;
  switch (chosen.kind) {
    case PartKind::Task:
      task_fields(editor);
      return false;
    case PartKind::Marks:
      mark_fields(*scene.task);
      return false;
    case PartKind::Breathing:
      breathing_fields(scene.breathing);
      return false;
    case PartKind::Scope:
      scope_fields(scene.scope);
      return false;
    case PartKind::Organ:
      organ_fields(editor);
      return false;
    case PartKind::Attachment:
      attachment_fields(editor, scene.organs[chosen.index].attachments[chosen.corner]);
      return true;
    case PartKind::Layer:
      layer_fields(editor, scene.layers[chosen.index]);
      return true;
    case PartKind::Band:
      band_fields(editor, scene.bands[chosen.index]);
      return true;
    case PartKind::Limit:
      limit_fields(editor, scene.task->limits[chosen.index]);
      return true;
    case PartKind::Instrument:
    case PartKind::Tip:
      instrument_fields(scene.instruments[chosen.index]);
      return scene.instruments.size() > 1;
    case PartKind::Target:
      target_fields(editor);
      return true;
    case PartKind::Zone:
      zone_fields(scene.task->zones[chosen.index]);
      return true;
  }
  return false;
}

}  // namespace

std::string title_of(const Editor& editor, const Part& part) {
  const Scene& scene = editor.scene;
  switch (part.kind) {
    case PartKind::Task:
      return "scene and task";
    case PartKind::Marks:
      return "limits and pass marks";
    case PartKind::Breathing:
      return "breathing";
    case PartKind::Scope:
      return "scope";
    case PartKind::Organ:
      return scene.organs[part.index].name;
    case PartKind::Attachment: {
      const OrganScene& organ = scene.organs[part.index];
      return organ.attachments[part.corner].stiffness > 0.f ? trf("ligament {} of {}", part.corner + 1, organ.name)
                                                            : trf("attachment {} of {}", part.corner + 1, organ.name);
    }
    case PartKind::Layer:
      return scene.layers[part.index].name;
    case PartKind::Band:
      return scene.bands[part.index].name;
    case PartKind::Limit:
      return trf("limit {}: {}", part.index + 1, scene.task->limits[part.index].organ);
    case PartKind::Instrument:
      return scene.instruments[part.index].name;
    case PartKind::Tip:
      return trf("tip of {}", scene.instruments[part.index].name);
    case PartKind::Target:
      return trf("{} on the {}", part.index + 1, scene.task->locations[part.index].organ);
    case PartKind::Zone:
      return trf("zone {}, {} corners", part.index + 1, scene.task->zones[part.index].outline.size());
  }
  return {};
}

std::optional<Part> draw_parts(Editor& editor, const EditorSides& sides) {
  const theme::Panel panel("parts", {{0.f, 0.f}, {8.f, sides.top}, {}, {kPartsWidth, sides.height}},
                           theme::PanelKind::Used, 0.8f);
  const theme::WithLetters small(theme::Letters::Small);
  const Scene& scene = editor.scene;
  std::optional<Part> pointed;
  part(editor, {PartKind::Task}, pointed);
  if (scene.task) part(editor, {PartKind::Marks}, pointed);
  part(editor, {PartKind::Breathing}, pointed);
  part(editor, {PartKind::Scope}, pointed);
  organ_parts(editor, pointed);
  bond_parts(editor, pointed);
  theme::heading(tr("Instruments"));
  for (std::size_t k = 0; k < scene.instruments.size(); ++k) part(editor, {PartKind::Instrument, k}, pointed);
  if (scene.task) task_parts(editor, pointed);
  return pointed;
}

void draw_fields(Editor& editor, const EditorSides& sides) {
  const theme::Panel panel("fields", {{1.f, 0.f}, {-8.f, sides.top}, {1.f, 0.f}, {kFieldsWidth, sides.height}},
                           theme::PanelKind::Used, 0.8f);
  const theme::WithLetters small(theme::Letters::Small);
  if (!editor.has(editor.chosen)) editor.chosen = {};
  const bool removable = fields_of_chosen(editor);
  ImGui::Spacing();
  if (removable && theme::button("Remove (Delete)", 150.f)) editor.remove_chosen();
}

}  // namespace trocar
