// trocar_beam_settling: processor time until a cantilever beam rests within 2 % of beam theory, ours and Bullet's, one
// core. A block of soft tissue: our lattice, Bullet's tetrahedra (implicit, corotated or neo-Hookean) and Bullet's
// links. A thread: our rod, and Bullet's rope with bending links. Every method gets the best of the settings that are
// listed here: the fastest that comes to rest within 2 %, else the one with the smallest error; on finer grids the six
// best of the grid before, of links all. Links have no modulus: their stiffness is searched so that the tip is where
// theory has it. What the same settings do with half the load, and with a beam of 60 mm, is printed too. Theory:
// Timoshenko's beam with Cowper's shear coefficient of a square (J. Appl. Mech. 33, 1966). The clamped end is glued in
// every method, which theory does not know: it cannot contract. So the block counts against a solid too. Units: metres,
// seconds, newtons.
#ifdef TROCAR_BULLET
#include <BulletCollision/CollisionDispatch/btDefaultCollisionConfiguration.h>
#include <BulletSoftBody/btDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableGravityForce.h>
#include <BulletSoftBody/btDeformableLinearElasticityForce.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btDeformableNeoHookeanForce.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>
#endif
#include <fmt/format.h>
#include <pmmintrin.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/tissue.hpp"
#include "deform/thin/rod.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/support/process.hpp"

namespace trocar::bench {
namespace {

constexpr double kTolerance = 0.02;  // of theory
constexpr double kRest = 0.005;      // of theory: a tip that moves no further is at rest

// The block.
constexpr double kLength = 0.1, kSide = 0.02;                                  // m
constexpr double kModulus = 1e4, kPoisson = 0.3, kDensity = 1060.0;            // Pa, 1, kg/m^3
constexpr double kLoad = 4e-4;                                                 // N, at the tip: 1 mm
constexpr double kShear = 10.0 * (1.0 + kPoisson) / (12.0 + 11.0 * kPoisson);  // Cowper
// The thread.
constexpr double kThreadLength = 0.1, kThreadRadius = 1e-3, kThreadModulus = 1e6, kThreadLoad = 2.4e-6;

// What is asked of a beam.
struct Case {
  double length, load;  // m, N
};
constexpr Case kBlock{kLength, kLoad}, kThread{kThreadLength, kThreadLoad};
Case half_load(const Case& c) { return {c.length, 0.5 * c.load}; }
Case shorter(const Case& c) { return {0.6 * c.length, 2.0 * c.load}; }

// Where the tip is in theory, m.
double block_theory(const Case& c) {
  const double bending = kModulus * std::pow(kSide, 4) / 12.0, shear = kModulus / (2.0 * (1.0 + kPoisson));
  return c.load * (std::pow(c.length, 3) / (3.0 * bending) + c.length / (kShear * shear * kSide * kSide));
}
// A glued solid over Timoshenko's beam: 27-node hexahedra, 4 and 6 across (100 mm: 0.98566, 0.98644; 60 mm: 0.97771,
// 0.97903), continued to none.
double glued(const Case& c) { return c.length > 0.08 ? 0.987 : 0.980; }
double thread_theory(const Case& c) {
  const double bending = kThreadModulus * std::numbers::pi * std::pow(kThreadRadius, 4) / 4.0;
  return c.load * std::pow(c.length, 3) / (3.0 * bending);
}

// A beam that its load has just been put on.
class Beam {
 public:
  virtual ~Beam() = default;
  virtual void step() = 0;
  virtual double tip() const = 0;  // m, in the direction of the load
};

struct Way {
  std::string settings;
  double dt;  // s, of a step
  std::function<std::unique_ptr<Beam>(const Case& c)> make;
};

// What the tip is measured by: beam theory, or the solid that is glued at its end.
enum Target { kTheory, kSolid };

// How a beam came to rest. [target]
struct Run {
  std::array<double, 2> error{INFINITY, INFINITY};         // of the last tip, less 1
  std::array<double, 2> milliseconds{INFINITY, INFINITY};  // of processor time until it stays within the tolerance
  double unrest = INFINITY;  // of theory: how far the tip moved in the last third of the steps
  double whole = 0.0;        // ms, of the whole run
  bool rests() const { return unrest < kRest; }
  bool reaches(Target t) const { return rests() && milliseconds[t] < INFINITY; }
};

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct Options {
  double horizon = 4.0;   // s, simulated
  double most_ms = 12e3;  // ms, of processor time a run
  int runs = 5;
  std::vector<double> spacings_mm{20.0, 10.0, 6.6667, 5.0, 3.3333, 2.5};
  std::vector<int> edges{5, 10, 20, 40};
  std::string methods = "lattice,tetrahedra,links,rod,rope";
};

// Where the tip belongs, m. [target]
using Tips = std::array<double, 2>;

// A method: how it is searched, from grid to grid.
struct Method {
  std::string name;
  Case asked;
  bool thread;
  std::size_t keeps = 6;            // settings that the next grid tries
  std::vector<std::size_t> kept{};  // numbers of the settings that are tried; empty: all

