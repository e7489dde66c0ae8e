#include "deform/tube_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "deform/point_loads.hpp"
#include "geometry/closest.hpp"

namespace trocar {
namespace {

// The springs that hold a tube between jaws, all together, are this much stiffer than an edge of its rod is along
// itself.
constexpr double kHoldStiffness = 20.0;  // 1
// Deeper overlaps of an instrument with a tube are taken back in several substeps.
constexpr double kDeepestPress = 0.2;  // radii
// A tube that is held or pressed by two jaws is flattened where it is nearer to both than this.
constexpr double kSqueezeReach = 1e-3;  // m
// Cosine between the directions to two jaws, below which they press from opposite sides.
constexpr double kOpposite = -0.3;  // 1

void size_tube(const TissueModel& model, const TissueLoads& loads, TubeScratch& s) {
  const std::size_t rods = model.tube.rods.size();
  s.anchors.resize(rods), s.contacts.resize(rods), s.source.resize(rods), s.weight.resize(rods);
  for (std::size_t r = 0; r < rods; ++r) s.anchors[r].clear(), s.contacts[r].clear(), s.source[r].clear();
  s.held.resize(loads.holds.size()), s.held_anchor.resize(loads.holds.size());
}

// Gravity of the lattice, on the rods' nodes.
void weigh_down(const TissueModel& model, TubeScratch& s) {
  for (std::size_t r = 0; r < s.weight.size(); ++r) s.weight[r].assign(model.tube.rods[r].rest.size(), glm::dvec3(0.0));
  for (std::size_t n = 0; n < model.gravity.size(); ++n) {
    const TubeNode& node = model.tube.nodes[n];
    const glm::dvec3 weight(model.mass[n] * model.gravity[n]);
    s.weight[node.rod][node.edge] += static_cast<double>(1.f - node.share) * weight;
    s.weight[node.rod][node.edge + 1] += static_cast<double>(node.share) * weight;
  }
}

// The direction from the nearest point of an edge to a jaw (unit), and the room between the axis and where the jaw's
// contacts leave the wall (m).
struct JawSide {
  glm::dvec3 direction;
  double room;
  double share;  // 1, along the edge
};

std::optional<JawSide> side_of(const PosedPart& posed, double radius, const std::array<glm::dvec3, 2>& edge,
                               double range) {
  const HullDistance to = hull_distance(posed.corners(), edge, range + radius);
  if (!(to.distance < range + radius) || !(to.distance > 0.0)) return std::nullopt;
  const glm::dvec3 along = edge[1] - edge[0];
  const double share = std::clamp(glm::dot(to.on_second - edge[0], along) / glm::dot(along, along), 0.0, 1.0);
  return JawSide{(to.on_first - to.on_second) / to.distance, to.distance - static_cast<double>(pressed_radius(radius)),
                 share};
}

bool are_jaws(const MovingPart& a, const MovingPart& b) {
  return a.shape && b.shape && a.motion == b.motion && a.shape->side * b.shape->side < 0.0;
}

// Lists where two jaws of an instrument press a tube from both sides.
void squeeze_with_jaws(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TubeScratch& s) {
  if (loads.contacts.empty() && loads.holds.empty()) return;
  const std::vector<PosedPart>& posed = state.scratch.posed;
  const double range = model.tube.params.radius + kSqueezeReach;
  for (std::size_t k = 0; k + 1 < loads.tools.size(); ++k) {
    if (!are_jaws(loads.tools[k].part, loads.tools[k + 1].part)) continue;
    for (std::uint32_t r = 0; r < state.tube.rods.size(); ++r)
      for (std::uint32_t e = 0; e < state.tube.rods[r].axis.size(); ++e) {
        const std::array<glm::dvec3, 2> edge{state.tube.rods[r].x[e], state.tube.rods[r].x[e + 1]};
        const auto up = side_of(posed[k], loads.tools[k].part.shape->radius, edge, range);
        const auto down = up ? side_of(posed[k + 1], loads.tools[k + 1].part.shape->radius, edge, range) : up;
        if (!down || glm::dot(up->direction, down->direction) > kOpposite) continue;
        const glm::dvec3 across = glm::normalize(up->direction - down->direction);
        const double share = 0.5 * (up->share + down->share);
        const glm::dvec3 middle = glm::mix(edge[0], edge[1], share) + 0.5 * (up->room - down->room) * across;
        s.squeezes.push_back({r, e, share, up->room + down->room, {}, across, middle});
      }
  }
}

// Those of the substep before.
void forget_tool_contacts(TubeScratch& s) {
  for (std::size_t r = 0; r < s.contacts.size(); ++r) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < s.contacts[r].size(); ++k)
      if (s.contacts[r][k].obstacle >= kOrganObstacles)
        s.contacts[r][kept] = s.contacts[r][k], s.source[r][kept] = s.source[r][k], ++kept;
    s.contacts[r].erase(s.contacts[r].begin() + static_cast<std::ptrdiff_t>(kept), s.contacts[r].end());
    s.source[r].resize(kept);
  }
}

