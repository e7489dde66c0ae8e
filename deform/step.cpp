// Makes a time step by small substeps of symplectic Euler. Each computes elastic forces, then motion, then the points
// that tools push and jaws hold.
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "deform/body.hpp"
#include "deform/matrix.hpp"
#include "deform/point_loads.hpp"
#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"
#include "deform/unfold.hpp"

namespace trocar {
namespace {

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
    if (!(flatness < kWatched) || !(cell.fullness > 0.f) || cell.divided) continue;
    s.flattest = std::min(s.flattest, flatness);
    s.crushed.push_back({{cell.node[0], cell.node[2], cell.node[4], cell.node[6]}, cell.fullness});
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
  find_crushed_cells(model, s);
  s.stiffest = model.params.law == TissueLaw::Rising ? stiffest_cell(model, s.x) : 1.f;
  prepare_point_loads(model, loads, s);
}

void advance(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep) {
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
  solve_point_loads(model, loads, substep, s);
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
  for (; substep.number <= substep.count; ++substep.number) advance(model, state, loads, substep);
  end_step(model, state, substep, dt);
  return contact_force(state, 0, loads.contacts.size());
}

}  // namespace trocar
