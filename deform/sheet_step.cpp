#include "deform/sheet_step.hpp"

#include <algorithm>
#include <cmath>

#include "deform/point_loads.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dvec3;

// Supports and holds are this much stiffer than the sheet is along itself, and at least so stiff, N/m.
constexpr double kHardness = 20.0, kLeastHardness = 2e3;
// A support at an organ gives way by at most this share of what its inertia would let it.
constexpr double kTheta = 0.5;
// An overlap is taken back by this share in a step, so that it gives hardly any speed.
constexpr double kTakenBack = 0.2, kTakenBackByOrgans = 0.5;
// A contact with an organ that is further away bears nothing in the next step.
constexpr float kBears = 2e-4f;  // m
// Where the surfaces are this far apart, the lasting part loses this share in a step.
constexpr float kApart = 1e-4f, kLetGo = 0.3f;  // m, 1
// A step is repeated with the contacts that it went through by more than this, at most so often.
constexpr double kMissed = 5e-5;  // m
constexpr int kMostRepeats = 2;
// Steps of a sheet in which the lasting part of a support's force takes over.
constexpr double kLeanSteps = 10.0;
// A tool further away than this does not matter in a step.
constexpr float kToolRange = 2e-3f;  // m

double hardness_of(const TissueModel& model) {
  return std::max(kHardness * section_of(model.slab.sheet.params).stretch, kLeastHardness);
}

dvec3 sheet_velocity(const SlabModel& slab, const SheetState& state, const SheetPoint& point) {
  const auto& node = slab.sheet.faces[point.face].node;
  return point.weight[0] * state.v[node[0]] + point.weight[1] * state.v[node[1]] + point.weight[2] * state.v[node[2]];
}

SheetPoint sheet_point(const SlabModel& slab, const PreparedPoint& c) {
  const auto nodes = static_cast<std::size_t>(c.nodes);
  return point_on(slab, std::span(c.node).first(nodes), std::span(c.weight).first(nodes));
}

glm::vec3 pressed_place(const PreparedPoint& c, const NodeColumns& x) {
  return weighted_sum<glm::vec3>(c.node.data(), c.weight.data(), c.nodes,
                                 [&x](std::uint32_t n) { return column(x, n); });
}

// A contact of a point `depth` beyond a plane that moves with `velocity`, of which a `share` is taken back in the step;
// `lasting`: N, what it bears already. It bears
// unless the point leaves the plane, or does not reach it within the step.
SlabContact make_contact(const TissueModel& model, const SheetState& state, const SheetSupport& plane, double depth,
                         double lasting, double share, double dt, std::uint32_t source) {
  SlabContact c{plane, depth, plane.stiffness, source};
  const double back = (depth > 0.0 ? share * depth : depth) + lasting / plane.stiffness;
  c.support.position = position(model.slab.sheet, state.x, plane.point) + back * plane.normal;
  c.support.arrives = !(back > 0.0);
  const dvec3 speed = plane.velocity - sheet_velocity(model.slab, state, plane.point);
  if (!(std::max(back, depth) + dt * glm::dot(plane.normal, speed) > 0.0)) c.support.stiffness = 0.0;
  return c;
}

bool same_sheet_point(const SheetModel& sheet, const SheetPoint& a, const SheetPoint& b) {
  for (int i = 0; i < 3; ++i) {
    if (a.weight[i] == 0.0) continue;
    const std::uint32_t node = sheet.faces[a.face].node[static_cast<std::size_t>(i)];
    bool found = false;
    for (int j = 0; j < 3; ++j)
      found = found || (b.weight[j] != 0.0 && sheet.faces[b.face].node[static_cast<std::size_t>(j)] == node);
    if (!found) return false;
  }
  return true;
}

// Keeps the deepest of the contacts of a tool with the same node, edge or face.
void keep_deepest(const SheetModel& sheet, const TissueLoads& loads, const SlabContact& contact,
                  std::vector<SlabContact>& list) {
  const auto tool_of = [&](const SlabContact& c) { return loads.contacts[c.source].tool; };
  for (SlabContact& c : list) {
    const SheetPoint &a = c.support.point, &b = contact.support.point;
    if (tool_of(c) != tool_of(contact) || !same_sheet_point(sheet, a, b) || !same_sheet_point(sheet, b, a)) continue;
    if (contact.depth > c.depth) c = contact;
    return;
  }
  list.push_back(contact);
}

