// The half of a session that acts on the tissue: contacts, jaws, cuts, the tissue step, forces on the instruments.
// Tested in tests/sim/session_tissue_test.cpp
#include <algorithm>

#include "sim/session/session.hpp"
#include "sim/session/stage_timer.hpp"

namespace trocar {
namespace {

// The hot part of a hook: its last 4 mm; tissue burns up to 2 mm from the metal.
constexpr double kHotLength = 0.004;    // m
constexpr double kHotReach = 0.002;     // m
constexpr double kBladeLength = 0.010;  // m  of the cutting part of scissors
constexpr double kCutReach = 0.0015;    // m  beyond the shaft's surface

HotSegment hot_part(const ToolPose& pose) {
  const glm::dvec3 back = glm::normalize(pose.pivot - pose.tip);
  return {glm::vec3(pose.tip), glm::vec3(pose.tip + kHotLength * back), static_cast<float>(pose.radius + kHotReach)};
}

// The segment that closing blades cut. Tissue is removed by voxels of about 3 mm, so the cut has this width.
HotSegment between_blades(const ToolPose& pose) {
  const glm::dvec3 back = glm::normalize(pose.pivot - pose.tip);
  const glm::dvec3 end = pose.tip - pose.radius * back;
  return {glm::vec3(end), glm::vec3(end + kBladeLength * back), static_cast<float>(pose.radius + kCutReach)};
}

// A hook burns what it touches; closing blades cut the faces around the tip.
bool reaches_anything(const Instrument& instrument, const Organ& organ, std::size_t tool) {
  if (instrument.snipped) return !organ.tip_candidates.of_tool(tool).empty();
  return !organ.touches.of_tool(tool).empty() || organ.tip_first[tool + 1] > organ.tip_first[tool];
}

// Touches of a tool with current slots; faces removed since the query are left out.
void touched_now(const Organ& organ, std::size_t tool, std::vector<Touch>& touches) {
  touches.clear();
  for (std::uint32_t i = organ.touched_first[tool]; i < organ.touched_first[tool + 1]; ++i) {
    Touch touch = organ.touched_by_id[i];
    const std::size_t slot = slot_of(organ, touch.face);
    if (slot >= organ.face_ids.size()) continue;
    touch.face = FaceId(static_cast<std::uint32_t>(slot));
    touches.push_back(touch);
  }
}

}  // namespace

void Session::begin_tissue() {
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    std::copy(organ.state.x.begin(), organ.state.x.end(), queried_nodes_[k].begin());
    organ.change.clear();
  }
  for (std::size_t tool = 0; tool < volumes_.size(); ++tool) tool_steps_[tool] = volumes_[tool].step;
}

// Contact candidates: the touched faces and their neighbours.
void Session::find_candidates() {
  const StageTimer timer(stage_ms_[kContacts]);
  for (Organ& organ : organs_) {
    begin_candidates(organ.contacts);
    for (std::size_t tool = 0; tool < volumes_.size(); ++tool) {
      touched_now(organ, tool, touched_now_);
      add_candidates(tool_steps_[tool], touched_now_, organ.mesh.faces, organ.around, organ.positions, organ.contacts);
    }
  }
}

// Burns what energised hooks touch, cuts what lies between closing blades, and removes what jaws tore off in the
// previous step.
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
    if (!instrument.energy && !instrument.snipped) continue;
    const HotSegment removed = instrument.energy ? hot_part(instrument.pose) : between_blades(instrument.pose);
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      Organ& organ = organs_[k];
      if (!organ.sculpture || !reaches_anything(instrument, organ, tool)) continue;
      take_over(k, burn(*organ.sculpture, organ.tissue, organ.state, removed), instrument.energy ? kBurnt : kSnipped);
    }
  }
}

void Session::take_over(std::size_t k, const SculptChange& change, DamageMark how) {
  if (change.nothing()) return;
  tissue_gone(models_, static_cast<std::uint32_t>(k), change.cells, organ_contacts_);
  take_over_change(organs_[k], how);
}

// Closing jaws grasp the organ of which they touch the most faces.
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
  // The pose at the start of the step: the tissue is there, and the jaws move it from there.
  const ToolPose from{instrument.pose.pivot, tool_steps_[tool].tip_before, instrument.radius};
  move_jaws(grasp_params_, from, instrument.grip, organ.tissue, organ.positions, instrument.grasp);
  std::vector<TissueHold>& holds = holds_[instrument.grasped];
  first_hold_[tool] = holds.size();
  if (instrument.grasp.holding())
    add_holds(grasp_params_, tool_steps_[tool], instrument.turn_deg, instrument.grasp, holds);
}

