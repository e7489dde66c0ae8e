#include "deform/reference/specimen.hpp"

#include <fmt/format.h>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "deform/reference/energy.hpp"
#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"
#include "deform/step.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

using glm::dvec2;
using glm::dvec3;

// A face belongs to an end when its corners are within this fraction of the height from it.
constexpr double kEndSlack = 1e-4;

// Joins two rings of `steps` vertices that begin at `low` and `high`.
void join_rings(TriangleMesh& mesh, std::uint32_t low, std::uint32_t high, std::uint32_t steps) {
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t next = (i + 1) % steps;
    mesh.faces.push_back({low + i, low + next, high + next});
    mesh.faces.push_back({low + i, high + next, high + i});
  }
}

struct RingPlan {
  std::uint32_t steps, rings, layers;
};

std::uint32_t add_ring(TriangleMesh& mesh, const RingPlan& plan, double radius, double z) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t i = 0; i < plan.steps; ++i) {
    const double angle = kFullTurn * i / plan.steps;
    mesh.positions.emplace_back(radius * elementary::cos(angle), radius * elementary::sin(angle), z);
  }
  return first;
}

void close_ring(TriangleMesh& mesh, std::uint32_t ring, std::uint32_t steps, double z, bool up) {
  const auto centre = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.emplace_back(0.0, 0.0, z);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t a = ring + i, b = ring + (i + 1) % steps;
    mesh.faces.push_back(up ? glm::uvec3(centre, a, b) : glm::uvec3(centre, b, a));
  }
}

std::uint32_t parts_of(double length, double edge) {
  return static_cast<std::uint32_t>(std::max(std::ceil(length / edge - kEndSlack), 1.0));
}

// One side of a block: a grid from `corner` along u and v, whose cross product points outwards.
void add_side(TriangleMesh& mesh, const dvec3& corner, const dvec3& u, const dvec3& v, double edge) {
  const std::uint32_t columns = parts_of(glm::length(u), edge), rows = parts_of(glm::length(v), edge);
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t j = 0; j <= rows; ++j)
    for (std::uint32_t i = 0; i <= columns; ++i)
      mesh.positions.emplace_back(corner + static_cast<double>(i) / columns * u + static_cast<double>(j) / rows * v);
  for (std::uint32_t j = 0; j < rows; ++j)
    for (std::uint32_t i = 0; i < columns; ++i) {
      const std::uint32_t a = first + j * (columns + 1) + i, b = a + columns + 1;
      mesh.faces.push_back({a, a + 1, b + 1});
      mesh.faces.push_back({a, b + 1, b});
    }
}

// Gives vertices at equal positions one number: the sides of a block share edges.
TriangleMesh welded(const TriangleMesh& mesh) {
  std::vector<std::uint32_t> order(mesh.positions.size()), number(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::uint32_t i) {
    const glm::vec3& p = mesh.positions[i];
    return std::array<float, 3>{p.x, p.y, p.z};
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  TriangleMesh result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || key(order[i]) != key(order[i - 1])) result.positions.push_back(mesh.positions[order[i]]);
    number[order[i]] = static_cast<std::uint32_t>(result.positions.size() - 1);
  }
  for (const glm::uvec3& f : mesh.faces) result.faces.push_back({number[f.x], number[f.y], number[f.z]});
  return result;
}

std::vector<double> areas_of(const TriangleMesh& mesh) {
  std::vector<double> area(mesh.positions.size());
  for (const glm::uvec3& f : mesh.faces) {
    const dvec3 a(mesh.positions[f.x]), b(mesh.positions[f.y]), c(mesh.positions[f.z]);
    const double share = glm::length(glm::cross(b - a, c - a)) / 6.0;
    for (int k = 0; k < 3; ++k) area[f[k]] += share;
  }
  return area;
}

}  // namespace

