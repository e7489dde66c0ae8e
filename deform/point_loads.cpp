#include "deform/point_loads.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deform/tool_dents.hpp"
#include "geometry/closest.hpp"
#include "geometry/frame.hpp"

namespace trocar {

glm::vec3 point_of(const PreparedPoint& c, const NodeColumns& x) {
  return weighted_sum<glm::vec3>(c.node.data(), c.weight.data(), c.nodes,
                                 [&x](std::uint32_t n) { return column(x, n); });
}

float pressed_radius(double radius) { return static_cast<float>(radius - std::min(kContactSlack, 0.1 * radius)); }

void pose_tools(const TissueLoads& loads, float progress, TissueScratch& s) {
  if (loads.contacts.empty() && loads.holds.empty()) return;
  s.posed.resize(loads.tools.size());
  for (std::size_t k = 0; k < loads.tools.size(); ++k) {
    const MovingPart& part = loads.tools[k].part;
    if (!part.shape) continue;
    const double time = part.from + static_cast<double>(progress) * (part.to - part.from);
    s.posed[k] = PosedPart(*part.shape, frame_at(*part.motion, *part.shape, time));
  }
}

namespace {

// Points share nodes and disturb each other; a few rounds remove most of the error. Parts press more points on the same
// nodes than shafts do. A round that moves no point further than the rounding of positions is the last.
constexpr int kRounds = 16, kPartRounds = 24, kFewRounds = 4;  // few: when there are only holds without a dent
constexpr float kSettled = 5e-8f;                              // m

// An overlap from before gives this speed at most as it is taken back; without any, the force on a shaft that tissue
// lies against would flicker. Positions alone take back the rest, no faster than kShiftsBack: what strains tissue by
// positions stores energy in it.
constexpr float kSpringsBack = 0.05f, kShiftsBack = 0.5f;  // m/s
// A contact yields by this share of what its push moves the point, and by all of what would move it faster than
// kFreeSpeed, so that contacts that press tissue from opposite sides do not push ever harder.
constexpr float kYields = 0.05f;    // 1
constexpr float kFreeSpeed = 0.5f;  // m/s
constexpr int kShiftRounds = 16;

// When the direction to a tool's axis turns by more than 60 degrees within a step, the axis has passed the point.
constexpr float kLoadSameSide = 0.5f;

// Two points closer than this do not define a direction.
constexpr float kLoadCoincident = 1e-7f;  // m

void add_corner(const Embedding& e, float share, PreparedPoint& c) {
  if (!(share > 0.f)) return;
  for (int i = 0; i < 8; ++i) {
    const auto end = c.node.begin() + c.nodes, known = std::find(c.node.begin(), end, e.node[i]);
    if (known == end) c.node[c.nodes] = e.node[i], c.weight[c.nodes++] = 0.f;
    c.weight[known - c.node.begin()] += share * e.weight[i];
  }
}

// Corners of nearly empty cells have almost no mass, and their full share of a push would move them too far. They move
// like a node of this mass, and the transmitted part of the push decreases accordingly.
constexpr float kLightestNode = 0.1f;  // fraction of a full cell's mass

// The displacement of each node per unit push on the point, and the transmitted part of the push. Nodes without tissue
// carry nothing, for any weight.
void measure_mobility(const TissueModel& model, const NodeColumns& x, PreparedPoint& c) {
  const float lightest = kLightestNode * model.cell_mass;
  float were_all_free = 0.f;
  c.arrives = 0.f;
  for (int i = 0; i < c.nodes; ++i) {
    const float w = c.weight[i], mass = model.mass[c.node[i]];
    const float share = mass > 0.f ? w / std::max(mass, lightest) : 0.f;
    c.moves[i] = model.inverse_mass[c.node[i]] > 0.f ? share : 0.f;
    c.admittance += w * c.moves[i];
    were_all_free += w * share;
    c.arrives += share * mass;
  }
  if (c.admittance > 0.f) c.admittance = std::max(c.admittance, kLeastFreedom * were_all_free);
  c.before = point_of(c, x);
}

bool usable(const TissueModel& model, const TissueContact& c, std::span<const ToolStep> tools) {
  const std::size_t vertices = model.embedding.size();
  return std::isfinite(glm::dot(c.normal, c.normal) + c.u + c.v) && c.vertex < vertices && c.second < vertices &&
         c.third < vertices && c.tool < tools.size();
}

glm::vec3 closest_on_axis(const glm::vec3& p, const glm::vec3& pivot, const glm::vec3& tip) {
  const glm::vec3 along = tip - pivot;
  const float square = glm::dot(along, along);
  return square > 0.f ? pivot + glm::clamp(glm::dot(p - pivot, along) / square, 0.f, 1.f) * along : pivot;
}

// Returns the displacement of the part's material at `p` during the interval of the step.
glm::vec3 part_slide(const MovingPart& part, const glm::vec3& p) {
  const RigidFrame before = frame_at(*part.motion, *part.shape, part.from),
                   after = frame_at(*part.motion, *part.shape, part.to);
  const glm::dvec3 from(p);
  return glm::vec3(after.to_world(before.to_local(from)) - from);
}

// Returns the displacement of the tool's material near `p` during the step. A shaft turns about the pivot and slides
// through it.
glm::vec3 tool_slide(const ToolStep& step, const glm::vec3& p) {
  if (step.part.shape) return part_slide(step.part, p);
  const glm::dvec3 before = step.tip_before - step.pivot, after = step.tip_after - step.pivot;
  const double length_before = glm::length(before), length_after = glm::length(after);
  if (!(length_before > 0.0) || !(length_after > 0.0)) return glm::vec3(0.f);
  const glm::dvec3 beside(closest_on_axis(p, glm::vec3(step.pivot), glm::vec3(step.tip_after)));
  const double from_tip = glm::distance(step.tip_after, beside);
  return glm::vec3(after - before - from_tip * (after / length_after - before / length_before));
}

// An invalid contact never pushes, but keeps its index in the list.
PreparedPoint prepare(const TissueModel& model, const NodeColumns& x, const TissueContact& contact,
                      const TissueLoads& loads) {
  PreparedPoint c{};
  if (!usable(model, contact, loads.tools)) return c;
  add_corner(model.embedding[contact.vertex], 1.f - contact.u - contact.v, c);
  add_corner(model.embedding[contact.second], contact.u, c);
  add_corner(model.embedding[contact.third], contact.v, c);
  measure_mobility(model, x, c);
  c.normal = contact.normal;
  c.tool = contact.tool;
  c.dent = contact.tool < loads.dent_of.size() ? loads.dent_of[contact.tool] : contact.tool;
  c.slide = tool_slide(loads.tools[contact.tool], c.before);
  return c;
}

PreparedPoint prepare(const TissueModel& model, const NodeColumns& x, const TissueHold& hold, std::size_t tools) {
  PreparedPoint c{};
  if (!std::isfinite(glm::dot(hold.from, hold.from) + glm::dot(hold.to, hold.to)) || !(hold.limit > 0.f)) return c;
  add_corner(hold.point, 1.f, c);
  measure_mobility(model, x, c);
  c.dent = static_cast<std::uint32_t>(std::min<std::size_t>(hold.jaws, tools));
  return c;
}

// The point as the tool sees it: against its dent.
glm::vec3 seen_of(const PreparedPoint& c, const TissueScratch& s) {
  return point_of(c, s.x) - s.dents[c.dent].dent.shift;
}

// How far a unit push takes the point and the dent of its tool apart, 1/kg.
float yields_of(const PreparedPoint& c, const TissueScratch& s) { return c.admittance + s.dents[c.dent].yields; }

// Moves the point by admittance times `push`; velocities follow.
void push_point(const TissueModel& model, PreparedPoint& c, const glm::vec3& push, float dt, TissueScratch& s) {
  c.pressed += push;
  NodeMover nodes(model, dt, s);
  for (int i = 0; i < c.nodes; ++i) nodes.move(c.node[i], c.moves[i] * push);
}

// Moves the point, and the dent of its tool the other way.
void push_apart(const TissueModel& model, PreparedPoint& c, const glm::vec3& push, float dt, TissueScratch& s) {
  push_point(model, c, push, dt, s);
  push_dent(-push, dt, s.dents[c.dent]);
}

// Moves the point by admittance times `push`; velocities stay.
void shift_point(PreparedPoint& c, const glm::vec3& push, TissueScratch& s) {
  for (int i = 0; i < c.nodes; ++i) {
    const glm::vec3 by = c.moves[i] * push;
    const std::uint32_t n = c.node[i];
    s.x.x[n] += by.x, s.x.y[n] += by.y, s.x.z[n] += by.z;
    s.ahead.x[n] += by.x, s.ahead.y[n] += by.y, s.ahead.z[n] += by.z;
  }
}

// Is the whole part, with its ball, beyond a plane ahead of the point, across the normal? Conservative, and much
// cheaper than the distance: most points near a part stay out of its range.
bool out_of_range(const PosedPart& posed, double radius, const glm::vec3& seen, const PreparedPoint& c) {
  const glm::dvec3 p(seen), n(c.normal);
  const double range = (radius + kIdle) * glm::length(n);
  return std::all_of(posed.corners().begin(), posed.corners().end(),
                     [&](const glm::dvec3& corner) { return glm::dot(corner - p, n) > range; });
}

// The same for a part. When the point has entered the polytope, or the part has passed it, the plane lies where the
// point leaves the part along the old normal.
void face_part(const PosedPart& posed, float pressed, const glm::vec3& p, PreparedPoint& c) {
  const std::array<glm::dvec3, 1> point{glm::dvec3(p)};
  const HullDistance closest = hull_distance(posed.corners(), point);
  const glm::dvec3 to_part = closest.on_first - point[0];
  c.core = glm::vec3(closest.on_first);
  if (closest.distance > kLoadCoincident &&
      glm::dot(to_part, glm::dvec3(c.normal)) > kLoadSameSide * closest.distance) {
    c.normal = glm::vec3(to_part / closest.distance);
    c.plane = glm::dot(c.normal, glm::vec3(closest.on_first)) - pressed;
    return;
  }
  const double exit = exit_distance(posed.corners(), pressed, point[0], -glm::dvec3(c.normal));
  c.plane = glm::dot(c.normal, p) - static_cast<float>(exit);
}

// Updates the plane of the tool's surface that faces the point. When the axis has passed the point, the plane stays on
// the old side.
void face_tool(const ToolStep& tool, float progress, float pressed, const glm::vec3& p, PreparedPoint& c) {
  const glm::vec3 tip(tool.tip_before + static_cast<double>(progress) * (tool.tip_after - tool.tip_before));
  const glm::vec3 beside = closest_on_axis(p, glm::vec3(tool.pivot), tip);
  const float distance = glm::distance(beside, p);
  if (distance > kLoadCoincident && glm::dot(beside - p, c.normal) > kLoadSameSide * distance)
    c.normal = (beside - p) / distance;
  c.core = beside;
  c.plane = glm::dot(c.normal, beside) - pressed;
}

// An overlap from before the substep is what would be there if the point had moved with the tool.
void find_old_overlap(const Substep& substep, const DentScratch& dent, PreparedPoint& c) {
  const glm::vec3 carried = c.before - dent.before + c.slide / static_cast<float>(substep.count);
  c.old = std::max(glm::dot(c.normal, carried) - c.plane - kSpringsBack * substep.dt, 0.f);
  c.shifted = 0.f;
}

// Returns the push for which the contact yields as much as is missing.
float yielding_push(float missing, float free) {
  const float push = missing / (1.f + kYields);
  return push > free ? (missing + free) / (2.f + kYields) : push;
}

// Takes back what the substep's motion made of an overlap. The push may grow or shrink between rounds, but it never
// becomes a pull. Returns how far it moves the point, m.
float push_out(const TissueModel& model, const Substep& substep, PreparedPoint& c, TissueScratch& s) {
  const float excess = glm::dot(c.normal, seen_of(c, s)) - c.plane - c.old, pressed = -glm::dot(c.pressed, c.normal);
  const float yields = yields_of(c, s), in_time = substep.dt / c.admittance, most = model.params.fastest_tool * in_time;
  const float wanted = std::max(yielding_push(pressed + excess / yields, kFreeSpeed * in_time), 0.f);
  if (wanted > most) ++s.held_back;
  const float push = std::min(wanted, most);
  if (push != pressed) push_apart(model, c, (pressed - push) * c.normal, substep.dt, s);
  return std::abs(push - pressed) * yields;
}

// Takes the rest of an overlap back by positions alone. As pushes do, a shift may grow or shrink between rounds.
// Returns how far it moves the point, m.
float shift_out(const Substep& substep, PreparedPoint& c, TissueScratch& s) {
  const float excess = glm::dot(c.normal, seen_of(c, s)) - c.plane, before = c.shifted;
  c.shifted = std::clamp(before + excess, 0.f, kShiftsBack * substep.dt);
  if (c.shifted != before) shift_point(c, (before - c.shifted) / c.admittance * c.normal, s);
  return std::abs(c.shifted - before);
}

// Slip along the tool is reduced, by at most friction times the normal push.
void rub(const TissueModel& model, const Substep& substep, PreparedPoint& c, TissueScratch& s) {
  const float pressed = -glm::dot(c.pressed, c.normal);
  if (!(pressed > 0.f)) return;
  const glm::vec3 moved = point_of(c, s.x) - c.before, shifted = s.dents[c.dent].dent.shift - s.dents[c.dent].before,
                  slip = moved - shifted - c.slide / static_cast<float>(substep.count);
  const glm::vec3 along = slip - glm::dot(slip, c.normal) * c.normal;
  const float length = glm::length(along), wanted = length / yields_of(c, s);
  if (!(length > 0.f)) return;
  push_apart(model, c, along * (-std::min(wanted, model.params.friction * pressed) / length), substep.dt, s);
}

// Pulls a held point to its place between the jaws. Returns how far that moves it, m.
float follow(const TissueModel& model, const TissueHold& hold, const Substep& substep, PreparedPoint& c,
             TissueScratch& s) {
  const float progress = static_cast<float>(substep.number) / static_cast<float>(substep.count);
  DentScratch& dent = s.held_dents[c.dent];
  const glm::vec3 seen = point_of(c, s.x) - dent.dent.shift;
  const float yields = c.admittance + dent.yields;
  const glm::vec3 wanted = c.pressed + (glm::mix(hold.from, hold.to, progress) - seen) / yields;
  const float length = glm::length(wanted),
              most = hold.limit * substep.dt * substep.dt / (1.f + model.params.drag * substep.dt);
  const glm::vec3 more = (length > most ? wanted * (most / length) : wanted) - c.pressed;
  push_point(model, c, more, substep.dt, s);
  push_dent(-more, substep.dt, dent);
  return glm::length(more) * yields;
}

void end_substep(PreparedPoint& c, const NodeColumns& x) {
  c.push -= c.arrives * c.pressed;
  c.before = point_of(c, x);
}

}  // namespace

bool face_pressed(const TissueLoads& loads, std::uint32_t contact, float progress, TissueScratch& s) {
  PreparedPoint& c = s.contacts[contact];
  const std::uint32_t k = loads.contacts[contact].tool;
  const glm::vec3 seen = seen_of(c, s);
  const bool dents = s.dents[c.dent].place.closeness > 0.f;
  const auto pressed = [dents](double radius) { return dents ? static_cast<float>(radius) : pressed_radius(radius); };
  if (const PartShape* shape = loads.tools[k].part.shape) {
    if (out_of_range(s.posed[k], shape->radius, seen, c)) return false;
    face_part(s.posed[k], pressed(shape->radius), seen, c);
  } else {
    face_tool(loads.tools[k], progress, pressed(loads.tools[k].radius), seen, c);
  }
  return true;
}

float depth_in_tool(const ToolStep& tool, const glm::vec3& point, const glm::vec3& normal) {
  PreparedPoint c{};
  c.normal = normal;
  if (const PartShape* shape = tool.part.shape) {
    const PosedPart posed(*shape, frame_at(*tool.part.motion, *shape, tool.part.to));
    face_part(posed, static_cast<float>(shape->radius), point, c);
  } else {
    face_tool(tool, 1.f, static_cast<float>(tool.radius), point, c);
  }
  return glm::dot(c.normal, point) - c.plane;
}

void prepare_contact_points(const TissueModel& model, const TissueLoads& loads, TissueScratch& s) {
  s.contacts.clear();
  for (const TissueContact& contact : loads.contacts) s.contacts.push_back(prepare(model, s.x, contact, loads));
  s.holds.clear();
  for (const TissueHold& hold : loads.holds) s.holds.push_back(prepare(model, s.x, hold, loads.tools.size()));
}

void solve_contact_points(const TissueModel& model, const TissueLoads& loads, const Substep& substep,
                          TissueScratch& s) {
  const float progress = static_cast<float>(substep.number) / static_cast<float>(substep.count);
  int rounds = kRounds;
  s.active.clear();
  if (!s.contacts.empty()) pose_tools(loads, progress, s);
  move_dents(model, substep.dt, s);
  for (std::uint32_t i = 0; i < s.contacts.size(); ++i) {
    PreparedPoint& c = s.contacts[i];
    c.pressed = glm::vec3(0.f);
    if (!(c.admittance > 0.f)) continue;
    if (!face_pressed(loads, i, progress, s)) continue;
    if (loads.tools[loads.contacts[i].tool].part.shape) rounds = kPartRounds;
    if (!(glm::dot(c.normal, seen_of(c, s)) - c.plane > -kIdle)) continue;
    find_old_overlap(substep, s.dents[c.dent], c);
    s.active.push_back(i);
  }
  for (PreparedPoint& hold : s.holds) hold.pressed = glm::vec3(0.f);
  const bool held_dent = std::any_of(s.held_dents.begin(), s.held_dents.end(), [](auto& d) { return d.firm > 0.f; });
  const int few = held_dent ? kRounds : kFewRounds;
  for (int round = 0; round < rounds; ++round) {
    float moved = 0.f;
    for (const std::uint32_t i : s.active) moved = std::max(moved, push_out(model, substep, s.contacts[i], s));
    for (std::size_t i = 0; i < s.holds.size(); ++i)
      if (s.holds[i].admittance > 0.f) moved = std::max(moved, follow(model, loads.holds[i], substep, s.holds[i], s));
    if (!(moved > kSettled) || (s.active.empty() && round == few)) break;
  }
  for (const std::uint32_t i : s.active)
    if (!loads.contacts[i].smooth) rub(model, substep, s.contacts[i], s);
  float moved = INFINITY;
  for (int round = 0; round < kShiftRounds && moved > kSettled; ++round) {
    moved = 0.f;
    for (const std::uint32_t i : s.active) moved = std::max(moved, shift_out(substep, s.contacts[i], s));
  }
  for (PreparedPoint& c : s.contacts)
    if (c.admittance > 0.f) end_substep(c, s.x);
  for (PreparedPoint& c : s.holds)
    if (c.admittance > 0.f) end_substep(c, s.x);
}

glm::vec3 contact_force(const SteppedTissue& state, std::size_t first, std::size_t last) {
  const TissueScratch& s = state.scratch;
  glm::vec3 force(0.f);
  for (std::size_t i = first; i < std::min(last, s.contacts.size()); ++i) force += s.contacts[i].push;
  return force * s.force_per_push;
}

glm::vec3 contact_torque(const SteppedTissue& state, std::size_t first, std::size_t last, const glm::vec3& about) {
  const TissueScratch& s = state.scratch;
  glm::vec3 torque(0.f);
  for (std::size_t i = first; i < std::min(last, s.contacts.size()); ++i)
    torque += glm::cross(s.contacts[i].before - about, s.contacts[i].push);
  return torque * s.force_per_push;
}

glm::vec3 hold_force(const SteppedTissue& state, std::size_t hold) {
  return hold < state.scratch.holds.size() ? state.scratch.holds[hold].push * state.scratch.force_per_push
                                           : glm::vec3(0.f);
}

}  // namespace trocar
