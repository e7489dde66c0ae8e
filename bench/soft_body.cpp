// trocar_soft_body: measures the cost of a spring, ours and Bullet's, on the same lattice and one core; the growth of
// the cost up to a million springs; the sag of a column at that cost; and the memory.
#ifdef TROCAR_BULLET
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#endif
#include <fmt/format.h>
#include <malloc.h>
#include <pmmintrin.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "app/compare/compare.hpp"
#include "bench/plots.hpp"
#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/machine.hpp"
#include "mesh/organ_maker.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar::bench {
namespace {

// Defines the soft bodies that the bench times, ours and Bullet's, on one lattice: nodes, masses and springs are the
// same, without contacts. A pass is one call of a method. Its time is divided by the number of springs and by the
// number of iterations, which are substeps for us and sweeps over the links for Bullet. Units: metres, kilograms,
// seconds; the names of times contain their units.

class SoftBody {
 public:
  virtual ~SoftBody() = default;
  virtual void pass() = 0;
};

struct SoftBodyWay {
  std::string name, how;
  int iterations = 1;  // per pass
  std::unique_ptr<SoftBody> body;
};

// Mean sag of the lowest nodes of a column at rest under gravity, at 60 frames per second.
struct Sag {
  std::string name;
  int iterations;  // per frame
  double metres;
};

constexpr double kFrame = 1.0 / 60.0;  // s
constexpr int kSettlingFrames = 600;   // 1

// Returns the start position of a node for timed passes: displaced from rest by about a hundredth of the spacing.
glm::vec3 shaken(const TissueModel& model, std::uint32_t node) {
  const float a = static_cast<float>(node);
  return model.rest[node] +
         0.01f * model.params.node_spacing * glm::vec3(std::sin(a), std::sin(2 * a), std::sin(3 * a));
}

class WholeStep final : public SoftBody {
 public:
  WholeStep(const TissueModel& model, double dt)
      : model_(model), state_(rest_state(model)), dt_(static_cast<float>(dt)) {
    for (std::uint32_t node = 0; node < state_.x.size(); ++node) state_.x[node] = shaken(model, node);
  }
  void pass() override { step(model_, state_, {}, dt_); }

 private:
  const TissueModel& model_;
  SteppedTissue state_;
  float dt_;
};

class Forces final : public SoftBody {
 public:
  explicit Forces(TissueModel model) : model_(std::move(model)) {
    const std::size_t nodes = model_.rest.size();
    for (NodeColumns* columns : {&x_, &force_})
      for (std::vector<float>* axis : {&columns->x, &columns->y, &columns->z}) axis->resize(nodes + kLanes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const glm::vec3 p = shaken(model_, node);
      x_.x[node] = p.x, x_.y[node] = p.y, x_.z[node] = p.z;
    }
  }
  void pass() override { add_elastic_forces(model_, x_, force_); }

 private:
  TissueModel model_;
  NodeColumns x_, force_;
};

SoftBodyWay step_way(const char* name, const TissueModel& model, double dt, const char* how) {
  return {name, how, substep_count(model, static_cast<float>(dt)), std::make_unique<WholeStep>(model, dt)};
}

// Returns a box of twelve faces from the origin to `size`.
TriangleMesh box(const glm::vec3& size) {
  TriangleMesh mesh;
  for (int corner = 0; corner < 8; ++corner) mesh.positions.push_back(glm::vec3(corner_offset(corner)) * size);
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t out = 1u << axis, u = 1u << (axis + 1) % 3, v = 1u << (axis + 2) % 3;
    mesh.faces.insert(mesh.faces.end(), {{0, u | v, u}, {0, v, u | v}});
    mesh.faces.insert(mesh.faces.end(), {{out, out | u, out | u | v}, {out, out | u | v, out | v}});
  }
  return mesh;
}

// Ours: step() of a frame and of a millisecond, the elastic forces, and the springs only.
std::vector<SoftBodyWay> own_soft_bodies(const TissueModel& model) {
  TissueModel springs_only = model;
  springs_only.cell_rows.clear();
  std::vector<SoftBodyWay> ways;
  ways.push_back(step_way("own_step", model, kFrame, "step() of 1/60 s: springs, volumes, motion and all other work"));
  ways.push_back(step_way("own_step_1ms", model, 1e-3, "step() of 1 ms, the same"));
  ways.push_back({"own_forces", "springs and volumes of one substep", 1, std::make_unique<Forces>(model)});
  ways.push_back({"own_springs", "only its springs", 1, std::make_unique<Forces>(std::move(springs_only))});
  return ways;
}

