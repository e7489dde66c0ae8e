#include "sim/session/tissue_world.hpp"

#include <algorithm>
#include <cmath>

#include "deform/cut/slit.hpp"
#include "sim/session/cutting.hpp"
#include "sim/session/sheet_cutting.hpp"

namespace trocar {
namespace {

// Returns the direction in which a jaw opens, normal to its inner surface, at the end of the step.
glm::vec3 outward_of(const PartShape& jaw, const InstrumentMotion& motion) {
  return glm::vec3(jaw.side * frame_at(motion, jaw, 1.0).axes[1]);
}

// Points that jaws usually hold at most. More of them allocate once.
constexpr std::size_t kUsualHolds = 512;
// Contacts and candidate faces of all parts with an organ, and their touches.
constexpr std::size_t kUsualContacts = 8192, kUsualTouches = 2048;

void reserve_touches(Organ& organ, std::size_t count) {
  organ.touched.touches.reserve(count);
  organ.touched.part.reserve(count);
  organ.tip_faces.reserve(count);
  organ.touch_pressure.reserve(count);
}

// Returns the touches of a part with current slots: those of the query, and in a frame that removed faces a copy
// without these.
std::span<const Touch> touched_now(const Organ& organ, std::size_t part, std::vector<Touch>& copy) {
  const std::vector<std::uint32_t>& first = organ.touched.part_first;
  const auto queried = std::span(organ.touched.touches).subspan(first[part], first[part + 1] - first[part]);
  if (organ.removed_slots.empty()) return queried;
  copy.clear();
  for (Touch touch : queried)
    if (const std::optional<FaceId> slot = slot_now(organ, touch.face)) touch.face = *slot, copy.push_back(touch);
  return copy;
}

}  // namespace

TissueWorld::TissueWorld(const Scene& scene, BackendMaker& backends, const std::string& backend)
    : stepper_(scene.solver.threads) {
  for (const OrganScene& organ : scene.organs) {
    fall_.push_back(organ.tissue.gravity != glm::vec3(0.f) ? organ.tissue.gravity : organ.cut.fall);
    out_of_sight_.push_back(organ.cut.out_of_sight);
    clings_.push_back(organ.only_joined);
    melt_.push_back(organ.cut.melt), tears_at_.push_back(organ.cut.tears_at);
  }
  const bool cuttable = std::any_of(scene.instruments.begin(), scene.instruments.end(),
                                    [](const auto& instrument) { return !is_blunt(instrument.kind); });
  cuttable_ = cuttable;
  for (const auto& organ : scene.organs)
    organs_.push_back(make_organ(organ, scene.breathing, cuttable, backends, backend));
  std::vector<MeshView> meshes;
  for (const Organ& organ : organs_) {
    meshes.push_back(organ.mesh.view());
    models_.push_back(&organ.tissue);
    queried_nodes_.push_back(organ.state.x);
    queried_dents_.emplace_back();
  }
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    for (auto* holds : {&holds_, &piece_holds_}) holds->emplace_back().reserve(kUsualHolds);
    organs_[k].state.scratch.holds.reserve(kUsualHolds);
    organs_[k].state.scratch.contacts.reserve(kUsualContacts);
    organs_[k].state.scratch.active.reserve(kUsualContacts);
    organs_[k].state.scratch.crushed.reserve(organs_[k].tissue.lattice.cells.size());
    organs_[k].contacts.reserve(kUsualContacts);
    if (!organs_[k].tissue.tube.empty()) {
      std::vector<std::vector<float>>& shared = organs_[k].state.scratch.tube.shared;
      for (const Organ& other : organs_) shared.emplace_back(other.tissue.mass.size(), 0.f);
    }
    if (is_sheet(organs_[k])) {
      SlabScratch& sheet = organs_[k].state.scratch.slab;
      sheet.tools.reserve(kUsualContacts), sheet.rests.reserve(kUsualContacts), sheet.pushes.reserve(kUsualContacts);
      sheet.supports.reserve(2 * kUsualContacts);
    }
    reserve_touches(organs_[k], kUsualTouches);
  }
  organ_contacts_ = make_organ_contacts(meshes, models_);
  contact_sizes_ = ContactSizes(organ_contacts_);
  bonds_ = SessionBonds(scene, organs_, organ_contacts_);
  clips_ = SessionClips(scene, organs_);
  bleeding_ = SessionBleeding(scene, organs_, organ_contacts_, bonds_);
  film_ = SessionFilm(scene, organs_);
  rigid_ = SessionRigid(scene, organs_);
  for (const Organ& organ : organs_) intact_.push_back({organ.mesh, organ.tissue});
  slips_ = TipSlip(scene.instruments.size(), scene.organs.size());
  pull_.resize(scene.instruments.size());
  apart_.resize(scene.instruments.size());
  first_hold_.resize(scene.instruments.size());
  held_.reserve(kUsualHolds);
  held_between_.resize(organs_.size());
  for (std::vector<std::uint32_t>& held : held_between_) held.reserve(kUsualHolds);
  touched_now_.reserve(kUsualTouches);
  searches_.reserve(kUsualContacts);
  held_points_.reserve(scene.instruments.size());
  dented_.points.reserve(kUsualContacts), dented_.corners.reserve(3 * kUsualContacts);
}

