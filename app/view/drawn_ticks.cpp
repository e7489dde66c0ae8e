#include "app/view/drawn_ticks.hpp"

#include <algorithm>
#include <cmath>
#include <glm/glm.hpp>

#include "app/view/view.hpp"

namespace trocar {
namespace {

template <typename T, typename From>
void copy(const From& from, std::vector<T>& to) {
  to.assign(from.begin(), from.end());
}

double mix_turn(double from_deg, double to_deg, double share) {
  return from_deg + share * std::remainder(to_deg - from_deg, 360.0);
}

}  // namespace

void DrawnTicks::keep(const Session& session, std::size_t k, Surface& kept) {
  const Organ& organ = session.organs()[k];
  // Faces and vertices at rest change only with the topology; a surface that was never kept has no vertices.
  if (kept.rest.size() != organ.mesh.positions.size() || kept.topology != organ.topology) {
    kept.rest = organ.mesh.positions;
    kept.faces = organ.mesh.faces;
    kept.topology = organ.topology;
  }
  kept.colour = organ.colour;
  kept.look = organ.look;
  kept.opacity = organ_opacity(organ);
  kept.positions = organ.positions;
  kept.charred = organ.charred;
  copy(session.film().look(k), kept.wet);
  kept.touches.clear(), kept.touch_first.clear(), kept.tip_faces.clear(), kept.tip_first.clear();
  // After a cut, the slots of the touched faces are out of date until the next frame.
  if (!organ.change.empty()) return;
  copy(organ.touches.touches, kept.touches);
  copy(organ.touches.first, kept.touch_first);
  kept.tip_faces = organ.tip_faces;
  kept.tip_first = organ.tip_first;
}

void DrawnTicks::keep(const Session& session, std::uint64_t number, double time) {
  newest_ = (newest_ + 1) % ticks_.size();
  kept_ = std::min(kept_ + 1, ticks_.size());
  Tick& tick = ticks_[newest_];
  tick.number = number;
  tick.time = time;
  tick.organs.resize(session.organs().size());
  for (std::size_t k = 0; k < tick.organs.size(); ++k) keep(session, k, tick.organs[k]);
  drawn_tools(session, tick.tools);
  const Bonds& bonds = session.bonds().bonds();
  tick.ends.resize(bonds.fibres.size());
  tick.reference.resize(bonds.fibres.size());
  copy(bonds.intact, tick.whole);
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
    if (!tick.whole[f]) continue;
    tick.ends[f] = session.bonds().ends(f);
    tick.reference[f] = bonds.fibres[f].reference;
  }
  tick.clips.clear();
  for (const PlacedClip& placed : session.clips().clips())
    if (placed.on()) tick.clips.push_back(placed);
  tick.blood_area = session.film().blood_area();
  tick.jets.clear();
  for (const Spurt& spurt : session.film().spurts()) add_jet(spurt, tick.jets);
  tick.pool = pool_of(session);
  tick.scope = session.scope().pose;
  tick.lens = session.scope().lens;
}

void DrawnTicks::mix_organs(const Tick& from, const Tick& to, float share) {
  organs_.clear();
  positions_.resize(to.organs.size());
  for (std::size_t k = 0; k < to.organs.size(); ++k) {
    const std::vector<glm::vec3>&a = from.organs[k].positions, &b = to.organs[k].positions;
    // Vertices that a cut has made have no position before it.
    const std::size_t both = std::min(a.size(), b.size());
    std::vector<glm::vec3>& mixed = positions_[k];
    mixed.resize(b.size());
    for (std::size_t v = 0; v < both; ++v) mixed[v] = glm::mix(a[v], b[v], share);
    std::copy(b.begin() + static_cast<std::ptrdiff_t>(both), b.end(),
              mixed.begin() + static_cast<std::ptrdiff_t>(both));
    const Surface& surface = to.organs[k];
    DrawnOrgan drawn;
    drawn.rest = {surface.rest, surface.faces};
    drawn.colour = surface.colour;
    drawn.look = surface.look;
    drawn.opacity = surface.opacity;
    drawn.positions = mixed;
    drawn.touches = {surface.touches, surface.touch_first};
    drawn.charred = surface.charred;
    drawn.wet = surface.wet;
    drawn.topology = surface.topology;
    drawn.tip_faces = surface.tip_faces;
    drawn.tip_first = surface.tip_first;
    organs_.push_back(drawn);
  }
}

void DrawnTicks::mix_tools(const Tick& from, const Tick& to, double share) {
  tools_ = to.tools;
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const DrawnTool& before = from.tools[k];
    DrawnTool& tool = tools_[k];
    tool.pose.pivot = glm::mix(before.pose.pivot, tool.pose.pivot, share);
    tool.pose.tip = glm::mix(before.pose.tip, tool.pose.tip, share);
    tool.roll_deg = mix_turn(before.roll_deg, tool.roll_deg, share);
    tool.grip = glm::mix(before.grip, tool.grip, share);
  }
}

void DrawnTicks::mix_bonds(const Tick& from, const Tick& to, float share) {
  bonds_.strands.clear();
  for (std::size_t f = 0; f < to.ends.size(); ++f) {
    if (!to.whole[f]) continue;
    const FibreEnds& b = to.ends[f];
    const FibreEnds& a = f < from.ends.size() && from.whole[f] ? from.ends[f] : b;
    add_strand({glm::mix(a.a, b.a, share), glm::mix(a.b, b.b, share)}, to.reference[f], bonds_.strands);
  }
  bonds_.clips.clear();
  for (const PlacedClip& placed : to.clips)
    bonds_.clips.push_back({pose_of(placed.clip, positions_[placed.clip.organ]), placed.length});
  bonds_.blood_area = to.blood_area;
  bonds_.jets = to.jets;
  bonds_.pool = to.pool;
}

DrawnMoment DrawnTicks::at(double when) {
  const Tick &to = ticks_[newest_], &from = ticks_[(newest_ + (kept_ > 1 ? ticks_.size() - 1 : 0)) % ticks_.size()];
  const double apart = static_cast<double>(to.number) - static_cast<double>(from.number);
  const double share = apart > 0.0 ? std::clamp((when - static_cast<double>(from.number)) / apart, 0.0, 1.0) : 1.0;
  mix_organs(from, to, static_cast<float>(share));
  mix_tools(from, to, share);
  mix_bonds(from, to, static_cast<float>(share));
  DrawnMoment moment{organs_, tools_, &bonds_, to.scope, to.lens, from.time + share * (to.time - from.time)};
  moment.scope.port = glm::mix(from.scope.port, to.scope.port, share);
  moment.scope.eye = glm::mix(from.scope.eye, to.scope.eye, share);
  moment.scope.spin_deg = mix_turn(from.scope.spin_deg, to.scope.spin_deg, share);
  moment.scope.field_of_view_deg = glm::mix(from.scope.field_of_view_deg, to.scope.field_of_view_deg, share);
  return moment;
}

}  // namespace trocar