  Tips tips(const Case& c) const {
    return thread ? Tips{thread_theory(c), thread_theory(c)} : Tips{block_theory(c), glued(c) * block_theory(c)};
  }
};

// Steps until the horizon and at least twelve steps, or until the processor time is used up.
Run settle(const Way& way, const Case& asked, const Tips& tips, const Options& options) {
  const std::unique_ptr<Beam> beam = way.make(asked);
  const int steps = std::max(12, static_cast<int>(std::ceil(options.horizon / way.dt)));
  std::vector<double> tip;
  Run run;
  const double start = processor_ms();
  for (int k = 0; k < steps && run.whole < options.most_ms; ++k) {
    beam->step();
    run.whole = processor_ms() - start;
    tip.push_back(beam->tip());
    for (const Target t : {kTheory, kSolid}) {
      if (!(std::abs(tip.back() / tips[t] - 1.0) <= kTolerance))
        run.milliseconds[t] = INFINITY;
      else if (!(run.milliseconds[t] < INFINITY))
        run.milliseconds[t] = run.whole;
    }
  }
  if (static_cast<int>(tip.size()) < steps) return run;
  const auto [low, high] = std::minmax_element(tip.begin() + 2 * steps / 3, tip.end());
  run.unrest = (*high - *low) / tips[kTheory];
  for (const Target t : {kTheory, kSolid}) run.error[t] = tip.back() / tips[t] - 1.0;
  return run;
}

bool is_better(const Run& a, const Run& b, Target t) {
  if (a.reaches(t) != b.reaches(t)) return a.reaches(t);
  if (a.reaches(t)) return a.milliseconds[t] < b.milliseconds[t];
  if (a.rests() != b.rests()) return a.rests();
  return std::abs(a.error[t]) < std::abs(b.error[t]);
}

std::string percent(double error) { return std::isfinite(error) ? fmt::format("{:+.1f} %", 100.0 * error) : "-"; }

// Medians of the best settings, as text.
std::string time_of(const Method& method, const Way& way, const Run& first, Target t, const Options& options) {
  if (!first.rests()) return "no rest";
  if (!first.reaches(t)) return "never";
  std::vector<double> times{first.milliseconds[t]};
  while (static_cast<int>(times.size()) < options.runs)
    times.push_back(settle(way, method.asked, method.tips(method.asked), options).milliseconds[t]);
  std::ranges::sort(times);
  return fmt::format("{:.3g} ms", times[times.size() / 2]);
}

// One resolution: the search, then medians.
void report(Method& method, const std::string& size, const std::vector<Way>& ways, const Options& options) {
  if (method.kept.empty())
    for (std::size_t k = 0; k < ways.size(); ++k) method.kept.push_back(k);
  std::map<std::size_t, Run> found;
  for (const std::size_t k : method.kept) found[k] = settle(ways[k], method.asked, method.tips(method.asked), options);
  const std::size_t tried = method.kept.size();
  const auto sort = [&](Target t) {
    std::ranges::stable_sort(method.kept, [&](auto a, auto b) { return is_better(found[a], found[b], t); });
  };
  sort(kTheory);
  const std::string by_theory = time_of(method, ways[method.kept[0]], found[method.kept[0]], kTheory, options);
  sort(kSolid);
  method.kept.resize(std::min(tried, method.keeps));
  const Way& way = ways[method.kept[0]];
  const Run& run = found[method.kept[0]];
  const std::string by_solid = time_of(method, way, run, kSolid, options);
  const auto other = [&](const Case& c) { return percent(settle(way, c, method.tips(c), options).error[kSolid]); };
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {}; {} tried |\n", method.name, size,
             percent(run.error[kTheory]), by_theory, percent(run.error[kSolid]), by_solid,
             other(half_load(method.asked)), other(shorter(method.asked)), way.settings, tried);
  std::fflush(stdout);
}

// Our lattice.

TriangleMesh block_mesh(double length) {
  TriangleMesh mesh;
  const glm::vec3 size(length, kSide, kSide);
  for (int corner = 0; corner < 8; ++corner) mesh.positions.push_back(glm::vec3(corner_offset(corner)) * size);
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t out = 1u << axis, u = 1u << (axis + 1) % 3, v = 1u << (axis + 2) % 3;
    mesh.faces.insert(mesh.faces.end(), {{0, u | v, u}, {0, v, u | v}});
    mesh.faces.insert(mesh.faces.end(), {{out, out | u, out | u | v}, {out, out | u | v, out | v}});
  }
  return mesh;
}