TissueModel hanging_column() {
  // Gravity is weak enough for strains of a few per cent. A ball this large holds the top layer like a plane.
  TissueParams params;
  params.node_spacing = 0.01f;
  params.gravity = {0.f, 0.f, -1.f};
  const glm::vec3 size(0.04f, 0.04f, 0.2f);
  const Attachment top{{0.5f * size.x, 0.5f * size.y, size.z + 9.995f}, 10.f};
  return make_tissue(box(size).view(), params, {&top, 1});
}

double column_sag_in_theory(const TissueModel& column) {
  const auto length = static_cast<double>(column.lattice.size.z) * column.lattice.spacing;
  const TissueParams& p = column.params;
  return -static_cast<double>(p.density * p.gravity.z) * length * length /
         (2.0 * static_cast<double>(p.youngs_modulus));
}

// Returns the mean drop of the lowest nodes, m. `height`: [node] m.
double mean_drop(const TissueModel& column, std::span<const float> height) {
  double sum = 0.0, count = 0.0;
  for (std::uint32_t node = 0; node < height.size(); ++node) {
    if (column.lattice.node_at[node].z > 0) continue;
    sum += static_cast<double>(column.rest[node].z - height[node]);
    count += 1.0;
  }
  return sum / count;
}

std::vector<Sag> own_sags(const TissueModel& column, std::span<const int> iterations) {
  std::vector<Sag> sags;
  for (const int substeps : iterations) {
    TissueModel model = column;
    model.params.substeps = substeps;
    SteppedTissue state = rest_state(model);
    for (int frame = 0; frame < kSettlingFrames; ++frame) step(model, state, {}, static_cast<float>(kFrame));
    std::vector<float> height;
    for (const glm::vec3& p : state.x) height.push_back(p.z);
    sags.push_back({"own", substep_count(model, static_cast<float>(kFrame)), mean_drop(model, height)});
  }
  return sags;
}

#ifdef TROCAR_BULLET

// Runs Bullet 3's btSoftBody on our lattice: the same nodes, masses and fixed nodes, a link for every spring, no
// collisions, no clusters, no pose matching. Its links are position-based and solved one after the other; kLST below 1
// makes them softer.

enum class LinkOrder { Rows, Nodes, Reoptimised };

// Share of a velocity that is lost per frame, so that bodies come to rest: undamped, a body with many links becomes
// tangled in time, and its step becomes slower.
constexpr btScalar kLoss = 0.05f;

// Returns the nodes at rest, [node].
std::vector<btVector3> nodes_of(const TissueModel& model) {
  std::vector<btVector3> nodes;
  for (const glm::vec3& p : model.rest) nodes.emplace_back(p.x, p.y, p.z);
  return nodes;
}

// Bullet expects mass 0 for a fixed node.
std::vector<btScalar> masses_of(const TissueModel& model) {
  std::vector<btScalar> masses = model.mass;
  for (std::size_t i = 0; i < masses.size(); ++i)
    if (!(model.inverse_mass[i] > 0.f)) masses[i] = 0;
  return masses;
}

struct BulletBody {
  BulletBody(const TissueModel& model, LinkOrder order, int sweeps)
      : body(&world, static_cast<int>(model.rest.size()), nodes_of(model).data(), masses_of(model).data()) {
    const glm::vec3& gravity = model.params.gravity;
    world.m_gravity = {gravity.x, gravity.y, gravity.z};
    std::vector<Spring> springs;
    for_each_spring(model, [&](const Spring& spring) { springs.push_back(spring); });
    if (order != LinkOrder::Rows)
      std::stable_sort(springs.begin(), springs.end(), [](const Spring& s, const Spring& t) { return s.a < t.a; });
    for (const Spring& spring : springs)
      body.appendLink(static_cast<int>(spring.a), static_cast<int>(spring.b), nullptr, false);
    if (order == LinkOrder::Reoptimised) btSoftBodyHelpers::ReoptimizeLinkOrder(&body);
    body.m_cfg.collisions = 0;
    body.m_cfg.piterations = sweeps;
    body.m_cfg.kDP = kLoss;
  }

