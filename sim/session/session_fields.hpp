// Lists the fields of a session on which the next frame depends, for ByteWriter and ByteReader. Data that a frame
// recomputes from them (queries, boxes, contacts, buffers) are not listed. The order is fixed: a change of it raises
// kSessionVersion. Tested in tests/sim/saved_session_test.cpp
#pragma once

#include "deform/contact/grasp.hpp"
#include "deform/contact/organ_contact.hpp"
#include "deform/cut/sculpt.hpp"
#include "deform/solid/tissue.hpp"
#include "sim/device/device_guard.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/session_bleeding.hpp"
#include "sim/session/session_clips.hpp"
#include "sim/session/session_film.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {

template <typename A>
void fields(A& a, Embedding& e) {
  a.raw(e.node, sizeof e.node);
  a.raw(e.weight, sizeof e.weight);
}

template <typename A>
void fields(A& a, TissueState& s) {
  all(a, s.x, s.v, s.time);
}

template <typename A>
void fields(A& a, Tether& t) {
  all(a, t.node, t.stiffness, t.diaphragm);
}

// The lattice's geometry and the parameters belong to the scene; cuts change the fields listed here.
template <typename A>
void fields(A& a, TissueModel& m) {
  for (LatticeCell& cell : m.lattice.cells) all(a, cell.fullness, cell.divided);
  all(a, m.mass, m.inverse_mass, m.gravity, m.stiffness, m.bulk, m.centre, m.tethers, m.diaphragm, m.embedding,
      m.longest_substep);
}

template <typename A>
void fields(A& a, SculptCell& c) {
  all(a, c.whole, c.at_first, c.left, c.host, c.dead, c.loose);
}

template <typename A>
void fields(A& a, SculptVertex& v) {
  all(a, v.anchor, v.reach, v.cell, v.wall, v.removed);
}

template <typename A>
void fields(A& a, RimEdge& e) {
  all(a, e.u, e.v, e.net);
}

template <typename A>
void fields(A& a, LiveFaces& f) {
  all(a, f.corners, f.id, f.kind, f.side, f.removed, f.next_id);
}

template <typename A>
void fields(A& a, SearField& s) {
  all(a, s.block, s.dose, s.char_dose);
}

template <typename A>
void fields(A& a, TissuePieces& p) {
  all(a, p.of, p.first);
}

template <typename A>
void fields(A& a, Sculpture& s) {
  all(a, s.voxels.kind, s.voxels.heat, s.cells, s.vertices, s.rest, s.faces, s.rim, s.corner_vertex, s.shown, s.hosted,
      s.pieces, s.any_held, s.severed, s.carried_voxels, s.slit_sides, s.seared);
}

// The contacts keep the faces that were near each tool in the last frame.
template <typename A>
void fields(A& a, ContactList& c) {
  all(a, c.candidates, c.first_candidate, c.met);
}

template <typename A>
void fields(A& a, TissueDamage& d) {
  all(a, d.peak, d.integral, d.marks);
}

template <typename A>
void fields(A& a, Organ& o) {
  TissueState& state = o.state;
  all(a, o.mesh.positions, o.mesh.faces, o.face_ids, o.tissue, state, o.charred, o.unused, o.damage, o.topology);
  if (o.sculpture) field(a, *o.sculpture);
  if constexpr (A::kReads) o.contacts.forget();
  field(a, o.contacts);
}

template <typename A>
void fields(A& a, OrganContacts& c) {
  for (RestDistance& distance : c.field) field(a, distance.value);
  for (auto& zero : c.zero) field(a, zero);
  for (auto& rim : c.rim) field(a, rim);
}

template <typename A>
void fields(A& a, PlacedClip& p) {
  all(a, p.clip.organ, p.clip.count, p.tool, p.length, p.stiffness, p.holds, p.along, p.closed);
  a.raw(p.clip.struts.data(), sizeof p.clip.struts);
}

template <typename A>
void fields(A& a, TubeState& t) {
  all(a, t.divided, t.clips_at_start, t.clips_at_end, t.at);
}

template <typename A>
void fields(A& a, BleedSource& s) {
  all(a, s.organ, s.vertex, s.kind, s.state, s.rate, s.half_time, s.clotting);
}

template <typename A>
void fields(A& a, FluidLoss& l) {
  all(a, l.blood, l.bile);
}

template <typename A>
void fields(A& a, FilmVolume& v) {
  a.raw(v.data(), sizeof v);
}

template <typename A>
void fields(A& a, FluidFilm& f) {
  all(a, f.volume, f.wet, f.next);
}

template <typename A>
void fields(A& a, FluidAmounts& f) {
  all(a, f.on, f.dripped, f.removed, f.rinsed);
}

template <typename A>
void fields(A& a, DevicePose& p) {
  all(a, p.pivot, p.tip, p.roll_deg, p.grip, p.energy, p.grip_force);
}

template <typename A>
void fields(A& a, GuardState& g) {
  all(a, g.last, g.frozen, g.since, g.duration, g.failed, g.returning, g.pedal_blocked);
}

template <typename A>
void fields(A& a, GraspedPoint& p) {
  all(a, p.vertex, p.point, p.between.x, p.between.from_hinge, p.between.share, p.area);
}

template <typename A>
void fields(A& a, Grasp& g) {
  all(a, g.points, g.first_opening, g.youngs_modulus, g.area, g.squeeze, g.resistance, g.pull, g.slipping, g.torn);
}

}  // namespace trocar
