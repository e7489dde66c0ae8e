#include "deform/rigid/rigid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dquat;
using glm::dvec3;

constexpr std::uint32_t kNone = 0xffffffffu;
// Points nearer than this, and what they cover in a substep, get a contact.
constexpr double kReach = 5e-4;  // m
// The impulses are found when a round changes none by more than this share of the largest, or after so many rounds.
constexpr int kMostRounds = 24, kBackRounds = 6;
constexpr double kExact = 1e-7;
// An overlap is taken back within this number of substeps, but not faster than this.
constexpr double kSubstepsBack = 4.0, kFastestBack = 0.5;  // 1, m/s
// A smaller overlap stays: at rest nothing changes then, and the impulses converge.
constexpr double kRestingOverlap = 5e-6;  // m
// A contact in the substep before is the same if it was this near.
constexpr double kSamePoint = 2e-3;  // m
// Slower impacts do not bounce.
constexpr double kLeastBounce = 0.02;  // m/s
// A hand pushes no harder on a point.
constexpr double kStrongestHand = 20.0;  // N
// A fixed body presses an instrument that enters it with this stiffness. An assumption: a haptic handle shows it
// stably.
constexpr double kFixedStiffness = 2000.0;  // N/m
// Friction at an instrument that is used up counts so far in the next substep: else forces along the jaws that cancel
// each other leave none against a body's weight, and it creeps out of the grip.
constexpr double kJawsForget = 0.95, kUsedUp = 0.98;  // 1, 1
// Jaws may open by as much in a step, beside the instrument's own motion.
constexpr double kJawsMove = 5e-3;  // m
// Jaws that nothing holds follow the handle, not faster than this.
constexpr double kFastestJaws = 20.0;  // rad/s
// A body is at rest while none of its points is faster than this. A body that turns round in its motion gets faster
// again before it sleeps.
constexpr double kAtRest = 1e-3;  // m/s
// A body this far from its start fell out of the scene.
constexpr double kFarthest = 1.0;  // m

dmat3 turned(const dmat3& axes, const dmat3& inertia) { return axes * inertia * glm::transpose(axes); }

dquat rate(const RigidBody& body, const dvec3& momentum, const dquat& q) {
  const dmat3 axes = glm::mat3_cast(glm::normalize(q));
  const dvec3 w = axes * (body.inverse_inertia * (momentum * axes));
  return 0.5 * (dquat(0.0, w.x, w.y, w.z) * q);
}

// Turns a free body for h seconds: its angular momentum stays, its angular velocity follows.
void turn_freely(const RigidBody& body, double h, RigidMotion& motion) {
  if (motion.w == dvec3(0.0)) return;
  const dvec3 momentum = spin_of(body, motion);
  const dquat a = rate(body, momentum, motion.q), b = rate(body, momentum, motion.q + 0.5 * h * a),
              c = rate(body, momentum, motion.q + 0.5 * h * b), d = rate(body, momentum, motion.q + h * c);
  motion.q = glm::normalize(motion.q + (h / 6.0) * (a + 2.0 * b + 2.0 * c + d));
  const dmat3 axes = glm::mat3_cast(motion.q);
  motion.w = axes * (body.inverse_inertia * (momentum * axes));
}

double fastest_point(const RigidBody& body, const RigidMotion& motion) {
  return glm::length(motion.v) + glm::length(motion.w) * body.reach;
}

RigidFrame central_frame(const RigidMotion& motion) { return {glm::mat3_cast(motion.q), motion.x}; }

void box_around(const RigidScratch& s, RigidObject& object) {
  object.low = dvec3(INFINITY), object.high = dvec3(-INFINITY);
  for (std::uint32_t k = object.first_piece; k < object.first_piece + object.pieces; ++k)
    object.low = glm::min(object.low, s.pieces[k].low), object.high = glm::max(object.high, s.pieces[k].high);
}

