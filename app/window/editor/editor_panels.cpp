#include "app/window/editor/editor_panels.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "app/window/editor_fields.hpp"
#include "app/window/editor_task_panels.hpp"
#include "app/window/editor_tissue_panels.hpp"
#include "app/window/gui_scopes.hpp"
#include "app/window/materials.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/widgets/theme.hpp"
#include "sim/scene/organ_surface.hpp"
#include "sim/scene/task_reader.hpp"

namespace trocar {
namespace {

constexpr float kPartsWidth = 214.f, kFieldsWidth = 270.f, kFieldFrom = 104.f;  // units

void part(Editor& editor, const std::string& label, const Part& which) {
  const bool corner = which.kind != PartKind::Attachment || editor.chosen.corner == which.corner;
  const bool chosen = editor.chosen.kind == which.kind && editor.chosen.index == which.index && corner;
  const std::string id = fmt::format("{}##{} {} {}", label, static_cast<int>(which.kind), which.index, which.corner);
  if (ImGui::Selectable(id.c_str(), chosen)) editor.chosen = which;
  theme::note_item(label);
}

void organ_fields(Editor& editor) {
  using namespace editor_fields;
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
  if (theme::button("Add attachment", 150.f)) editor.add_attachment(editor.chosen.index);
}

void instrument_fields(InstrumentScene& instrument) {
  using namespace editor_fields;
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
  using namespace editor_fields;
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
  editor_fields::position("At, mm", locations[index].location);
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
