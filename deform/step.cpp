// Makes a time step by small substeps of symplectic Euler. Each computes elastic forces, then motion, then the points
// that tools push and jaws hold.
#include "deform/step.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <glm/gtc/quaternion.hpp>
#include <mutex>
#include <optional>
#include <thread>

#include "deform/sheet_step.hpp"
#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/closest.hpp"
#include "geometry/frame.hpp"
#include "geometry/machine.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace trocar {
namespace {

// Volumes at every corner, cell by cell. rows: x, y, z of the four node rows of the run, (y, z) = 00, 10,
// 01, 11.
struct Rows {
  const float* p[4][3];
};

[[gnu::always_inline]] inline float corner(const Rows& rows, std::uint32_t i, int cx, int cy, int cz) {
  const auto& here = rows.p[cy + 2 * cz];
  const auto& beside = rows.p[1 - cy + 2 * cz];
  const auto& above = rows.p[cy + 2 * (1 - cz)];
  const std::uint32_t j = i + cx, k = i + 1 - cx;
  const float ax = here[0][k] - here[0][j], ay = here[1][k] - here[1][j], az = here[2][k] - here[2][j];
  const float bx = beside[0][j] - here[0][j], by = beside[1][j] - here[1][j], bz = beside[2][j] - here[2][j];
  const float dx = above[0][j] - here[0][j], dy = above[1][j] - here[1][j], dz = above[2][j] - here[2][j];
  const float volume = ax * (by * dz - bz * dy) + ay * (bz * dx - bx * dz) + az * (bx * dy - by * dx);
  return (cx + cy + cz) % 2 == 0 ? volume : -volume;
}

[[gnu::always_inline]] inline void measure_rows(const TissueModel& model, const NodeColumns& x, float* flatness) {
  const float h = model.params.node_spacing, scale = 1.f / (h * h * h);
  for (const CellRow& row : model.cell_rows) {
    Rows rows;
    for (int r = 0; r < 4; ++r)
      rows.p[r][0] = x.x.data() + row.row[r], rows.p[r][1] = x.y.data() + row.row[r],
      rows.p[r][2] = x.z.data() + row.row[r];
    float* out = flatness + row.first;
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (std::uint32_t i = 0; i < row.count; ++i) {
      const float low = std::min(std::min(corner(rows, i, 0, 0, 0), corner(rows, i, 1, 0, 0)),
                                 std::min(corner(rows, i, 0, 1, 0), corner(rows, i, 1, 1, 0)));
      const float high = std::min(std::min(corner(rows, i, 0, 0, 1), corner(rows, i, 1, 0, 1)),
                                  std::min(corner(rows, i, 0, 1, 1), corner(rows, i, 1, 1, 1)));
      out[i] = std::min(low, high) * scale;
    }
  }
}

[[gnu::target("avx2")]] void measure_avx2(const TissueModel& model, const NodeColumns& x, float* flatness) {
  measure_rows(model, x, flatness);
}
void measure_sse2(const TissueModel& model, const NodeColumns& x, float* flatness) { measure_rows(model, x, flatness); }

glm::vec3 at(const NodeColumns& c, std::uint32_t node) { return {c.x[node], c.y[node], c.z[node]}; }

std::uint32_t node_of(const CrushedCell& cell, int corner) { return cell.row[corner >> 1] + (corner & 1); }

// Returns the smallest corner volume, relative to that at rest.
float flatness_of(const glm::vec3 (&p)[8], float spacing) {
  float least = INFINITY;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::vec3 a = p[corner ^ 1] - p[corner], b = p[corner ^ 2] - p[corner], c = p[corner ^ 4] - p[corner];
    const float volume = glm::dot(a, glm::cross(b, c));
    least = std::min(least, __builtin_parity(corner) ? -volume : volume);
  }
  return least / (spacing * spacing * spacing);
}

// Returns the mean edges of a cell along x, y, z, relative to the rest length.
glm::mat3 mean_edges(const glm::vec3 (&p)[8], float spacing) {
  glm::mat3 edges(0.f);
  for (int corner = 0; corner < 8; ++corner)
    for (int axis = 0; axis < 3; ++axis) edges[axis] += (corner >> axis & 1 ? 1.f : -1.f) * p[corner];
  return edges / (4.f * spacing);
}

}  // namespace

void measure_flatness(const TissueModel& model, const NodeColumns& x, std::span<float> flatness) {
  static const bool avx2 = instructions() >= Instructions::Avx2;
  avx2 ? measure_avx2(model, x, flatness.data()) : measure_sse2(model, x, flatness.data());
}