bool moves(const RigidBody& body, const RigidMotion& motion) { return body.inverse_mass > 0.0 && !motion.lost; }

void place_body(const RigidBody& body, const RigidMotion& motion, bool free, RigidScratch& s, RigidObject& object) {
  const RigidFrame frame = central_frame(motion);
  object.x = motion.x, object.v = motion.v, object.w = motion.w;
  object.back = object.back_turn = dvec3(0.0);
  object.inverse_mass = free ? body.inverse_mass : 0.0;
  object.inverse_inertia = free ? turned(frame.axes, body.inverse_inertia) : dmat3(0.0);
  object.speed = fastest_point(body, motion), object.reach = body.reach;
  for (std::uint32_t k = 0; k < object.pieces; ++k) pose(body.pieces[k], frame, s.pieces[object.first_piece + k]);
  box_around(s, object);
}

// Part of a step: from..to of its time, h seconds.
struct Portion {
  double from, to, h;
};

// Velocity of a frame that moves from one to another in h seconds.
void set_velocity(const RigidFrame& from, const RigidFrame& to, double h, RigidObject& object) {
  const dmat3 by = to.axes * glm::transpose(from.axes);
  object.x = from.origin;
  object.v = (to.origin - from.origin) / h;
  object.w = 0.5 / h * dvec3(by[1][2] - by[2][1], by[2][0] - by[0][2], by[0][1] - by[1][0]);
}

void place_tool(const RigidTool& tool, const RigidToolStep& step, double opening, const Portion& portion,
                RigidScratch& s, std::uint32_t first_object) {
  const RigidFrame from = frame_at(*step.motion, portion.from), to = frame_at(*step.motion, portion.to);
  for (std::size_t k = 0; k < tool.pieces.size(); ++k) {
    RigidObject& object = s.objects[first_object + k];
    set_velocity(from, to, portion.h, object);
    RigidFrame frame = from;
    if (tool.side[k] != 0.0) {
      const dvec3 hinge(0.0, 0.0, tool.hinge_z[k]);
      const dmat3 turn = glm::mat3_cast(turn_about(dvec3(1.0, 0.0, 0.0), 0.5 * tool.side[k] * opening));
      frame = {from.axes * turn, from.to_world(hinge - turn * hinge)};
      object.hinge = from.to_world(hinge);
      object.turn = 0.5 * tool.side[k] * from.axes[0], object.side = tool.side[k];
    }
    pose(tool.pieces[k], frame, s.pieces[object.first_piece]);
    box_around(s, object);
    const dvec3 farthest = glm::max(glm::abs(object.low - object.x), glm::abs(object.high - object.x));
    object.speed = glm::length(object.v) + glm::length(object.w) * glm::length(farthest);
  }
}

// Sizes the storage and finds what does not change in a step.
void begin(const RigidModel& model, const RigidState& state, RigidScratch& s) {
  s.objects.clear();
  std::uint32_t pieces = 0;
  for (const RigidBody& body : model.bodies) {
    RigidObject object;
    object.friction = body.params.friction, object.restitution = body.params.restitution;
    object.first_piece = pieces, object.pieces = static_cast<std::uint32_t>(body.pieces.size());
    pieces += object.pieces;
    s.objects.push_back(object);
  }
  for (std::uint32_t t = 0; t < model.tools.size(); ++t)
    for (std::size_t k = 0; k < model.tools[t].pieces.size(); ++k) {
      RigidObject object;
      object.tool = t, object.friction = model.tools[t].friction[k];
      object.first_piece = pieces++, object.pieces = 1;
      s.objects.push_back(object);
    }
  s.pieces.resize(pieces);
  s.jaws.assign(model.tools.size(), {});
  s.touches.assign(model.tools.size(), {});
  s.asleep.assign(model.bodies.size(), 0);
  for (std::size_t k = 0; k < model.bodies.size(); ++k)
    if (!moves(model.bodies[k], state.bodies[k])) place_body(model.bodies[k], state.bodies[k], false, s, s.objects[k]);
}