void TissueWorld::measure() {
  bodies_.clear();
  for (Organ& organ : organs_) bodies_.push_back({&organ.tissue, &organ.state, organ.skin, organ.unused});
  measure_organs(bodies_, organ_contacts_);
}

broad::Box TissueWorld::reach_of(std::size_t organ, double dt) const {
  const auto box = contact_box(organ_contacts_, static_cast<std::uint32_t>(organ), static_cast<float>(dt));
  return {box.low, box.high};
}

void TissueWorld::step(Instruments& instruments, std::span<const OrganPair> near, double dt, StageMs& stage_ms) {
  begin(instruments);
  {
    const StageTimer timer(stage_ms[kCut]);
    cut_tissue(instruments, dt);
    for (Organ& organ : organs_) find_removed(organ);
  }
  {
    const StageTimer timer(stage_ms[kContacts]);
    find_candidates();
  }
  step_pieces(instruments, near, dt, stage_ms);
  settle_jaws(instruments, dt);
  {
    const StageTimer timer(stage_ms[kTissue]);
    rigid_.step(instruments, organs_, dt);
  }
  {
    const StageTimer timer(stage_ms[kSurface]);
    follow_surfaces(instruments, dt);
  }
  settle_clips(instruments);
  const bool loosened = !bonds_.bonds().broken.empty();
  bonds_.end_frame();
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    if (!is_sheet(organs_[k])) continue;
    if (cuttable_ && (loosened || !organs_[k].change.empty())) release_loose_sheet(organs_[k], fall_[k]);
    stop_fallen_sheet(organs_[k], out_of_sight_[k]);
  }
  bleeding_.follow_bonds(organs_, bonds_.bonds());
  bleeding_.end_frame(organs_, clips_, instruments.list(), dt);
  film_.end_frame(organs_, bleeding_, instruments.list(), dt);
}

void TissueWorld::settle_clips(Instruments& all) {
  for (std::size_t tool = 0; tool < all.size(); ++tool)
    if (all.list()[tool].clip_closes) clips_.close(all.list()[tool], tool, all.jaws(tool), organs_);
  if (clips_.end_frame(organs_)) bonds_.take_struts(clips_, organs_);
}

void TissueWorld::begin(const Instruments& instruments) {
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    std::copy(organ.state.x.begin(), organ.state.x.end(), queried_nodes_[k].begin());
    organ.dents.resize(instruments.part_steps().size() + instruments.size());
    queried_dents_[k] = organ.dents;
    begin_change(organ);
  }
  bonds_.begin();
  clips_.begin();
  bleeding_.begin();
  part_steps_ = instruments.part_steps();
  part_pieces_.resize(part_steps_.size());
  parts_ = &instruments.parts();
  share_dents(instruments);
}

// The parts of a hook do not move against each other: they have one dent.
void TissueWorld::share_dents(const Instruments& all) {
  dent_of_.resize(part_steps_.size());
  for (std::uint32_t part = 0; part < dent_of_.size(); ++part) {
    const std::uint32_t tool = parts_->tool[part];
    dent_of_[part] = all.list()[tool].kind == InstrumentKind::Hook ? parts_->first[tool] : part;
  }
}

