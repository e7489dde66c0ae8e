// Makes a time step by small substeps of symplectic Euler. Each computes elastic forces, then motion, then the points
// that tools push and jaws hold.
#include "deform/step.hpp"

#include <algorithm>
#include <cmath>
#include <glm/gtc/quaternion.hpp>

#include "deform/point_loads.hpp"
#include "deform/sheet_step.hpp"
#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"
#include "deform/tool_dents.hpp"
#include "deform/tube_step.hpp"
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

// Tissue that needs more substeps for one step gets this many, and its time runs slower.
constexpr int kMostSubsteps = 4096;

// Crushed tissue is stiffer than sound tissue; its substeps are shorter by this factor.
constexpr float kCrushedSteps = 1.7f;

// Limit on the motion of a node within a substep, under any load.
constexpr float kLongestStride = 0.4f;  // fraction of the node spacing

// Treats denormal numbers as zero during a step: they are slow and irrelevant.
class [[maybe_unused]] FlushTinyNumbers {
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

void look_ahead(float time, TissueScratch& s) {
  const auto along = [time](std::vector<float>& ahead, const std::vector<float>& x, const std::vector<float>& v) {
    for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] = x[i] + time * v[i];
  };
  along(s.ahead.x, s.x.x, s.v.x);
  along(s.ahead.y, s.x.y, s.v.y);
  along(s.ahead.z, s.x.z, s.v.z);
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
  look_ahead(model.params.damping_time, s);
  if (!model.tube.empty()) {
    s.flattest = s.stiffest = 1.f;
    prepare_contact_points(model, loads, s);
    begin_dents(model, state, loads, s);
    begin_tube(model, state, loads, s);
    return;
  }
  if (!model.slab.empty()) {
    s.flattest = s.stiffest = 1.f;
    prepare_contact_points(model, loads, s);
    begin_dents(model, state, loads, s);
    begin_sheet(model, state, loads);
    return;
  }
  find_crushed_cells(model, s);
  s.stiffest = model.params.law == TissueLaw::Rising ? stiffest_cell(model, s.x) : 1.f;
  prepare_contact_points(model, loads, s);
  begin_dents(model, state, loads, s);
}

namespace {

glm::vec3 breath_after(const TissueModel& model, const SteppedTissue& state, const Substep& substep) {
  return breath(model.breathing, state.time + substep.dt * substep.number);
}

void add_solid_forces(const TissueModel& model, SteppedTissue& state, const Substep& substep) {
  const FlushTinyNumbers flush;
  TissueScratch& s = state.scratch;
  add_elastic_forces(model, s.ahead, s.force);
  for (const CrushedCell& cell : s.crushed) add_unfolding_forces(model, cell, s.x, s.v, s.force);
  add_tether_forces(model, breath_after(model, state, substep), s);
}

void scale_forces(float scale, TissueScratch& s) {
  if (scale == 1.f) return;
  for (std::vector<float>* force : {&s.force.x, &s.force.y, &s.force.z})
    for (float& f : *force) f *= scale;
}

void move_solid(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep) {
  const FlushTinyNumbers flush;
  TissueScratch& s = state.scratch;
  const TissueParams& p = model.params;
  const glm::vec3 breath_now = breath_after(model, state, substep);
  const Motion motion{substep.dt, 1.f / (1.f + p.drag * substep.dt), kLongestStride * p.node_spacing / substep.dt,
                      p.damping_time};
  const std::span<float> x(s.x.x), y(s.x.y), z(s.x.z);
  move(x, s.v.x, s.ahead.x, s.force.x, s.gravity.x, model.inverse_mass.data(), motion);
  move(y, s.v.y, s.ahead.y, s.force.y, s.gravity.y, model.inverse_mass.data(), motion);
  move(z, s.v.z, s.ahead.z, s.force.z, s.gravity.z, model.inverse_mass.data(), motion);
  move_diaphragm(model, breath_now, s);
  if (model.floor.down != glm::vec3(0.f)) stop_at_floor(model, s);
  solve_contact_points(model, loads, substep, s);
}

}  // namespace