// Share of a load on the end face that a node carries: a quarter of each square that it is a corner of.
double face_share(double y, double z, double spacing) {
  const auto edge = [](double a) { return a < 1e-6 || a > kSide - 1e-6 ? 0.5 : 1.0; };
  return edge(y) * edge(z) * spacing * spacing / (kSide * kSide);
}

class Lattice : public Beam {
 public:
  Lattice(const TissueParams& params, double dt, const Case& c)
      : model_(make_tissue(block_mesh(c.length).view(), params, {})), dt_(static_cast<float>(dt)) {
    for (std::uint32_t n = 0; n < model_.rest.size(); ++n) {
      const glm::vec3& p = model_.rest[n];
      if (p.x < 1e-6f) model_.inverse_mass[n] = 0.f;
      if (p.x < static_cast<float>(c.length) - 1e-6f) continue;
      const double share = face_share(p.y, p.z, params.node_spacing);
      tip_.push_back(n), share_.push_back(share);
      model_.gravity[n] = {0.f, 0.f, static_cast<float>(-c.load * share / static_cast<double>(model_.mass[n]))};
    }
    state_ = rest_state(model_);
  }
  void step() override { trocar::step(model_, state_, {}, dt_); }
  double tip() const override {
    double sum = 0.0;
    for (std::size_t k = 0; k < tip_.size(); ++k)
      sum += share_[k] * static_cast<double>(model_.rest[tip_[k]].z - state_.x[tip_[k]].z);
    return sum;
  }

 private:
  TissueModel model_;
  SteppedTissue state_;
  std::vector<std::uint32_t> tip_;
  std::vector<double> share_;
  float dt_;
};

std::vector<Way> lattice_ways(double spacing) {
  std::vector<Way> ways;
  for (const TissueLaw law : kTissueLaws)
    for (const float drag : {8.f, 12.f, 18.f})
      for (const float damping : {0.f, 3e-4f}) {
        TissueParams params;
        params.law = law, params.drag = drag, params.damping_time = damping;
        params.youngs_modulus = kModulus, params.poisson_ratio = kPoisson, params.density = kDensity;
        params.node_spacing = static_cast<float>(spacing);
        constexpr double kFrame = 1.0 / 60.0;
        ways.push_back({fmt::format("law {}, drag {:g}, damping {:g} ms, 1/60 s", name_of(law), drag, 1e3 * damping),
                        kFrame, [=](const Case& c) { return std::make_unique<Lattice>(params, kFrame, c); }});
      }
  return ways;
}