// Finds the contact candidates: the touched faces and their neighbours.
void TissueWorld::find_candidates() {
  for (Organ& organ : organs_) {
    begin_candidates(organ.contacts, organ.state.dents);
    for (std::size_t part = 0; part < part_steps_.size(); ++part)
      add_candidates(part_steps_[part],
                     organ.tissue.rigid ? std::span<const Touch>() : touched_now(organ, part, touched_now_),
                     organ.mesh.faces, organ.around, organ.skin, organ.contacts);
  }
}

// Closing jaws grip the organ that both touch, or of several the one of which they touch the most faces. Fat and
// membranes that cling to others count only where there is nothing else: jaws close around them, and grip what is in
// them once they touch it from both sides.
void TissueWorld::grip_with(Instrument& instrument, std::size_t tool, const Jaws& jaws,
                            const InstrumentMotion& motion) {
  if (instrument.commanded_grip >= instrument.jaws.grip_below || motion.opening_after >= motion.opening_before) return;
  const auto touched = [&](const Organ& organ, std::uint32_t jaw) {
    const std::uint32_t part = parts_->first[tool] + jaw;
    return organ.touched.part_first[part + 1] - organ.touched.part_first[part];
  };
  std::uint32_t most = 0;
  std::size_t best = 0;
  bool clings = true;
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    const std::uint32_t upper = touched(organs_[k], 1), lower = touched(organs_[k], 2);
    if (upper == 0 || lower == 0 || organs_[k].tissue.rigid || (clings_[k] && !clings)) continue;
    if (upper + lower <= most && clings == (clings_[k] != 0)) continue;
    most = upper + lower, clings = clings_[k] != 0, best = k;
  }
  if (most == 0 || (instrument.grasp.holding() && clings)) return;
  if (instrument.grasp.holding()) release(instrument.grasp);
  instrument.grasped = best;
  const Organ& organ = organs_[instrument.grasped];
  grip(instrument.jaws, jaws, motion, {organ.tissue, organ.positions, organ.mesh.faces, organ.around, organ.unused},
       instrument.grasp);
}

void TissueWorld::move_jaws_of(const Instruments& instruments, Instrument& instrument, std::size_t tool) {
  if (!has_jaws(instrument.kind)) return;
  const Jaws jaws = instruments.jaws(tool);
  if (!instrument.grasp.holding() || clings_[instrument.grasped])
    grip_with(instrument, tool, jaws, instruments.motion(tool));
  std::vector<TissueHold>& holds = holds_[instrument.grasped];
  first_hold_[tool] = holds.size();
  pull_[tool] = glm::vec3(0.f);
  apart_[tool] = 0.f;
  add_holds(instrument.jaws, jaws, instruments.motion(tool), instrument.grasp, static_cast<std::uint32_t>(tool), holds);
}

// Contacts between organs whose boxes overlap; after a cut between all organs, because the boxes are out of date.
void TissueWorld::meet_organs(std::span<const OrganPair> near, double dt) {
  bodies_.clear();
  bool cut = false;
  for (Organ& organ : organs_) {
    bodies_.push_back({&organ.tissue, &organ.state, organ.skin, organ.unused});
    cut = cut || !organ.change.empty();
  }
  if (cut) {
    find_organ_contacts(bodies_, static_cast<float>(dt), organ_contacts_);
  } else {
    find_organ_contacts(bodies_, near, static_cast<float>(dt), stepper_.team(), organ_contacts_);
  }
}

// Divides the frame into as many contact substeps as its contacts need; the tools move on and contacts are recomputed
// in each.
void TissueWorld::step_pieces(Instruments& all, std::span<const OrganPair> near, double dt, StageMs& stage_ms) {
  std::vector<Instrument>& instruments = all.list();
  for (auto& holds : holds_) holds.clear();
  for (std::size_t tool = 0; tool < instruments.size(); ++tool) move_jaws_of(all, instruments[tool], tool);
  for (Instrument& instrument : instruments) instrument.force = instrument.torque = glm::vec3(0.f);
  int pieces = 1;
  for (const Organ& organ : organs_) pieces = std::max(pieces, piece_count(part_steps_, organ.contacts));
  {
    const StageTimer timer(stage_ms[kContacts]);
    meet_organs(near, dt);
  }
  slips_.begin();
  for (int number = 0; number < pieces; ++number) step_piece(all, number, pieces, static_cast<float>(dt), stage_ms);
  settle_slips(all, dt);
}