TriangleMesh make_cylinder(double diameter, double height, double edge) {
  const double radius = 0.5 * diameter;
  const RingPlan plan{std::max(parts_of(kFullTurn * radius, edge), 12u), parts_of(radius, edge),
                      parts_of(height, edge)};
  TriangleMesh mesh;
  std::vector<std::uint32_t> rings;
  for (std::uint32_t i = 1; i < plan.rings; ++i) rings.push_back(add_ring(mesh, plan, radius * i / plan.rings, 0.0));
  for (std::uint32_t i = 0; i <= plan.layers; ++i)
    rings.push_back(add_ring(mesh, plan, radius, height * i / plan.layers));
  for (std::uint32_t i = plan.rings - 1; i > 0; --i)
    rings.push_back(add_ring(mesh, plan, radius * i / plan.rings, height));
  for (std::size_t i = 1; i < rings.size(); ++i) join_rings(mesh, rings[i - 1], rings[i], plan.steps);
  close_ring(mesh, rings.front(), plan.steps, 0.0, false);
  close_ring(mesh, rings.back(), plan.steps, height, true);
  return mesh;
}

TriangleMesh make_block(const dvec3& size, double edge) {
  const dvec3 x(size.x, 0.0, 0.0), y(0.0, size.y, 0.0), z(0.0, 0.0, size.z), low = -0.5 * (x + y),
                                                                             high = 0.5 * (x + y) + z;
  TriangleMesh mesh;
  add_side(mesh, low, y, x, edge), add_side(mesh, low, z, y, edge), add_side(mesh, low, x, z, edge);
  add_side(mesh, high, -x, -y, edge), add_side(mesh, high, -y, -z, edge), add_side(mesh, high, -z, -x, edge);
  return welded(mesh);
}

Specimen make_specimen(TriangleMesh mesh, const TissueParams& params, const glm::dmat3& turn) {
  double low = INFINITY, high = -INFINITY;
  for (const glm::vec3& p : mesh.positions) low = std::min(low, double(p.z)), high = std::max(high, double(p.z));
  Specimen specimen{turn, high - low, {}, {}};
  const std::vector<double> area = areas_of(mesh);
  std::vector<char> lower(area.size()), upper(area.size());
  for (const glm::uvec3& f : mesh.faces) {
    const auto within = [&](double z) {
      for (int k = 0; k < 3; ++k)
        if (std::abs(mesh.positions[f[k]].z - z) > kEndSlack * specimen.height) return false;
      return true;
    };
    for (int k = 0; k < 3; ++k) lower[f[k]] |= within(low), upper[f[k]] |= within(high);
  }
  if (std::count(lower.begin(), lower.end(), 1) == 0 || std::count(upper.begin(), upper.end(), 1) == 0)
    throw InputError("the specimen has no flat end face at its lowest or highest z; cut its ends flat, across z");
  std::vector<dvec3> rest;
  for (glm::vec3& p : mesh.positions) {
    rest.emplace_back(p.x, p.y, p.z - low);
    p = glm::vec3(turn * rest.back());
  }
  specimen.model = make_tissue(mesh.view(), params, {});
  for (std::size_t i = 0; i < rest.size(); ++i)
    if (area[i] > 0.0)
      specimen.points.push_back({specimen.model.embedding[i], area[i], rest[i], lower[i] != 0, upper[i] != 0});
  return specimen;
}

// Brings a specimen to rest under plates, ball and weight: Newton's method with sparse direct solves and a line search.