// Our rod.

class Thread : public Beam {
 public:
  Thread(int edges, double drag, double dt, const Case& c) : dt_(dt) {
    std::vector<glm::dvec3> points;
    // The joint between a clamped edge and a free one stands for half an edge on both sides: the beam begins there.
    const double edge = c.length / (edges - 0.5);
    for (int k = 0; k <= edges; ++k) points.push_back({edge * (k - 0.5), 0.0, 0.0});
    model_ = make_rod(
        {.outer_radius = kThreadRadius, .youngs_modulus = kThreadModulus, .density = kDensity, .drag = drag}, points);
    model_.fixed[0] = model_.fixed[1] = 1, model_.clamped[0] = 1;
    state_ = rest_state(model_, points);
    force_.assign(points.size(), glm::dvec3(0.0));
    force_.back().z = -c.load;
  }
  void step() override { trocar::step(model_, state_, {force_, {}, {}}, dt_, scratch_); }
  double tip() const override { return -state_.x.back().z; }

 private:
  RodModel model_;
  RodState state_;
  RodScratch scratch_;
  std::vector<glm::dvec3> force_;
  double dt_;
};

std::vector<Way> thread_ways(int edges) {
  std::vector<Way> ways;
  for (const double dt : {1.0 / 60.0, 0.1, 1.0, 10.0})
    for (const double drag : {0.0, 8.0})
      ways.push_back({fmt::format("step {:.3g} s, drag {:g}", dt, drag), dt,
                      [=](const Case& c) { return std::make_unique<Thread>(edges, drag, dt, c); }});
  return ways;
}

#ifdef TROCAR_BULLET

// Corners of a grid over the block, and its cells cut into tetrahedra.
struct Grid {
  std::vector<btVector3> points;
  std::vector<std::array<int, 4>> tetrahedra;
  int along, across;

  Grid(double length, double spacing, bool five)
      : along(static_cast<int>(std::lround(length / spacing))), across(static_cast<int>(std::lround(kSide / spacing))) {
    for (int k = 0; k <= across; ++k)
      for (int j = 0; j <= across; ++j)
        for (int i = 0; i <= along; ++i)
          points.emplace_back(btScalar(length * i / along), btScalar(kSide * j / across), btScalar(kSide * k / across));
    for (int k = 0; k < across; ++k)
      for (int j = 0; j < across; ++j)
        for (int i = 0; i < along; ++i) five ? add_five(i, j, k) : add_six(i, j, k);
  }
  int at(int i, int j, int k) const { return (k * (across + 1) + j) * (along + 1) + i; }

 private:
  int corner(int i, int j, int k, int number) const {
    return at(i + (number & 1), j + (number >> 1 & 1), k + (number >> 2 & 1));
  }
  void add(int i, int j, int k, const std::array<int, 4>& corners) {
    std::array<int, 4> t;
    for (std::size_t c = 0; c < 4; ++c) t[c] = corner(i, j, k, corners[c]);
    const btVector3 a = points[static_cast<std::size_t>(t[1])] - points[static_cast<std::size_t>(t[0])],
                    b = points[static_cast<std::size_t>(t[2])] - points[static_cast<std::size_t>(t[0])],
                    c = points[static_cast<std::size_t>(t[3])] - points[static_cast<std::size_t>(t[0])];
    if (a.dot(b.cross(c)) < 0) std::swap(t[2], t[3]);
    tetrahedra.push_back(t);
  }
  // Around a diagonal of the cell (Kuhn).
  void add_six(int i, int j, int k) {
    for (const auto& [a, b] : {std::pair{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}}) add(i, j, k, {0, a, b, 7});
  }
  // One in the middle and four corners, mirrored from cell to cell.
  void add_five(int i, int j, int k) {
    const int flip = (i + j + k) % 2 ? 1 : 0;
    for (const auto& t : {std::array{0, 3, 5, 6}, {1, 0, 3, 5}, {2, 0, 3, 6}, {4, 0, 5, 6}, {7, 3, 5, 6}})
      add(i, j, k, {t[0] ^ flip, t[1] ^ flip, t[2] ^ flip, t[3] ^ flip});
  }
};