void TissueWorld::settle_slips(const Instruments& all, double dt) {
  for (std::size_t tool = 0; tool < all.size(); ++tool) {
    const Instrument& instrument = all.list()[tool];
    const InstrumentMotion& motion = all.motion(tool);
    const bool cuts_again = instrument.kind == InstrumentKind::Scissors && instrument.blades_open &&
                            motion.opening_after < motion.opening_before;
    const double bears = instrument.kind == InstrumentKind::Hook ? instrument.hook.tears_from : INFINITY;
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      const Organ& organ = organs_[k];
      const std::uint32_t first = parts_->first[tool] + 1, end = parts_->first[tool + 1];
      const bool touches = organ.touched.part_first[first] < organ.touched.part_first[end];
      const bool pierced = std::any_of(organ.contacts.pierced.begin() + first, organ.contacts.pierced.begin() + end,
                                       [](std::uint8_t part) { return part != 0; });
      const bool held = instrument.grasp.holding() && instrument.grasped == k;
      slips_.end_frame(tool, k, {touches && !cuts_again, pierced && !held, bears, dt});
    }
  }
}

// Lists the held vertices that lie between the jaws now, or at most a little beyond their surfaces.
void TissueWorld::list_held(const Instruments& all, std::size_t tool, int number, int pieces,
                            std::vector<std::uint32_t>& list) const {
  constexpr double kBeyond = 1e-4;  // m
  const Instrument& instrument = all.list()[tool];
  const Jaws jaws = all.jaws(tool);
  const InstrumentMotion& motion = all.motion(tool);
  const double time = static_cast<double>(number + 1) / pieces, opening = opening_at(motion, time);
  const RigidFrame frame = frame_at(motion, time);
  const Organ& organ = organs_[instrument.grasped];
  const glm::vec3 dent = held_shift(organ.state, static_cast<std::uint32_t>(tool));
  for (const GraspedPoint& held : instrument.grasp.points) {
    const glm::dvec3 world(organ.skin[held.vertex] - dent);
    const JawPoint now = jaw_point(jaws, opening, frame.to_local(world));
    if ((std::abs(now.share) - 0.5) * opening * now.from_hinge <= kBeyond) list.push_back(held.vertex);
  }
}

bool TissueWorld::meets_resistance(std::size_t part, std::size_t organ) const {
  const std::size_t tool = parts_->tool[part];
  return part == parts_->first[tool] || !slips_.slips(tool, organ);
}

// Makes the contacts of all organs in a contact substep.
void TissueWorld::press_organs(const Instruments& all, int number, int pieces, float dt) {
  pressing_.clear();
  for (const ToolStep& piece : part_pieces_) pressing_.emplace_back(piece);
  for (Organ& organ : organs_) {
    clear_pressure(organ.contacts, organ.pressure);
    begin_contacts(organ.contacts, {organ.tissue.embedding, organ.state.v, dt, organ.state.dents});
  }
  share_faces(&ContactList::first_candidate, [](const PressingTool& tool, const ContactSearch& search, Organ& organ) {
    meet_candidates(tool, organ.mesh.faces, organ.skin, search.part, search.first, search.last, organ.contacts);
  });
  stepper_.team().share(organs_.size(), [&](std::size_t k) { choose_pressed(all, k, number, pieces); });
  share_faces(&ContactList::first_chosen, [](const PressingTool& tool, const ContactSearch& search, Organ& organ) {
    meet_chosen(tool, organ.mesh.faces, organ.skin, search.first, search.last, organ.contacts);
  });
  stepper_.team().share(organs_.size(), [&](std::size_t k) { list_pressed(k, number, pieces); });
}

// A few faces are a job, so that threads share an organ in which a tool is buried.
template <class Meet>
void TissueWorld::share_faces(std::vector<std::uint32_t> ContactList::*first_of, Meet meet) {
  constexpr std::size_t kTogether = 32;
  searches_.clear();
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    const std::vector<std::uint32_t>& first = organs_[k].contacts.*first_of;
    for (std::size_t part = 0; part + 1 < first.size(); ++part) {
      if (!meets_resistance(part, k)) continue;
      for (std::size_t i = first[part]; i < first[part + 1]; i += kTogether)
        searches_.push_back({k, part, i, std::min<std::size_t>(i + kTogether, first[part + 1])});
    }
  }
  stepper_.team().share(searches_.size(), [&](std::size_t i) {
    const ContactSearch& search = searches_[i];
    meet(pressing_[search.part], search, organs_[search.organ]);
  });
}

