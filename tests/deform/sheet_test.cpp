// Tests sheets against closed forms and published figures that know nothing of triangles: patches, strips, plates,
// membranes under pressure, drape, cutting and tearing; gradients and second derivatives against finite differences;
// and the sparse factor against a dense one.
#include "deform/thin/sheet.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <chrono>

#include "geometry/error.hpp"
#include "geometry/units.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/test.hpp"

namespace trocar::sheet_test {
namespace {

constexpr double kPi = 0.5 * kFullTurn;
using Triangles = std::vector<std::array<std::uint32_t, 3>>;

// A rectangle in the plane z = 0 from the origin on.
struct Mesh {
  std::vector<glm::dvec3> points;
  Triangles triangles;
  int columns = 0, rows = 0;  // cells
  std::uint32_t at(int i, int j) const { return static_cast<std::uint32_t>(j * (columns + 1) + i); }
};

enum class Pattern { same, crossed, irregular };

// same: all diagonals one way. crossed: alternating. irregular: alternating, inner nodes moved by up to 30 % of a cell,
// those of the boundary along it.
Mesh rectangle(double length, double width, int columns, int rows, Pattern pattern, unsigned seed = 1) {
  Mesh mesh;
  mesh.columns = columns, mesh.rows = rows;
  std::mt19937 random(seed);
  const auto shift = [&] { return pattern == Pattern::irregular ? 0.3 * (random() / 2147483647.5 - 1.0) : 0.0; };
  for (int j = 0; j <= rows; ++j)
    for (int i = 0; i <= columns; ++i) {
      const double a = i > 0 && i < columns ? shift() : 0.0, b = j > 0 && j < rows ? shift() : 0.0;
      mesh.points.push_back({length * (i + a) / columns, width * (j + b) / rows, 0.0});
    }
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const std::uint32_t p = mesh.at(i, j), q = mesh.at(i + 1, j), r = mesh.at(i + 1, j + 1), s = mesh.at(i, j + 1);
      if (pattern == Pattern::same || (i + j) % 2 == 0)
        mesh.triangles.push_back({p, q, r}), mesh.triangles.push_back({p, r, s});
      else
        mesh.triangles.push_back({p, q, s}), mesh.triangles.push_back({q, r, s});
    }
  return mesh;
}

// A sheet, its state and its storage.
struct Sheet {
  SheetModel model;
  SheetState state;
  SheetScratch scratch;
  std::vector<glm::dvec3> force;
  glm::dvec3 gravity{0.0};
  double pressure = 0.0;
  std::vector<SheetSpring> springs;
  std::vector<SheetSupport> supports;

  Sheet(const SheetParams& params, const Mesh& mesh)
      : model(make_sheet(params, mesh.points, mesh.triangles)),
        state(rest_state(model, mesh.points)),
        force(mesh.points.size(), glm::dvec3(0.0)) {}
  void fix(const std::function<bool(const glm::dvec3&)>& where, bool clamp = false) {
    for (std::size_t n = 0; n < state.x.size(); ++n)
      if (where(state.x[n])) model.fixed[n] = 1;
    for (std::size_t e = 0; clamp && e < model.edges.size(); ++e)
      if (model.fixed[model.edges[e][0]] && model.fixed[model.edges[e][1]]) model.clamped[e] = 1;
  }
  void advance(int steps, double dt) {
    for (int k = 0; k < steps; ++k) step(model, state, {force, gravity, pressure, springs, supports}, dt, scratch);
  }
  double fastest() const {
    double speed = 0.0;
    for (const glm::dvec3& v : state.v) speed = std::max(speed, glm::length(v));
    return speed;
  }
  // Long steps end at rest, where the forces are exact. Returns the number of steps.
  int rest(double dt = 1.0, double slow = 1e-9, int most = 2000) {
    int steps = 3;
    advance(steps, dt);
    for (; steps < most && fastest() * dt > slow; ++steps) advance(1, dt);
    EXPECT_LT(fastest() * dt, 10.0 * slow);
    return steps;
  }
};

// Peritoneum: 0.2 mm.
SheetParams peritoneum() { return {.thickness = 2e-4, .youngs_modulus = 1e6, .poisson = 0.45}; }

TEST(Sheet, RefusesWhatIsNoSheet) {
  const std::vector<glm::dvec3> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}};
  const std::span<const glm::dvec3> four(square.data(), 4);
  const Triangles good{{0, 1, 2}, {0, 2, 3}};
  EXPECT_NO_THROW(make_sheet({}, four, good));
  EXPECT_NO_THROW(make_sheet({}, std::span(square).first(3), Triangles{{0, 1, 2}}));
  EXPECT_THROW(make_sheet({}, four, Triangles{}), InputError);
  EXPECT_THROW(make_sheet({}, four, Triangles{{0, 1, 2}}), InputError);             // a node without a face
  EXPECT_THROW(make_sheet({}, four, Triangles{{0, 1, 2}, {0, 2, 4}}), InputError);  // no such node
  EXPECT_THROW(make_sheet({}, four, Triangles{{0, 1, 1}, {0, 2, 3}}), InputError);
  EXPECT_THROW(make_sheet({}, four, Triangles{{0, 1, 2}, {0, 3, 2}}), InputError);               // winds the other way
  EXPECT_THROW(make_sheet({}, square, Triangles{{0, 1, 2}, {2, 1, 4}, {2, 1, 3}}), InputError);  // three faces
  const std::vector<glm::dvec3> line{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, nan{{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}};
  EXPECT_THROW(make_sheet({}, line, Triangles{{0, 1, 2}}), InputError);
  EXPECT_THROW(make_sheet({}, nan, Triangles{{0, 1, 2}}), InputError);
  EXPECT_THROW(make_sheet({.thickness = 0.0}, four, good), InputError);
  EXPECT_THROW(make_sheet({.youngs_modulus = INFINITY}, four, good), InputError);
  EXPECT_THROW(make_sheet({.poisson = 0.6}, four, good), InputError);
  EXPECT_THROW(make_sheet({.drag = NAN}, four, good), InputError);
}