glm::mat3 nearest_rotation(const glm::mat3& f) {
  constexpr int kMostTurns = 20;
  constexpr float kSmallestTurn = 1e-4f;  // rad
  glm::quat q(1.f, 0.f, 0.f, 0.f);
  for (int i = 0; i < kMostTurns; ++i) {
    const glm::mat3 r = glm::mat3_cast(q);
    const glm::vec3 twist = glm::cross(r[0], f[0]) + glm::cross(r[1], f[1]) + glm::cross(r[2], f[2]);
    const float along = glm::dot(r[0], f[0]) + glm::dot(r[1], f[1]) + glm::dot(r[2], f[2]);
    const glm::vec3 turn = twist / (std::abs(along) + 1e-9f);
    const float angle = glm::length(turn);
    if (!(angle > kSmallestTurn)) break;
    q = glm::normalize(glm::quat(turn_about(glm::dvec3(turn / angle), angle)) * q);
  }
  return glm::mat3_cast(q);
}

void add_unfolding_forces(const TissueModel& model, const CrushedCell& cell, const NodeColumns& x, const NodeColumns& v,
                          NodeColumns& force) {
  const float spacing = model.params.node_spacing;
  glm::vec3 p[8], centre(0.f), drift(0.f);
  for (int corner = 0; corner < 8; ++corner) {
    p[corner] = at(x, node_of(cell, corner));
    centre += 0.125f * p[corner];
    drift += 0.125f * at(v, node_of(cell, corner));
  }
  // Increases gradually from half the rest volume to none. A node may have eight such cells around it; together they
  // must not make it stiffer than the substeps allow.
  const float need = std::clamp((kSqueezed - flatness_of(p, spacing)) / kSqueezed, 0.f, 1.f);
  if (!(need > 0.f)) return;
  const glm::mat3 turned = nearest_rotation(mean_edges(p, spacing));
  const float stiffness = cell.volume_fraction * need * model.params.unfolding * model.params.youngs_modulus * spacing;
  const float damping = need * model.params.crush_damping * cell.volume_fraction * model.cell_mass / 8.f;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::vec3 rest = spacing * (glm::vec3(corner & 1, corner >> 1 & 1, corner >> 2) - 0.5f);
    const std::uint32_t node = node_of(cell, corner);
    const glm::vec3 pull = stiffness * (centre + turned * rest - p[corner]) + damping * (drift - at(v, node));
    force.x[node] += pull.x, force.y[node] += pull.y, force.z[node] += pull.z;
  }
}

namespace {

// Applies the loads of tools and jaws to single points of the surface within a step. The loads are position-based; a
// tool only pushes, and a hold has a force limit. A point is a weighted sum of lattice nodes; moving it moves the nodes
// by the transposed weights, each in inverse proportion to its mass.

// Points share nodes and disturb each other; a few rounds remove most of the error. Parts press more points on the same
// nodes than shafts do.
constexpr int kRounds = 16, kPartRounds = 24, kFewRounds = 4;  // few: when there are only holds

// A point at least this far outside the tool at the first round is not processed further.
constexpr float kIdle = 2e-4f;  // m

// The largest speed that an overlap gives as it is taken back. Without any, tissue that a shaft has sunk into would
// shake.
constexpr float kSpringsBack = 0.3f;  // m/s
// Positions alone take back at most this much of an overlap in a substep.
constexpr float kLongestShift = 0.4f;  // fraction of the node spacing
constexpr int kShiftRounds = 16;

// When the direction to a tool's axis turns by more than 60 degrees within a step, the axis has passed the point.
constexpr float kLoadSameSide = 0.5f;

// Two points closer than this do not define a direction.
constexpr float kLoadCoincident = 1e-7f;  // m

glm::vec3 point_of(const PreparedPoint& c, const NodeColumns& x) {
  return weighted_sum<glm::vec3>(c.node.data(), c.weight.data(), c.nodes,
                                 [&x](std::uint32_t n) { return column(x, n); });
}

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
                      std::span<const ToolStep> tools) {
  PreparedPoint c{};
  if (!usable(model, contact, tools)) return c;
  add_corner(model.embedding[contact.vertex], 1.f - contact.u - contact.v, c);
  add_corner(model.embedding[contact.second], contact.u, c);
  add_corner(model.embedding[contact.third], contact.v, c);
  measure_mobility(model, x, c);
  c.normal = contact.normal;
  c.slide = tool_slide(tools[contact.tool], c.before);
  return c;
}

PreparedPoint prepare(const TissueModel& model, const NodeColumns& x, const TissueHold& hold) {
  PreparedPoint c{};
  if (!std::isfinite(glm::dot(hold.from, hold.from) + glm::dot(hold.to, hold.to)) || !(hold.limit > 0.f)) return c;
  add_corner(hold.point, 1.f, c);
  measure_mobility(model, x, c);
  return c;
}