void TissueWorld::choose_pressed(const Instruments& all, std::size_t k, int number, int pieces) {
  Organ& organ = organs_[k];
  for (std::size_t part = 0; part < pressing_.size(); ++part) {
    if (!meets_resistance(part, k)) {
      choose_no_faces(organ.contacts);
      continue;
    }
    const std::size_t tool = parts_->tool[part];
    const Instrument& instrument = all.list()[tool];
    std::vector<std::uint32_t>& held = held_between_[k];
    held.clear();
    if (instrument.grasped == k && instrument.grasp.holding()) list_held(all, tool, number, pieces, held);
    choose_faces(pressing_[part], part, organ.mesh.faces, organ.skin, organ.contacts, held);
  }
}

void TissueWorld::list_pressed(std::size_t k, int number, int pieces) {
  Organ& organ = organs_[k];
  for (const PressingTool& pressing : pressing_) list_contacts(pressing, organ.mesh.faces, organ.skin, organ.contacts);
  piece_holds_[k] = holds_[k];
  for (TissueHold& hold : piece_holds_[k]) hold = piece_of(hold, number, pieces);
}

// Adds, for a contact substep, the force and torque of the held points, and the force that pushes the jaws open.
void TissueWorld::add_pull(Instruments& all, std::size_t tool, float share) {
  Instrument& instrument = all.list()[tool];
  const Organ& organ = organs_[instrument.grasped];
  const InstrumentMotion& motion = all.motion(tool);
  const Jaws jaws = all.jaws(tool);
  const glm::vec3 outward[2] = {outward_of(*jaws.upper, motion), outward_of(*jaws.lower, motion)};
  const std::size_t first = first_hold_[tool];
  for (std::size_t i = 0; i < instrument.grasp.points.size(); ++i) {
    const glm::vec3 force = share * hold_force(organ.state, first + i);
    pull_[tool] += force;
    instrument.torque +=
        glm::cross(piece_holds_[instrument.grasped][first + i].to - glm::vec3(instrument.pose.pivot), force);
    const double at = instrument.grasp.points[i].between.share;
    apart_[tool] += 0.5f * glm::dot(force, outward[at > 0.0 ? 0 : 1]);
  }
  for (std::uint32_t jaw = 0; jaw < 2; ++jaw) {
    const std::uint32_t part = parts_->first[tool] + 1 + jaw;
    const glm::vec3 force = contact_force(organ.state, organ.contacts.first[part], organ.contacts.first[part + 1]);
    apart_[tool] += 0.5f * share * glm::dot(force, outward[jaw]);
  }
}

void TissueWorld::step_piece(Instruments& all, int number, int pieces, float dt, StageMs& stage_ms) {
  std::vector<Instrument>& instruments = all.list();
  const float share = 1.f / static_cast<float>(pieces);
  for (std::size_t part = 0; part < part_steps_.size(); ++part)
    part_pieces_[part] = piece_of(part_steps_[part], number, pieces);
  stepped_.clear();
  {
    const StageTimer timer(stage_ms[kContacts]);
    press_organs(all, number, pieces, dt * share);
    for (std::size_t k = 0; k < organs_.size(); ++k)
      stepped_.push_back({&organs_[k].tissue,
                          &organs_[k].state,
                          {part_pieces_, organs_[k].contacts.contacts, piece_holds_[k], dent_of_}});
  }
  {
    const StageTimer timer(stage_ms[kTissue]);
    stepper_.step(stepped_, organ_contacts_, bonds_.bonds(), dt * share);
  }
  for (Organ& organ : organs_) {
    for (std::size_t tool = 0; tool < instruments.size(); ++tool) {
      const std::uint32_t first = organ.contacts.first[parts_->first[tool]],
                          last = organ.contacts.first[parts_->first[tool + 1]];
      instruments[tool].force += share * contact_force(organ.state, first, last);
      slips_.add(tool, static_cast<std::size_t>(&organ - organs_.data()),
                 share * contact_force(organ.state, organ.contacts.first[parts_->first[tool] + 1], last));
      if (has_jaws(instruments[tool].kind) && &organ == &organs_[instruments[tool].grasped]) add_pull(all, tool, share);
      instruments[tool].torque +=
          share * contact_torque(organ.state, first, last, glm::vec3(instruments[tool].pose.pivot));
    }
    add_contact_damage(organ.contacts, organ.state, organ.face_ids, organ.skin, dt * share, organ.pressure,
                       organ.damage);
    if (number + 1 == pieces || organ.contacts.candidates.empty()) continue;
    const StageTimer timer(stage_ms[kSurface]);
    follow_nodes(organ);
  }
}