// A curved sheet that has moved and turned in any way.
Sheet crumpled(std::mt19937& random, double poisson, double by) {
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  Mesh mesh = rectangle(0.04, 0.03, 4, 3, Pattern::irregular, random());
  for (glm::dvec3& p : mesh.points) p.z += 0.002 * any(random);
  Sheet sheet({.thickness = 1e-3, .youngs_modulus = 1e6, .poisson = poisson}, mesh);
  const std::vector<glm::dvec3> before = sheet.state.x;
  for (glm::dvec3& x : sheet.state.x) x += by * glm::dvec3(any(random), any(random), any(random));
  follow_nodes(sheet.model, before, sheet.state);
  return sheet;
}

// Turns the directions of edges about them, [edge] rad, small.
void turn_edges(Sheet& sheet, const std::function<double(std::size_t)>& by) {
  for (std::size_t e = 0; e < sheet.model.edges.size(); ++e) {
    const auto [a, b] = sheet.model.edges[e];
    glm::dvec3& d = sheet.state.direction[e];
    const glm::dvec3 along = glm::normalize(sheet.state.x[b] - sheet.state.x[a]);
    const double turn = by(e);
    d = std::cos(turn) * d + std::sin(turn) * glm::cross(along, d);
  }
}

// The sheet with one unknown moved.
Sheet moved(const Sheet& sheet, std::size_t unknown, double by) {
  Sheet result = sheet;
  const std::size_t nodes = sheet.state.x.size();
  if (unknown < 3 * nodes) {
    result.state.x[unknown / 3][static_cast<int>(unknown % 3)] += by;
    follow_nodes(sheet.model, sheet.state.x, result.state);
  } else {
    turn_edges(result, [&](std::size_t e) { return e == unknown - 3 * nodes ? by : 0.0; });
  }
  return result;
}

std::vector<double> forces_of(const Sheet& sheet) {
  std::vector<glm::dvec3> force(sheet.state.x.size());
  std::vector<double> torque(sheet.model.edges.size()), all;
  elastic_forces(sheet.model, sheet.state, force, torque);
  for (const glm::dvec3& f : force) all.insert(all.end(), {f.x, f.y, f.z});
  all.insert(all.end(), torque.begin(), torque.end());
  return all;
}

double largest_of(std::span<const double> values) {
  double largest = 0.0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

TEST(Sheet, ForcesAreTheGradientOfTheEnergy) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const double poisson : {0.0, 0.3, 0.5})
    for (const double by : {5e-4, 3e-3}) {
      Sheet sheet = crumpled(random, poisson, by);
      turn_edges(sheet, [&](std::size_t) { return 0.5 * (random() / 2147483647.5 - 1.0); });
      const std::vector<double> force = forces_of(sheet);
      const std::size_t nodes = 3 * sheet.state.x.size();
      const double largest = largest_of(std::span(force).first(nodes)),
                   torque = largest_of(std::span(force).subspan(nodes));
      for (std::size_t i = 0; i < force.size(); ++i) {
        const double step = i < nodes ? 1e-8 : 1e-5;
        const auto energy = [&](double off) {
          const Sheet other = moved(sheet, i, off);
          return energy_of(other.model, other.state).elastic();
        };
        EXPECT_NEAR(force[i], -(energy(step) - energy(-step)) / (2.0 * step), 1e-5 * (i < nodes ? largest : torque))
            << i;
      }
    }
}