namespace {

using glm::dmat3;
using SparseMatrix = Eigen::SparseMatrix<double>;
using Factors = Eigen::SimplicialLDLT<SparseMatrix>;

// Slipping plates leave the specimen free to move along them: this fraction of their stiffness holds it.
constexpr double kGuide = 1e-7;
// Balance: the largest force on a node, over Young's modulus times the squared spacing.
constexpr double kBalance = 1e-8;
constexpr int kMostIterations = 60, kMostBacktracks = 25;
constexpr double kArmijo = 1e-4;
// The forces of the step are floats: their balance ends when the force on the machine changes by less than this
// fraction, and has failed when it has not after so many iterations.
constexpr double kConverged = 1e-4;
constexpr int kMostStepIterations = 20;

// Where Newton's method fails, the load is applied in 4 parts, then in this many.
constexpr int kMostParts = 16;

SpecimenLoad between(const SpecimenLoad& a, const SpecimenLoad& b, double share) {
  SpecimenLoad load = b;
  load.press = glm::mix(a.press, b.press, share), load.twist = glm::mix(a.twist, b.twist, share);
  load.gravity = glm::mix(a.gravity, b.gravity, share);
  return load;
}

dmat3 rotation_about_z(double angle) {
  const double c = elementary::cos(angle), s = elementary::sin(angle);
  return {{c, s, 0.0}, {-s, c, 0.0}, {0.0, 0.0, 1.0}};
}

// Energy, gradient and curvature of the foundation of one point with respect to its position, in the specimen's axes.
struct Foundation {
  double energy = 0.0;
  dvec3 slope{0.0};
  dmat3 second{0.0};

  void tie(double stiffness, const dvec3& away, const dvec3& along) {
    energy += 0.5 * stiffness * glm::dot(along * away, along * away);
    slope += stiffness * along * away;
    for (int i = 0; i < 3; ++i) second[i][i] += stiffness * along[i];
  }
};

// The machine in one position.
class Machine {
 public:
  Machine(const Specimen& specimen, const SpecimenLoad& load) : specimen_(specimen), load_(load) {
    const TissueParams& p = specimen.model.params;
    per_area_ = kFoundation * p.youngs_modulus / p.node_spacing;
    turned_ = rotation_about_z(load.twist);
  }

  double balance() const {
    const TissueParams& p = specimen_.model.params;
    return kBalance * p.youngs_modulus * p.node_spacing * p.node_spacing;
  }
  dvec3 position_of(const SpecimenPoint& point, std::span<const dvec3> x) const {
    dvec3 sum(0.0);
    for (int k = 0; k < 8; ++k) sum += static_cast<double>(point.at.weight[k]) * x[point.at.node[k]];
    return glm::transpose(specimen_.turn) * sum;
  }
  Foundation lower(const SpecimenPoint& point, const dvec3& p) const {
    return plate(load_.lower, point.lower, point, p - point.rest, p.z, 1.0);
  }
  // Plate or ball.
  Foundation upper(const SpecimenPoint& point, const dvec3& p) const {
    if (load_.ball_radius > 0.0) return ball(point, p);
    const double level = specimen_.height - load_.press;
    const dvec3 home = turned_ * point.rest - dvec3(0.0, 0.0, load_.press);
    return plate(load_.upper, point.upper, point, p - home, level - p.z, -1.0);
  }
  // Adds plates, ball and weight to the expansion of the tissue's energy.
  void add(std::span<const dvec3> x, Curvature curvature, Expansion& out) const {
    for (const SpecimenPoint& point : specimen_.points) {
      const dvec3 p = position_of(point, x);
      Foundation f = lower(point, p);
      const Foundation up = upper(point, p);
      f.energy += up.energy, f.slope += up.slope, f.second += up.second;
      // A point that is held where it began has no energy, but a curvature.
      if (f.second[0][0] + f.second[1][1] + f.second[2][2] > 0.0) add_point(point, f, curvature, out);
    }
    if (load_.lower == Grip::Plane) add_mean(x, curvature, out);
    const dvec3 pull = specimen_.turn * load_.gravity;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double mass = specimen_.model.mass[i];
      out.energy -= mass * glm::dot(pull, x[i] - dvec3(specimen_.model.rest[i]));
      out.slope[i] -= mass * pull;
    }
  }
  // The gradient on a point is the force of the point on the machine.
  SpecimenForce force(std::span<const dvec3> x) const {
    SpecimenForce sum;
    for (const SpecimenPoint& point : specimen_.points) {
      const dvec3 p = position_of(point, x), slope = upper(point, p).slope;
      sum.push += slope.z;
      sum.torque -= p.x * slope.y - p.y * slope.x;
    }
    return sum;
  }