// Masses of a grid's corners, kg: a quarter of each tetrahedron. 0 at the clamped end, which Bullet fixes.
std::vector<btScalar> masses_of(const Grid& grid) {
  std::vector<btScalar> masses(grid.points.size(), 0);
  const auto p = [&](int n) { return grid.points[static_cast<std::size_t>(n)]; };
  for (const auto& t : grid.tetrahedra) {
    const btScalar volume = (p(t[1]) - p(t[0])).dot((p(t[2]) - p(t[0])).cross(p(t[3]) - p(t[0]))) / 6;
    for (const int n : t) masses[static_cast<std::size_t>(n)] += btScalar(kDensity) * volume / 4;
  }
  for (std::size_t n = 0; n < masses.size(); ++n)
    if (grid.points[n].x() < 1e-6f) masses[n] = 0;
  return masses;
}

// Nodes of the free end with their shares of a load.
struct Tip {
  std::vector<std::pair<int, btScalar>> nodes;
  Tip(const Grid& grid, double length) {
    for (std::size_t n = 0; n < grid.points.size(); ++n)
      if (grid.points[n].x() > length - 1e-6)
        nodes.emplace_back(static_cast<int>(n),
                           static_cast<btScalar>(face_share(double(grid.points[n].y()), double(grid.points[n].z()),
                                                            kSide / grid.across)));
  }
  double drop(const btSoftBody& body, const Grid& grid) const {
    double sum = 0.0;
    for (const auto& [n, share] : nodes)
      sum += double(share) * double(grid.points[static_cast<std::size_t>(n)].z() - body.m_nodes[n].m_x.z());
    return sum;
  }
};

// A constant force on the tip, as gravity is one in Bullet.
class TipForce : public btDeformableGravityForce {
 public:
  TipForce(const Tip& tip, double load)
      : btDeformableGravityForce(btVector3(0, 0, 0)), tip_(tip), load_(btScalar(load)) {}
  void addScaledGravityForce(btScalar scale, TVStack& force) override {
    for (const auto& [n, share] : tip_.nodes)
      force[m_softBodies[0]->m_nodes[n].index] += scale * btVector3(0, 0, -load_ * share);
  }
  double totalEnergy(btScalar) override {
    double sum = 0.0;
    for (const auto& [n, share] : tip_.nodes) sum += double(load_ * share * m_softBodies[0]->m_nodes[n].m_q.z());
    return sum;
  }

 private:
  const Tip& tip_;
  btScalar load_;
};

class BodySolver : public btDeformableBodySolver {
 public:
  BodySolver(int newton, int krylov) {
    m_maxNewtonIterations = newton;
    m_cg.m_maxIterations = m_cr.m_maxIterations = krylov;
  }
};

struct TetrahedraSettings {
  bool five = false, neo_hookean = false;
  int newton = 1, krylov = 20;            // most iterations a step
  double dt = 1.0 / 60.0, damping = 0.0;  // s, 1/s
};