void press_with_tools(const TissueModel& model, const SheetState& state, const TissueLoads& loads,
                      const SheetSpan& span, TissueScratch& s) {
  s.slab.tools.clear();
  const float progress = static_cast<float>(span.last) / static_cast<float>(span.count);
  const double whole = static_cast<double>(span.dt) * span.count;
  pose_tools(loads, progress, s);
  for (std::uint32_t i = 0; i < s.contacts.size(); ++i) {
    PreparedPoint& c = s.contacts[i];
    c.pressed = glm::vec3(0.f);
    if (c.nodes == 0 || !face_pressed(loads, i, progress, s)) continue;
    const float gap = c.plane - glm::dot(c.normal, pressed_place(c, s.x));
    const SheetPoint point = sheet_point(model.slab, c);
    if (gap > kToolRange || point.face == kNoPoint) continue;
    SheetSupport plane{};
    const dvec3 slide = dvec3(c.slide) / whole;
    plane.point = point, plane.normal = -dvec3(c.normal);
    plane.velocity = slide - glm::dot(slide, plane.normal) * plane.normal;
    plane.stiffness = hardness_of(model);
    plane.friction = loads.contacts[i].smooth ? 0.0 : static_cast<double>(model.params.friction);
    const double depth = static_cast<double>(-gap);
    keep_deepest(model.slab.sheet, loads, make_contact(model, state, plane, depth, 0.0, kTakenBack, span.seconds(), i),
                 s.slab.tools);
  }
}

void hold_points(const TissueModel& model, const SheetState& state, const TissueLoads& loads, const SheetSpan& span,
                 TissueScratch& s) {
  SlabScratch& slab = s.slab;
  const double count = span.count, begun = (span.first - 1) / count, whole = static_cast<double>(span.dt) * count;
  slab.held.assign(s.holds.size(), kNoPoint);
  for (std::size_t i = 0; i < s.holds.size(); ++i) {
    const PreparedPoint& c = s.holds[i];
    if (c.nodes == 0) continue;
    const SheetPoint point = sheet_point(model.slab, c);
    if (point.face == kNoPoint) continue;
    const TissueHold& hold = loads.holds[i];
    const dvec3 from(hold.from), to(hold.to), p(pressed_place(c, s.x));
    SheetSpring spring{};
    spring.point = point;
    spring.anchor = position(model.slab.sheet, state.x, point) + glm::mix(from, to, begun) - p;
    spring.velocity = (to - from) / whole;
    spring.stiffness = hardness_of(model);
    spring.most = static_cast<double>(hold.limit);
    slab.held[i] = static_cast<std::uint32_t>(slab.springs.size());
    slab.springs.push_back(spring);
  }
}

void tie_down(const TissueModel& model, const SheetState& state, const glm::vec3& breath, const glm::vec3& breath_next,
              double dt, TissueScratch& s) {
  for (const Tether& tether : model.tethers) {
    const glm::vec3 moved = tether.diaphragm ? breath : glm::vec3(0.f);
    const std::uint32_t node = tether.node;
    const float whole = 1.f;
    SheetSpring spring{};
    spring.point = point_on(model.slab, {&node, 1}, {&whole, 1});
    if (spring.point.face == kNoPoint) continue;
    spring.anchor =
        position(model.slab.sheet, state.x, spring.point) + dvec3(model.rest[node] + moved) - dvec3(column(s.x, node));
    if (tether.diaphragm) spring.velocity = dvec3(breath_next - breath) / dt;
    spring.stiffness = static_cast<double>(tether.stiffness);
    s.slab.springs.push_back(spring);
  }
}

void move_fixed(const TissueModel& model, const glm::vec3& breath_next, double dt, SheetState& state) {
  for (const SlabFixed& fixed : model.slab.fixed) {
    const dvec3 to = model.slab.rest[fixed.node] + dvec3(fixed.diaphragm ? breath_next : glm::vec3(0.f));
    state.v[fixed.node] = (to - state.x[fixed.node]) / dt;
  }
}