// Moves the point by admittance times `push`; velocities follow.
void push_point(const TissueModel& model, PreparedPoint& c, const glm::vec3& push, float dt, TissueScratch& s) {
  c.pressed += push;
  NodeMover nodes(model, dt, s);
  for (int i = 0; i < c.nodes; ++i) nodes.move(c.node[i], c.moves[i] * push);
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

float pressed_radius(double radius) { return static_cast<float>(radius - std::min(kContactSlack, 0.1 * radius)); }

// Is the whole part, with its ball, beyond a plane ahead of the point, across the normal? Conservative, and much
// cheaper than the distance: most points near a part stay out of its range.
bool out_of_range(const PosedPart& posed, double radius, const NodeColumns& x, const PreparedPoint& c) {
  const glm::dvec3 p(point_of(c, x)), n(c.normal);
  const double range = (radius + kIdle) * glm::length(n);
  return std::all_of(posed.corners().begin(), posed.corners().end(),
                     [&](const glm::dvec3& corner) { return glm::dot(corner - p, n) > range; });
}

// The same for a part. When the point has entered the polytope, or the part has passed it, the plane lies where the
// point leaves the part along the old normal.
void face_part(const PosedPart& posed, double radius, const NodeColumns& x, PreparedPoint& c) {
  const glm::vec3 p = point_of(c, x);
  const std::array<glm::dvec3, 1> point{glm::dvec3(p)};
  const HullDistance closest = hull_distance(posed.corners(), point);
  const glm::dvec3 to_part = closest.on_first - point[0];
  const float pressed = pressed_radius(radius);
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
void face_tool(const ToolStep& tool, float progress, const NodeColumns& x, PreparedPoint& c) {
  const glm::vec3 p = point_of(c, x);
  const glm::vec3 tip(tool.tip_before + static_cast<double>(progress) * (tool.tip_after - tool.tip_before));
  const glm::vec3 beside = closest_on_axis(p, glm::vec3(tool.pivot), tip);
  const float distance = glm::distance(beside, p);
  if (distance > kLoadCoincident && glm::dot(beside - p, c.normal) > kLoadSameSide * distance)
    c.normal = (beside - p) / distance;
  c.plane = glm::dot(c.normal, beside) - pressed_radius(tool.radius);
}

// An overlap from before the substep is what would be there if the point had moved with the tool. It gives a speed of
// kSpringsBack at most; the rest of it gives none.
void find_old_overlap(const Substep& substep, PreparedPoint& c) {
  const glm::vec3 carried = c.before + c.slide / static_cast<float>(substep.count);
  c.old = std::max(glm::dot(c.normal, carried) - c.plane - kSpringsBack * substep.dt, 0.f);
}

// Takes back what the substep's motion made of an overlap. The push may grow or shrink between rounds, but it never
// becomes a pull.
void push_out(const TissueModel& model, const Substep& substep, PreparedPoint& c, TissueScratch& s) {
  const float excess = glm::dot(c.normal, point_of(c, s.x)) - c.plane - c.old, pressed = -glm::dot(c.pressed, c.normal);
  const float most = model.params.fastest_tool * substep.dt / c.admittance;
  const float wanted = std::max(pressed + excess / c.admittance, 0.f);
  if (wanted > most) ++s.held_back;
  if (const float push = std::min(wanted, most); push != pressed)
    push_point(model, c, (pressed - push) * c.normal, substep.dt, s);
}

// Takes the rest of an overlap back by positions alone. As pushes do, a shift may grow or shrink between rounds.
// `shifted`: m, so far.
void shift_out(const TissueModel& model, PreparedPoint& c, float& shifted, TissueScratch& s) {
  const float excess = glm::dot(c.normal, point_of(c, s.x)) - c.plane;
  const float wanted = std::clamp(shifted + excess, 0.f, kLongestShift * model.params.node_spacing);
  if (wanted == shifted) return;
  shift_point(c, (shifted - wanted) / c.admittance * c.normal, s);
  shifted = wanted;
}

// Slip along the tool is reduced, by at most friction times the normal push.
void rub(const TissueModel& model, const Substep& substep, PreparedPoint& c, TissueScratch& s) {
  const float pressed = -glm::dot(c.pressed, c.normal);
  if (!(pressed > 0.f)) return;
  const glm::vec3 slip = point_of(c, s.x) - c.before - c.slide / static_cast<float>(substep.count);
  const glm::vec3 along = slip - glm::dot(slip, c.normal) * c.normal;
  const float length = glm::length(along), wanted = length / c.admittance;
  if (!(length > 0.f)) return;
  push_point(model, c, along * (-std::min(wanted, model.params.friction * pressed) / length), substep.dt, s);
}

void pose_parts(const TissueLoads& loads, float progress, TissueScratch& s) {
  if (loads.contacts.empty() && loads.holds.empty()) return;
  s.posed.resize(loads.tools.size());
  for (std::size_t k = 0; k < loads.tools.size(); ++k) {
    const MovingPart& part = loads.tools[k].part;
    if (!part.shape) continue;
    const double time = part.from + static_cast<double>(progress) * (part.to - part.from);
    s.posed[k] = PosedPart(*part.shape, frame_at(*part.motion, *part.shape, time));
  }
}

void follow(const TissueModel& model, const TissueHold& hold, const Substep& substep, PreparedPoint& c,
            TissueScratch& s) {
  const float progress = static_cast<float>(substep.number) / static_cast<float>(substep.count);
  const glm::vec3 wanted = c.pressed + (glm::mix(hold.from, hold.to, progress) - point_of(c, s.x)) / c.admittance;
  const float length = glm::length(wanted),
              most = hold.limit * substep.dt * substep.dt / (1.f + model.params.drag * substep.dt);
  push_point(model, c, (length > most ? wanted * (most / length) : wanted) - c.pressed, substep.dt, s);
}

void end_substep(PreparedPoint& c, const NodeColumns& x) {
  c.push -= c.arrives * c.pressed;
  c.before = point_of(c, x);
}

void prepare_contact_points(const TissueModel& model, const TissueLoads& loads, TissueScratch& s) {
  s.contacts.clear();
  for (const TissueContact& contact : loads.contacts) s.contacts.push_back(prepare(model, s.x, contact, loads.tools));
  s.holds.clear();
  for (const TissueHold& hold : loads.holds) s.holds.push_back(prepare(model, s.x, hold));
}

void solve_contact_points(const TissueModel& model, const TissueLoads& loads, const Substep& substep,
                          TissueScratch& s) {
  const float progress = static_cast<float>(substep.number) / static_cast<float>(substep.count);
  int rounds = kRounds;
  s.active.clear();
  pose_parts(loads, progress, s);
  for (std::uint32_t i = 0; i < s.contacts.size(); ++i) {
    PreparedPoint& c = s.contacts[i];
    c.pressed = glm::vec3(0.f);
    if (!(c.admittance > 0.f)) continue;
    const std::uint32_t k = loads.contacts[i].tool;
    if (const PartShape* shape = loads.tools[k].part.shape) {
      if (out_of_range(s.posed[k], shape->radius, s.x, c)) continue;
      face_part(s.posed[k], shape->radius, s.x, c);
      rounds = kPartRounds;
    } else {
      face_tool(loads.tools[k], progress, s.x, c);
    }
    if (!(glm::dot(c.normal, point_of(c, s.x)) - c.plane > -kIdle)) continue;
    find_old_overlap(substep, c);
    s.active.push_back(i);
  }
  for (PreparedPoint& hold : s.holds) hold.pressed = glm::vec3(0.f);
  for (int round = 0; round < rounds; ++round) {
    for (const std::uint32_t i : s.active) push_out(model, substep, s.contacts[i], s);
    for (std::size_t i = 0; i < s.holds.size(); ++i)
      if (s.holds[i].admittance > 0.f) follow(model, loads.holds[i], substep, s.holds[i], s);
    if (s.active.empty() && round == kFewRounds) break;
  }
  for (const std::uint32_t i : s.active)
    if (!loads.contacts[i].smooth) rub(model, substep, s.contacts[i], s);
  for (const std::uint32_t i : s.active) s.contacts[i].old = 0.f;
  for (int round = 0; round < kShiftRounds; ++round)
    for (const std::uint32_t i : s.active) shift_out(model, s.contacts[i], s.contacts[i].old, s);
  for (PreparedPoint& c : s.contacts)
    if (c.admittance > 0.f) end_substep(c, s.x);
  for (PreparedPoint& c : s.holds)
    if (c.admittance > 0.f) end_substep(c, s.x);
}

// Tissue that needs more substeps for one step gets this many, and its time runs slower.
constexpr int kMostSubsteps = 4096;

// Crushed tissue is stiffer than sound tissue; its substeps are shorter by this factor.
constexpr float kCrushedSteps = 1.7f;

// Limit on the motion of a node within a substep, under any load.
constexpr float kLongestStride = 0.4f;  // fraction of the node spacing

// Treats denormal numbers as zero during a step: they are slow and irrelevant.
class FlushTinyNumbers {
#if defined(__x86_64__)
 public:
  FlushTinyNumbers() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~FlushTinyNumbers() { _mm_setcsr(before_); }
  FlushTinyNumbers(const FlushTinyNumbers&) = delete;
  FlushTinyNumbers& operator=(const FlushTinyNumbers&) = delete;

 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  unsigned before_;
#endif
};

void size_columns(NodeColumns& columns, std::size_t nodes) {
  const std::size_t padded = nodes + 2 * kLanes;
  if (columns.x.size() == padded) return;
  columns.x.assign(padded, 0.f);
  columns.y.assign(padded, 0.f);
  columns.z.assign(padded, 0.f);
}

void split(std::span<const glm::vec3> from, NodeColumns& to) {
  size_columns(to, from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to.x[i] = from[i].x, to.y[i] = from[i].y, to.z[i] = from[i].z;
}

void join(const NodeColumns& from, std::span<glm::vec3> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = {from.x[i], from.y[i], from.z[i]};
}

void find_crushed_cells(const TissueModel& model, TissueScratch& s) {
  s.flatness.resize(model.bulk.size());
  measure_flatness(model, s.x, s.flatness);
  s.crushed.clear();
  s.flattest = 1.f;
  for (std::size_t c = 0; c < model.bulk_index.size(); ++c) {
    const LatticeCell& cell = model.lattice.cells[c];
    const float flatness = s.flatness[model.bulk_index[c]];
    if (!(flatness < kWatched) || !(cell.volume_fraction > 0.f) || cell.divided) continue;
    s.flattest = std::min(s.flattest, flatness);
    s.crushed.push_back({{cell.node[0], cell.node[2], cell.node[4], cell.node[6]}, cell.volume_fraction});
  }
}

void look_ahead(std::vector<float>& ahead, const std::vector<float>& x, const std::vector<float>& v, float time) {
  for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] = x[i] + time * v[i];
}

// Updates v, x and the position of the next elastic forces along one axis; resets the forces.
struct Motion {
  float dt, drag, fastest, damping_time;
};
void move(std::span<float> x, std::vector<float>& v, std::vector<float>& ahead, std::vector<float>& force,
          const std::vector<float>& gravity, const float* inverse_mass, const Motion& m) {
  float *px = x.data(), *pv = v.data(), *pa = ahead.data(), *pf = force.data();
  const float* pg = gravity.data();
  const std::size_t count = x.size() - 2 * kLanes;
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < count; ++i) {
    const float speed = (pv[i] + m.dt * (pf[i] * inverse_mass[i] + pg[i])) * m.drag;
    pv[i] = std::min(std::max(speed, -m.fastest), m.fastest);
    px[i] += m.dt * pv[i];
    pa[i] = px[i] + m.damping_time * pv[i];
    pf[i] = 0.f;
  }
}

void add_tether_forces(const TissueModel& model, const glm::vec3& breath, TissueScratch& s) {
  for (const Tether& tether : model.tethers) {
    const std::uint32_t i = tether.node;
    const glm::vec3 anchor = model.rest[i] + (tether.diaphragm ? breath : glm::vec3(0.f));
    s.force.x[i] += tether.stiffness * (anchor.x - s.ahead.x[i]);
    s.force.y[i] += tether.stiffness * (anchor.y - s.ahead.y[i]);
    s.force.z[i] += tether.stiffness * (anchor.z - s.ahead.z[i]);
  }
}

// Nodes fixed to the diaphragm move with it.
void move_diaphragm(const TissueModel& model, const glm::vec3& breath, TissueScratch& s) {
  for (const std::uint32_t i : model.diaphragm) {
    const glm::vec3 p = model.rest[i] + breath;
    s.x.x[i] = s.ahead.x[i] = p.x, s.x.y[i] = s.ahead.y[i] = p.y, s.x.z[i] = s.ahead.z[i] = p.z;
  }
}

// Puts loose tissue that is below the floor back onto it, where it sticks.
void stop_at_floor(const TissueModel& model, TissueScratch& s) {
  const auto& [down, height] = model.floor;
  for (std::size_t i = 0; i < model.gravity.size(); ++i) {
    if (model.gravity[i] == glm::vec3(0.f) || !(model.inverse_mass[i] > 0.f)) continue;
    const glm::vec3 x(s.x.x[i], s.x.y[i], s.x.z[i]);
    const float beyond = glm::dot(down, x) - height;
    if (!(beyond > 0.f)) continue;
    const glm::vec3 p = x - beyond * down;
    s.x.x[i] = s.ahead.x[i] = p.x, s.x.y[i] = s.ahead.y[i] = p.y, s.x.z[i] = s.ahead.z[i] = p.z;
    s.v.x[i] = s.v.y[i] = s.v.z[i] = 0.f;
  }
}

}  // namespace

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

