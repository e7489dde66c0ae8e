// The time step: small substeps, in each of them motion, one sweep over the springs, the contacts.
#include <algorithm>
#include <cmath>

#include "deform/spring_sweep.hpp"
#include "deform/tissue.hpp"
#include "deform/unfold.hpp"

namespace trocar {
namespace {

// How stiff the lattice may be for one substep: stiffness dt^2 / mass of an edge spring inside the organ. Up to here a
// column's sag is within 3 % of its limit for dt -> 0 and the force on a fine tip within 10 % (docs/tissue.md); beyond
// it one sweep gets too little done, and the organ would feel softer than its modulus says.
constexpr float kStiffestSubstep = 0.4f;

// Tissue so stiff that it wants more than this is stepped with this many, and is then too soft, not unstable.
constexpr int kMostSubsteps = 64;

// Contacts share nodes and disturb each other; a few rounds settle most of that.
constexpr int kContactRounds = 4;

// No hand moves an instrument faster: deeper contacts are resolved over several steps instead of flinging tissue away.
constexpr float kFastestTool = 2.f;  // m/s

struct Substep {
  int number, count;  // 1 .. count
  float dt;           // s
};

float stiffness_number(const TissueParams& p, float dt) {
  const float rate = dt / p.node_spacing;
  return 16.f / 30.f * p.youngs_modulus / p.density * rate * rate;
}

// Full relaxation (1) makes one sweep the implicit step of a lone spring but leaves a lattice too soft; 1/2 is right to
// second order in dt, and stable while a lone spring's stiffness dt^2 / reduced mass stays below 4. 3/4 is stable for
// any.
float relaxation_for(const TissueParams& p, float dt) {
  return std::clamp(0.5f + 0.25f * (stiffness_number(p, dt) - 1.f), 0.5f, 1.f);
}

void size_columns(NodeColumns& columns, std::size_t nodes) {
  columns.x.resize(nodes);
  columns.y.resize(nodes);
  columns.z.resize(nodes);
}

void split(std::span<const glm::vec3> from, NodeColumns& to) {
  size_columns(to, from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to.x[i] = from[i].x, to.y[i] = from[i].y, to.z[i] = from[i].z;
}

void join(const NodeColumns& from, std::span<glm::vec3> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = {from.x[i], from.y[i], from.z[i]};
}

glm::vec3 point_of(const PreparedContact& c, const NodeColumns& x) {
  glm::vec3 p(0.f);
  for (int i = 0; i < c.nodes; ++i) p += c.weight[i] * glm::vec3(x.x[c.node[i]], x.y[c.node[i]], x.z[c.node[i]]);
  return p;
}

void add_corner(const Embedding& e, float share, PreparedContact& c) {
  if (!(share > 0.f)) return;
  for (int i = 0; i < 8; ++i) {
    const auto end = c.node.begin() + c.nodes, known = std::find(c.node.begin(), end, e.node[i]);
    if (known == end) c.node[c.nodes] = e.node[i], c.weight[c.nodes++] = 0.f;
    c.weight[known - c.node.begin()] += share * e.weight[i];
  }
}

bool usable(const TissueModel& model, const TissueContact& c) {
  const std::size_t vertices = model.embedding.size();
  return std::isfinite(glm::dot(c.normal, c.normal) + glm::dot(c.slide, c.slide) + c.depth + c.u + c.v) &&
         c.vertex < vertices && c.second < vertices && c.third < vertices;
}

// A contact that makes no sense never pushes, but keeps its place in the list.
PreparedContact prepare(const TissueModel& model, const NodeColumns& x, const TissueContact& contact, float dt) {
  PreparedContact c{{}, {}, 0, glm::vec3(0.f), 0.f, -1.f, 1.f, glm::vec3(0.f), 0.f, glm::vec3(0.f)};
  if (!usable(model, contact)) return c;
  add_corner(model.embedding[contact.vertex], 1.f - contact.u - contact.v, c);
  add_corner(model.embedding[contact.second], contact.u, c);
  add_corner(model.embedding[contact.third], contact.v, c);
  c.normal = contact.normal;
  c.height = glm::dot(c.normal, point_of(c, x));
  c.depth = std::min(contact.depth, kFastestTool * dt);
  c.slide = contact.slide;
  c.admittance = 0.f;
  for (int i = 0; i < c.nodes; ++i) c.admittance += c.weight[i] * c.weight[i] / model.mass[c.node[i]];
  return c;
}

void begin_step(const TissueModel& model, TissueState& state, std::span<const TissueContact> contacts, float dt) {
  TissueScratch& s = state.scratch;
  split(state.x, s.x);
  split(state.v, s.v);
  size_columns(s.before, state.x.size());
  s.contacts.clear();
  for (const TissueContact& contact : contacts) s.contacts.push_back(prepare(model, s.x, contact, dt));
}

void move_freely(std::vector<float>& x, std::vector<float>& before, std::vector<float>& v, const float* inverse_mass,
                 float acceleration, float drag, float dt) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float speed = inverse_mass[i] > 0.f ? (v[i] + acceleration * dt) * drag : 0.f;
    before[i] = x[i];
    x[i] += speed * dt;
  }
}

void predict(const TissueModel& model, TissueScratch& s, float dt) {
  const float drag = 1.f / (1.f + model.params.drag * dt);
  const float* w = model.inverse_mass.data();
  move_freely(s.x.x, s.before.x, s.v.x, w, 0.f, drag, dt);
  move_freely(s.x.y, s.before.y, s.v.y, w, -model.params.gravity, drag, dt);
  move_freely(s.x.z, s.before.z, s.v.z, w, 0.f, drag, dt);
}

void solve_springs(const TissueModel& model, TissueScratch& s, float dt) {
  const SweepNodes nodes{s.x.x.data(),
                         s.x.y.data(),
                         s.x.z.data(),
                         s.before.x.data(),
                         s.before.y.data(),
                         s.before.z.data(),
                         model.inverse_mass.data()};
  sweep_springs(model, nodes, {dt, relaxation_for(model.params, dt)});
}

void unfold_cells(const TissueModel& model, TissueScratch& s, float dt) {
  s.flatness.resize(model.cells.size());
  const SolidNodes nodes{s.x.x.data(), s.x.y.data(), s.x.z.data(), model.inverse_mass.data()};
  measure_flatness(model, nodes, s.flatness);
  for (std::size_t cell = 0; cell < model.cells.size(); ++cell)
    if (s.flatness[cell] < kSqueezed) unfold_cell(model, cell, s.flatness[cell], nodes, dt);
}

// Moves the touched point by `by`, each node in inverse proportion to its mass.
void push_point(const TissueModel& model, PreparedContact& c, const glm::vec3& by, NodeColumns& x) {
  const glm::vec3 push = by / c.admittance;
  c.push -= push;
  for (int i = 0; i < c.nodes; ++i) {
    const std::uint32_t node = c.node[i];
    const glm::vec3 move = c.weight[i] * model.inverse_mass[node] * push;
    x.x[node] += move.x, x.y[node] += move.y, x.z[node] += move.z;
  }
}

// Half of what each contact pushed in the substep before acts before the springs, the rest after them: pushes that all
// came after the springs would find them already relaxed, and tissue would feel soft under a fine tip.
void press_again(const TissueModel& model, TissueScratch& s) {
  for (PreparedContact& c : s.contacts) {
    c.pressed *= 0.5f;
    if (c.pressed > 0.f) push_point(model, c, -c.pressed * c.admittance * c.normal, s.x);
  }
}

// The tool moves into place evenly over the step. A push may grow or shrink from round to round, but never pull.
void solve_contacts(const TissueModel& model, TissueScratch& s, const Substep& substep) {
  const float progress = static_cast<float>(substep.number) / static_cast<float>(substep.count);
  for (int round = 0; round < kContactRounds; ++round)
    for (PreparedContact& c : s.contacts) {
      const glm::vec3 point = point_of(c, s.x);
      const float excess = glm::dot(c.normal, point) - c.height + (c.depth > 0.f ? progress * c.depth : c.depth);
      const float pressed = std::max(c.pressed + excess / c.admittance, 0.f);
      if (pressed == 0.f && c.pressed == 0.f) continue;
      push_point(model, c, (c.pressed - pressed) * c.admittance * c.normal, s.x);
      c.pressed = pressed;
    }
}

// What slides along the tool is held back by at most friction times the push.
void rub_contacts(const TissueModel& model, TissueScratch& s, const Substep& substep) {
  for (PreparedContact& c : s.contacts) {
    if (!(c.pressed > 0.f)) continue;
    const glm::vec3 slip = point_of(c, s.x) - point_of(c, s.before) - c.slide / static_cast<float>(substep.count);
    const glm::vec3 along = slip - glm::dot(slip, c.normal) * c.normal;
    const float length = glm::length(along), grip = model.params.friction * c.pressed * c.admittance;
    push_point(model, c, length > grip ? along * (-grip / length) : -along, s.x);
  }
}

void speed_from_motion(std::vector<float>& v, const std::vector<float>& x, const std::vector<float>& before,
                       float rate) {
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = (x[i] - before[i]) * rate;
}

void update_velocity(TissueScratch& s, float dt) {
  speed_from_motion(s.v.x, s.x.x, s.before.x, 1.f / dt);
  speed_from_motion(s.v.y, s.x.y, s.before.y, 1.f / dt);
  speed_from_motion(s.v.z, s.x.z, s.before.z, 1.f / dt);
}

// A push moves mass by a length within one substep: the force it stands for is push / dt^2.
void end_step(TissueState& state, const Substep& last) {
  TissueScratch& s = state.scratch;
  join(s.x, state.x);
  join(s.v, state.v);
  s.force_per_push = 1.f / (last.dt * last.dt * static_cast<float>(last.count));
}

}  // namespace