// btDeformableMultiBodyDynamicsWorld, implicit.
class Tetrahedra : public Beam {
 public:
  Tetrahedra(double spacing, const TetrahedraSettings& s, const Case& c)
      : grid_(c.length, spacing, s.five),
        tip_(grid_, c.length),
        dispatcher_(&configuration_),
        body_solver_(s.newton, s.krylov),
        world_(&dispatcher_, &pairs_, &solver_, &configuration_, &body_solver_),
        force_(tip_, c.load),
        dt_(static_cast<btScalar>(s.dt)) {
    solver_.setDeformableSolver(&body_solver_);
    world_.setImplicit(true);
    world_.setUseProjection(true);  // without it Bullet 3.24 reads outside its arrays where nodes are fixed
    world_.setLineSearch(s.newton > 1);
    world_.setGravity(btVector3(0, 0, 0));
    const std::vector<btScalar> masses = masses_of(grid_);
    body_ = new btSoftBody(&world_.getWorldInfo(), static_cast<int>(masses.size()), grid_.points.data(), masses.data());
    for (const auto& t : grid_.tetrahedra) body_->appendTetra(t[0], t[1], t[2], t[3]);
    body_->initializeDmInverse();
    body_->m_tetraScratches.resize(body_->m_tetras.size());
    body_->m_tetraScratchesTn.resize(body_->m_tetras.size());
    body_->m_cfg.collisions = 0;
    body_->m_sleepingThreshold = 0;
    body_->setActivationState(DISABLE_DEACTIVATION);
    world_.addSoftBody(body_);
    const auto mu = static_cast<btScalar>(kModulus / (2.0 * (1.0 + kPoisson))),
               lambda = static_cast<btScalar>(kModulus * kPoisson / ((1.0 + kPoisson) * (1.0 - 2.0 * kPoisson)));
    // Bullet's neo-Hookean solid has three quarters of the shear modulus that it is given (B. Smith, F. de Goes, T.
    // Kim, "Stable neo-Hookean flesh simulation", ACM TOG 37, 2018, section 3.4).
    if (s.neo_hookean)
      elastic_ = std::make_unique<btDeformableNeoHookeanForce>(mu * 4 / 3, lambda + mu * 5 / 6, btScalar(0));
    else
      elastic_ = std::make_unique<btDeformableLinearElasticityForce>(mu, lambda, btScalar(s.damping), btScalar(0));
    world_.addForce(body_, elastic_.get());
    world_.addForce(body_, &force_);
  }
  ~Tetrahedra() override {
    world_.removeSoftBody(body_);
    delete body_;
  }
  void step() override { world_.stepSimulation(dt_, 0); }
  double tip() const override { return tip_.drop(*body_, grid_); }

 private:
  Grid grid_;
  Tip tip_;
  btSoftBodyRigidBodyCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase pairs_;
  BodySolver body_solver_;
  btDeformableMultiBodyConstraintSolver solver_;
  btDeformableMultiBodyDynamicsWorld world_;
  btSoftBody* body_ = nullptr;
  std::unique_ptr<btDeformableLagrangianForce> elastic_;
  TipForce force_;
  btScalar dt_;
};

std::vector<Way> tetrahedra_ways(double spacing) {
  std::vector<Way> ways;
  for (const bool five : {false, true})
    for (const bool neo : {false, true})
      for (const auto& [dt, damping] : {std::pair{1.0 / 60.0, 12.0}, {0.1, 0.0}, {1.0, 0.0}, {10.0, 0.0}})
        for (const auto& [newton, krylov] : {std::pair{1, 30}, {1, 300}, {1, 3000}, {5, 300}}) {
          const TetrahedraSettings s{five, neo, newton, krylov, dt, neo ? 0.0 : damping};
          ways.push_back({fmt::format("{} in a cell, {}, step {:.3g} s, {} x {} iterations", five ? 5 : 6,
                                      neo ? "neo-Hookean" : "corotated", dt, newton, krylov),
                          dt, [=](const Case& c) { return std::make_unique<Tetrahedra>(spacing, s, c); }});
        }
  return ways;
}

// btSoftBody by its links: position based.
struct LinkSettings {
  int sweeps = 10;         // a step
  double dt = 1.0 / 60.0;  // s
  double loss = 0.05;      // 1, kDP
  double stiffness = 1.0;  // 1, kLST
};