void place(const RigidModel& model, const RigidState& state, std::span<const RigidToolStep> tools,
           const Portion& portion, RigidScratch& s) {
  for (std::size_t k = 0; k < model.bodies.size(); ++k)
    if (moves(model.bodies[k], state.bodies[k]) && s.asleep[k] == 0)
      place_body(model.bodies[k], state.bodies[k], true, s, s.objects[k]);
  auto first = static_cast<std::uint32_t>(model.bodies.size());
  for (std::size_t t = 0; t < model.tools.size(); ++t) {
    place_tool(model.tools[t], tools[t], state.opening[t], portion, s, first);
    first += static_cast<std::uint32_t>(model.tools[t].pieces.size());
  }
}

bool boxes_apart(const RigidObject& a, const RigidObject& b, double range) {
  for (int axis = 0; axis < 3; ++axis)
    if (a.low[axis] > b.high[axis] + range || b.low[axis] > a.high[axis] + range) return true;
  return false;
}

// Whether the ball around a body stays clear of a long piece of an instrument: the box of a slanting shaft is large.
bool clear_of_shaft(const RigidScratch& s, const RigidObject& body, const RigidObject& piece, double range) {
  const PosedPiece& posed = s.pieces[piece.first_piece];
  if (posed.piece->corners.size() != 2 || body.reach == 0.0) return false;
  const dvec3 along = posed.corner[1] - posed.corner[0], off = body.x - posed.corner[0];
  const double share = std::clamp(glm::dot(off, along) / std::max(glm::dot(along, along), 1e-30), 0.0, 1.0);
  const dvec3 away = off - share * along;
  const double reach = body.reach + posed.piece->radius + range;
  return glm::dot(away, away) > reach * reach;
}

bool far_apart(const RigidScratch& s, const RigidObject& a, const RigidObject& b, double range) {
  return boxes_apart(a, b, range) || (b.tool != kNone && clear_of_shaft(s, a, b, range));
}

// Finds the bodies that sleep in this step: they have been at rest, and so have all that touch them in turn.
void find_sleepers(const RigidModel& model, const RigidState& state, double dt, RigidScratch& s) {
  const std::size_t bodies = model.bodies.size();
  const double fallen = 0.5 * glm::length(model.params.gravity) * dt * dt;
  const auto wakes = [&](std::size_t k, std::size_t other) {
    const RigidObject &a = s.objects[k], &b = s.objects[other];
    if (other < bodies && (b.inverse_mass == 0.0 || s.asleep[other] != 0)) return false;
    const double rests = other < bodies && state.bodies[other].calm > 0.0 ? 0.0 : other < bodies ? fallen : kJawsMove;
    return !far_apart(s, a, b, kReach + rests + dt * (a.speed + b.speed));
  };
  for (std::size_t k = 0; k < bodies; ++k)
    s.asleep[k] = s.objects[k].inverse_mass > 0.0 && state.bodies[k].calm >= model.params.sleeps_after ? 1 : 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < bodies; ++k)
      for (std::size_t other = 0; s.asleep[k] != 0 && other < s.objects.size(); ++other)
        if (other != k && wakes(k, other)) s.asleep[k] = 0, changed = true;
  }
  for (std::size_t k = 0; k < bodies; ++k)
    if (s.asleep[k] != 0) s.objects[k].inverse_mass = 0.0, s.objects[k].inverse_inertia = dmat3(0.0);
}

// Measures how long bodies have been at rest.
void calm_down(const RigidModel& model, double dt, const RigidScratch& s, RigidState& state) {
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    RigidMotion& motion = state.bodies[k];
    if (s.asleep[k] != 0 || !moves(model.bodies[k], motion)) continue;
    motion.calm = fastest_point(model.bodies[k], motion) < kAtRest ? motion.calm + dt : 0.0;
  }
}