int substep_count(const TissueModel& model, float dt) {
  const float wanted = std::ceil(std::sqrt(stiffness_number(model.params, dt) / kStiffestSubstep));
  return std::max(model.params.substeps, static_cast<int>(std::min(wanted, static_cast<float>(kMostSubsteps))));
}

glm::vec3 step(const TissueModel& model, TissueState& state, std::span<const TissueContact> contacts, float dt) {
  if (!(dt > 0.f) || !std::isfinite(dt)) return glm::vec3(0.f);
  Substep substep{1, substep_count(model, dt), 0.f};
  substep.dt = dt / static_cast<float>(substep.count);

  begin_step(model, state, contacts, dt);
  for (; substep.number <= substep.count; ++substep.number) {
    predict(model, state.scratch, substep.dt);
    press_again(model, state.scratch);
    solve_springs(model, state.scratch, substep.dt);
    unfold_cells(model, state.scratch, substep.dt);
    solve_contacts(model, state.scratch, substep);
    rub_contacts(model, state.scratch, substep);
    update_velocity(state.scratch, substep.dt);
  }
  end_step(state, substep);
  return contact_force(state, 0, contacts.size());
}

glm::vec3 contact_force(const TissueState& state, std::size_t first, std::size_t last) {
  const TissueScratch& s = state.scratch;
  glm::vec3 force(0.f);
  for (std::size_t i = first; i < std::min(last, s.contacts.size()); ++i) force += s.contacts[i].push;
  return force * s.force_per_push;
}

}  // namespace trocar