void stop_at_floor(const TissueModel& model, SlabScratch& s, SheetState& state) {
  const dvec3 down(model.floor.down);
  const auto height = static_cast<double>(model.floor.height);
  const auto beyond = [&](std::size_t k) {
    return model.slab.sheet.fixed[k] || model.gravity[2 * k] == glm::vec3(0.f) ? 0.0
                                                                               : glm::dot(down, state.x[k]) - height;
  };
  bool any = false;
  for (std::size_t k = 0; k < state.x.size(); ++k) any = any || beyond(k) > 0.0;
  if (!any) return;
  s.floor.assign(state.x.begin(), state.x.end());
  for (std::size_t k = 0; k < state.x.size(); ++k)
    if (const double by = beyond(k); by > 0.0) state.x[k] -= by * down, state.v[k] = dvec3(0.0);
  follow_nodes(model.slab.sheet, s.floor, state);
}

void carry_columns(const TissueModel& model, const SheetState& state, TissueScratch& s) {
  const float ahead = model.params.damping_time;
  carry_nodes(model.slab, state, s.slab.normal, [&](std::uint32_t n, const dvec3& at, const dvec3& speed) {
    const glm::vec3 x(at), v(speed);
    s.x.x[n] = x.x, s.x.y[n] = x.y, s.x.z[n] = x.z;
    s.v.x[n] = v.x, s.v.y[n] = v.y, s.v.z[n] = v.z;
    s.ahead.x[n] = x.x + ahead * v.x, s.ahead.y[n] = x.y + ahead * v.y, s.ahead.z[n] = x.z + ahead * v.z;
  });
}

// A sheet is so light that its speed does not tell what it will touch. So the contacts that the step has gone through
// bear when it is repeated. Returns whether there are any.
bool find_missed(const SheetModel& sheet, const SheetState& state, double dt, SlabScratch& s) {
  bool any = false;
  for (std::size_t k = 0; k < s.supports.size(); ++k) {
    SheetSupport& support = s.supports[k];
    const SlabContact& c = k < s.tools.size() ? s.tools[k] : s.rests[k - s.tools.size()];
    if (support.stiffness > 0.0) continue;
    const dvec3 moved = position(sheet, state.x, support.point) - position(sheet, s.before.x, support.point);
    if (!(c.depth + glm::dot(support.normal, dt * support.velocity - moved) > kMissed)) continue;
    support.stiffness = c.stiffness;
    any = true;
  }
  return any;
}

// What instruments feel: pushes times the substep, as those of other organs (end_step).
void feel_sheet(const SheetSpan& span, TissueScratch& s) {
  const double scale = span.seconds() * static_cast<double>(span.dt);
  for (std::size_t k = 0; k < s.slab.tools.size(); ++k) {
    PreparedPoint& c = s.contacts[s.slab.tools[k].source];
    c.pressed = glm::vec3(scale * s.slab.supports[k].force);
    c.push -= c.pressed;
  }
  for (std::size_t i = 0; i < s.holds.size(); ++i)
    if (const std::uint32_t spring = s.slab.held[i]; spring != kNoPoint)
      s.holds[i].push -= glm::vec3(scale * s.slab.springs[spring].force);
  for (PreparedPoint& c : s.contacts)
    if (c.nodes > 0) c.before = pressed_place(c, s.x);
}

bool is_solid_organ(const TissueModel& model) { return model.tube.empty() && model.slab.empty(); }

// The point of an organ that a sheet pushes or pulls.
struct Opposite {
  std::uint32_t organ;
  std::array<std::uint32_t, 8> node;
  std::array<float, 8> weight;
};

Opposite opposite_of(const PairContact& c) {
  Opposite o{c.b, {}, {}};
  std::copy_n(c.on_b.node, 8, o.node.begin()), std::copy_n(c.on_b.weight, 8, o.weight.begin());
  return o;
}
Opposite opposite_of(const BondEnd& end, std::span<const TissueModel* const> models) {
  return {end.organ, models[end.organ]->lattice.cells[end.cell].node, end.weight};
}

template <class Value>
glm::vec3 sum_at(const Opposite& o, Value value) {
  return weighted_sum<glm::vec3>(o.node.data(), o.weight.data(), 8, value);
}