// A sheet that is pulled, with the bend that it has taken as its rest, has no negative curvatures to drop.
TEST(Sheet, StiffnessIsTheSlopeOfTheForces) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const double poisson : {0.0, 0.3, 0.5}) {
    Sheet sheet = crumpled(random, poisson, 3e-4);
    for (glm::dvec3& x : sheet.state.x) x *= 1.5;
    SheetModel shape = make_sheet(sheet.model.params, sheet.state.x, [&] {
      Triangles t;
      for (const SheetFace& face : sheet.model.faces) t.push_back(face.node);
      return t;
    }());
    sheet.state = rest_state(shape, sheet.state.x);
    for (std::size_t f = 0; f < shape.elements.size(); ++f) sheet.model.elements[f].turn = shape.elements[f].turn;
    const std::vector<double> stiffness = stiffness_of(sheet.model, sheet.state);
    const std::size_t unknowns = 3 * sheet.state.x.size() + sheet.model.edges.size(), nodes = 3 * sheet.state.x.size();
    double worst = 0.0, scale[2]{};
    for (std::size_t i = 0; i < unknowns; ++i)
      scale[i >= nodes] = std::max(scale[i >= nodes], stiffness[i * unknowns + i]);
    for (std::size_t j = 0; j < unknowns; ++j) {
      const double step = j < nodes ? 1e-8 : 1e-5;
      const std::vector<double> high = forces_of(moved(sheet, j, step)), low = forces_of(moved(sheet, j, -step));
      for (std::size_t i = 0; i < unknowns; ++i)
        worst = std::max(worst, std::abs(stiffness[i * unknowns + j] + (high[i] - low[i]) / (2.0 * step)) /
                                    std::sqrt(scale[i >= nodes] * scale[j >= nodes]));
    }
    EXPECT_LT(worst, 1e-6) << poisson;
  }
}

// However a sheet is deformed, the stiffness of a step has no negative eigenvalue.
TEST(Sheet, StiffnessIsNeverNegative) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 6; ++round) {
    const Sheet sheet = crumpled(random, round % 2 ? 0.5 : 0.2, 1e-2);
    const std::vector<double> k = stiffness_of(sheet.model, sheet.state);
    const auto n = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(k.size()))));
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> values(Eigen::Map<const Eigen::MatrixXd>(k.data(), n, n),
                                                                Eigen::EigenvaluesOnly);
    EXPECT_GT(values.eigenvalues()[0], -1e-12 * values.eigenvalues()[n - 1]);
  }
}

// A step with the sparse factor is a step with a dense one.
TEST(Sheet, SparseStepIsTheDenseStep) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 4; ++round) {
    Sheet sheet = crumpled(random, 0.4, 1e-3);
    sheet.model.fixed[0] = sheet.model.fixed[7] = 1, sheet.model.clamped[3] = 1;
    constexpr double kStep = 1e-3;
    const std::size_t nodes = sheet.state.x.size(), unknowns = 3 * nodes + sheet.model.edges.size();
    for (glm::dvec3& v : sheet.state.v) v = glm::dvec3(random() % 7, random() % 5, random() % 3) * 0.01;
    std::vector<double> matrix = stiffness_of(sheet.model, sheet.state), right = forces_of(sheet);
    const auto n = static_cast<Eigen::Index>(unknowns);
    Eigen::Map<Eigen::MatrixXd> a(matrix.data(), n, n);
    a *= kStep * kStep;
    Eigen::VectorXd b = kStep * Eigen::Map<Eigen::VectorXd>(right.data(), n);
    for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(3 * nodes); ++i) {
      const auto node = static_cast<std::size_t>(i / 3);
      a(i, i) += sheet.model.mass[node], b(i) += sheet.model.mass[node] * sheet.state.v[node][static_cast<int>(i % 3)];
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const bool node = k < 3 * nodes;
      if (!(node ? sheet.model.fixed[k / 3] : sheet.model.clamped[k - 3 * nodes])) continue;
      const double v = node ? sheet.state.v[k / 3][static_cast<int>(k % 3)] : 0.0;
      b -= a.col(i) * v;
      a.row(i).setZero(), a.col(i).setZero();
      a(i, i) = 1.0, b(i) = v;
    }
    const Eigen::VectorXd v = a.ldlt().solve(b);
    step(sheet.model, sheet.state, {}, kStep, sheet.scratch);
    for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(3 * nodes); ++i)
      EXPECT_NEAR(sheet.state.v[static_cast<std::size_t>(i / 3)][static_cast<int>(i % 3)], v(i),
                  1e-9 * v.lpNorm<Eigen::Infinity>());
  }
}