void fall(const RigidModel& model, double h, RigidScratch& s) {
  for (RigidObject& object : s.objects)
    if (object.inverse_mass > 0.0) object.v += h * model.params.gravity;
}

// The handle wants its opening at the end of the substep.
void drive_jaws(const RigidModel& model, const RigidState& state, std::span<const RigidToolStep> tools,
                const Portion& portion, RigidScratch& s) {
  for (std::size_t t = 0; t < tools.size(); ++t) {
    const double wanted = tools[t].commanded_before + portion.to * (tools[t].commanded - tools[t].commanded_before);
    const double behind = wanted - state.opening[t];
    RigidJaws& jaws = s.jaws[t];
    jaws = {};
    jaws.wanted = std::clamp(behind / portion.h, -kFastestJaws, kFastestJaws);
    jaws.rate = jaws.wanted;
    jaws.most = portion.h * std::min(tools[t].stiffness * std::abs(behind), tools[t].most);
    jaws.inverse_inertia = 1.0 / model.tools[t].jaw_inertia;
  }
}

dvec3 jaw_arm(const RigidObject& o, const dvec3& at) { return glm::cross(o.turn, at - o.hinge); }

dvec3 speed_of(const RigidScratch& s, const RigidObject& o, const dvec3& at) {
  const dvec3 v = o.v + glm::cross(o.w, at - o.x);
  return o.tool == kNone ? v : v + s.jaws[o.tool].rate * jaw_arm(o, at);
}
dvec3 back_at(const RigidScratch& s, const RigidObject& o, const dvec3& at) {
  const dvec3 v = o.back + glm::cross(o.back_turn, at - o.x);
  return o.tool == kNone ? v : v + s.jaws[o.tool].back_rate * jaw_arm(o, at);
}

void push(RigidScratch& s, RigidObject& o, const dvec3& at, const dvec3& impulse) {
  if (o.tool != kNone) {
    s.jaws[o.tool].rate += s.jaws[o.tool].inverse_inertia * glm::dot(jaw_arm(o, at), impulse);
    return;
  }
  o.v += o.inverse_mass * impulse;
  o.w += o.inverse_inertia * glm::cross(at - o.x, impulse);
}
void push_back(RigidScratch& s, RigidObject& o, const dvec3& at, const dvec3& impulse) {
  if (o.tool != kNone) {
    s.jaws[o.tool].back_rate += s.jaws[o.tool].inverse_inertia * glm::dot(jaw_arm(o, at), impulse);
    return;
  }
  o.back += o.inverse_mass * impulse;
  o.back_turn += o.inverse_inertia * glm::cross(at - o.x, impulse);
}

dmat3 mobility_of(const RigidScratch& s, const RigidObject& o, const dvec3& at) {
  if (o.tool != kNone) {
    const dvec3 arm = jaw_arm(o, at);
    return s.jaws[o.tool].inverse_inertia * glm::outerProduct(arm, arm);
  }
  const dvec3 r = at - o.x;
  dmat3 m(o.inverse_mass);
  if (!(o.inverse_mass > 0.0)) return dmat3(0.0);
  for (int k = 0; k < 3; ++k) {
    dvec3 unit(0.0);
    unit[k] = 1.0;
    m[k] += glm::cross(o.inverse_inertia * glm::cross(r, unit), r);
  }
  return m;
}