void share_load(const Opposite& o, std::span<SteppedTissue* const> states) {
  std::vector<float>& shared = states[o.organ]->scratch.slab.shared;
  for (std::size_t i = 0; i < 8; ++i) shared[o.node[i]] += std::abs(o.weight[i]);
}

// Bounds the displacement of the point per unit of push at this and all other points that share its nodes, 1/kg. A
// point outside its cell has negative weights too: pushes with different signs do not cancel for certain.
double yield_of(const Opposite& o, std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states) {
  const std::vector<float>& shared = states[o.organ]->scratch.slab.shared;
  float sum = 0.f;
  for (std::size_t i = 0; i < 8; ++i)
    sum += std::abs(o.weight[i]) * models[o.organ]->inverse_mass[o.node[i]] * shared[o.node[i]];
  return static_cast<double>(sum);
}

// One sheet and what is around it.
struct Neighbourhood {
  std::uint32_t organ;
  std::span<const TissueModel* const> models;
  std::span<SteppedTissue* const> states;
  const SheetSpan& span;
  OrganContacts& contacts;
  const Bonds& bonds;

  const TissueModel& model() const { return *models[organ]; }
  SteppedTissue& state() const { return *states[organ]; }

  float gap_of(const PairContact& c) const {
    return glm::dot(c.normal, weighted(c.on_a, state().scratch.x) - weighted(c.on_b, states[c.b]->scratch.x)) +
           c.offset;
  }
  bool matters(const PairContact& c) const {
    return c.a == organ && is_solid_organ(*models[c.b]) && (c.gap < kToolRange || state().slab.lean[c.vertex] > 0.f);
  }
  const BondEnd* other_end(const Fibre& fibre, bool at_a) const {
    return (at_a ? fibre.a : fibre.b).organ == organ ? &(at_a ? fibre.b : fibre.a) : nullptr;
  }
  template <class Each>
  void for_each_fibre(Each each) const {
    for (std::uint32_t f = 0; f < bonds.fibres.size(); ++f)
      for (const bool at_a : {true, false})
        if (bonds.intact[f])
          if (const BondEnd* other = other_end(bonds.fibres[f], at_a)) each(f, at_a, *other);
  }

  void meet() const;
  void rest_on(std::uint32_t number, PairContact& c) const;
  void join(std::uint32_t number, bool at_a, const BondEnd& other) const;
  void leave() const;
};

void Neighbourhood::meet() const {
  SlabScratch& s = state().scratch.slab;
  s.joints.clear(), s.bonds.clear(), s.rests.clear();
  for (SteppedTissue* other : states) other->scratch.slab.shared.assign(other->x.size(), 0.f);
  for (PairContact& c : contacts.contacts) {
    if (c.a != organ) continue;
    c.gap = gap_of(c), c.pressed = 0.f;
    if (matters(c) && (c.gap < kBears || state().slab.lean[c.vertex] > 0.f)) share_load(opposite_of(c), states);
  }
  for_each_fibre([&](std::uint32_t, bool, const BondEnd& other) {
    if (other.organ != kWall && is_solid_organ(*models[other.organ])) share_load(opposite_of(other, models), states);
  });
  for (std::uint32_t i = 0; i < contacts.contacts.size(); ++i)
    if (matters(contacts.contacts[i])) rest_on(i, contacts.contacts[i]);
  for_each_fibre([&](std::uint32_t f, bool at_a, const BondEnd& other) { join(f, at_a, other); });
}

void Neighbourhood::rest_on(std::uint32_t number, PairContact& c) const {
  SlabScratch& s = state().scratch.slab;
  const Opposite opposite = opposite_of(c);
  const double dt = span.seconds(), gap = static_cast<double>(c.gap);
  const double stiffness = 1.0 / (1.0 / hardness_of(model()) + yield_of(opposite, models, states) * dt * dt / kTheta);
  float &lean = state().slab.lean[c.vertex], none = 0.f;
  const bool same = state().slab.lean_on[c.vertex] == c.b || lean == 0.f;
  float& lasting = same ? lean : none;
  lasting = std::max(lasting - static_cast<float>(stiffness * gap / kLeanSteps), 0.f);
  lasting *= 1.f - kLetGo * std::clamp(c.gap / kApart, 0.f, 1.f);
  if (same) state().slab.lean_on[c.vertex] = c.b;
  const dvec3 velocity(sum_at(opposite, [&](std::uint32_t n) { return column(states[c.b]->scratch.v, n); }));
  SheetSupport plane{};
  plane.point = point_on(model().slab, c.on_a.node, c.on_a.weight);
  if (plane.point.face == kNoPoint) return;
  plane.normal = dvec3(c.normal), plane.velocity = velocity;
  plane.stiffness = stiffness, plane.friction = static_cast<double>(model().params.friction);
  s.rests.push_back(make_contact(model(), state().slab.sheet, plane, -gap, static_cast<double>(lasting),
                                 kTakenBackByOrgans, dt, number));
}