// Moving and turning a sheet as a whole changes nothing; no force or torque acts on the whole.
TEST(Sheet, ForcesSumToZero) {
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    Sheet sheet = crumpled(random, 0.5, 2e-3);
    const std::vector<double> force = forces_of(sheet);
    const std::size_t nodes = sheet.state.x.size();
    glm::dvec3 sum(0.0), torque(0.0);
    for (std::size_t n = 0; n < nodes; ++n) {
      const glm::dvec3 f(force[3 * n], force[3 * n + 1], force[3 * n + 2]);
      sum += f, torque += glm::cross(sheet.state.x[n], f);
    }
    for (std::size_t e = 0; e < sheet.model.edges.size(); ++e) {
      const auto [a, b] = sheet.model.edges[e];
      torque += force[3 * nodes + e] * glm::normalize(sheet.state.x[b] - sheet.state.x[a]);
    }
    EXPECT_LT(glm::length(sum), 1e-11 * largest_of(force));
    EXPECT_LT(glm::length(torque), 1e-11 * largest_of(force));
  }
}

TEST(Sheet, RestsInItsRestShape) {
  Mesh mesh = rectangle(0.06, 0.04, 6, 4, Pattern::irregular);
  for (glm::dvec3& p : mesh.points) p = {0.02 * std::sin(p.x / 0.02), p.y, 0.02 * std::cos(p.x / 0.02)};
  Sheet sheet(peritoneum(), mesh);
  sheet.advance(100, 0.01);
  for (std::size_t k = 0; k < mesh.points.size(); ++k)
    EXPECT_LT(glm::distance(sheet.state.x[k], mesh.points[k]), 1e-12);
  const double area = 0.02 * 3.0 * 0.04;
  EXPECT_NEAR(std::accumulate(sheet.model.mass.begin(), sheet.model.mass.end(), 0.0) / (area * 2e-4 * 1060.0), 1.0,
              0.01);
}

// Membrane patch: a linear displacement leaves inner nodes without force, and the stress is that of the law.
TEST(Sheet, PassesThePatchTestInItsPlane) {
  for (const double poisson : {0.0, 0.3, 0.5}) {
    Sheet sheet({.thickness = 2e-4, .youngs_modulus = 1e6, .poisson = poisson},
                rectangle(0.04, 0.04, 5, 5, Pattern::irregular));
    const glm::dmat2 strain(1e-5, 3e-6, 3e-6, -4e-6);
    for (glm::dvec3& x : sheet.state.x) x += glm::dvec3(strain * glm::dvec2(x), 0.0);
    const std::vector<double> force = forces_of(sheet);
    for (int j = 1; j < 5; ++j)
      for (int i = 1; i < 5; ++i)
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(force[3 * (6 * j + i) + k], 0.0, 1e-9 * largest_of(force));
    // Plane stress by Hooke's law; principal values of the strain.
    const double mean = 0.5 * (1e-5 - 4e-6), radius = std::hypot(7e-6, 3e-6), e1 = mean + radius, e2 = mean - radius;
    const double scale = 1e6 / (1.0 - poisson * poisson);
    for (std::uint32_t f = 0; f < sheet.model.faces.size(); ++f) {
      const SheetStress stress = stress_of(sheet.model, sheet.state, f);
      EXPECT_NEAR(stress.largest, scale * (e1 + poisson * e2), 1e-3);
      EXPECT_NEAR(stress.smallest, scale * (e2 + poisson * e1), 1e-3);
    }
  }
}