// What the contact did in the substep before.
void remember(const RigidState& state, std::vector<char>& used, double kept, RigidContact& c) {
  const auto key = [](const auto& m) {
    return std::array<std::uint32_t, 4>{m.first, m.second, m.first_piece, m.second_piece};
  };
  const auto wanted = key(c);
  const auto begin = std::lower_bound(state.contacts.begin(), state.contacts.end(), wanted,
                                      [&](const RigidMemory& m, const auto& k) { return key(m) < k; });
  double least = kSamePoint * kSamePoint;
  const RigidMemory* found = nullptr;
  for (auto m = begin; m != state.contacts.end() && key(*m) == wanted; ++m) {
    const dvec3 off = m->local - c.local;
    const double square = glm::dot(off, off);
    if (square < least && !used[m - state.contacts.begin()]) least = square, found = &*m;
  }
  if (!found) return;
  used[found - state.contacts.data()] = 1;
  c.pressed = std::min(found->pressed, c.most);
  if (glm::length(found->rubbed) < kUsedUp * c.friction * found->pressed) kept = 1.0;
  c.rubbed = kept * (found->rubbed - glm::dot(found->rubbed, c.normal) * c.normal);
}

void add_contacts(const RigidState& state, const RigidPair& pair, double h, RigidScratch& s) {
  RigidObject &a = s.objects[pair.first], &b = s.objects[pair.second];
  const double range = kReach + h * (a.speed + b.speed);
  for (std::uint32_t i = 0; i < a.pieces; ++i)
    for (std::uint32_t j = 0; j < b.pieces; ++j) {
      const PieceMeeting meeting = meet(s.pieces[a.first_piece + i], s.pieces[b.first_piece + j], range);
      for (int k = 0; k < meeting.count; ++k) {
        RigidContact c;
        c.first = pair.first, c.second = pair.second;
        c.first_piece = static_cast<std::uint16_t>(i), c.second_piece = static_cast<std::uint16_t>(j);
        c.normal = meeting.normal, c.at = meeting.point[k].at, c.gap = meeting.point[k].gap;
        c.local = central_frame(state.bodies[pair.first]).to_local(c.at);
        c.friction = std::sqrt(a.friction * b.friction);
        c.restitution = std::max(a.restitution, b.restitution);
        c.most = b.tool == kNone ? INFINITY : kStrongestHand * h;
        c.mobility = mobility_of(s, a, c.at) + mobility_of(s, b, c.at);
        c.approach = glm::dot(speed_of(s, b, c.at) - speed_of(s, a, c.at), c.normal);
        if (b.tool != kNone && b.turn != dvec3(0.0)) s.jaws[b.tool].met = true;
        remember(state, s.used, b.tool == kNone ? 1.0 : kJawsForget, c);
        s.contacts.push_back(c);
      }
    }
}

void find_contacts(const RigidState& state, double h, RigidScratch& s) {
  s.contacts.clear();
  s.used.assign(state.contacts.size(), 0);
  for (const RigidPair& pair : s.pairs) add_contacts(state, pair, h, s);
  // Jaws that meet something start from rest: only the handle's torque closes them.
  for (RigidJaws& jaws : s.jaws)
    if (jaws.met) jaws.rate = 0.0;
}

// Gauss-Seidel over the contacts.
class Impulses {
 public:
  Impulses(RigidScratch& s, double h) : s_(s), h_(h) {}

  // Non-penetration and friction, from the impulses of the substep before.
  void keep_out() {
    for (RigidContact& c : s_.contacts) apply(c, c.pressed * c.normal + c.rubbed);
    for (int round = 0; round < kMostRounds; ++round) {
      double changed = 0.0, largest = 0.0;
      for (RigidJaws& jaws : s_.jaws)
        if (jaws.met) drive(jaws);
      for (RigidContact& c : s_.contacts) {
        const double target = c.gap > 0.0 ? -c.gap / h_ : 0.0;
        changed = std::max({changed, press(c, target), rub(c)});
        largest = std::max(largest, c.pressed);
      }
      if (changed <= kExact * largest) return;
    }
  }
  // Contacts that were hit part again.
  void rebound() {
    for (RigidContact& c : s_.contacts)
      if (c.restitution > 0.0 && c.pressed > 0.0 && c.approach < -kLeastBounce) press(c, -c.restitution * c.approach);
  }
  // Speeds that only take overlaps back.
  void take_back() {
    for (int round = 0; round < kBackRounds; ++round)
      for (RigidContact& c : s_.contacts) {
        if (!(c.gap < -kRestingOverlap)) continue;
        const double target = std::min(-(c.gap + kRestingOverlap) / (kSubstepsBack * h_), kFastestBack);
        const double speed = glm::dot(back_at(s_, second(c), c.at) - back_at(s_, first(c), c.at), c.normal);
        const double now = std::clamp(c.taken_back + (target - speed) * resistance(c, c.normal), 0.0, c.most);
        const dvec3 by = (now - c.taken_back) * c.normal;
        c.taken_back = now;
        push_back(s_, first(c), c.at, -by);
        push_back(s_, second(c), c.at, by);
      }
  }