// Marks the faces that jaws crush: those whose corners they all hold.
void TissueWorld::mark_crushed(const Grasp& grasp, Organ& organ) {
  held_.clear();
  for (const GraspedPoint& point : grasp.points) held_.push_back(point.vertex);
  std::sort(held_.begin(), held_.end());
  const auto is_held = [&](std::uint32_t vertex) { return std::binary_search(held_.begin(), held_.end(), vertex); };
  for (const std::uint32_t vertex : held_)
    for (std::uint32_t k = organ.around.first[vertex]; k < organ.around.first[vertex + 1]; ++k) {
      const std::uint32_t slot = index(organ.around.face[k]);
      const glm::uvec3& face = organ.mesh.faces[slot];
      if (is_held(face.x) && is_held(face.y) && is_held(face.z))
        organ.damage.marks[index(organ.face_ids[slot])] |= kCrushed;
    }
}

// Computes, after the step, slipping, tearing and pull of the jaws, and crush damage to the tissue.
void TissueWorld::settle_jaws(Instruments& all, double dt) {
  for (std::size_t tool = 0; tool < all.size(); ++tool) {
    Instrument& instrument = all.list()[tool];
    if (!instrument.grasp.holding()) {
      instrument.grasp.pull = glm::vec3(0.f);
      continue;
    }
    Organ& organ = organs_[instrument.grasped];
    feel_tissue(instrument.jaws, all.motion(tool).opening_after, static_cast<double>(apart_[tool]), dt,
                instrument.grasp);
    update_grasp(instrument.jaws, all.jaws(tool), organ.state, all.motion(tool), static_cast<std::uint32_t>(tool),
                 pull_[tool], instrument.grasp);
    instrument.force += instrument.grasp.pull;
    if (instrument.grasp.squeeze >= instrument.jaws.damage_from) mark_crushed(instrument.grasp, organ);
  }
}

void TissueWorld::follow_surfaces(const Instruments& all, double dt) {
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    held_points_.clear();
    for (const Instrument& instrument : all.list())
      held_points_.push_back(instrument.grasped == k ? instrument.grasp.points : std::span<const GraspedPoint>());
    follow_dents(organ, held_points_, static_cast<float>(dt), dented_);
    follow_nodes(organ);
    organ.touch_pressure.clear();
    for (const Touch& touch : organ.touched.touches) {
      const std::optional<FaceId> slot = slot_now(organ, touch.face);
      organ.touch_pressure.push_back(slot ? organ.pressure[index(*slot)] : 0.f);
    }
    stop_fallen_parts(organ);
  }
}

void TissueWorld::tell_queries() {
  for (Organ& organ : organs_) finish_change(organ);
}

// Implements the cuts of TissueWorld: hooks burn, blades cut, jaws tear.

namespace {

// Do both legs, blades or jaws touch the organ? `shaft`: number of the instrument's first part, which theirs follow.
bool is_between(const Organ& organ, std::span<const PartShape> shapes, std::size_t shaft) {
  bool upper = false, lower = false;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const std::size_t part = shaft + 1 + k;
    const bool touches = organ.touched.part_first[part] < organ.touched.part_first[part + 1];
    (shapes[k].side > 0.0 ? upper : lower) |= touches;
  }
  return upper && lower;
}