void Neighbourhood::join(std::uint32_t number, bool at_a, const BondEnd& other) const {
  const Fibre& fibre = bonds.fibres[number];
  const BondEnd& end = at_a ? fibre.a : fibre.b;
  SlabScratch& s = state().scratch.slab;
  const Opposite here = opposite_of(end, models);
  SheetSpring spring{};
  spring.point = point_on(model().slab, here.node, here.weight);
  if (spring.point.face == kNoPoint) return;
  const dvec3 p(sum_at(here, [&](std::uint32_t n) { return column(state().scratch.x, n); }));
  dvec3 q(other.point);
  double stiffness = static_cast<double>(fibre.stiffness), share = 1.0;
  const double dt = span.seconds();
  if (other.organ != kWall) {
    const Opposite there = opposite_of(other, models);
    const TissueScratch& s_there = states[other.organ]->scratch;
    q = dvec3(sum_at(there, [&](std::uint32_t n) { return column(s_there.x, n); }));
    spring.velocity = dvec3(sum_at(there, [&](std::uint32_t n) { return column(s_there.v, n); }));
    // Two thin organs do not know of each other's motion in the step: with twice the stiffness they do not swing up.
    if (is_solid_organ(*models[other.organ])) {
      stiffness /= 1.0 + stiffness * yield_of(there, models, states) * dt * dt;
    } else {
      stiffness *= 2.0, share = 0.5;
    }
  }
  const dvec3 apart = q - p;
  const double length = glm::length(apart), free = static_cast<double>(fibre.free_length);
  if (free > 0.0 && !(length > free)) return;
  const dvec3 stretch = free > 0.0 ? apart * (1.0 - free / length) : apart;
  spring.anchor = position(model().slab.sheet, state().slab.sheet.x, spring.point) + share * stretch;
  spring.stiffness = stiffness;
  s.joints.push_back({number, 0, at_a});
  s.bonds.push_back(spring);
}

void Neighbourhood::leave() const {
  SlabScratch& s = state().scratch.slab;
  s.pushes.clear();
  for (std::size_t k = 0; k < s.rests.size(); ++k) {
    const glm::vec3 force(s.supports[s.tools.size() + k].force);
    PairContact& c = contacts.contacts[s.rests[k].source];
    // What lasts is never more than what was borne: a load that leaves takes it along.
    float& lean = state().slab.lean[c.vertex];
    if (state().slab.lean_on[c.vertex] == c.b) lean = std::min(lean, std::max(glm::dot(force, c.normal), 0.f));
    if (force == glm::vec3(0.f)) continue;
    c.impulse += static_cast<float>(span.seconds()) * force;
    const Opposite o = opposite_of(c);
    s.pushes.push_back({o.organ, o.node, o.weight, -force});
  }
  for (const SlabScratch::Joint& joint : s.joints) {
    const Fibre& fibre = bonds.fibres[joint.fibre];
    const BondEnd& other = joint.at_a ? fibre.b : fibre.a;
    if (other.organ == kWall || !is_solid_organ(*models[other.organ])) continue;
    const Opposite o = opposite_of(other, models);
    s.pushes.push_back({o.organ, o.node, o.weight, glm::vec3(-s.springs[joint.spring].force)});
  }
  // Vertices that no contact lists lean on nothing.
  for (const PairContact& c : contacts.contacts)
    if (c.a == organ && state().slab.lean_on[c.vertex] == c.b) state().slab.lean_on[c.vertex] |= 0x80000000u;
  for (std::size_t v = 0; v < state().slab.lean.size(); ++v) {
    std::uint32_t& on = state().slab.lean_on[v];
    if (!(on & 0x80000000u)) state().slab.lean[v] = 0.f;
    on &= 0x7fffffffu;
  }
}

}  // namespace