 private:
  RigidObject& first(const RigidContact& c) { return s_.objects[c.first]; }
  RigidObject& second(const RigidContact& c) { return s_.objects[c.second]; }
  dvec3 speed(const RigidContact& c) { return speed_of(s_, second(c), c.at) - speed_of(s_, first(c), c.at); }
  // Impulse per speed along a unit vector, kg.
  static double resistance(const RigidContact& c, const dvec3& d) {
    const double m = glm::dot(d, c.mobility * d);
    return m > 0.0 ? 1.0 / m : 0.0;
  }
  void apply(const RigidContact& c, const dvec3& impulse) {
    push(s_, first(c), c.at, -impulse);
    push(s_, second(c), c.at, impulse);
  }
  // These return the size of the change, N s.
  double press(RigidContact& c, double target) {
    const double now =
        std::clamp(c.pressed + (target - glm::dot(speed(c), c.normal)) * resistance(c, c.normal), 0.0, c.most);
    const double by = now - c.pressed;
    if (by == 0.0) return 0.0;
    c.pressed = now;
    apply(c, by * c.normal);
    return std::abs(by);
  }
  double rub(RigidContact& c) {
    const dvec3 v = speed(c), slip = v - glm::dot(v, c.normal) * c.normal;
    const double length = glm::length(slip);
    dvec3 along = c.rubbed;
    if (length > 0.0) along -= resistance(c, slip / length) * slip;
    const double held = glm::length(along), most = c.friction * c.pressed;
    if (held > most) along *= most / held;
    const dvec3 by = along - c.rubbed;
    if (by == dvec3(0.0)) return 0.0;
    c.rubbed = along;
    apply(c, by);
    return glm::length(by);
  }
  void drive(RigidJaws& jaws) {
    const double now =
        std::clamp(jaws.driven + (jaws.wanted - jaws.rate) / jaws.inverse_inertia, -jaws.most, jaws.most);
    jaws.rate += (now - jaws.driven) * jaws.inverse_inertia;
    jaws.driven = now;
  }

  RigidScratch& s_;
  const double h_;
};

void move(const RigidModel& model, double h, RigidState& state, RigidScratch& s) {
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    const RigidObject& object = s.objects[k];
    RigidMotion& motion = state.bodies[k];
    if (!(object.inverse_mass > 0.0)) continue;
    motion.v = object.v, motion.w = object.w;
    motion.x += h * (object.v + object.back);
    turn_freely(model.bodies[k], h, motion);
    const dvec3 t = 0.5 * h * object.back_turn;
    if (t != dvec3(0.0)) motion.q = glm::normalize(motion.q + dquat(0.0, t.x, t.y, t.z) * motion.q);
    if (glm::distance(motion.x, motion.start) > kFarthest) motion.lost = true, motion.v = motion.w = dvec3(0.0);
  }
  for (std::size_t t = 0; t < model.tools.size(); ++t)
    state.opening[t] = std::max(state.opening[t] + h * (s.jaws[t].rate + s.jaws[t].back_rate), 0.0);
}

