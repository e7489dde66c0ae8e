#include "app/window/editor/editor_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <concepts>

#include "app/window/screens/scene_list.hpp"
#include "app/window/widgets/theme.hpp"
#include "sim/scene/scene_access.hpp"
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
    case TaskKind::PegTransfer:
      break;
  }
}

void task_fields(Editor& editor) {
  Scene& scene = editor.scene;
  theme::heading("Scene and task");
  words("Title", scene.title);
  bool task = scene.task.has_value();
  flag("Scored task", task);
  if (task != scene.task.has_value()) task ? (void)scene.task.emplace() : scene.task.reset();
  if (!scene.task) return;
  TaskScene& t = *scene.task;
  std::string kind(name_of(t.kind));
  const auto& kinds = task_kind_names();
  if (choice("Kind", kinds, kind)) t.kind = static_cast<TaskKind>(std::ranges::find(kinds, kind) - kinds.begin());
  words("Task title", t.title);
  theme::text("Instructions", theme::kQuiet);
  ImGui::InputTextMultiline("##instructions", &t.instructions, {-1.f, theme::px(64.f)});
  std::vector<std::string> names;
  for (const InstrumentScene& instrument : scene.instruments) names.push_back(instrument.name);
  choice("Instrument", names, t.instrument, "any");
}

// Target, force and tremor limits, times, and the thresholds of the task's kind.
void mark_fields(TaskScene& task) {
  theme::heading("Limits and pass marks");
  number("Target time", task.time_good, 1.0, 0.1, 3600.0, "%.0f s");
  number("Time limit", task.time_limit, 1.0, 0.2, 3600.0, "%.0f s");
  number("Force limit", task.most_force, 1.0, 0.01, 20.0, "%.2f N");
  number("Tremor limit", task.most_tremor, 1e3, 0.0, 10.0, "%.2f mm");
  theme::wrapped("Full grade up to target time, force and tremor limit; tremor 0: not graded.", theme::kQuiet);
  number("Tolerance", task.tolerance, 1e3, 0.1, 100.0, "%.1f mm");
  number("Hold", task.hold, 1.0, 0.0, 60.0, "%.1f s");
  if (task.kind == TaskKind::LiftOrgan) number("Lift", task.lift, 1e3, 0.1, 200.0, "%.0f mm");
  rule_fields(task);
  theme::wrapped("Many errors: with as many the grade for errors is 0.", theme::kQuiet);
  if (!task.levels.empty())
    theme::wrapped("The levels of this task keep their own values, which replace these.", theme::kQuiet);
}

std::vector<std::string> organ_names(const Editor& editor) {
  std::vector<std::string> names;
  for (const OrganScene& organ : editor.scene.organs) names.push_back(organ.name);
  return names;
}

void limit_fields(Editor& editor, TaskLimit& limit) {
  theme::heading("Limit of an organ");
  theme::wrapped("More than this is a critical error; 0: unlimited.", theme::kQuiet);
  choice("Organ", organ_names(editor), limit.organ);
  number("Deepest burn", limit.deepest_burn, 1e3, 0.0, 50.0, "%.1f mm");
  flag("No diathermy", limit.no_diathermy);
  number("Blood", limit.most_blood_ml, 1.0, 0.0, 1000.0, "%.0f ml");
  number("Bile", limit.most_bile_ml, 1.0, 0.0, 1000.0, "%.0f ml");
}

void attachment_fields(Editor& editor, Attachment& attachment) {
  theme::heading("Attachment");
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
  theme::wrapped("Diaphragm: it moves with the breath.", theme::kQuiet);
}

void layer_fields(Editor& editor, LayerScene& layer) {
  theme::heading("Layer of connective tissue");
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
  theme::heading("Band or ligament");
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
  theme::heading("Breathing");
  theme::wrapped("Moves every attachment that is on the diaphragm.", theme::kQuiet);
  number("Amplitude", breathing.amplitude, 1e3, 0.0, 40.0, "%.1f mm");
  number("Rate", breathing.rate, 60.0, 0.0, 60.0, "%.0f / min");
  direction("Inspiration", breathing.direction);
}

constexpr float kPartsWidth = 214.f, kFieldsWidth = 270.f;  // units

void part(Editor& editor, const std::string& label, const Part& which) {
  const bool corner = which.kind != PartKind::Attachment || editor.chosen.corner == which.corner;
  const bool chosen = editor.chosen.kind == which.kind && editor.chosen.index == which.index && corner;
  const std::string id = fmt::format("{}##{} {} {}", label, static_cast<int>(which.kind), which.index, which.corner);
  if (ImGui::Selectable(id.c_str(), chosen)) editor.chosen = which;
  theme::note_item(label);
}