// Steps of nearly equal length: what a step cannot resolve, an organ's yielding, depends on it.
SheetSpan sheet_span(int number, int count, float dt) {
  const int longest = std::max(1, static_cast<int>(kLongestSheetStep / dt)), steps = (count + longest - 1) / longest;
  for (int step = 0; step < steps; ++step)
    if (step * count / steps + 1 == number) return {number, (step + 1) * count / steps, count, dt};
  return {number, number - 1, count, dt};
}

void begin_sheet(const TissueModel& model, SteppedTissue& state, const TissueLoads&) {
  SlabScratch& s = state.scratch.slab;
  s.joints.clear(), s.bonds.clear(), s.rests.clear(), s.pushes.clear();
  const std::size_t nodes = model.slab.nodes();
  s.weight.resize(nodes);
  for (std::size_t k = 0; k < nodes; ++k) s.weight[k] = model.slab.sheet.mass[k] * dvec3(model.gravity[2 * k]);
}

void meet_neighbours(std::span<const std::size_t> sheets, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states, const SheetSpan& span, OrganContacts& contacts,
                     const Bonds& bonds) {
  for (const std::size_t k : sheets)
    Neighbourhood{static_cast<std::uint32_t>(k), models, states, span, contacts, bonds}.meet();
}

void advance_sheet(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const SheetSpan& span) {
  TissueScratch& s = state.scratch;
  SheetState& sheet = state.slab.sheet;
  const double dt = span.seconds(), time = state.time + static_cast<double>(span.dt) * (span.first - 1);
  const glm::vec3 breath_before = breath(model.breathing, time), breath_now = breath(model.breathing, time + dt);
  s.slab.springs.clear();
  press_with_tools(model, sheet, loads, span, s);
  hold_points(model, sheet, loads, span, s);
  tie_down(model, sheet, breath_before, breath_now, dt, s);
  for (std::size_t k = 0; k < s.slab.bonds.size(); ++k) {
    s.slab.joints[k].spring = static_cast<std::uint32_t>(s.slab.springs.size());
    s.slab.springs.push_back(s.slab.bonds[k]);
  }
  s.slab.supports.clear();
  for (const std::vector<SlabContact>* list : {&s.slab.tools, &s.slab.rests})
    for (const SlabContact& c : *list) s.slab.supports.push_back(c.support);
  move_fixed(model, breath_now, dt, sheet);
  s.slab.before = sheet;
  for (int pass = 0;; ++pass) {
    step(model.slab.sheet, sheet, {s.slab.weight, {}, 0.0, s.slab.springs, s.slab.supports}, dt, s.slab.sheet);
    if (pass == kMostRepeats || !find_missed(model.slab.sheet, sheet, dt, s.slab)) break;
    sheet = s.slab.before;
  }
  if (model.floor.down != glm::vec3(0.f)) stop_at_floor(model, s.slab, sheet);
  carry_columns(model, sheet, s);
  feel_sheet(span, s);
}

void leave_neighbours(std::span<const std::size_t> sheets, std::span<const TissueModel* const> models,
                      std::span<SteppedTissue* const> states, const SheetSpan& span, OrganContacts& contacts,
                      const Bonds& bonds) {
  for (const std::size_t k : sheets)
    Neighbourhood{static_cast<std::uint32_t>(k), models, states, span, contacts, bonds}.leave();
}

void push_neighbours(std::span<const std::size_t> sheets, std::span<const TissueModel* const>,
                     std::span<SteppedTissue* const> states) {
  for (const std::size_t k : sheets)
    for (const SlabPush& push : states[k]->scratch.slab.pushes) {
      NodeColumns& sum = states[push.organ]->scratch.force;
      for (std::size_t i = 0; i < 8; ++i) {
        const std::uint32_t n = push.node[i];
        const glm::vec3 share = push.weight[i] * push.force;
        sum.x[n] += share.x, sum.y[n] += share.y, sum.z[n] += share.z;
      }
    }
}

}  // namespace trocar