// Keeps what the next substep starts from.
void keep(const RigidScratch& s, RigidState& state) {
  state.contacts.clear();
  for (const RigidContact& c : s.contacts)
    if (c.pressed > 0.0)
      state.contacts.push_back({c.first, c.second, c.first_piece, c.second_piece, c.local, c.pressed, c.rubbed});
}

// Adds the impulses on instruments.
void feel(std::span<const RigidToolStep> tools, RigidScratch& s) {
  for (const RigidContact& c : s.contacts) {
    const RigidObject& o = s.objects[c.second];
    if (o.tool == kNone || !(c.pressed > 0.0)) continue;
    const dvec3 impulse = c.pressed * c.normal + c.rubbed;
    s.touches[o.tool].force += impulse;
    s.touches[o.tool].torque += glm::cross(c.at - tools[o.tool].motion->shaft.pivot, impulse);
  }
}

// Adds the forces of fixed bodies on instruments, which grow with the overlap.
void feel_fixed(const RigidModel& model, std::span<const RigidToolStep> tools, double dt, RigidScratch& s) {
  const auto bodies = static_cast<std::uint32_t>(model.bodies.size());
  for (std::uint32_t i = 0; i < bodies; ++i)
    for (std::uint32_t j = bodies; j < s.objects.size(); ++j) {
      const RigidObject &body = s.objects[i], &tool = s.objects[j];
      if (!model.bodies[i].params.fixed || boxes_apart(body, tool, 0.0)) continue;
      for (std::uint32_t k = body.first_piece; k < body.first_piece + body.pieces; ++k) {
        const PieceMeeting meeting = meet(s.pieces[k], s.pieces[tool.first_piece], 0.0);
        const MeetingPoint* deepest = nullptr;
        for (int p = 0; p < meeting.count; ++p)
          if (!deepest || meeting.point[p].gap < deepest->gap) deepest = &meeting.point[p];
        if (!deepest || !(deepest->gap < 0.0)) continue;
        const dvec3 force = std::min(-deepest->gap * kFixedStiffness, kStrongestHand) * meeting.normal;
        s.touches[tool.tool].force += dt * force;
        s.touches[tool.tool].torque += dt * glm::cross(deepest->at - tools[tool.tool].motion->shaft.pivot, force);
      }
    }
}

// Finds what each instrument holds: the first body that both of its jaws press.
void find_held(std::size_t bodies, RigidScratch& s) {
  for (std::size_t i = 0; i < s.contacts.size(); ++i) {
    const RigidContact& c = s.contacts[i];
    const RigidObject& o = s.objects[c.second];
    if (c.second < bodies || !(c.pressed > 0.0)) continue;
    RigidTouch& touch = s.touches[o.tool];
    if (touch.touched == kNoBody) touch.touched = c.first;
    if (!(o.side > 0.0) || touch.held != kNoBody) continue;
    for (const RigidContact& other : s.contacts) {
      const RigidObject& jaw = s.objects[other.second];
      if (other.first == c.first && jaw.tool == o.tool && jaw.side < 0.0 && other.pressed > 0.0) touch.held = c.first;
    }
  }
}

void substep(const RigidModel& model, RigidState& state, std::span<const RigidToolStep> tools, const Portion& portion,
             RigidScratch& s) {
  place(model, state, tools, portion, s);
  fall(model, portion.h, s);
  drive_jaws(model, state, tools, portion, s);
  find_pairs(model, portion.h, s);
  find_contacts(state, portion.h, s);
  Impulses impulses(s, portion.h);
  impulses.keep_out();
  impulses.rebound();
  impulses.take_back();
  move(model, portion.h, state, s);
  keep(s, state);
  feel(tools, s);
}