void set_up(btSoftBody& body, const LinkSettings& s) {
  body.m_cfg.collisions = 0;
  body.m_cfg.piterations = s.sweeps;
  body.m_cfg.kDP = static_cast<btScalar>(s.loss);
  for (int k = 0; k < body.m_materials.size(); ++k) body.m_materials[k]->m_kLST = static_cast<btScalar>(s.stiffness);
  body.updateConstants();
}

void step_links(btSoftBody& body, double dt) {
  body.predictMotion(static_cast<btScalar>(dt));
  body.solveConstraints();
  body.integrateMotion();
}

class Links : public Beam {
 public:
  Links(double spacing, const LinkSettings& s, const Case& c)
      : grid_(c.length, spacing, false),
        tip_(grid_, c.length),
        body_(&world_, static_cast<int>(grid_.points.size()), grid_.points.data(), masses_of(grid_).data()),
        load_(static_cast<btScalar>(c.load)),
        dt_(s.dt) {
    world_.m_gravity = btVector3(0, 0, 0);
    std::set<std::pair<int, int>> edges;
    for (const auto& t : grid_.tetrahedra)
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < a; ++b) edges.emplace(std::min(t[a], t[b]), std::max(t[a], t[b]));
    for (const auto& [a, b] : edges) body_.appendLink(a, b, nullptr, false);
    btSoftBodyHelpers::ReoptimizeLinkOrder(&body_);
    set_up(body_, s);
  }
  void step() override {
    for (const auto& [n, share] : tip_.nodes) body_.addForce(btVector3(0, 0, -load_ * share), n);
    step_links(body_, dt_);
  }
  double tip() const override { return tip_.drop(body_, grid_); }

 private:
  btSoftBodyWorldInfo world_;
  Grid grid_;
  Tip tip_;
  btSoftBody body_;
  btScalar load_;
  double dt_;
};

// CreateRope and bending links over two of its links.
class Rope : public Beam {
 public:
  Rope(int links, const LinkSettings& s, const Case& c) : load_(static_cast<btScalar>(c.load)), dt_(s.dt) {
    world_.m_gravity = btVector3(0, 0, 0);
    const double edge = c.length / (links - 0.5);
    body_.reset(btSoftBodyHelpers::CreateRope(world_, btVector3(btScalar(-0.5 * edge), 0, 0),
                                              btVector3(btScalar(c.length), 0, 0), links - 1, 0));
    body_->generateBendingConstraints(2);
    const double mass = kDensity * std::numbers::pi * kThreadRadius * kThreadRadius * edge;
    for (int n = 0; n < body_->m_nodes.size(); ++n)
      body_->setMass(n, n < 2 ? 0 : static_cast<btScalar>(n + 1 == body_->m_nodes.size() ? 0.5 * mass : mass));
    set_up(*body_, s);
  }
  void step() override {
    body_->addForce(btVector3(0, 0, -load_), body_->m_nodes.size() - 1);
    step_links(*body_, dt_);
  }
  double tip() const override { return -double(body_->m_nodes[body_->m_nodes.size() - 1].m_x.z()); }

 private:
  btSoftBodyWorldInfo world_;
  std::unique_ptr<btSoftBody> body_;
  btScalar load_;
  double dt_;
};

// Settings of links with the stiffness at which the tip ends where theory has it, or as near as it gets.
template <class Made, class Size>
std::vector<Way> link_ways(Size size, const Method& method, const Options& options) {
  std::vector<Way> ways;
  for (const double dt : {1.0 / 60.0, 1.0 / 240.0})
    for (const int sweeps : {1, 4, 10, 40, 100})
      for (const double loss : {0.02, 0.1}) {
        LinkSettings s{sweeps, dt, loss, 1.0};
        const auto way = [&] {
          return Way{fmt::format("step {:.3g} s, {} sweeps, loss {:g}, kLST {:.3g}", dt, sweeps, loss, s.stiffness), dt,
                     [=](const Case& c) { return std::make_unique<Made>(size, s, c); }};
        };
        double low = -6.0, high = 0.0;  // of the logarithm
        const bool is_tried = method.kept.empty() || std::ranges::count(method.kept, ways.size()) > 0;
        if (is_tried && settle(way(), method.asked, method.tips(method.asked), options).error[kSolid] < 0.0)
          for (int round = 0; round < 12; ++round) {
            s.stiffness = std::pow(10.0, 0.5 * (low + high));
            const double error = settle(way(), method.asked, method.tips(method.asked), options).error[kSolid];
            (error < 0.0 ? high : low) = 0.5 * (low + high);
          }
        ways.push_back(way());
      }
  return ways;
}

