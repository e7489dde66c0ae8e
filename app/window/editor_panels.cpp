#include "app/window/editor_panels.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "app/window/materials.hpp"
#include "app/window/scene_list.hpp"
#include "app/window/theme.hpp"
#include "sim/scene/organ_surface.hpp"
#include "sim/scene/task_reader.hpp"

namespace trocar {
namespace {

constexpr float kFieldFrom = 96.f, kPartsWidth = 214.f, kFieldsWidth = 270.f;  // units
constexpr double kMmDrag = 0.2;                                                // mm per pixel

std::string id_of(const char* label) { return fmt::format("##{}", label); }

// Shows a number in the file's unit: `value` times `per_unit`. It writes `value` only after a change, so that an
// unchanged number keeps its bits.
template <typename Number>
void number(const char* label, Number& value, double per_unit, double low, double high, const char* format) {
  theme::label(label, kFieldFrom);
  double shown = static_cast<double>(value) * per_unit;
  const float pace = static_cast<float>((high - low) * 1e-3);
  if (ImGui::DragScalar(id_of(label).c_str(), ImGuiDataType_Double, &shown, pace, &low, &high, format,
                        ImGuiSliderFlags_AlwaysClamp))
    value = static_cast<Number>(shown / per_unit);
}

template <typename Vector>
void position(const char* label, Vector& point) {
  theme::label(label, kFieldFrom);
  double mm[3] = {1e3 * static_cast<double>(point.x), 1e3 * static_cast<double>(point.y),
                  1e3 * static_cast<double>(point.z)};
  if (ImGui::DragScalarN(id_of(label).c_str(), ImGuiDataType_Double, mm, 3, static_cast<float>(kMmDrag), nullptr,
                         nullptr, "%.0f"))
    point = Vector(mm[0] * 1e-3, mm[1] * 1e-3, mm[2] * 1e-3);
}

void words(const char* label, std::string& text) {
  theme::label(label, kFieldFrom);
  ImGui::InputText(id_of(label).c_str(), &text);
}

template <typename Names>
bool choice(const char* label, const Names& names, std::string& value, const char* none = nullptr) {
  theme::label(label, kFieldFrom);
  if (!ImGui::BeginCombo(id_of(label).c_str(), value.empty() && none ? none : value.c_str())) return false;
  bool changed = false;
  if (none && ImGui::Selectable(none, value.empty())) value.clear(), changed = true;
  for (const std::string& name : names)
    if (ImGui::Selectable(name.c_str(), name == value)) value = name, changed = true;
  ImGui::EndCombo();
  return changed;
}

void part(Editor& editor, const std::string& label, const Part& which) {
  const bool chosen = editor.chosen.kind == which.kind && editor.chosen.index == which.index;
  const std::string id = fmt::format("{}##{} {}", label, static_cast<int>(which.kind), which.index);
  if (ImGui::Selectable(id.c_str(), chosen)) editor.chosen = which;
  theme::note_item(label);
}

void task_fields(Editor& editor) {
  Scene& scene = editor.scene;
  theme::heading("Scene and task");
  words("Title", scene.title);
  bool task = scene.task.has_value();
  theme::label("Scored task", kFieldFrom);
  if (ImGui::Checkbox("##task", &task)) task ? (void)scene.task.emplace() : scene.task.reset();
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
  number("Tolerance", t.tolerance, 1e3, 0.1, 100.0, "%.1f mm");
  number("Hold", t.hold, 1.0, 0.0, 60.0, "%.1f s");
  number("Lift", t.lift, 1e3, 0.1, 200.0, "%.0f mm");
  number("Force limit", t.most_force, 1.0, 0.01, 100.0, "%.2f N");
  number("Target time", t.time_good, 1.0, 0.1, 3600.0, "%.0f s");
  number("Time limit", t.time_limit, 1.0, 0.2, 3600.0, "%.0f s");
}

void organ_fields(OrganScene& organ) {
  theme::heading("Organ");
  theme::text(organ.name);
  theme::wrapped(organ.tube ? origin_of(organ) : organ.mesh.filename().string(), theme::kQuiet);
  theme::label("Material", kFieldFrom);
  if (ImGui::BeginCombo("##material", "Select...")) {
    for (const Material& material : kMaterials)
      if (ImGui::Selectable(material.name)) use(material, organ.tissue);
    ImGui::EndCombo();
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
}

void scope_fields(ScopeScene& scope) {
  theme::heading("Scope");
  bool oblique = scope.angle_deg > 0.f;
  theme::label("30\u00B0 scope", kFieldFrom);
  if (ImGui::Checkbox("##oblique", &oblique)) scope.angle_deg = oblique ? 30.f : 0.f;
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

}  // namespace

void draw_parts(Editor& editor) {
  const theme::Panel panel("parts", {{0.f, 0.f}, {8.f, 64.f}, {}, {kPartsWidth, 560.f}}, theme::PanelKind::Used, 0.8f);
  const theme::WithLetters small(theme::Letters::Small);
  const Scene& scene = editor.scene;
  part(editor, "scene and task", {PartKind::Task});
  part(editor, "scope", {PartKind::Scope});
  theme::heading("Organs");
  for (std::size_t k = 0; k < scene.organs.size(); ++k) part(editor, scene.organs[k].name, {PartKind::Organ, k});
  theme::heading("Instruments");
  for (std::size_t k = 0; k < scene.instruments.size(); ++k)
    part(editor, scene.instruments[k].name, {PartKind::Instrument, k});
  if (!scene.task) return;
  theme::heading("Targets");
  for (std::size_t k = 0; k < scene.task->locations.size(); ++k)
    part(editor, fmt::format("{} on the {}", k + 1, scene.task->locations[k].organ), {PartKind::Target, k});
  theme::heading("Zones");
  for (std::size_t k = 0; k < scene.task->zones.size(); ++k)
    part(editor, fmt::format("zone {}, {} corners", k + 1, scene.task->zones[k].outline.size()), {PartKind::Zone, k});
}

void draw_fields(Editor& editor) {
  const theme::Panel panel("fields", {{1.f, 0.f}, {-8.f, 64.f}, {1.f, 0.f}, {kFieldsWidth, 560.f}},
                           theme::PanelKind::Used, 0.8f);
  const theme::WithLetters small(theme::Letters::Small);
  Scene& scene = editor.scene;
  const Part& chosen = editor.chosen;
  bool removable = false;
  if (chosen.kind == PartKind::Scope) {
    scope_fields(scene.scope);
  } else if (chosen.kind == PartKind::Organ && chosen.index < scene.organs.size()) {
    organ_fields(scene.organs[chosen.index]);
  } else if ((chosen.kind == PartKind::Instrument || chosen.kind == PartKind::Tip) &&
             chosen.index < scene.instruments.size()) {
    instrument_fields(scene.instruments[chosen.index]);
    removable = scene.instruments.size() > 1;
  } else if (chosen.kind == PartKind::Target && scene.task && chosen.index < scene.task->locations.size()) {
    target_fields(editor);
    removable = true;
  } else if (chosen.kind == PartKind::Zone && scene.task && chosen.index < scene.task->zones.size()) {
    zone_fields(scene.task->zones[chosen.index]);
    removable = true;
  } else {
    task_fields(editor);
  }
  ImGui::Spacing();
  if (removable && theme::button("Remove (Delete)", 150.f)) editor.remove_chosen();
}

}  // namespace trocar