void organ_fields(Editor& editor) {
  OrganScene& organ = editor.scene.organs[editor.chosen.index];
  theme::heading("Organ");
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
  std::string look(name_of(organ.look));
  std::vector<std::string> looks;
  for (const TissueLook each : kTissueLooks) looks.emplace_back(name_of(each));
  if (choice("Look", looks, look))
    organ.look = kTissueLooks[static_cast<std::size_t>(std::ranges::find(looks, look) - looks.begin())];
  if (theme::button("Add attachment", 150.f)) editor.add_attachment(editor.chosen.index);
}

void instrument_fields(InstrumentScene& instrument) {
  theme::heading("Instrument");
  words("Name", instrument.name);
  std::string kind = name_of(instrument.kind);
  std::vector<std::string> kinds;
  for (const InstrumentKind each : kInstrumentKinds) kinds.emplace_back(name_of(each));
  if (choice("Kind", kinds, kind)) instrument.kind = *instrument_kind(kind);
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
  theme::heading("Scope");
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
  theme::heading("Target");
  theme::text(fmt::format("number {} of {}, on the {}", index + 1, locations.size(), locations[index].organ));
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
  theme::heading("Zone");
  theme::wrapped("A forbidden zone in the scope's picture. Drag its corners there.", theme::kQuiet);
  for (const glm::dvec2& corner : zone.outline) theme::text(fmt::format("{:6.3f}  {:6.3f}", corner.x, corner.y));
}

// Organs, each with its attachments below it.
void organ_parts(Editor& editor) {
  const Scene& scene = editor.scene;
  theme::heading("Organs");
  for (std::size_t k = 0; k < scene.organs.size(); ++k) {
    part(editor, scene.organs[k].name, {PartKind::Organ, k});
    const auto& attachments = scene.organs[k].attachments;
    const theme::Scope indented = theme::indent(theme::px(10.f));
    for (std::size_t a = 0; a < attachments.size(); ++a)
      part(editor,
           fmt::format("{} {} of {}", attachments[a].stiffness > 0.f ? "ligament" : "attachment", a + 1,
                       scene.organs[k].name),
           {PartKind::Attachment, k, a});
  }
}

void bond_parts(Editor& editor) {
  const Scene& scene = editor.scene;
  theme::heading("Connective tissue");
  for (std::size_t k = 0; k < scene.layers.size(); ++k) part(editor, scene.layers[k].name, {PartKind::Layer, k});
  for (std::size_t k = 0; k < scene.bands.size(); ++k) part(editor, scene.bands[k].name, {PartKind::Band, k});
  if (theme::button("Add band", 84.f)) editor.add_band();
  ImGui::SameLine();
  if (theme::button("Add layer", 84.f, false, scene.organs.size() > 1)) editor.add_layer();
}

void task_parts(Editor& editor) {
  const TaskScene& task = *editor.scene.task;
  theme::heading("Targets");
  for (std::size_t k = 0; k < task.locations.size(); ++k)
    part(editor, fmt::format("{} on the {}", k + 1, task.locations[k].organ), {PartKind::Target, k});
  theme::heading("Zones");
  for (std::size_t k = 0; k < task.zones.size(); ++k)
    part(editor, fmt::format("zone {}, {} corners", k + 1, task.zones[k].outline.size()), {PartKind::Zone, k});
  if (task.kind != TaskKind::Operation) return;
  theme::heading("Limits of organs");
  for (std::size_t k = 0; k < task.limits.size(); ++k)
    part(editor, fmt::format("limit {}: {}", k + 1, task.limits[k].organ), {PartKind::Limit, k});
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

void draw_parts(Editor& editor) {
  const theme::Panel panel("parts", {{0.f, 0.f}, {8.f, 64.f}, {}, {kPartsWidth, 560.f}}, theme::PanelKind::Used, 0.8f);
  const theme::WithLetters small(theme::Letters::Small);
  const Scene& scene = editor.scene;
  part(editor, "scene and task", {PartKind::Task});
  if (scene.task) part(editor, "limits and pass marks", {PartKind::Marks});
  part(editor, "breathing", {PartKind::Breathing});
  part(editor, "scope", {PartKind::Scope});
  organ_parts(editor);
  bond_parts(editor);
  theme::heading("Instruments");
  for (std::size_t k = 0; k < scene.instruments.size(); ++k)
    part(editor, scene.instruments[k].name, {PartKind::Instrument, k});
  if (scene.task) task_parts(editor);
}

void draw_fields(Editor& editor) {
  const theme::Panel panel("fields", {{1.f, 0.f}, {-8.f, 64.f}, {1.f, 0.f}, {kFieldsWidth, 560.f}},
                           theme::PanelKind::Used, 0.8f);
  const theme::WithLetters small(theme::Letters::Small);
  if (!editor.has(editor.chosen)) editor.chosen = {};
  const bool removable = fields_of_chosen(editor);
  ImGui::Spacing();
  if (removable && theme::button("Remove (Delete)", 150.f)) editor.remove_chosen();
}

}  // namespace trocar