  void shake(const TissueModel& model) {
    body.updateConstants();
    body.m_bUpdateRtCst = false;
    for (int node = 0; node < body.m_nodes.size(); ++node) {
      const glm::vec3 p = shaken(model, static_cast<std::uint32_t>(node));
      body.m_nodes[node].m_x = body.m_nodes[node].m_q = {p.x, p.y, p.z};
    }
  }
  void step(double dt) {
    body.predictMotion(static_cast<btScalar>(dt));
    body.solveConstraints();
    body.integrateMotion();
  }

  btSoftBodyWorldInfo world;
  btSoftBody body;
};

class Sweep final : public SoftBody {
 public:
  Sweep(const TissueModel& model, LinkOrder order) : bullet_(model, order, 1) { bullet_.shake(model); }
  void pass() override { btSoftBody::PSolve_Links(&bullet_.body, 1, 0); }

 private:
  BulletBody bullet_;
};

class BulletStep final : public SoftBody {
 public:
  BulletStep(const TissueModel& model, int sweeps) : bullet_(model, LinkOrder::Reoptimised, sweeps) {
    bullet_.shake(model);
  }
  void pass() override { bullet_.step(kFrame); }

 private:
  BulletBody bullet_;
};

// Bullet's: sweeps over the links in several orders, whole steps with one and ten sweeps. Empty if Bullet was not
// found when the bench was configured.
std::vector<SoftBodyWay> bullet_soft_bodies(const TissueModel& model) {
  std::vector<SoftBodyWay> ways;
  const auto sweep = [&](const char* name, LinkOrder order, const char* how) {
    ways.push_back({name, how, 1, std::make_unique<Sweep>(model, order)});
  };
  sweep("bullet_links_rows", LinkOrder::Rows, "PSolve_Links, links in the order of our rows");
  sweep("bullet_links_nodes", LinkOrder::Nodes, "PSolve_Links, links node by node");
  sweep("bullet_links_reopt", LinkOrder::Reoptimised, "PSolve_Links after ReoptimizeLinkOrder");
  ways.push_back({"bullet_step_1", "predictMotion, solveConstraints, integrateMotion; 1 sweep, links reoptimised", 1,
                  std::make_unique<BulletStep>(model, 1)});
  ways.push_back({"bullet_step_10", "the same, 10 sweeps", 10, std::make_unique<BulletStep>(model, 10)});
  return ways;
}

std::vector<Sag> bullet_sags(const TissueModel& column, std::span<const int> iterations) {
  std::vector<Sag> sags;
  for (const double stiffness : {1.0, 0.1, 0.01})
    for (const int sweeps : iterations) {
      BulletBody bullet(column, LinkOrder::Reoptimised, sweeps);
      bullet.body.m_materials[0]->m_kLST = static_cast<btScalar>(stiffness);
      for (int frame = 0; frame < kSettlingFrames; ++frame) bullet.step(kFrame);
      std::vector<float> height;
      for (int node = 0; node < bullet.body.m_nodes.size(); ++node) height.push_back(bullet.body.m_nodes[node].m_x.z());
      sags.push_back({fmt::format("bullet, kLST {:g}", stiffness), sweeps, mean_drop(column, height)});
    }
  return sags;
}

#else

std::vector<SoftBodyWay> bullet_soft_bodies(const TissueModel&) {
  fmt::print(stderr, "left out: Bullet (libbullet-dev is not installed)\n");
  return {};
}
std::vector<Sag> bullet_sags(const TissueModel&, std::span<const int>) { return {}; }

#endif

// Measures the memory of a tissue: the capacity of its arrays, and the growth of the process while the tissue is made
// and stepped.

struct TissueMemory {
  std::size_t nodes = 0, springs = 0;
  std::size_t model = 0, lattice = 0, state = 0;     // bytes in arrays; `lattice` is part of `model`
  std::size_t resident_growth = 0, peak_growth = 0;  // bytes of the process: after a step, and the peak while building
};