void advance(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep) {
  if (!model.tube.empty()) {
    advance_tube(model, state, loads, substep);
    return;
  }
  if (!model.slab.empty()) {
    advance_sheet(model, state, loads, {substep.number, substep.number, substep.count, substep.dt});
    return;
  }
  add_solid_forces(model, state, substep);
  move_solid(model, state, loads, substep);
}

// Sets the factor that converts pushes (mass times length, summed over the substeps) to the mean force. Drag acts after
// each push, so the force is larger by the factor 1 + drag dt.
void end_step(const TissueModel& model, SteppedTissue& state, const Substep& last, float dt) {
  TissueScratch& s = state.scratch;
  join(s.x, state.x);
  join(s.v, state.v);
  state.time += dt;
  s.force_per_push = (1.f + model.params.drag * last.dt) / (last.dt * last.dt * static_cast<float>(last.count));
  end_dents(model, dt, state);
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
    forget_springs(state.scratch);
  }
  end_step(model, state, substep, dt);
  return contact_force(state, 0, loads.contacts.size());
}

OrganStepper::OrganStepper(int threads) : team_(threads) {}

void OrganStepper::step(std::span<const SteppedOrgan> organs, OrganContacts& contacts, Bonds& bonds, float dt) {
  if (!(dt > 0.f) || !std::isfinite(dt)) return;
  begin(organs, bonds, dt);
  sort_organs(contacts, bonds);
  count_substeps(bonds, dt);
  place_fibres(models_, bonds);
  advance_alone(dt);
  const int count = joined_.empty() ? 0 : common_;
  for (Substep common{1, count, dt / static_cast<float>(common_)}; common.number <= count; ++common.number)
    advance_joined(common, contacts, bonds);
  end(dt);
}

void OrganStepper::begin(std::span<const SteppedOrgan> organs, const Bonds& bonds, float dt) {
  organs_ = organs;
  models_.clear();
  states_.clear();
  for (const SteppedOrgan& organ : organs) models_.push_back(organ.model), states_.push_back(organ.state);
  team_.share(organs.size(), [&](std::size_t i) { begin_step(*organs[i].model, *organs[i].state, organs[i].loads); });
  squeeze_with_clips(models_, states_, bonds);
  for (std::size_t i = 0; i < organs.size(); ++i)
    if (!models_[i]->tube.empty())
      flatten(models_[i]->tube, states_[i]->scratch.tube.squeezes, static_cast<double>(dt), states_[i]->tube);
}

// Organs that touch or hang together use a common substep; others use their own. One whose tissue is crushed or
// stretched stiff divides the common one further, on its own.
void OrganStepper::count_substeps(const Bonds& bonds, float dt) {
  const auto slowed = [&](std::size_t i) { return bonds.empty() ? dt : bonds.slowdown[i] * dt; };
  common_ = 1;
  for (const std::size_t i : joined_) common_ = std::max(common_, substep_count(*models_[i], slowed(i)));
  own_.resize(models_.size()), divisions_.resize(models_.size()), scale_.resize(models_.size());
  for (std::size_t i = 0; i < models_.size(); ++i) {
    own_[i] = substep_count(*models_[i], *states_[i], slowed(i));
    divisions_[i] = (own_[i] + common_ - 1) / common_;
    scale_[i] = static_cast<float>(divisions_[i]);
  }
}

void OrganStepper::advance_alone(float dt) {
  team_.share(alone_.size(), [&](std::size_t k) {
    const std::size_t i = alone_[k];
    for (Substep own{1, own_[i], dt / static_cast<float>(own_[i])}; own.number <= own.count; ++own.number) {
      advance(*models_[i], *states_[i], organs_[i].loads, own);
      forget_springs(states_[i]->scratch);
    }
  });
}