// Pulled along x and free across: nominal stress mu (s - s^(-1 - 2 nu)) of the law in three dimensions.
TEST(Sheet, PulledStripFollowsTheLaw) {
  for (const double poisson : {0.0, 0.3, 0.5})
    for (const double stretch : {0.5, 0.8, 1.3, 2.0}) {
      Sheet sheet({.thickness = 2e-4, .youngs_modulus = 1e6, .poisson = poisson},
                  rectangle(0.04, 0.02, 4, 2, Pattern::irregular));
      for (std::size_t n = 0; n < sheet.state.x.size(); ++n) {
        glm::dvec3& x = sheet.state.x[n];
        x.x *= stretch, x.y *= std::pow(stretch, -poisson);
      }
      const double mu = 1e6 / (2.0 * (1.0 + poisson)),
                   theory = mu * (stretch - std::pow(stretch, -1.0 - 2.0 * poisson));
      const SheetStress stress = stress_of(sheet.model, sheet.state, 3);
      EXPECT_NEAR(stretch > 1.0 ? stress.largest : stress.smallest, theory, 1e-6 * mu);
      EXPECT_NEAR(stretch > 1.0 ? stress.smallest : stress.largest, 0.0, 1e-6 * mu);
    }
}

// Bending patch: with any quadratic deflection and its slopes inner nodes and edges are in balance, and the energy is
// that of the plate.
TEST(Sheet, PassesThePatchTestOfBending) {
  for (const Pattern pattern : {Pattern::same, Pattern::crossed, Pattern::irregular}) {
    const double poisson = 0.3;
    Sheet sheet({.thickness = 1e-3, .youngs_modulus = 1e6, .poisson = poisson}, rectangle(0.04, 0.03, 4, 3, pattern));
    const double xx = 2e-4, yy = -1e-4, xy = 1.5e-4;  // 1/m
    for (glm::dvec3& p : sheet.state.x) p.z = 0.5 * (xx * p.x * p.x + yy * p.y * p.y) + xy * p.x * p.y;
    for (std::size_t e = 0; e < sheet.model.edges.size(); ++e) {
      const auto [a, b] = sheet.model.edges[e];
      const glm::dvec3 mid = 0.5 * (sheet.state.x[a] + sheet.state.x[b]);
      sheet.state.direction[e] = glm::normalize(glm::dvec3(-xx * mid.x - xy * mid.y, -yy * mid.y - xy * mid.x, 1.0));
    }
    const double section = section_of(sheet.model.params).bending, area = 0.04 * 0.03;
    const double theory = 0.5 * section * area * ((xx + yy) * (xx + yy) - 2.0 * (1.0 - poisson) * (xx * yy - xy * xy));
    EXPECT_NEAR(energy_of(sheet.model, sheet.state).bend / theory, 1.0, 1e-6);
    const std::vector<double> force = forces_of(sheet);
    for (int j = 1; j < 3; ++j)
      for (int i = 1; i < 4; ++i) EXPECT_NEAR(force[3 * (5 * j + i) + 2], 0.0, 1e-6 * largest_of(force));
  }
}

// A strip clamped at one end under a force at the other, small deflection: F L^3 / 3 E I, for nu = 0.
TEST(Sheet, StripBendsAsAPlateOnEveryMesh) {
  for (const Pattern pattern : {Pattern::same, Pattern::crossed, Pattern::irregular})
    for (const int columns : {10, 20}) {
      const double length = 0.04, width = 0.01;
      Sheet sheet({.thickness = 5e-4, .youngs_modulus = 1e6, .poisson = 0.0},
                  rectangle(length, width, columns, columns / 4, pattern, 3));
      sheet.fix([](const glm::dvec3& x) { return x.x < 1e-9; }, true);
      const double bending = section_of(sheet.model.params).bending * width;
      const double force = 1e-3 * length * 3.0 * bending / (length * length * length);
      const int rows = columns / 4;
      for (int j = 0; j <= rows; ++j)
        sheet.force[sheet.force.size() - 1 - static_cast<std::size_t>((columns + 1) * j)].z =
            force / (j == 0 || j == rows ? 2.0 : 1.0) / rows;
      sheet.rest(1.0, 1e-10);
      double tip = 0.0;
      for (int j = 0; j <= rows; ++j)
        tip += sheet.state.x[sheet.force.size() - 1 - static_cast<std::size_t>((columns + 1) * j)].z / (rows + 1);
      std::printf("strip, mesh %d, %d edges: %.4f of plate theory\n", static_cast<int>(pattern), columns,
                  tip / (1e-3 * length));
      EXPECT_NEAR(tip / (1e-3 * length), 1.0, 0.02);
    }
}

}  // namespace
}  // namespace trocar::sheet_test