#endif

// Flushes denormal numbers to zero: ours does so by itself, Bullet's is slowed by them at rest.
void flush_denormals() { _mm_setcsr(_mm_getcsr() | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON); }

void run(const Options& options) {
  flush_denormals();
  fmt::print("{}; {}; ours: {}\n", machine_description(), today(), force_instructions());
  fmt::print("One core, processor time until the tip stays within {:g} % of theory; medians of {}.\n",
             100.0 * kTolerance, options.runs);
  fmt::print("Block {:g} x {:g} x {:g} mm, {:g} kPa, Poisson's ratio {:g}, {:g} mN at the tip: {:.4f} mm\n",
             1e3 * kLength, 1e3 * kSide, 1e3 * kSide, 1e-3 * kModulus, kPoisson, 1e3 * kLoad,
             1e3 * block_theory(kBlock));
  fmt::print("Thread of {:g} mm, radius {:g} mm, {:g} MPa, {:g} mN: {:.4f} mm\n\n", 1e3 * kThreadLength,
             1e3 * kThreadRadius, 1e-6 * kThreadModulus, 1e3 * kThreadLoad, 1e3 * thread_theory(kThread));
  fmt::print("| method | resolution | against theory | within 2 % of it | against a solid | within 2 % of it | ");
  fmt::print("half the load | 60 mm long | best settings |\n|---|---|---|---|---|---|---|---|---|\n");
  Method lattice{"Trocar, lattice", kBlock, false}, rod{"Trocar, rod", kThread, true};
  [[maybe_unused]] Method tetrahedra{"Bullet, tetrahedra", kBlock, false}, links{"Bullet, links", kBlock, false, 99},
      rope{"Bullet, rope", kThread, true, 99};
  const auto wanted = [&](const char* name) { return options.methods.find(name) != std::string::npos; };
  for (const double mm : options.spacings_mm) {
    const double spacing = kSide / std::round(kSide / (1e-3 * mm));
    const std::string size = fmt::format("{:.3g} mm", 1e3 * spacing);
    if (wanted("lattice")) report(lattice, size, lattice_ways(spacing), options);
#ifdef TROCAR_BULLET
    if (wanted("tetrahedra")) report(tetrahedra, size, tetrahedra_ways(spacing), options);
    if (wanted("links")) report(links, size, link_ways<Links>(spacing, links, options), options);
#endif
  }
  for (const int edges : options.edges) {
    const std::string size = fmt::format("{} edges", edges);
    if (wanted("rod")) report(rod, size, thread_ways(edges), options);
#ifdef TROCAR_BULLET
    if (wanted("rope")) report(rope, size, link_ways<Rope>(edges, rope, options), options);
#endif
  }
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  CLI::App app("Processor time until a beam rests within 2 % of theory: our tissue and rod, Bullet's soft bodies.");
  trocar::bench::Options options;
  app.add_option("--spacings", options.spacings_mm, "of the block, in millimetres")->delimiter(',');
  app.add_option("--edges", options.edges, "of the thread")->delimiter(',');
  app.add_option("--methods", options.methods, "of lattice, tetrahedra, links, rod, rope");
  app.add_option("--horizon", options.horizon, "simulated seconds of a run");
  app.add_option("--most-ms", options.most_ms, "most processor time of a run");
  app.add_option("--runs", options.runs, "of the best settings")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  trocar::bench::run(options);
  return 0;
}
