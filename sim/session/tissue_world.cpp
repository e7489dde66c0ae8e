#include "sim/session/tissue_world.hpp"

#include <algorithm>

#include "deform/slit.hpp"
#include "sim/session/blade_cut.hpp"

namespace trocar {
namespace {

HotSegment hot_part(const Instrument& instrument) {
  const ToolPose& pose = instrument.pose;
  const glm::dvec3 back = glm::normalize(pose.pivot - pose.tip);
  return {glm::vec3(pose.tip), glm::vec3(pose.tip + instrument.hook.length * back),
          static_cast<float>(pose.radius + instrument.hook.reach)};
}

// Returns whether the instrument reaches tissue: a hook burns what it touches; closing blades cut the faces around the
// tip.
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

TissueWorld::TissueWorld(const Scene& scene, BackendMaker& backends, const std::string& backend)
    : stepper_(scene.solver.threads) {
  const bool cuttable = std::any_of(scene.instruments.begin(), scene.instruments.end(),
                                    [](const auto& instrument) { return instrument.kind != InstrumentKind::Probe; });
  for (const auto& organ : scene.organs)
    organs_.push_back(make_organ(organ, scene.breathing, cuttable, backends, backend));
  std::vector<MeshView> meshes;
  for (const Organ& organ : organs_) {
    meshes.push_back(organ.mesh.view());
    models_.push_back(&organ.tissue);
    queried_nodes_.push_back(organ.state.x);
  }
  organ_contacts_ = make_organ_contacts(meshes, models_);
  holds_.resize(organs_.size());
  piece_holds_.resize(organs_.size());
  tool_steps_.resize(scene.instruments.size());
  tool_pieces_.resize(scene.instruments.size());
  first_hold_.resize(scene.instruments.size());
}

void TissueWorld::measure() {
  bodies_.clear();
  for (Organ& organ : organs_) bodies_.push_back({&organ.tissue, &organ.state, organ.positions, organ.unused});
  measure_organs(bodies_, organ_contacts_);
}

broad::Box TissueWorld::reach_of(std::size_t organ, double dt) const {
  const auto box = contact_box(organ_contacts_, static_cast<std::uint32_t>(organ), static_cast<float>(dt));
  return {box.low, box.high};
}

void TissueWorld::step(Instruments& instruments, std::span<const OrganPair> near, double dt, StageMs& stage_ms) {
  begin(instruments.volumes());
  {
    const StageTimer timer(stage_ms[kCut]);
    cut_tissue(instruments.list());
  }
  {
    const StageTimer timer(stage_ms[kContacts]);
    find_candidates();
  }
  step_pieces(instruments.list(), near, dt, stage_ms);
  settle_jaws(instruments.list());
  const StageTimer timer(stage_ms[kSurface]);
  follow_surfaces();
}

void TissueWorld::begin(std::span<const ToolVolume> volumes) {
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    std::copy(organ.state.x.begin(), organ.state.x.end(), queried_nodes_[k].begin());
    begin_change(organ);
  }
  for (std::size_t tool = 0; tool < volumes.size(); ++tool) tool_steps_[tool] = volumes[tool].step;
}

// Finds the contact candidates: the touched faces and their neighbours.
void TissueWorld::find_candidates() {
  for (Organ& organ : organs_) {
    begin_candidates(organ.contacts);
    for (std::size_t tool = 0; tool < tool_steps_.size(); ++tool) {
      touched_now(organ, tool, touched_now_);
      add_candidates(tool_steps_[tool], touched_now_, organ.mesh.faces, organ.around, organ.positions, organ.contacts);
    }
  }
}

// Burns what energised hooks touch, cuts what lies between closing blades, and removes what jaws tore off in the
// previous step.
void TissueWorld::cut_tissue(std::vector<Instrument>& instruments) {
  for (std::size_t tool = 0; tool < instruments.size(); ++tool) {
    Instrument& instrument = instruments[tool];
    if (instrument.grasp.torn && organs_[instrument.grasped].sculpture) {
      Organ& organ = organs_[instrument.grasped];
      held_cells(organ.tissue, instrument.grasp, cells_);
      instrument.grasp.points.clear();
      take_over(instrument.grasped, remove_cells(*organ.sculpture, organ.tissue, cells_), kTorn);
    }
    if (!instrument.energy && !instrument.snipped) continue;
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      Organ& organ = organs_[k];
      if (!organ.sculpture || !reaches_anything(instrument, organ, tool)) continue;
      if (instrument.energy)
        take_over(k, burn(*organ.sculpture, organ.tissue, organ.state, hot_part(instrument)), kBurnt);
      else
        take_over(k, snip(*organ.sculpture, organ.tissue, organ.state, blade_cut(instrument)), kSnipped);
    }
  }
}

void TissueWorld::take_over(std::size_t k, const SculptChange& change, DamageMark how) {
  if (change.nothing()) return;
  tissue_removed(models_, static_cast<std::uint32_t>(k), change.cells, organ_contacts_);
  take_over_change(organs_[k], how);
}

// Closing jaws grasp the organ of which they touch the most faces.
void TissueWorld::move_jaws_of(Instrument& instrument, std::size_t tool) {
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
  move_jaws(instrument.jaws, from, instrument.grip, organ.tissue, organ.positions, instrument.grasp);
  std::vector<TissueHold>& holds = holds_[instrument.grasped];
  first_hold_[tool] = holds.size();
  if (instrument.grasp.holding())
    add_holds(instrument.jaws, tool_steps_[tool], instrument.turn_deg, instrument.grasp, holds);
}