// Where jaws press from both sides.
const TubeSqueeze* squeeze_of(const TubePoint& point, const TubeScratch& s) {
  const auto at = std::ranges::find_if(
      s.squeezes, [&](const TubeSqueeze& q) { return q.jaws() && q.rod == point.rod && q.edge == point.at.edge; });
  return at == s.squeezes.end() ? nullptr : &*at;
}

// A wall between two jaws is as flat as they press it. They push the axis to the middle between them, and
// do not turn the cross-section.
void press_between(const TissueModel& model, const SteppedTissue& state, const TubeSqueeze& squeeze,
                   RodContact& contact) {
  const std::vector<glm::dvec3>& x = state.tube.rods[squeeze.rod].x;
  const TubeSection* ends = &state.tube.sections[squeeze.rod][squeeze.edge];
  const double width = 2.0 * model.tube.params.radius * glm::mix(ends[0].flatness, ends[1].flatness, squeeze.share);
  const glm::dvec3 axis = glm::mix(x[squeeze.edge], x[squeeze.edge + 1], squeeze.share);
  const double side = glm::dot(contact.normal, squeeze.direction) > 0.0 ? 1.0 : -1.0;
  contact.at = {squeeze.edge, squeeze.share, glm::dvec3(0.0)};
  contact.normal = side * squeeze.direction;
  contact.gap = 0.5 * (squeeze.width - width) + glm::dot(axis - squeeze.middle, contact.normal);
}

// Contacts with instruments: one an edge and tool, the deepest.
void press_with_tools(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads,
                      const Substep& substep, TissueScratch& s) {
  const float progress = static_cast<float>(substep.number) / static_cast<float>(substep.count);
  if (s.contacts.empty()) return;
  pose_tools(loads, progress, s);
  const double deepest = -kDeepestPress * model.tube.params.radius;
  for (std::uint32_t i = 0; i < s.contacts.size(); ++i) {
    PreparedPoint& c = s.contacts[i];
    const glm::vec3 pressed = c.pressed;
    c.pressed = glm::vec3(0.f);
    if (c.nodes == 0) continue;
    if (!face_pressed(loads, i, progress, s)) continue;
    const std::uint32_t k = loads.contacts[i].tool;
    const glm::vec3 p = point_of(c, s.x);
    const float gap = c.plane - glm::dot(c.normal, p);
    if (gap > kIdle) continue;
    const auto nodes = static_cast<std::size_t>(c.nodes);
    const TubePoint point =
        point_on(model.tube, state.tube, std::span(c.node).first(nodes), std::span(c.weight).first(nodes), p);
    const double share = 1.0 / static_cast<double>(static_cast<float>(substep.count) * substep.dt);
    RodContact contact{k,
                       point.at,
                       -glm::dvec3(c.normal),
                       std::max(static_cast<double>(gap), deepest),
                       share * glm::dvec3(c.slide),
                       loads.contacts[i].smooth ? 0.0 : double(model.params.friction),
                       0.0,
                       glm::dvec3(pressed / substep.dt)};
    if (const TubeSqueeze* squeeze = squeeze_of(point, s.tube); squeeze && loads.tools[k].part.shape)
      press_between(model, state, *squeeze, contact);
    add_deepest(contact, i, s.tube.contacts[point.rod], s.tube.source[point.rod]);
  }
}

// Where a held point of a tube lies.
TubePoint held_point(const TissueModel& model, const SteppedTissue& state, const PreparedPoint& c,
                     const glm::dvec3& p) {
  const auto nodes = static_cast<std::size_t>(c.nodes);
  return point_on(model.tube, state.tube, std::span(c.node).first(nodes), std::span(c.weight).first(nodes), p);
}