// Appends the cells with tissue whose middle is within `range` of a part.
void cells_at(const Lattice& lattice, std::span<const glm::vec3> nodes, const PosedPart& part, double range,
              std::vector<std::uint32_t>& cells) {
  for (std::uint32_t c = 0; c < lattice.cells.size(); ++c) {
    if (!(lattice.cells[c].volume_fraction > 0.f)) continue;
    glm::dvec3 middle(0.0);
    for (const std::uint32_t node : lattice.cells[c].node) middle += 0.125 * glm::dvec3(nodes[node]);
    const std::array<glm::dvec3, 1> point{middle};
    if (hull_distance(part.corners(), point).distance < range) cells.push_back(c);
  }
}

// Appends the cells below the faces that parts press hard, as the last frame left them.
void pressed_cells(const Organ& organ, std::uint32_t first, std::uint32_t end, std::vector<std::uint32_t>& cells) {
  constexpr float kSpread = 1e4f;  // Pa  an assumption
  const Lattice& lattice = organ.tissue.lattice;
  for (std::uint32_t i = organ.touched.part_first[first]; i < organ.touched.part_first[end]; ++i) {
    const std::optional<FaceId> slot = slot_now(organ, organ.touched.touches[i].face);
    if (!slot || !(organ.pressure[index(*slot)] >= kSpread)) continue;
    const std::uint32_t corner = organ.tissue.embedding[organ.mesh.faces[index(*slot)].x].node[0];
    const std::int32_t cell = lattice.cell_of[lattice.flat(lattice.node_at[corner])];
    if (cell >= 0) cells.push_back(static_cast<std::uint32_t>(cell));
  }
}

// Returns whether the instrument reaches tissue.
bool reaches_anything(const Organ& organ, std::size_t tool) { return !organ.touches.of_tool(tool).empty(); }

}  // namespace

// Do closing blades have tissue of an organ between them?
bool TissueWorld::bites(const Instruments& all, std::size_t tool) const {
  const Instrument& instrument = all.list()[tool];
  if (instrument.kind != InstrumentKind::Scissors || !instrument.blades_open ||
      instrument.grip > instrument.blades.bite * instrument.opened)
    return false;
  return std::any_of(organs_.begin(), organs_.end(),
                     [&](const Organ& organ) { return is_between(organ, all.shapes(tool), parts_->first[tool]); });
}

// Cuts or coagulates around the hot wires of hooks, cuts what lies between closing blades, and removes what jaws tore
// off in the previous step.
void TissueWorld::cut_tissue(Instruments& all, double dt) {
  std::vector<Instrument>& instruments = all.list();
  for (std::size_t tool = 0; tool < instruments.size(); ++tool) {
    Instrument& instrument = instruments[tool];
    if (instrument.grasp.torn && organs_[instrument.grasped].sculpture) {
      Organ& organ = organs_[instrument.grasped];
      held_cells(organ.tissue, instrument.grasp, cells_);
      release(instrument.grasp);
      take_over(instrument.grasped, remove_cells(*organ.sculpture, organ.tissue, cells_), kTorn);
    }
    if (instrument.energy != Diathermy::Off) burn_with(all, tool, dt);
    if (bites(all, tool)) instrument.snipped = true, instrument.blades_open = false;
    if (!instrument.snipped) continue;
    bonds_.snip(blade_cut(instrument));
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      Organ& organ = organs_[k];
      if (is_sheet(organ) && snip_sheet(organ, blade_cut(instrument))) take_over_sheet(k), slips_.let_slip(tool, k);
      if (!organ.sculpture || !reaches_anything(organ, tool)) continue;
      const SculptChange& change = snip(*organ.sculpture, organ.tissue, organ.state, blade_cut(instrument));
      take_over(k, change, kSnipped);
      if (!change.nothing()) slips_.let_slip(tool, k);
    }
  }
  for (std::size_t k = 0; cuttable_ && k < organs_.size(); ++k)
    if (is_sheet(organs_[k]) && tear_sheet(organs_[k])) take_over_sheet(k);
  for (std::size_t tool = 0; tool < instruments.size(); ++tool) crush_or_spread(all, tool);
  tear_overstretched();
  for (Instrument& instrument : instruments)
    if (const Organ& organ = organs_[instrument.grasped]; instrument.grasp.holding() && !organ.change.empty())
      follow_change(organ.tissue, organ.unused, instrument.grasp);
  bonds_.end_cuts(clips_, organs_);
}