template <typename T>
std::size_t bytes(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

std::size_t bytes(const NodeColumns& c) { return bytes(c.x) + bytes(c.y) + bytes(c.z); }

std::size_t bytes(const Lattice& l) { return bytes(l.cells) + bytes(l.node_at) + bytes(l.cell_of); }

std::size_t bytes(const TissueModel& m) {
  return bytes(m.lattice) + bytes(m.rest) + bytes(m.mass) + bytes(m.inverse_mass) + bytes(m.gravity) +
         bytes(m.spring_rows) + bytes(m.stiffness) + bytes(m.cell_rows) + bytes(m.bulk) + bytes(m.bulk_index) +
         bytes(m.tethers) + bytes(m.diaphragm) + bytes(m.embedding);
}

std::size_t bytes(const SteppedTissue& state) {
  const TissueScratch& s = state.scratch;
  return bytes(state.x) + bytes(state.v) + bytes(s.x) + bytes(s.v) + bytes(s.ahead) + bytes(s.force) +
         bytes(s.gravity) + bytes(s.contacts) + bytes(s.holds) + bytes(s.flatness) + bytes(s.crushed);
}

// Returns the memory of the process in bytes: for "VmRSS" the current memory, for "VmHWM" the peak since the last
// forget_peak(). Returns 0 if the system does not report it.
std::size_t process_memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kilobytes = 0;
  while (status >> word)
    if (word == field + ":") status >> kilobytes;
  return kilobytes * 1024;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Makes the tissue and steps it once. Call it before anything else fills the heap.
TissueMemory measure_tissue_memory(const TriangleMesh& organ, const TissueParams& params) {
  malloc_trim(0);
  forget_peak();
  const std::size_t before = process_memory("VmRSS");
  const TissueModel model = make_tissue(organ.view(), params, {});
  const std::size_t peak = process_memory("VmHWM");
  SteppedTissue state = rest_state(model);
  step(model, state, {}, 1e-4f);
  malloc_trim(0);
  TissueMemory memory{model.rest.size(), spring_count(model), bytes(model), bytes(model.lattice), bytes(state)};
  memory.resident_growth = process_memory("VmRSS") - before;
  memory.peak_growth = peak - before;
  return memory;
}

// Writes the results of the soft-body bench as text, CSV and a plot.

struct SoftBodyTime {
  std::string name, how;
  int iterations = 1;  // per pass
  TimeSummary pass{};  // ms
};

struct SoftBodyTable {
  std::size_t nodes = 0, springs = 0;
  double spacing = 0.0;  // m
  std::vector<SoftBodyTime> ways;

  const SoftBodyTime* find(std::string_view name) const;
  // Returns nanoseconds per spring and iteration.
  double nanoseconds(const SoftBodyTime& way, double TimeSummary::*which) const;
};

constexpr double kNano = 1e6, kMicro = 1e3;  // ns and us per ms

bool is_sweep(const SoftBodyTime& way) { return way.name.starts_with("bullet_links"); }

// Returns Bullet's sweep over the links in its fastest order.
const SoftBodyTime* best_sweep(const SoftBodyTable& table) {
  const SoftBodyTime* best = nullptr;
  for (const SoftBodyTime& way : table.ways)
    if (is_sweep(way) && (!best || way.pass.median < best->pass.median)) best = &way;
  return best;
}

// Returns the time that one more sweep adds to Bullet's whole step, ms; 0 if it was not measured.
double added_by_a_sweep(const SoftBodyTable& table, double TimeSummary::*which) {
  const SoftBodyTime *one = table.find("bullet_step_1"), *ten = table.find("bullet_step_10");
  return one && ten ? (ten->pass.*which - one->pass.*which) / (ten->iterations - one->iterations) : 0.0;
}

std::string ratio_lines(const SoftBodyTable& table) {
  const SoftBodyTime* sweep = best_sweep(table);
  if (!sweep) return "";
  std::string text;
  const double springs = static_cast<double>(table.springs);
  text += fmt::format("Bullet, one more sweep in its step: {:.2f} ns per link by medians, {:.2f} by minimums\n",
                      added_by_a_sweep(table, &TimeSummary::median) * kNano / springs,
                      added_by_a_sweep(table, &TimeSummary::minimum) * kNano / springs);
  const auto line = [&](const char* name, const SoftBodyTime& peer) {
    const SoftBodyTime* own = table.find(name);
    const auto against = [&](double TimeSummary::*which) {
      return pace(table.nanoseconds(*own, which), table.nanoseconds(peer, which));
    };
    return fmt::format("{} against {}: {} by medians, {} by minimums; minimum target 4 times faster, goal 8\n", name,
                       peer.name, against(&TimeSummary::median), against(&TimeSummary::minimum));
  };
  for (const char* name : {"own_springs", "own_forces", "own_step"}) text += line(name, *sweep);
  text += line("own_step", *table.find("bullet_links_nodes"));
  return text + line("own_step", *table.find("bullet_step_10"));
}

// time = fixed + slope * springs, least squares of the relative errors.
struct Line {
  double fixed = 0.0, slope = 0.0, worst = 0.0;  // ms, ms, 1
};
Line fit(const std::vector<std::pair<double, double>>& points) {
  double s0 = 0, s1 = 0, s2 = 0, t0 = 0, t1 = 0;
  for (const auto& [n, t] : points) {
    s0 += 1 / (t * t), s1 += n / (t * t), s2 += n * n / (t * t);
    t0 += 1 / t, t1 += n / t;
  }
  const double determinant = s0 * s2 - s1 * s1;
  Line line{(t0 * s2 - t1 * s1) / determinant, (s0 * t1 - s1 * t0) / determinant, 0.0};
  for (const auto& [n, t] : points) line.worst = std::max(line.worst, std::abs((line.fixed + line.slope * n) / t - 1));
  return line;
}

std::vector<std::pair<double, double>> iteration_times(const std::vector<SoftBodyTable>& tables, const char* name,
                                                       double TimeSummary::*which) {
  std::vector<std::pair<double, double>> points;
  for (const SoftBodyTable& table : tables)
    if (const SoftBodyTime* way = table.find(name))
      points.emplace_back(static_cast<double>(table.springs), way->pass.*which / way->iterations);
  return points;
}

const SoftBodyTime* SoftBodyTable::find(std::string_view name) const {
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const SoftBodyTime& way) { return way.name == name; });
  return found == ways.end() ? nullptr : &*found;
}