// Contacts between organs whose boxes overlap; after a cut between all organs, because the boxes are out of date.
void Session::meet_organs(double dt) {
  const StageTimer timer(stage_ms_[kContacts]);
  bodies_.clear();
  bool cut = false;
  for (Organ& organ : organs_) {
    bodies_.push_back({&organ.tissue, &organ.state, organ.positions, organ.unused});
    cut = cut || !organ.change.empty();
  }
  if (cut) {
    find_organ_contacts(bodies_, static_cast<float>(dt), organ_contacts_);
  } else {
    find_organ_contacts(bodies_, encounters_.organ_pairs(), static_cast<float>(dt), organ_contacts_);
  }
}

// Divides the frame into as many contact substeps as its contacts need; the tools move on and contacts are recomputed
// in each.
void Session::step_tissue(double dt) {
  for (auto& holds : holds_) holds.clear();
  for (std::size_t tool = 0; tool < instruments_.size(); ++tool) move_jaws_of(tool);
  for (Instrument& instrument : instruments_) instrument.force = glm::vec3(0.f);
  int pieces = 1;
  for (const Organ& organ : organs_) pieces = std::max(pieces, piece_count(tool_steps_, organ.contacts));
  meet_organs(dt);
  for (int number = 0; number < pieces; ++number) step_piece(number, pieces, static_cast<float>(dt));
}

void Session::step_piece(int number, int pieces, float dt) {
  const float share = 1.f / static_cast<float>(pieces);
  for (std::size_t tool = 0; tool < tool_steps_.size(); ++tool)
    tool_pieces_[tool] = piece_of(tool_steps_[tool], number, pieces);
  stepped_.clear();
  {
    const StageTimer timer(stage_ms_[kContacts]);
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      Organ& organ = organs_[k];
      clear_pressure(organ.contacts, organ.pressure);
      begin_contacts(organ.contacts);
      for (std::size_t tool = 0; tool < tool_pieces_.size(); ++tool) {
        held_.clear();
        if (instruments_[tool].grasped == k)
          for (const GraspedPoint& point : instruments_[tool].grasp.points) held_.push_back(point.vertex);
        add_contacts(tool_pieces_[tool], organ.mesh.faces, organ.positions, organ.contacts, held_);
      }
      piece_holds_[k] = holds_[k];
      for (TissueHold& hold : piece_holds_[k]) hold = piece_of(hold, number, pieces);
      stepped_.push_back({&organ.tissue, &organ.state, {tool_pieces_, organ.contacts.contacts, piece_holds_[k]}});
    }
  }
  {
    const StageTimer timer(stage_ms_[kTissue]);
    stepper_.step(stepped_, organ_contacts_, dt * share);
  }
  for (Organ& organ : organs_) {
    for (std::size_t tool = 0; tool < instruments_.size(); ++tool)
      instruments_[tool].force +=
          share * contact_force(organ.state, organ.contacts.first[tool], organ.contacts.first[tool + 1]);
    add_contact_damage(organ.contacts, organ.state, organ.mesh.faces, organ.face_ids, organ.positions, dt * share,
                       organ.pressure, organ.damage);
    if (number + 1 == pieces || organ.contacts.candidates.empty()) continue;
    const StageTimer timer(stage_ms_[kSurface]);
    follow_nodes(organ);
  }
}

// After the step: slipping, tearing and pull of the jaws, and crush damage to the tissue.
void Session::settle_jaws() {
  for (std::size_t tool = 0; tool < instruments_.size(); ++tool) {
    Instrument& instrument = instruments_[tool];
    if (!instrument.grasp.holding()) continue;
    Organ& organ = organs_[instrument.grasped];
    settle_grasp(grasp_params_, organ.state, tool_steps_[tool], first_hold_[tool], instrument.grasp);
    instrument.force += instrument.grasp.pull;
    if (instrument.grasp.squeeze < grasp_params_.damage_from) continue;
    const auto first = organ.touched_first[tool], last = organ.touched_first[tool + 1];
    for (std::uint32_t i = first; i < last; ++i) organ.damage.marks[index(organ.touched_by_id[i].face)] |= kCrushed;
  }
}

void Session::follow_surfaces() {
  const StageTimer timer(stage_ms_[kSurface]);
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    follow_nodes(organ);
    organ.touch_pressure.clear();
    for (const Touch& touch : organ.touched_by_id) {
      const std::size_t slot = slot_of(organ, touch.face);
      organ.touch_pressure.push_back(slot < organ.pressure.size() ? organ.pressure[slot] : 0.f);
    }
    stop_fallen_parts(organ);
    if (organ.change.empty()) continue;
    // Every query of this organ is rebuilt with the new faces before the next frame.
    const MeshView mesh{organ.positions, organ.mesh.faces};
    organ.query->rebuild(mesh);
    for (Checker& checker : checkers_) checker.queries[k]->rebuild(mesh);
  }
}

void Session::watch_tips() {
  const StageTimer timer(stage_ms_[kSurface]);
  for (std::size_t tool = 0; tool < tips_.size(); ++tool) tips_[tool] = instruments_[tool].pose.tip;
  tip_watch_.look(organs_, tips_);
}

}  // namespace trocar