 private:
  // `away`: from the position on the plate where the point began. `above`: distance to the plate, negative: inside it.
  // `up`: +1 for the lower plate, -1 for the upper one.
  Foundation plate(Grip grip, bool end, const SpecimenPoint& point, const dvec3& away, double above, double up) const {
    const double stiffness = per_area_ * point.area;
    Foundation f;
    if (grip == Grip::Free) return f;
    if (grip == Grip::Clamp) {
      if (end) f.tie(stiffness, away, dvec3(1.0));
      return f;
    }
    if (grip == Grip::Plane) {
      if (end) f.tie(stiffness, away, dvec3(kGuide, kGuide, 1.0));
      return f;
    }
    if (above < 0.0) {
      f.energy += 0.5 * stiffness * above * above;
      f.slope.z += stiffness * above * up;
      f.second[2][2] += stiffness;
    }
    if (end) f.tie(grip == Grip::Stick ? stiffness : kGuide * stiffness, away, dvec3(1.0, 1.0, 0.0));
    return f;
  }
  Foundation ball(const SpecimenPoint& point, const dvec3& p) const {
    const double stiffness = per_area_ * point.area, r = load_.ball_radius;
    const dvec3 away = p - dvec3(0.0, 0.0, specimen_.height - load_.press + r);
    const double distance = std::max(glm::length(away), 1e-12), depth = r - distance;
    Foundation f;
    if (depth <= 0.0) return f;
    const dvec3 n = away / distance;
    f.energy = 0.5 * stiffness * depth * depth;
    f.slope = -stiffness * depth * n;
    // The negative part of the curvature, -depth / distance across n, is left out: Newton's method needs a convex
    // model.
    f.second = stiffness * glm::outerProduct(n, n);
    return f;
  }
  // The lower end's mean displacement across the axis is held by the whole foundation of the end.
  void add_mean(std::span<const dvec3> x, Curvature curvature, Expansion& out) const {
    std::vector<double> weight(x.size());
    double area = 0.0;
    for (const SpecimenPoint& point : specimen_.points)
      if (point.lower) area += point.area;
    dvec3 mean(0.0);
    for (const SpecimenPoint& point : specimen_.points) {
      if (!point.lower) continue;
      mean += point.area / area * (position_of(point, x) - point.rest);
      for (int k = 0; k < 8; ++k) weight[point.at.node[k]] += point.area / area * double(point.at.weight[k]);
    }
    Foundation f;
    f.tie(per_area_ * area, mean, dvec3(1.0, 1.0, 0.0));
    out.energy += f.energy;
    const dmat3 second = specimen_.turn * f.second * glm::transpose(specimen_.turn);
    for (std::uint32_t i = 0; i < x.size(); ++i) {
      if (weight[i] == 0.0) continue;
      out.slope[i] += weight[i] * (specimen_.turn * f.slope);
      for (std::uint32_t j = 0; curvature != Curvature::None && j <= i; ++j)
        if (weight[j] != 0.0) out.curvature.push_back({i, j, weight[i] * weight[j] * second});
    }
  }
  void add_point(const SpecimenPoint& point, const Foundation& f, Curvature curvature, Expansion& out) const {
    out.energy += f.energy;
    const dvec3 slope = specimen_.turn * f.slope;
    const dmat3 second = specimen_.turn * f.second * glm::transpose(specimen_.turn);
    for (int i = 0; i < 8; ++i) {
      const double w = point.at.weight[i];
      if (w == 0.0) continue;
      out.slope[point.at.node[i]] += w * slope;
      if (curvature == Curvature::None) continue;
      for (int j = 0; j < 8; ++j)
        if (point.at.weight[j] != 0.f && point.at.node[i] >= point.at.node[j])
          out.curvature.push_back({point.at.node[i], point.at.node[j], w * double(point.at.weight[j]) * second});
    }
  }