// Jaws that close press the wall flat, and its points move apart between them. What holds them must not pull against
// that: of the ways of the points on one edge to the jaws, only the mean counts. Sets PreparedPoint::beside.
void forget_widening(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s) {
  for (std::size_t i = 0; i < s.holds.size(); ++i)
    if (s.holds[i].nodes > 0)
      s.tube.held[i] = held_point(model, state, s.holds[i], glm::dvec3(point_of(s.holds[i], s.x)));
  const auto together = [&](std::size_t i, std::size_t k) {
    return s.holds[k].nodes > 0 && s.tube.held[k].rod == s.tube.held[i].rod &&
           s.tube.held[k].at.edge == s.tube.held[i].at.edge;
  };
  for (std::size_t i = 0; i < s.holds.size(); ++i) {
    if (s.holds[i].nodes == 0) continue;
    glm::vec3 sum(0.f);
    float count = 0.f;
    for (std::size_t k = 0; k < s.holds.size(); ++k)
      if (together(i, k)) sum += loads.holds[k].from - point_of(s.holds[k], s.x), count += 1.f;
    s.holds[i].beside = loads.holds[i].from - point_of(s.holds[i], s.x) - sum / count;
  }
}

// Held points: springs to where the jaws take them. Across the jaws the wall gives way, and the axis stays in the
// middle.
void hold_tube(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, const Substep& substep,
               TissueScratch& s) {
  if (substep.number == 1) forget_widening(model, state, loads, s);
  const double count = substep.count, before = (substep.number - 1) / count;
  for (std::size_t i = 0; i < s.holds.size(); ++i) {
    const PreparedPoint& c = s.holds[i];
    s.tube.held_anchor[i] = UINT32_MAX;
    if (c.nodes == 0) continue;
    const TissueHold& hold = loads.holds[i];
    const glm::dvec3 p(point_of(c, s.x)), from(hold.from), to(hold.to);
    TubePoint point = held_point(model, state, c, p);
    const RodModel& rod = model.tube.rods[point.rod].model;
    const double k = kHoldStiffness * rod.stretch / (rod.length[point.at.edge] * static_cast<double>(s.holds.size()));
    glm::dvec3 way = glm::mix(from, to, before) - p;
    if (const TubeSqueeze* squeeze = squeeze_of(point, s.tube)) {
      const std::vector<glm::dvec3>& x = state.tube.rods[point.rod].x;
      const glm::dvec3 axis = glm::mix(x[squeeze->edge], x[squeeze->edge + 1], squeeze->share);
      way -= glm::dvec3(c.beside);
      way += glm::dot(squeeze->middle - axis - way, squeeze->direction) * squeeze->direction;
      point.at.arm = glm::dvec3(0.0);
    }
    RodAnchor spring{point.at, k * way, k * glm::dmat3(1.0), (to - from) / (count * static_cast<double>(substep.dt)),
                     static_cast<double>(hold.limit)};
    s.tube.held[i] = point;
    s.tube.held_anchor[i] = static_cast<std::uint32_t>(s.tube.anchors[point.rod].size());
    s.tube.anchors[point.rod].push_back(spring);
  }
}

// A node that is tied to where it is at rest.
void tie(const TissueModel& model, const SteppedTissue& state, std::uint32_t node, double k, const glm::vec3& moved,
         const glm::dvec3& speed, TissueScratch& s) {
  const glm::dvec3 p(column(s.x, node)), anchor(model.rest[node] + moved);
  const float whole = 1.f;
  const TubePoint point = point_on(model.tube, state.tube, {&node, 1}, {&whole, 1}, p);
  s.tube.anchors[point.rod].push_back({point.at, k * (anchor - p), k * glm::dmat3(1.0), speed});
}

void tie_tube(const TissueModel& model, const SteppedTissue& state, const glm::vec3& breath,
              const glm::vec3& breath_next, float dt, TissueScratch& s) {
  const glm::dvec3 speed((breath_next - breath) / dt), none(0.0);
  for (const TubeFixed& fixed : model.tube.fixed)
    tie(model, state, fixed.node, model.tube.fixing, fixed.diaphragm ? breath : glm::vec3(0.f),
        fixed.diaphragm ? speed : none, s);
  for (const Tether& tether : model.tethers)
    tie(model, state, tether.node, static_cast<double>(tether.stiffness), tether.diaphragm ? breath : glm::vec3(0.f),
        tether.diaphragm ? speed : none, s);
}