double SoftBodyTable::nanoseconds(const SoftBodyTime& way, double TimeSummary::*which) const {
  return way.pass.*which * kNano / (static_cast<double>(springs) * way.iterations);
}

std::string soft_body_text(const SoftBodyTable& table) {
  std::string text = fmt::format("{} springs, {} nodes, spacing {:g} mm\n{:<20}{:>11}{:>13}{:>13}{:>10}{:>10}  {}\n",
                                 table.springs, table.nodes, 1e3 * table.spacing, "method", "iterations", "pass, us",
                                 "minimum, us", "ns", "ns, min", "description");
  for (const SoftBodyTime& way : table.ways)
    text +=
        fmt::format("{:<20}{:>11}{:>13.1f}{:>13.1f}{:>10.2f}{:>10.2f}  {}\n", way.name, way.iterations,
                    way.pass.median * kMicro, way.pass.minimum * kMicro, table.nanoseconds(way, &TimeSummary::median),
                    table.nanoseconds(way, &TimeSummary::minimum), way.how);
  if (const SoftBodyTime* tick = table.find("own_step_1ms"))
    text += fmt::format("{:.0f} steps of 1 ms per second by medians, {:.0f} by minimums\n", 1e3 / tick->pass.median,
                        1e3 / tick->pass.minimum);
  return text + ratio_lines(table);
}

// Says how many times faster than Bullet our step is, and how the cost grows with the number of springs.
std::string soft_body_summary(const std::vector<SoftBodyTable>& tables) {
  if (tables.size() < 2) return "";
  std::string text = "Time of a substep against springs, fitted by a line over all sizes:\n";
  for (const char* name : {"own_springs", "own_forces", "own_step"}) {
    const auto points = iteration_times(tables, name, &TimeSummary::minimum);
    const Line line = fit(points);
    text +=
        fmt::format("{:<12} {:.2f} us + {:.3f} ns per spring (minimums), largest deviation from the line {:.0f} %\n",
                    name, line.fixed * kMicro, line.slope * kNano, 100.0 * line.worst);
  }
  return text;
}