void OrganStepper::advance_joined(const Substep& common, OrganContacts& contacts, Bonds& bonds) {
  step_sheets(common, contacts, bonds);
  add_common_forces(models_, states_, common.dt, bonds);
  push_neighbours(sheets_, models_, states_);
  press_tubes_together(models_, states_, common.dt, contacts);
  // The forces on solids do not wait for tubes.
  team_.share(tubes_.size() + solids_.size(), [&](std::size_t k) {
    k < tubes_.size() ? move_tube(tubes_[k], common, contacts, bonds)
                      : pull_solid(solids_[k - tubes_.size()], common, bonds);
  });
  for (const std::size_t i : sheets_)
    add_bond_forces(static_cast<std::uint32_t>(i), models_, states_, common.dt, bonds);
  break_torn_fibres(bonds);
  return_tube_forces(models_, states_, scale_, bonds);
  for (const std::size_t i : tubes_) forget_springs(states_[i]->scratch);
  team_.share(solids_.size(), [&](std::size_t k) { advance_solid(solids_[k], common); });
  take_back_from_tubes(models_, states_, common.dt, contacts);
  solve_organ_contacts(models_, states_, common.dt, contacts);
}

void OrganStepper::move_tube(std::size_t i, const Substep& common, OrganContacts& contacts, Bonds& bonds) {
  add_bond_forces(static_cast<std::uint32_t>(i), models_, states_, common.dt, bonds);
  press_tube(static_cast<std::uint32_t>(i), models_, states_, common.dt, contacts);
  advance_tube(*models_[i], *states_[i], organs_[i].loads, common);
}

// The forces between organs act in the first part of a substep.
void OrganStepper::pull_solid(std::size_t i, const Substep& common, Bonds& bonds) {
  add_bond_forces(static_cast<std::uint32_t>(i), models_, states_, common.dt, bonds);
  scale_forces(scale_[i], states_[i]->scratch);
  add_solid_forces(*models_[i], *states_[i], part_of(common, i, 1));
}

void OrganStepper::advance_solid(std::size_t i, const Substep& common) {
  move_solid(*models_[i], *states_[i], organs_[i].loads, part_of(common, i, 1));
  for (int number = 2; number <= divisions_[i]; ++number)
    advance(*models_[i], *states_[i], organs_[i].loads, part_of(common, i, number));
}

Substep OrganStepper::part_of(const Substep& common, std::size_t i, int number) const {
  const int parts = divisions_[i];
  return {(common.number - 1) * parts + number, common.count * parts, common.dt / static_cast<float>(parts)};
}

void OrganStepper::end(float dt) {
  const auto end_organ = [&](std::size_t i, int count) {
    end_step(*models_[i], *states_[i], {1, count, dt / static_cast<float>(count)}, dt);
  };
  for (const std::size_t i : alone_) end_organ(i, own_[i]);
  for (const std::size_t i : tubes_) end_organ(i, common_);
  for (const std::size_t i : sheets_) end_organ(i, common_);
  for (const std::size_t i : solids_) end_organ(i, common_ * divisions_[i]);
}

// Sheets step first, for several substeps of the others.
void OrganStepper::step_sheets(const Substep& common, OrganContacts& contacts, const Bonds& bonds) {
  const SheetSpan span = sheet_span(common.number, common.count, common.dt);
  if (sheets_.empty() || span.last < span.first) return;
  meet_neighbours(sheets_, models_, states_, span, contacts, bonds);
  const auto advance_sheets = [&](std::size_t k) {
    const std::size_t i = sheets_[k];
    advance_sheet(*models_[i], *states_[i], organs_[i].loads, span);
  };
  team_.share(sheets_.size(), advance_sheets);
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
  // Long jobs first, so that threads end together.
  for (std::vector<std::size_t>* jobs : {&tubes_, &solids_})
    std::sort(jobs->begin(), jobs->end(), [&](std::size_t a, std::size_t b) {
      const std::size_t nodes_a = models_[a]->mass.size(), nodes_b = models_[b]->mass.size();
      return nodes_a != nodes_b ? nodes_a > nodes_b : a < b;
    });
}

}  // namespace trocar