  const Specimen& specimen_;
  const SpecimenLoad& load_;
  double per_area_;
  dmat3 turned_;
};

Expansion expand(const TissueModel& model, const Machine& machine, std::span<const dvec3> x, Curvature curvature) {
  Expansion out;
  out.slope.assign(x.size(), dvec3(0.0));
  add_springs(model, x, curvature, out);
  add_volumes(model, x, curvature, out);
  machine.add(x, curvature, out);
  return out;
}

double largest(std::span<const dvec3> slope) {
  double most = 0.0;
  for (const dvec3& s : slope) most = std::max(most, glm::length(s));
  return most;
}

Eigen::VectorXd flat(std::span<const dvec3> slope) {
  Eigen::VectorXd v(3 * slope.size());
  for (std::size_t i = 0; i < slope.size(); ++i)
    for (int k = 0; k < 3; ++k) v(3 * i + k) = slope[i][k];
  return v;
}

std::vector<dvec3> moved(std::span<const dvec3> x, const Eigen::VectorXd& step, double share) {
  std::vector<dvec3> to(x.begin(), x.end());
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += share * dvec3(step(3 * i), step(3 * i + 1), step(3 * i + 2));
  return to;
}

SparseMatrix matrix_of(const Expansion& e) {
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(9 * e.curvature.size());
  for (const CurvatureBlock& block : e.curvature)
    for (int c = 0; c < 3; ++c)
      for (int r = block.row == block.column ? c : 0; r < 3; ++r)
        entries.emplace_back(3 * block.row + r, 3 * block.column + c, block.value[c][r]);
  const auto size = static_cast<Eigen::Index>(3 * e.slope.size());
  SparseMatrix matrix(size, size);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

// Newton's method, with the convex curvature where the exact one has negative eigenvalues. The factors of the last
// iteration remain in `factors`.
void newton(const TissueModel& model, const Machine& machine, Factors& factors, std::vector<dvec3>& x,
            SpecimenAnswer& answer) {
  const auto factorise = [&](const Expansion& e) {
    factors.compute(matrix_of(e));
    return factors.info() == Eigen::Success && factors.vectorD().minCoeff() > 0.0;
  };
  bool stable = true;  // at the last iteration
  for (int i = 0; i < kMostIterations; ++i, ++answer.iterations) {
    const Expansion here = expand(model, machine, x, Curvature::Exact);
    const double force = largest(here.slope);
    stable = factorise(here);
    if (force <= machine.balance() && i > 0) {
      if (!stable) answer.fault = "the balance of forces is not stable: the specimen buckles or folds";
      return;
    }
    if (!stable && !factorise(expand(model, machine, x, Curvature::Convex))) break;
    const Eigen::VectorXd slope = flat(here.slope), step = -factors.solve(slope);
    const double promise = step.dot(slope);
    double share = 1.0;
    int halving = 0;
    for (; halving < kMostBacktracks; ++halving, share *= 0.5) {
      std::vector<dvec3> tried = moved(x, step, share);
      const Expansion there = expand(model, machine, tried, Curvature::None);
      const bool lower = there.energy <= here.energy + kArmijo * share * promise;
      if (!lower && !(share == 1.0 && largest(there.slope) < 0.5 * force)) continue;
      x = std::move(tried);
      break;
    }
    if (halving == kMostBacktracks) {
      if (force <= 1e3 * machine.balance()) return;  // rounding of the energy ends the search close to balance
      break;
    }
  }
  answer.fault = stable ? "the solver found no balance of forces"
                        : "the solver found no stable balance of forces: the specimen may buckle or fold";
}

NodeColumns columns_of(std::span<const dvec3> x) {
  NodeColumns nodes;
  for (auto* one : {&nodes.x, &nodes.y, &nodes.z}) one->assign(x.size() + 2 * kLanes, 0.f);
  for (std::size_t i = 0; i < x.size(); ++i)
    nodes.x[i] = float(x[i].x), nodes.y[i] = float(x[i].y), nodes.z[i] = float(x[i].z);
  return nodes;
}

// The gradient of the energy with the tissue's forces as the real-time step computes them.
std::vector<dvec3> step_slope(const TissueModel& model, const Machine& machine, std::span<const dvec3> x) {
  NodeColumns force = columns_of(std::vector<dvec3>(x.size(), dvec3(0.0)));
  add_elastic_forces(model, columns_of(x), force);
  Expansion out;
  out.slope.assign(x.size(), dvec3(0.0));
  machine.add(x, Curvature::None, out);
  for (std::size_t i = 0; i < x.size(); ++i) out.slope[i] -= dvec3(force.x[i], force.y[i], force.z[i]);
  return out.slope;
}

// Do the forces of the step leave the specimen where the energy does, but for what their rounding moves?
bool agrees(const SpecimenAnswer& a) {
  constexpr double kShare = 0.05, kLength = 1e-5, kForce = 1e-4;  // 1, m, N or N m
  const auto near = [](double x, double y, double least) {
    return std::abs(x - y) <= kShare * std::max(std::abs(x), std::abs(y)) + least;
  };
  return near(a.step.push, a.reference.push, kForce) && near(a.step.torque, a.reference.torque, kForce) &&
         glm::distance(a.end, a.reference_end) <= kShare * glm::length(a.reference_end) + kLength;
}

std::vector<dvec3> rest_by_step(const TissueModel& model, const Machine& machine, const Factors& factors,
                                std::vector<dvec3> x, SpecimenAnswer& answer) {
  const auto size_of = [](const SpecimenForce& f) { return std::abs(f.push) + std::abs(f.torque); };
  double before = size_of(machine.force(x));
  for (int i = 0; i < kMostStepIterations; ++i) {
    x = moved(x, -factors.solve(flat(step_slope(model, machine, x))), 1.0);
    const double now = size_of(machine.force(x));
    if (!(std::abs(now) < INFINITY)) break;
    if (i > 0 && std::abs(now - before) <= kConverged * now) return x;
    before = now;
  }
  answer.fault = "the forces of the step found no balance";
  return x;
}

dvec3 end_of(const Specimen& specimen, const Machine& machine, std::span<const dvec3> x) {
  dvec3 sum(0.0);
  double area = 0.0;
  for (const SpecimenPoint& point : specimen.points)
    if (point.upper) sum += point.area * (machine.position_of(point, x) - point.rest), area += point.area;
  return sum / area;
}

double flattest(const TissueModel& model, std::span<const dvec3> x) {
  std::vector<float> flatness(model.bulk.size());
  measure_flatness(model, columns_of(x), flatness);
  double least = 1.0;
  for (std::size_t c = 0; c < model.bulk_index.size(); ++c)
    if (model.lattice.cells[c].volume_fraction > kEmptiestCell)
      least = std::min(least, static_cast<double>(flatness[model.bulk_index[c]]));
  return least;
}

}  // namespace