std::string sag_text(const TissueModel& column, const std::vector<Sag>& sags) {
  std::string text = fmt::format(
      "Column of 40 x 40 x 200 mm hanging under {:g} m/s^2 at 60 Hz, E = {:g} Pa; theory {:.2f} mm\n"
      "{:<20}{:>24}{:>10}{:>12}\n",
      -column.params.gravity.z, column.params.youngs_modulus, 1e3 * column_sag_in_theory(column), "method",
      "iterations per frame", "sag, mm", "of theory");
  for (const Sag& sag : sags)
    text += fmt::format("{:<20}{:>24}{:>10.2f}{:>12.2f}\n", sag.name, sag.iterations, 1e3 * sag.metres,
                        sag.metres / column_sag_in_theory(column));
  return text;
}

std::string memory_text(const TissueMemory& m) {
  const auto per = [](std::size_t bytes, std::size_t count) {
    return static_cast<double>(bytes) / static_cast<double>(count);
  };
  std::string text = fmt::format("Memory of {} nodes, {} springs\n{:<28}{:>8}{:>12}{:>12}\n", m.nodes, m.springs, "",
                                 "MB", "B per node", "B per spring");
  const std::array<std::pair<const char*, std::size_t>, 5> rows = {{{"model, arrays", m.model},
                                                                    {"  its lattice", m.lattice},
                                                                    {"state, arrays", m.state},
                                                                    {"process, after a step", m.resident_growth},
                                                                    {"process, peak of building", m.peak_growth}}};
  for (const auto& [name, bytes] : rows)
    text += fmt::format("{:<28}{:>8.1f}{:>12.0f}{:>12.1f}\n", name, static_cast<double>(bytes) * 1e-6,
                        per(bytes, m.nodes), per(bytes, m.springs));
  return text;
}

std::string soft_body_csv(const std::vector<SoftBodyTable>& tables) {
  std::string text = "spacing_mm,nodes,springs,way,iterations,median_us,minimum_us,median_ns,minimum_ns\n";
  for (const SoftBodyTable& table : tables)
    for (const SoftBodyTime& way : table.ways)
      text += fmt::format("{:g},{},{},{},{},{:.3f},{:.3f},{:.4f},{:.4f}\n", 1e3 * table.spacing, table.nodes,
                          table.springs, way.name, way.iterations, way.pass.median * kMicro, way.pass.minimum * kMicro,
                          table.nanoseconds(way, &TimeSummary::median), table.nanoseconds(way, &TimeSummary::minimum));
  return text;
}

std::string soft_body_plot(const std::vector<SoftBodyTable>& tables, const std::string& machine) {
  std::vector<PlotLine> lines;
  for (const auto& [name, label] : {std::pair{"own_step", "our step"},
                                    {"own_forces", "springs, volumes"},
                                    {"own_springs", "springs alone"},
                                    {"bullet_links_rows", "Bullet, rows"},
                                    {"bullet_links_nodes", "Bullet, nodes"},
                                    {"bullet_links_reopt", "Bullet, reoptimised"},
                                    {"bullet_step_1", "Bullet, whole step"}}) {
    PlotLine line{label, std::string_view(name).starts_with("bullet"), {}};
    for (const auto& [springs, ms] : iteration_times(tables, name, &TimeSummary::median))
      line.points.emplace_back(springs, ms * kMicro);
    lines.push_back(std::move(line));
  }
  return size_plot({"One iteration on one lattice, one core", machine, "springs"}, lines);
}

struct Options {
  std::filesystem::path out;
  std::vector<double> spacings_mm{24.0, 17.0, 12.0, 8.0, 5.7, 4.0, 2.86};
  int turns = 40;                // 1   of each method
  double milliseconds = 10.0;    // ms  of a turn
  double memory_spacing = 2.86;  // mm
};

double milliseconds_of(SoftBody& body, int passes) {
  const auto start = Clock::now();
  for (int i = 0; i < passes; ++i) body.pass();
  return milliseconds_since(start) / passes;
}