void begin_tube(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s) {
  size_tube(model, loads, s.tube);
  weigh_down(model, s.tube);
  s.tube.squeezes.clear();
  pose_parts(loads, 1.f, s);
  squeeze_with_jaws(model, state, loads, s.tube);
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
  pose_parts(loads, progress, s);
  const double deepest = -kDeepestPress * model.tube.params.radius;
  for (std::uint32_t i = 0; i < s.contacts.size(); ++i) {
    PreparedPoint& c = s.contacts[i];
    const glm::vec3 pressed = c.pressed;
    c.pressed = glm::vec3(0.f);
    if (c.nodes == 0) continue;
    const std::uint32_t k = loads.contacts[i].tool;
    if (const PartShape* shape = loads.tools[k].part.shape) {
      if (out_of_range(s.posed[k], shape->radius, s.x, c)) continue;
      face_part(s.posed[k], shape->radius, s.x, c);
    } else {
      face_tool(loads.tools[k], progress, s.x, c);
    }
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
// that: of the ways of the points on one edge to the jaws, only the mean counts. Sets PreparedPoint::slide.
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
    s.holds[i].slide = loads.holds[i].from - point_of(s.holds[i], s.x) - sum / count;
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
      way -= glm::dvec3(c.slide);
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
  look_ahead(s.ahead.x, s.x.x, s.v.x, model.params.damping_time);
  look_ahead(s.ahead.y, s.x.y, s.v.y, model.params.damping_time);
  look_ahead(s.ahead.z, s.x.z, s.v.z, model.params.damping_time);
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

}  // namespace

void pose_tools(const TissueLoads& loads, float progress, TissueScratch& s) { pose_parts(loads, progress, s); }

bool face_pressed(const TissueLoads& loads, std::uint32_t contact, float progress, TissueScratch& s) {
  PreparedPoint& c = s.contacts[contact];
  const std::uint32_t k = loads.contacts[contact].tool;
  if (const PartShape* shape = loads.tools[k].part.shape) {
    if (out_of_range(s.posed[k], shape->radius, s.x, c)) return false;
    face_part(s.posed[k], shape->radius, s.x, c);
  } else {
    face_tool(loads.tools[k], progress, s.x, c);
  }
  return true;
}

void begin_step(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads) {
  TissueScratch& s = state.scratch;
  split(state.x, s.x);
  split(state.v, s.v);
  split(model.gravity, s.gravity);
  for (std::size_t i = 0; i < state.x.size(); ++i)
    if (!(model.inverse_mass[i] > 0.f))
      s.gravity.x[i] = s.gravity.y[i] = s.gravity.z[i] = 0.f, s.v.x[i] = s.v.y[i] = s.v.z[i] = 0.f;
  size_columns(s.ahead, state.x.size());
  size_columns(s.force, state.x.size());
  look_ahead(s.ahead.x, s.x.x, s.v.x, model.params.damping_time);
  look_ahead(s.ahead.y, s.x.y, s.v.y, model.params.damping_time);
  look_ahead(s.ahead.z, s.x.z, s.v.z, model.params.damping_time);
  if (!model.tube.empty()) {
    s.flattest = s.stiffest = 1.f;
    prepare_contact_points(model, loads, s);
    begin_tube(model, state, loads, s);
    return;
  }
  if (!model.slab.empty()) {
    s.flattest = s.stiffest = 1.f;
    prepare_contact_points(model, loads, s);
    begin_sheet(model, state, loads);
    return;
  }
  find_crushed_cells(model, s);
  s.stiffest = model.params.law == TissueLaw::Rising ? stiffest_cell(model, s.x) : 1.f;
  prepare_contact_points(model, loads, s);
}

void advance(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep) {
  if (!model.tube.empty()) {
    advance_tube(model, state, loads, substep);
    return;
  }
  if (!model.slab.empty()) {
    advance_sheet(model, state, loads, {substep.number, substep.number, substep.count, substep.dt});
    return;
  }
  const FlushTinyNumbers flush;
  TissueScratch& s = state.scratch;
  const TissueParams& p = model.params;
  const glm::vec3 breath_now = breath(model.breathing, state.time + substep.dt * substep.number);
  const Motion motion{substep.dt, 1.f / (1.f + p.drag * substep.dt), kLongestStride * p.node_spacing / substep.dt,
                      p.damping_time};
  add_elastic_forces(model, s.ahead, s.force);
  for (const CrushedCell& cell : s.crushed) add_unfolding_forces(model, cell, s.x, s.v, s.force);
  add_tether_forces(model, breath_now, s);
  const std::span<float> x(s.x.x), y(s.x.y), z(s.x.z);
  move(x, s.v.x, s.ahead.x, s.force.x, s.gravity.x, model.inverse_mass.data(), motion);
  move(y, s.v.y, s.ahead.y, s.force.y, s.gravity.y, model.inverse_mass.data(), motion);
  move(z, s.v.z, s.ahead.z, s.force.z, s.gravity.z, model.inverse_mass.data(), motion);
  move_diaphragm(model, breath_now, s);
  if (model.floor.down != glm::vec3(0.f)) stop_at_floor(model, s);
  solve_contact_points(model, loads, substep, s);
}

// Sets the factor that converts pushes (mass times length, summed over the substeps) to the mean force. Drag acts after
// each push, so the force is larger by the factor 1 + drag dt.
void end_step(const TissueModel& model, SteppedTissue& state, const Substep& last, float dt) {
  TissueScratch& s = state.scratch;
  join(s.x, state.x);
  join(s.v, state.v);
  state.time += dt;
  s.force_per_push = (1.f + model.params.drag * last.dt) / (last.dt * last.dt * static_cast<float>(last.count));
}

int substep_count(const TissueModel& model, float dt) {
  const float wanted = std::ceil(dt / model.longest_substep);
  return std::max(model.params.substeps, static_cast<int>(std::min(wanted, static_cast<float>(kMostSubsteps))));
}

int substep_count(const TissueModel& model, const SteppedTissue& state, float dt) {
  const TissueScratch& s = state.scratch;
  if (model.params.law == TissueLaw::Rising) dt *= std::sqrt(s.stiffest);
  return substep_count(model, s.flattest < kSqueezed ? kCrushedSteps * dt : dt);
}

glm::vec3 step(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, float dt) {
  if (!(dt > 0.f) || !std::isfinite(dt)) return glm::vec3(0.f);
  begin_step(model, state, loads);
  Substep substep{1, substep_count(model, state, dt), 0.f};
  substep.dt = dt / static_cast<float>(substep.count);
  for (; substep.number <= substep.count; ++substep.number) {
    advance(model, state, loads, substep);
    for (std::vector<RodAnchor>& anchors : state.scratch.tube.anchors) anchors.clear();
  }
  end_step(model, state, substep, dt);
  return contact_force(state, 0, loads.contacts.size());
}

// Threads that share lists of equal jobs with their caller. Within a step lists follow each other every few
// microseconds, and most are done before a sleeping thread wakes: helpers look out for the next list for a while before
// they sleep. The caller takes jobs too, and waits only for those that a helper has begun.
struct OrganStepper::Team {
  // Longer than what lies between two lists of a step, and than the end of a helper's last job. It is short beside the
  // time of a frame, because another program, or the renderer, may want the core.
  static constexpr std::chrono::microseconds kLookout{50};
  static constexpr std::uint64_t kRound = std::uint64_t{1} << 32;  // a ticket: kRound * round + jobs to take

  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable begin, done;
  std::atomic<std::uint64_t> ticket{0};
  std::atomic<std::size_t> undone{0};                 // jobs of the round that have not ended
  std::atomic<int> asleep{0};                         // helpers
  std::atomic<bool> stopping{false}, waiting{false};  // waiting: the caller sleeps
  // Of the round; they stay until all its jobs have ended.
  void (*job)(void*, std::size_t) = nullptr;
  void* context = nullptr;
  std::size_t jobs = 0;

  explicit Team(int helpers) {
    for (int i = 0; i < helpers; ++i) threads.emplace_back([this] { help(); });
  }
  ~Team() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    begin.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  bool called() const { return ticket.load() % kRound != 0 || stopping.load(); }
  bool ended() const { return undone.load() == 0; }
  static void rest() {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
  // Returns whether `is_so` became true while it looked.
  template <typename Condition>
  static bool look_out(const Condition& is_so) {
    constexpr int kBetweenClocks = 32;
    for (const auto start = Clock::now(); Clock::now() - start < kLookout;)
      for (int k = 0; k < kBetweenClocks; ++k, rest())
        if (is_so()) return true;
    return false;
  }

  void work() {
    for (std::uint64_t now = ticket.load(); now % kRound != 0;) {
      if (!ticket.compare_exchange_weak(now, now - 1)) continue;
      job(context, jobs - now % kRound);
      if (undone.fetch_sub(1) == 1 && waiting.load()) {
        const std::lock_guard lock(mutex);
        done.notify_one();
      }
      now = ticket.load();
    }
  }
  void help() {
    while (!stopping) {
      if (!look_out([this] { return called(); })) {
        std::unique_lock lock(mutex);
        ++asleep;
        begin.wait(lock, [this] { return called(); });
        --asleep;
      }
      work();
    }
  }
  void wait() {
    if (look_out([this] { return ended(); })) return;
    std::unique_lock lock(mutex);
    waiting = true;
    done.wait(lock, [this] { return ended(); });
    waiting = false;
  }

  template <typename Job>
  void share(std::size_t count, Job& each) {
    if (threads.empty() || count < 2) {
      for (std::size_t i = 0; i < count; ++i) each(i);
      return;
    }
    job = [](void* context, std::size_t i) { (*static_cast<Job*>(context))(i); };
    context = const_cast<void*>(static_cast<const void*>(&each));
    jobs = count;
    undone = count;
    ticket = (ticket.load() / kRound + 1) * kRound + count;
    if (asleep.load() > 0) {
      { const std::lock_guard lock(mutex); }  // a helper that has looked in vain is asleep before it is called
      begin.notify_all();
    }
    work();
    wait();
  }
};

OrganStepper::OrganStepper(int threads) : team_(std::make_unique<Team>(std::max(threads, 1) - 1)) {}
OrganStepper::~OrganStepper() = default;

namespace {

// Advances an organ by a common substep in several equal parts. The forces of fibres act in the first one.
void advance_divided(const SteppedOrgan& organ, const Substep& common, int parts) {
  TissueScratch& s = organ.state->scratch;
  if (parts > 1)
    for (std::vector<float>* force : {&s.force.x, &s.force.y, &s.force.z})
      for (float& f : *force) f *= static_cast<float>(parts);
  Substep part{(common.number - 1) * parts + 1, common.count * parts, common.dt / static_cast<float>(parts)};
  for (; part.number <= common.number * parts; ++part.number) advance(*organ.model, *organ.state, organ.loads, part);
}

}  // namespace

void OrganStepper::step(std::span<const SteppedOrgan> organs, OrganContacts& contacts, Bonds& bonds, float dt) {
  if (!(dt > 0.f) || !std::isfinite(dt)) return;
  models_.clear();
  states_.clear();
  for (const SteppedOrgan& organ : organs) models_.push_back(organ.model), states_.push_back(organ.state);
  const auto begin = [&](std::size_t i) { begin_step(*organs[i].model, *organs[i].state, organs[i].loads); };
  team_->share(organs.size(), begin);

  squeeze_with_clips(models_, states_, bonds);
  for (std::size_t i = 0; i < organs.size(); ++i)
    if (!models_[i]->tube.empty())
      flatten(models_[i]->tube, states_[i]->scratch.tube.squeezes, static_cast<double>(dt), states_[i]->tube);

  const auto slowed = [&](std::size_t i) { return bonds.empty() ? dt : bonds.slowdown[i] * dt; };
  const auto own_count = [&](std::size_t i) { return substep_count(*organs[i].model, *organs[i].state, slowed(i)); };
  // Organs that touch or hang together use a common substep; others use their own. One whose tissue is crushed or
  // stretched stiff divides the common one further, on its own.
  sort_organs(contacts, bonds);
  int most = 1;
  for (const std::size_t i : joined_) most = std::max(most, substep_count(*organs[i].model, slowed(i)));
  const auto divisions = [&](std::size_t i) { return (own_count(i) + most - 1) / most; };
  const auto first_substep = [&](int count) { return Substep{1, count, dt / static_cast<float>(count)}; };
  const auto advance_alone = [&](std::size_t k) {
    const std::size_t i = alone_[k];
    for (Substep substep = first_substep(own_count(i)); substep.number <= substep.count; ++substep.number) {
      advance(*organs[i].model, *organs[i].state, organs[i].loads, substep);
      for (std::vector<RodAnchor>& anchors : states_[i]->scratch.tube.anchors) anchors.clear();
    }
  };
  team_->share(alone_.size(), advance_alone);
  Substep common = first_substep(most);
  for (; !joined_.empty() && common.number <= common.count; ++common.number) {
    const auto advance_tubes = [&](std::size_t k) {
      const std::size_t i = tubes_[k];
      advance(*organs[i].model, *organs[i].state, organs[i].loads, common);
    };
    const auto advance_solids = [&](std::size_t k) {
      const std::size_t i = solids_[k];
      advance_divided(organs[i], common, divisions(i));
    };
    step_sheets(organs, common, contacts, bonds);
    add_bond_forces(models_, states_, bonds);
    push_neighbours(sheets_, models_, states_);
    press_tubes(models_, states_, common.dt, contacts);
    team_->share(tubes_.size(), advance_tubes);
    return_tube_forces(models_, states_, bonds);
    for (const std::size_t i : tubes_)
      for (std::vector<RodAnchor>& anchors : states_[i]->scratch.tube.anchors) anchors.clear();
    team_->share(solids_.size(), advance_solids);
    take_back_from_tubes(models_, states_, common.dt, contacts);
    solve_organ_contacts(models_, states_, common.dt, contacts);
  }
  for (const std::size_t i : alone_) end_step(*organs[i].model, *organs[i].state, first_substep(own_count(i)), dt);
  for (const std::vector<std::size_t>* thin : {&tubes_, &sheets_})
    for (const std::size_t i : *thin) end_step(*organs[i].model, *organs[i].state, first_substep(most), dt);
  for (const std::size_t i : solids_)
    end_step(*organs[i].model, *organs[i].state, first_substep(most * divisions(i)), dt);
}

// Sheets step first, for several substeps of the others.
void OrganStepper::step_sheets(std::span<const SteppedOrgan> organs, const Substep& common, OrganContacts& contacts,
                               const Bonds& bonds) {
  const SheetSpan span = sheet_span(common.number, common.count, common.dt);
  if (sheets_.empty() || span.last < span.first) return;
  meet_neighbours(sheets_, models_, states_, span, contacts, bonds);
  const auto advance_sheets = [&](std::size_t k) {
    const std::size_t i = sheets_[k];
    advance_sheet(*organs[i].model, *organs[i].state, organs[i].loads, span);
  };
  team_->share(sheets_.size(), advance_sheets);
  leave_neighbours(sheets_, models_, states_, span, contacts, bonds);
}

void OrganStepper::sort_organs(const OrganContacts& contacts, const Bonds& bonds) {
  is_joined_.assign(models_.size(), 0);
  for (const PairContact& contact : contacts.contacts) is_joined_[contact.a] = is_joined_[contact.b] = 1;
  for (const std::vector<Fibre>* fibres : {&bonds.fibres, &bonds.struts})
    for (const Fibre& fibre : *fibres)
      for (const std::uint32_t organ : {fibre.a.organ, fibre.b.organ})
        if (organ != kWall) is_joined_[organ] = 1;
  joined_.clear();
  alone_.clear();
  for (std::size_t i = 0; i < models_.size(); ++i) (is_joined_[i] ? joined_ : alone_).push_back(i);
  tubes_.clear();
  solids_.clear();
  sheets_.clear();
  for (const std::size_t i : joined_)
    (!models_[i]->slab.empty() ? sheets_ : models_[i]->tube.empty() ? solids_ : tubes_).push_back(i);
}

}  // namespace trocar