SpecimenSolver::SpecimenSolver(const Specimen& specimen)
    : specimen_(specimen), x_(specimen.model.rest.begin(), specimen.model.rest.end()) {}

// The first guess: the last solution, pressed and twisted evenly, at constant volume.
void SpecimenSolver::guess(const SpecimenLoad& load) {
  if (load.ball_radius == 0.0) {
    const double height = specimen_.height, thinner = (height - load.press) / (height - last_.press);
    const double wider = load.upper == Grip::Free ? 1.0 : 1.0 / std::sqrt(thinner);
    for (dvec3& x : x_) {
      dvec3 p = glm::transpose(specimen_.turn) * x;
      p = rotation_about_z((load.twist - last_.twist) * p.z / height) * p;
      x = specimen_.turn * (dvec3(wider, wider, thinner) * p);
    }
  }
  last_ = load;
}

SpecimenAnswer SpecimenSolver::solve(const SpecimenLoad& load, bool with_step) {
  const TissueModel& model = specimen_.model;
  const Machine machine(specimen_, load);
  SpecimenAnswer answer;
  Factors factors;
  const std::vector<dvec3> start = x_;
  const SpecimenLoad from = last_;
  for (int parts = 1; parts == 1 || (parts <= kMostParts && !answer.fault.empty()); parts *= 4) {
    x_ = start, last_ = from;
    answer.fault.clear();
    for (int k = 1; k <= parts && answer.fault.empty(); ++k) {
      const SpecimenLoad part = between(from, load, static_cast<double>(k) / parts);
      guess(part);
      newton(model, Machine(specimen_, part), factors, x_, answer);
    }
  }
  answer.reference = machine.force(x_);
  answer.reference_end = end_of(specimen_, machine, x_);
  answer.flattest = flattest(model, x_);
  std::vector<dvec3> x = x_;
  if (with_step && answer.fault.empty()) x = rest_by_step(model, machine, factors, x, answer);
  answer.step = machine.force(x);
  answer.end = end_of(specimen_, machine, x);
  if (with_step && answer.fault.empty() && !agrees(answer))
    answer.fault = "the forces of the step balance elsewhere than the energy";
  for (std::size_t i = 0; i < x.size(); ++i)
    answer.moved.push_back(glm::transpose(specimen_.turn) * (x[i] - dvec3(model.rest[i])));
  return answer;
}