// Runs all methods in turn, in a new random order each time.
std::vector<SoftBodyTime> take_turns(std::vector<SoftBodyWay>& ways, const Options& options) {
  std::vector<int> passes;
  for (SoftBodyWay& way : ways) {
    milliseconds_of(*way.body, 1);
    passes.push_back(std::max(1, static_cast<int>(options.milliseconds / milliseconds_of(*way.body, 1))));
  }
  std::vector<std::vector<double>> samples(ways.size());
  std::vector<std::size_t> order(ways.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int turn = 0; turn < options.turns; ++turn) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) samples[i].push_back(milliseconds_of(*ways[i].body, passes[i]));
  }
  std::vector<SoftBodyTime> times;
  for (std::size_t i = 0; i < ways.size(); ++i)
    times.push_back({ways[i].name, ways[i].how, ways[i].iterations, summarise(std::move(samples[i]))});
  return times;
}

SoftBodyTable measure_spacing(const TriangleMesh& organ, double spacing_mm, const Options& options) {
  TissueParams params;
  params.node_spacing = static_cast<float>(1e-3 * spacing_mm);
  const TissueModel model = make_tissue(organ.view(), params, {});
  std::vector<SoftBodyWay> ways = own_soft_bodies(model);
  for (SoftBodyWay& way : bullet_soft_bodies(model)) ways.push_back(std::move(way));
  return {model.rest.size(), spring_count(model), 1e-3 * spacing_mm, take_turns(ways, options)};
}

std::string sags() {
  // Asked for one substep, ours takes the number that it needs to be stable.
  const std::array<int, 3> substeps{1, 20, 40}, sweeps{1, 10, 40};
  const TissueModel column = hanging_column();
  std::vector<Sag> all = own_sags(column, substeps);
  for (Sag& sag : bullet_sags(column, sweeps)) all.push_back(std::move(sag));
  return sag_text(column, all);
}

void save(const std::filesystem::path& file, const std::string& text) {
  OutputFile output = OutputFile::replacing(file);
  output.stream() << text;
  output.commit();
}

// Flushes denormal numbers to zero. Bodies come to rest while they are timed; denormals would slow down Bullet but not
// us, because our step flushes them anyway.
void flush_denormals() { _mm_setcsr(_mm_getcsr() | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON); }

void run(const Options& options) {
  flush_denormals();
  const TriangleMesh organ = make_liver({});
  TissueParams fine;
  fine.node_spacing = static_cast<float>(1e-3 * options.memory_spacing);
  const std::string memory = memory_text(measure_tissue_memory(organ, fine));

  const std::string origin = fmt::format("{}; {}; ours: {}", machine_description(), today(), force_instructions());
  std::string text = fmt::format(
      "Our liver filled with lattices, without contacts; {}\n"
      "One core; methods run in turn in random order; ns: time of a pass / (springs x iterations)\n\n",
      origin);
  fmt::print("{}", text);
  std::vector<SoftBodyTable> tables;
  for (const double spacing : options.spacings_mm) {
    tables.push_back(measure_spacing(organ, spacing, options));
    const std::string table = soft_body_text(tables.back()) + "\n";
    fmt::print("{}", table);
    text += table;
  }
  const std::string end = soft_body_summary(tables) + "\n" + sags() + "\n" + memory;
  fmt::print("{}", end);
  if (options.out.empty()) return;
  std::filesystem::create_directories(options.out);
  save(options.out / "soft_body.txt", text + end);
  save(options.out / "soft_body.csv", soft_body_csv(tables));
  save(options.out / "soft_body_cost.svg", soft_body_plot(tables, origin));
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  CLI::App app("Cost of a spring: our tissue and Bullet's soft body on the same lattice.");
  trocar::bench::Options options;
  app.add_option("--out", options.out, "folder for soft_body.txt, soft_body.csv and soft_body_cost.svg");
  app.add_option("--spacings", options.spacings_mm, "node spacings in millimetres")->delimiter(',');
  app.add_option("--turns", options.turns, "turns of each method")->check(CLI::PositiveNumber);
  app.add_option("--milliseconds", options.milliseconds, "measured time per turn")->check(CLI::PositiveNumber);
  app.add_option("--memory-spacing", options.memory_spacing, "node spacing of the memory table in millimetres");
  try {
    app.parse(argc, argv);
    trocar::bench::run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