// Contacts between organs whose boxes overlap; after a cut between all organs, because the boxes are out of date.
void TissueWorld::meet_organs(std::span<const OrganPair> near, double dt) {
  bodies_.clear();
  bool cut = false;
  for (Organ& organ : organs_) {
    bodies_.push_back({&organ.tissue, &organ.state, organ.positions, organ.unused});
    cut = cut || !organ.change.empty();
  }
  if (cut) {
    find_organ_contacts(bodies_, static_cast<float>(dt), organ_contacts_);
  } else {
    find_organ_contacts(bodies_, near, static_cast<float>(dt), organ_contacts_);
  }
}

// Divides the frame into as many contact substeps as its contacts need; the tools move on and contacts are recomputed
// in each.
void TissueWorld::step_pieces(std::vector<Instrument>& instruments, std::span<const OrganPair> near, double dt,
                              StageMs& stage_ms) {
  for (auto& holds : holds_) holds.clear();
  for (std::size_t tool = 0; tool < instruments.size(); ++tool) move_jaws_of(instruments[tool], tool);
  for (Instrument& instrument : instruments) instrument.force = glm::vec3(0.f);
  int pieces = 1;
  for (const Organ& organ : organs_) pieces = std::max(pieces, piece_count(tool_steps_, organ.contacts));
  {
    const StageTimer timer(stage_ms[kContacts]);
    meet_organs(near, dt);
  }
  for (int number = 0; number < pieces; ++number)
    step_piece(instruments, number, pieces, static_cast<float>(dt), stage_ms);
}

// Makes the contacts and holds of one organ in a contact substep.
void TissueWorld::press_organ(std::size_t k, std::span<const Instrument> instruments, int number, int pieces) {
  Organ& organ = organs_[k];
  clear_pressure(organ.contacts, organ.pressure);
  begin_contacts(organ.contacts);
  for (std::size_t tool = 0; tool < tool_pieces_.size(); ++tool) {
    held_.clear();
    if (instruments[tool].grasped == k)
      for (const GraspedPoint& point : instruments[tool].grasp.points) held_.push_back(point.vertex);
    add_contacts(tool_pieces_[tool], organ.mesh.faces, organ.positions, organ.contacts, held_);
  }
  piece_holds_[k] = holds_[k];
  for (TissueHold& hold : piece_holds_[k]) hold = piece_of(hold, number, pieces);
  stepped_.push_back({&organ.tissue, &organ.state, {tool_pieces_, organ.contacts.contacts, piece_holds_[k]}});
}

void TissueWorld::step_piece(std::vector<Instrument>& instruments, int number, int pieces, float dt,
                             StageMs& stage_ms) {
  const float share = 1.f / static_cast<float>(pieces);
  for (std::size_t tool = 0; tool < tool_steps_.size(); ++tool)
    tool_pieces_[tool] = piece_of(tool_steps_[tool], number, pieces);
  stepped_.clear();
  {
    const StageTimer timer(stage_ms[kContacts]);
    for (std::size_t k = 0; k < organs_.size(); ++k) press_organ(k, instruments, number, pieces);
  }
  {
    const StageTimer timer(stage_ms[kTissue]);
    stepper_.step(stepped_, organ_contacts_, dt * share);
  }
  for (Organ& organ : organs_) {
    for (std::size_t tool = 0; tool < instruments.size(); ++tool)
      instruments[tool].force +=
          share * contact_force(organ.state, organ.contacts.first[tool], organ.contacts.first[tool + 1]);
    add_contact_damage(organ.contacts, organ.state, organ.mesh.faces, organ.face_ids, organ.positions, dt * share,
                       organ.pressure, organ.damage);
    if (number + 1 == pieces || organ.contacts.candidates.empty()) continue;
    const StageTimer timer(stage_ms[kSurface]);
    follow_nodes(organ);
  }
}

// Computes, after the step, slipping, tearing and pull of the jaws, and crush damage to the tissue.
void TissueWorld::settle_jaws(std::vector<Instrument>& instruments) {
  for (std::size_t tool = 0; tool < instruments.size(); ++tool) {
    Instrument& instrument = instruments[tool];
    if (!instrument.grasp.holding()) continue;
    Organ& organ = organs_[instrument.grasped];
    settle_grasp(instrument.jaws, organ.state, tool_steps_[tool], first_hold_[tool], instrument.grasp);
    instrument.force += instrument.grasp.pull;
    if (instrument.grasp.squeeze < instrument.jaws.damage_from) continue;
    const auto first = organ.touched_first[tool], last = organ.touched_first[tool + 1];
    for (std::uint32_t i = first; i < last; ++i) organ.damage.marks[index(organ.touched_by_id[i].face)] |= kCrushed;
  }
}

void TissueWorld::follow_surfaces() {
  for (Organ& organ : organs_) {
    follow_nodes(organ);
    organ.touch_pressure.clear();
    for (const Touch& touch : organ.touched_by_id) {
      const std::size_t slot = slot_of(organ, touch.face);
      organ.touch_pressure.push_back(slot < organ.pressure.size() ? organ.pressure[slot] : 0.f);
    }
    stop_fallen_parts(organ);
    finish_change(organ);
  }
}

}  // namespace trocar