double hertz_on_layer(double modulus, double poisson, double radius, double depth, double height) {
  constexpr double pi = std::numbers::pi;
  const double a = -(1.2876 - 1.4678 * poisson + 1.3442 * poisson * poisson) / (1.0 - poisson),
               b = (0.6387 - 1.0277 * poisson + 1.5164 * poisson * poisson) / (1.0 - poisson);
  const double x = std::sqrt(radius * depth) / height, cube = a * a * a, pi3 = pi * pi * pi;
  const double factor = 1.0 - 2.0 * a / pi * x + 4.0 * a * a / (pi * pi) * x * x -
                        8.0 / pi3 * (cube + 4.0 * pi * pi / 15.0 * b) * x * x * x +
                        16.0 * a / (pi3 * pi) * (cube + 3.0 * pi * pi / 5.0 * b) * x * x * x * x;
  return 4.0 / 3.0 * modulus / (1.0 - poisson * poisson) * std::sqrt(radius * depth) * depth * factor;
}

namespace {

constexpr float kTrialModulus = 1e4f;  // Pa, any: forces are proportional to it
constexpr double kTolerance = 0.1;     // of the force
constexpr int kMostFitSteps = 10;
// The search ends when neither stiffening changes by more than this. kProbe: the step of the difference quotients.
constexpr double kFitConverged = 0.005, kProbe = 0.05;
// What stiffening counts as besides errors, in tolerances: kCostOfStiffening asinh(s) and kCostOfLate r. Of the
// materials that reproduce a curve within its tolerance this chooses one near the neo-Hookean solid; otherwise the
// slack of plates at small strain, which a curve up to 20 % shows, becomes a stiffening that is far off at 35 %.
constexpr double kCostOfStiffening = 1.0, kCostOfLate = 1.0;

using Rises = glm::dvec2;  // stiffening, late stiffening

// The best modulus for one pair, and the errors that remain, in tolerances.
struct Trial {
  double modulus = 0.0;  // Pa
  std::vector<double> errors;

  double square() const {
    double sum = 0.0;
    for (const double e : errors) sum += e * e;
    return sum;
  }
};

Rises limited(const Rises& pair) {
  return glm::clamp(pair, Rises(kLeastStiffening, 0.0), Rises(kMostStiffening, kMostLateStiffening));
}

double asinh_of(double x) { return std::copysign(elementary::log(std::abs(x) + std::sqrt(x * x + 1.0)), x); }

class Fit {
 public:
  Fit(const CurveTest& test, const TissueParams& params, std::span<const CurvePoint> points)
      : test_(test), params_(params), points_(points) {}

