// The half of a session that acts on the tissue: contacts, jaws, cuts, the step, what the instruments feel of it.
#include <algorithm>

#include "app/session/session.hpp"
#include "app/session/stage_timer.hpp"

namespace trocar {
namespace {

// The hot part of a hook: its last millimetres, and how far from the metal tissue burns.
constexpr double kHotLength = 0.004;  // m
constexpr double kHotReach = 0.001;   // m

HotSegment hot_part(const ToolPose& pose) {
  const glm::dvec3 back = glm::normalize(pose.pivot - pose.tip);
  return {glm::vec3(pose.tip), glm::vec3(pose.tip + kHotLength * back), static_cast<float>(pose.radius + kHotReach)};
}

}  // namespace

void Session::find_contacts() {
  const StageTimer timer(stage_ms_[kContacts]);
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    std::copy(organ.state.x.begin(), organ.state.x.end(), queried_nodes_[k].begin());
    clear_pressure(organ.contacts, organ.pressure);
    organ.change.clear();
    organ.contacts.begin_frame();
    for (std::size_t tool = 0; tool < volumes_.size(); ++tool) {
      tool_steps_[tool] = volumes_[tool].step;
      contacts_from_touches(volumes_[tool].step, organ.touches.of_tool(tool), organ.mesh.faces, organ.positions,
                            organ.contacts);
    }
  }
}

// Burns what energised hooks touch, and takes out what jaws tore off in the step before.
void Session::cut_tissue() {
  const StageTimer timer(stage_ms_[kCut]);
  for (std::size_t tool = 0; tool < instruments_.size(); ++tool) {
    Instrument& instrument = instruments_[tool];
    if (instrument.grasp.torn && organs_[instrument.grasped].sculpture) {
      Organ& organ = organs_[instrument.grasped];
      held_cells(organ.tissue, instrument.grasp, cells_);
      instrument.grasp.points.clear();
      take_over(instrument.grasped, remove_cells(*organ.sculpture, organ.tissue, cells_), kTorn);
    }
    if (!instrument.energy) continue;
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      Organ& organ = organs_[k];
      if (!organ.sculpture || organ.touches.of_tool(tool).empty()) continue;
      take_over(k, burn(*organ.sculpture, organ.tissue, organ.state, hot_part(instrument.pose)), kBurnt);
    }
  }
}

void Session::take_over(std::size_t k, const SculptChange& change, DamageMark how) {
  if (change.nothing()) return;
  tissue_gone(models_, static_cast<std::uint32_t>(k), change.cells, organ_contacts_);
  take_over_change(organs_[k], how);
}

// Jaws that close take hold of the organ they touch most.
void Session::move_jaws_of(std::size_t tool) {
  Instrument& instrument = instruments_[tool];
  if (instrument.kind != InstrumentKind::Grasper) return;
  if (!instrument.grasp.holding()) {
    const auto touched_by = [&](const Organ& organ) { return organ.touches.of_tool(tool).size(); };
    const auto most = std::max_element(organs_.begin(), organs_.end(),
                                       [&](const Organ& a, const Organ& b) { return touched_by(a) < touched_by(b); });
    instrument.grasped = static_cast<std::size_t>(most - organs_.begin());
  }
  const Organ& organ = organs_[instrument.grasped];
  // Where the step begins: there the tissue is, the jaws take it along from there.
  const ToolPose from{instrument.pose.pivot, tool_steps_[tool].tip_before, instrument.radius};
  move_jaws(grasp_params_, from, instrument.grip, organ.tissue, organ.positions, instrument.grasp);
  std::vector<TissueHold>& holds = holds_[instrument.grasped];
  first_hold_[tool] = holds.size();
  if (instrument.grasp.holding())
    add_holds(grasp_params_, tool_steps_[tool], instrument.turn_deg, instrument.grasp, holds);
}

void Session::step_tissue(double dt) {
  const StageTimer timer(stage_ms_[kTissue]);
  for (auto& holds : holds_) holds.clear();
  for (std::size_t tool = 0; tool < instruments_.size(); ++tool) move_jaws_of(tool);
  bodies_.clear();
  stepped_.clear();
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    bodies_.push_back({&organ.tissue, &organ.state, organ.positions, organ.unused});
    stepped_.push_back({&organ.tissue, &organ.state, {tool_steps_, organ.contacts.contacts, holds_[k]}});
  }
  find_organ_contacts(bodies_, static_cast<float>(dt), organ_contacts_);
  stepper_.step(stepped_, organ_contacts_, static_cast<float>(dt));
}

// What the step did to instruments, jaws and faces.
void Session::settle_instruments(double dt) {
  for (Instrument& instrument : instruments_) instrument.force = glm::vec3(0.f);
  for (Organ& organ : organs_) {
    for (std::size_t tool = 0; tool < instruments_.size(); ++tool)
      instruments_[tool].force +=
          contact_force(organ.state, organ.contacts.first[tool], organ.contacts.first[tool + 1]);
    if (!organ.change.new_faces.empty()) continue;  // the contacts name slots of before
    add_contact_damage(organ.contacts, organ.state, organ.mesh.faces, organ.face_ids, organ.positions,
                       static_cast<float>(dt), organ.pressure, organ.damage);
  }
  for (std::size_t tool = 0; tool < instruments_.size(); ++tool) {
    Instrument& instrument = instruments_[tool];
    if (!instrument.grasp.holding()) continue;
    Organ& organ = organs_[instrument.grasped];
    settle_grasp(grasp_params_, organ.state, tool_steps_[tool], first_hold_[tool], instrument.grasp);
    instrument.force += instrument.grasp.pull;
    if (instrument.grasp.squeeze < grasp_params_.damage_from) continue;
    for (const Touch& touch : organ.touches.of_tool(tool))
      if (organ.change.empty()) organ.damage.marks[index(organ.face_ids[index(touch.face)])] |= kCrushed;
  }
}

void Session::follow_surfaces() {
  const StageTimer timer(stage_ms_[kSurface]);
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    embed_surface(organ.tissue, organ.state.x, organ.positions);
    organ.touch_pressure.clear();
    for (const Touch& touch : organ.touches.touches)
      organ.touch_pressure.push_back(organ.change.empty() ? organ.pressure[index(touch.face)] : 0.f);
    if (organ.change.empty()) continue;
    // Everybody who asks about the organ learns of its new faces before the next frame.
    const MeshView mesh{organ.positions, organ.mesh.faces};
    organ.query->rebuild(mesh);
    for (Checker& checker : checkers_) checker.queries[k]->rebuild(mesh);
  }
}

}  // namespace trocar