void check(const RigidTool& tool) {
  const std::size_t count = tool.pieces.size();
  if (tool.hinge_z.size() != count || tool.side.size() != count || tool.friction.size() != count)
    throw InputError("an instrument among rigid bodies needs a hinge, a side and a friction for each piece");
  if (!(tool.jaw_inertia > 0.0) || !std::isfinite(tool.jaw_inertia))
    throw InputError(fmt::format("the inertia of jaws is {} kg m^2; it must be above 0", tool.jaw_inertia));
  for (const double friction : tool.friction)
    if (!(friction >= 0.0 && friction <= 10.0))
      throw InputError(fmt::format("friction is {}; it must be 0 to 10", friction));
}

}  // namespace

void find_pairs(const RigidModel& model, double h, RigidScratch& s) {
  s.pairs.clear();
  const auto bodies = static_cast<std::uint32_t>(model.bodies.size());
  for (std::uint32_t i = 0; i < bodies; ++i)
    for (std::uint32_t j = i + 1; j < s.objects.size(); ++j) {
      const RigidObject &a = s.objects[i], &b = s.objects[j];
      if (!(a.inverse_mass > 0.0) && (j >= bodies || !(b.inverse_mass > 0.0))) continue;
      if (!far_apart(s, a, b, kReach + h * (a.speed + b.speed))) s.pairs.push_back({i, j});
    }
}

RigidModel make_rigid(const RigidStepParams& params, std::vector<RigidBody> bodies, std::vector<RigidTool> tools) {
  for (int axis = 0; axis < 3; ++axis)
    if (!(std::abs(params.gravity[axis]) <= 100.0))
      throw InputError(fmt::format("gravity is {} m/s^2; it must be within 100", params.gravity[axis]));
  if (!(params.substep >= 1e-5 && params.substep <= 1e-2))
    throw InputError(fmt::format("a substep of rigid bodies is {} s; it must be 1e-5 to 1e-2 s", params.substep));
  if (!(params.sleeps_after > 0.0))
    throw InputError(fmt::format("rigid bodies sleep after {} s; it must be above 0", params.sleeps_after));
  for (const RigidTool& tool : tools) check(tool);
  return {params, std::move(bodies), std::move(tools)};
}

RigidState rest_state(const RigidModel& model, std::span<const RigidFrame> frames) {
  RigidState state;
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    RigidMotion motion;
    motion.q = glm::normalize(glm::quat_cast(frames[k].axes));
    motion.x = motion.start = frames[k].to_world(model.bodies[k].centre);
    state.bodies.push_back(motion);
  }
  state.opening.assign(model.tools.size(), 0.0);
  return state;
}

RigidFrame frame_of(const RigidBody& body, const RigidMotion& motion) {
  const dmat3 axes = glm::mat3_cast(motion.q);
  return {axes, motion.x - axes * body.centre};
}

dvec3 spin_of(const RigidBody& body, const RigidMotion& motion) {
  const dmat3 axes = glm::mat3_cast(motion.q);
  return axes * (body.inertia * (motion.w * axes));
}

double energy_of(const RigidBody& body, const RigidMotion& motion) {
  return 0.5 * (body.mass * glm::dot(motion.v, motion.v) + glm::dot(motion.w, spin_of(body, motion)));
}

void step(const RigidModel& model, RigidState& state, std::span<const RigidToolStep> tools, double dt,
          RigidScratch& s) {
  if (!(dt > 0.0) || !std::isfinite(dt)) return;
  begin(model, state, s);
  place(model, state, tools, {0.0, 1.0, dt}, s);
  find_sleepers(model, state, dt, s);
  const double count = std::max(std::ceil(dt / model.params.substep - 1e-6), 1.0);
  for (double k = 0.0; k < count; k += 1.0) substep(model, state, tools, {k / count, (k + 1.0) / count, dt / count}, s);
  calm_down(model, dt, s, state);
  find_held(model.bodies.size(), s);
  feel_fixed(model, tools, dt, s);
  for (RigidTouch& touch : s.touches) touch.force /= dt, touch.torque /= dt;
}

}  // namespace trocar