  Trial at(const Rises& pair) const {
    TissueParams params = params_;
    params.youngs_modulus = kTrialModulus;
    params.stiffening = static_cast<float>(pair.x), params.late_stiffening = static_cast<float>(pair.y);
    const std::vector<double> force = curve_of(test_, params, points_);
    double across = 0.0, square = 0.0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double g = force[i] / tolerance_of(points_[i]), f = points_[i].force / tolerance_of(points_[i]);
      across += f * g, square += g * g;
    }
    Trial trial{kTrialModulus * across / square, {}};
    for (std::size_t i = 0; i < points_.size(); ++i)
      trial.errors.push_back((force[i] * across / square - points_[i].force) / tolerance_of(points_[i]));
    trial.errors.push_back(kCostOfStiffening * asinh_of(pair.x)), trial.errors.push_back(kCostOfLate * pair.y);
    return trial;
  }
  // Gauss and Newton's step. At the limit 0 the late stiffening stays when the step would make it negative.
  Rises step(const Rises& pair, const Trial& here) const {
    glm::dmat2 square(0.0);
    Rises across(0.0);
    const Trial beside[2] = {at(pair + Rises(kProbe, 0.0)), at(pair + Rises(0.0, kProbe))};
    for (std::size_t i = 0; i < here.errors.size(); ++i) {
      const Rises slope = Rises(beside[0].errors[i] - here.errors[i], beside[1].errors[i] - here.errors[i]) / kProbe;
      square += glm::outerProduct(slope, slope), across -= here.errors[i] * slope;
    }
    const Rises both = glm::inverse(square) * across;
    return pair.y + both.y >= 0.0 || pair.y > 0.0 ? both : Rises(across.x / square[0][0], 0.0);
  }

 private:
  const CurveTest& test_;
  const TissueParams& params_;
  std::span<const CurvePoint> points_;
};

}  // namespace

double tolerance_of(const CurvePoint& point) { return std::max(kTolerance * std::abs(point.force), point.spread); }

std::vector<double> curve_of(const CurveTest& test, const TissueParams& params, std::span<const CurvePoint> points) {
  const Specimen specimen = make_specimen(test.mesh, params, test.turn);
  SpecimenSolver solver(specimen);
  std::vector<double> force;
  for (const CurvePoint& point : points) {
    SpecimenLoad load = test.load;
    load.press = test.sign * point.strain * specimen.height;
    const SpecimenAnswer answer = solver.solve(load, false);
    if (!answer.fault.empty())
      throw RunError(fmt::format("at a strain of {:g} and a stiffening of {:g}: {}", point.strain, params.stiffening,
                                 answer.fault));
    force.push_back(test.sign * answer.reference.push);
  }
  return force;
}

TissueParams fit_curve(const CurveTest& test, TissueParams params, std::span<const CurvePoint> points) {
  params.law = TissueLaw::Rising;
  const Fit fit(test, params, points);
  Rises pair(0.0);
  Trial best = fit.at(pair);
  for (int i = 0; i < kMostFitSteps; ++i) {
    const Rises step = fit.step(pair, best);
    bool better = false;
    for (double share = 1.0; !better; share *= 0.5) {
      const Rises tried = limited(pair + share * step);
      if (glm::length(tried - pair) < kFitConverged) break;
      const Trial next = fit.at(tried);
      better = next.square() < best.square();
      if (better) pair = tried, best = next;
    }
    if (!better) break;
  }
  params.youngs_modulus = static_cast<float>(best.modulus);
  params.stiffening = static_cast<float>(pair.x), params.late_stiffening = static_cast<float>(pair.y);
  return params;
}

}  // namespace trocar