// What instruments feel.
void feel_tube(const Substep& substep, TissueScratch& s) {
  for (std::size_t r = 0; r < s.tube.contacts.size(); ++r)
    for (std::size_t k = 0; k < s.tube.contacts[r].size(); ++k) {
      const RodContact& contact = s.tube.contacts[r][k];
      if (contact.obstacle >= kOrganObstacles) continue;
      PreparedPoint& c = s.contacts[s.tube.source[r][k]];
      c.pressed = glm::vec3(static_cast<double>(substep.dt) * contact.impulse);
      c.push -= c.pressed;
    }
  for (std::size_t i = 0; i < s.holds.size(); ++i)
    if (const std::uint32_t anchor = s.tube.held_anchor[i]; anchor != UINT32_MAX)
      s.holds[i].push -= substep.dt * substep.dt * glm::vec3(s.tube.anchors[s.tube.held[i].rod][anchor].force);
  for (PreparedPoint& c : s.contacts)
    if (c.nodes > 0) c.before = point_of(c, s.x);
}

void stop_rod_at_floor(const Floor& floor, std::span<const glm::dvec3> weight, TubeScratch& s, RodState& rod) {
  const glm::dvec3 down(floor.down);
  const auto beyond = [&](const glm::dvec3& x) { return glm::dot(down, x) - static_cast<double>(floor.height); };
  bool any = false;
  for (std::size_t k = 0; k < rod.x.size(); ++k) any = any || (weight[k] != glm::dvec3(0.0) && beyond(rod.x[k]) > 0.0);
  if (!any) return;
  s.before = rod.x;
  for (std::size_t k = 0; k < rod.x.size(); ++k)
    if (weight[k] != glm::dvec3(0.0) && beyond(rod.x[k]) > 0.0)
      rod.x[k] -= beyond(rod.x[k]) * down, rod.v[k] = glm::dvec3(0.0);
  follow_nodes(s.before, rod);
}

}  // namespace

void begin_tube(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s) {
  size_tube(model, loads, s.tube);
  weigh_down(model, s.tube);
  s.tube.squeezes.clear();
  if (!loads.contacts.empty() || !loads.holds.empty()) pose_tools(loads, 1.f, s);
  squeeze_with_jaws(model, state, loads, s.tube);
}

void advance_tube(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep) {
  TissueScratch& s = state.scratch;
  const auto dt = static_cast<double>(substep.dt);
  const double time = state.time + dt * (substep.number - 1);
  const glm::vec3 breath_before = breath(model.breathing, time), breath_now = breath(model.breathing, time + dt);
  forget_tool_contacts(s.tube);
  press_with_tools(model, state, loads, substep, s);
  hold_tube(model, state, loads, substep, s);
  tie_tube(model, state, breath_before, breath_now, substep.dt, s);
  for (const TubeSqueeze& squeeze : s.tube.squeezes)
    if (squeeze.jaws()) state.tube.rods[squeeze.rod].spin[squeeze.edge] = 0.0;
  for (std::size_t r = 0; r < state.tube.rods.size(); ++r) {
    const TubeRod& rod = model.tube.rods[r];
    RodState& now = state.tube.rods[r];
    step(rod.model, now, {s.tube.weight[r], {}}, dt, s.tube.rod, s.tube.contacts[r], s.tube.anchors[r]);
    if (model.floor.down != glm::vec3(0.f)) stop_rod_at_floor(model.floor, s.tube.weight[r], s.tube, now);
  }
  carry_nodes(model.tube, state.tube, s.tube.carriers, {s.x.x, s.x.y, s.x.z}, {s.v.x, s.v.y, s.v.z});
  look_ahead(model.params.damping_time, s);
  feel_tube(substep, s);
}

// A clip holds the walls of a tube together.
void squeeze_with_clips(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                        const Bonds& bonds) {
  for (const Fibre& strut : bonds.struts) {
    if (strut.a.organ == kWall || models[strut.a.organ]->tube.empty()) continue;
    const TissueModel& model = *models[strut.a.organ];
    SteppedTissue& state = *states[strut.a.organ];
    const auto end_of = [&](const BondEnd& end) { return TubeEnd{model.lattice.cells[end.cell].node, end.weight}; };
    const glm::dvec2 across = direction_at_rest(model.tube, end_of(strut.a), end_of(strut.b));
    if (across == glm::dvec2(0.0)) continue;
    const TubePoint point = point_on(model.tube, state.tube, model.lattice.cells[strut.a.cell].node, strut.a.weight,
                                     glm::dvec3(ends_of(strut, models, states).a));
    state.scratch.tube.squeezes.push_back(
        {point.rod, point.at.edge, point.at.share, closed_width(model.tube.params), across});
  }
}

void forget_springs(TissueScratch& s) {
  for (std::vector<RodAnchor>& anchors : s.tube.anchors) anchors.clear();
}

}  // namespace trocar