// Legs and blades that close on soft tissue crush it, and those that open spread it: the cells that they reach, or
// press, come apart.
void TissueWorld::crush_or_spread(const Instruments& all, std::size_t tool) {
  constexpr double kClosed = 0.4;  // 1  of the opening
  const Instrument& instrument = all.list()[tool];
  if (!has_jaws(instrument.kind) || instrument.kind == InstrumentKind::Grasper) return;
  const InstrumentMotion& motion = all.motion(tool);
  const bool closes = instrument.grip <= kClosed, opens = motion.opening_after > motion.opening_before;
  const std::vector<PartShape>& shapes = all.shapes(tool);
  for (std::size_t k = 0; (closes || opens) && k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    if (!(tears_at_[k] > 0.f) || !organ.sculpture) continue;
    cells_.clear();
    if (opens) pressed_cells(organ, parts_->first[tool] + 1, parts_->first[tool + 1], cells_);
    const double half = 0.5 * static_cast<double>(organ.tissue.lattice.spacing);
    if (closes && is_between(organ, shapes, parts_->first[tool]))
      for (const PartShape& shape : shapes) {
        const PosedPart posed(shape, frame_at(motion, shape, 1.0));
        cells_at(organ.tissue.lattice, organ.state.x, posed, shape.radius + half, cells_);
      }
    std::sort(cells_.begin(), cells_.end());
    cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
    if (!cells_.empty()) take_over(k, remove_cells(*organ.sculpture, organ.tissue, cells_), kTorn);
  }
}

// Soft tissue that is pulled too far comes apart.
void TissueWorld::tear_overstretched() {
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    if (!(tears_at_[k] > 0.f) || !organ.sculpture) continue;
    overstretched_cells(organ.tissue.lattice, organ.state.x, tears_at_[k], cells_);
    if (!cells_.empty()) take_over(k, remove_cells(*organ.sculpture, organ.tissue, cells_), kTorn);
  }
}

// Cuts or coagulates the tissue around the hot wire where it touches an organ.
void TissueWorld::burn_with(Instruments& all, std::size_t tool, double dt) {
  Instrument& instrument = all.list()[tool];
  wire_.move(instrument, all.shapes(tool), all.motion(tool));
  HotMetal hot{wire_.metal(), {}, coagulation_params(instrument.hook), static_cast<float>(dt)};
  if (instrument.energy == Diathermy::Cut) hot.cut = wire_.cut();
  bonds_.burn(hot.cut);
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    if (is_sheet(organ)) burn_sheet_with(k, instrument, dt);
    if (!organ.sculpture) continue;
    const glm::vec3 dent = deepest_dent(organ, *parts_, tool);
    wire_.shift(dent);
    if (wire_.acts_on(organ)) {
      instrument.heats |= organ_bit(k);
      wire_.widen(melt_[k]);
      take_over(k, cauterise(*organ.sculpture, organ.tissue, organ.state, hot, coagulated_), kBurnt);
      wire_.widen(-melt_[k]);
      show_coagulation(organ, coagulated_);
    }
    wire_.shift(-dent);
  }
}

// Burns a sheet, or chars it.
void TissueWorld::burn_sheet_with(std::size_t k, Instrument& instrument, double dt) {
  Organ& organ = organs_[k];
  if (!wire_.touches(organ)) return;
  instrument.heats |= organ_bit(k);
  if (instrument.energy == Diathermy::Cut) {
    wire_.widen(melt_[k]);
    if (burn_sheet(organ, wire_.cut())) take_over_sheet(k);
    wire_.widen(-melt_[k]);
  } else {
    coagulate_sheet(organ, wire_.metal(), dt);
  }
}

void TissueWorld::take_over_sheet(std::size_t k) {
  tissue_removed(models_, static_cast<std::uint32_t>(k), {}, organ_contacts_);
  bonds_.follow_change();
  film_.follow_change(k, organs_[k]);
}

void TissueWorld::take_over(std::size_t k, const SculptChange& change, DamageMark how) {
  if (change.nothing()) return;
  tissue_removed(models_, static_cast<std::uint32_t>(k), change.cells, organ_contacts_);
  take_over_change(organs_[k], how);
  bonds_.follow_change();
  show_coagulation_of_new(organs_[k]);
  bleeding_.follow_change(static_cast<std::uint32_t>(k), organs_[k], change, how);
  film_.follow_change(k, organs_[k]);
}

}  // namespace trocar
