// Tests the lattice of an organ: its cells and their fullness on known shapes, the triangle-box test, refused spacings,
// its report, and the highest frequency.
#include "deform/solid/lattice.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include "deform/solid/elasticity.hpp"
#include "deform/solid/tissue.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

using test::block;
using test::sentence_of;

double filled_volume(const MeshView& organ, double spacing) {
  const Lattice lattice = make_lattice(organ, spacing);
  double sum = 0.0;
  for (const float share : measure_fullness(organ, lattice)) sum += share;
  return sum * spacing * spacing * spacing;
}

TEST(Lattice, BlockOfWholeCellsHasExactlyTheseCells) {
  const TriangleMesh mesh = block({0.04f, 0.024f, 0.016f});
  const Lattice lattice = make_lattice(mesh.view(), 0.008);
  EXPECT_EQ(lattice.size, glm::ivec3(5, 3, 2));
  EXPECT_EQ(lattice.cells.size(), 30u);
  EXPECT_EQ(lattice.node_at.size(), 6u * 4u * 3u);
  for (const LatticeCell& cell : lattice.cells) EXPECT_NEAR(cell.fullness, 1.f, 1e-4f);
}

TEST(Lattice, FullnessAddsUpToTheVolume) {
  for (const TriangleMesh& mesh : {shapes::icosphere(4), shapes::torus(48, 24)}) {
    const double volume = closed_volume(mesh.view());
    for (const double spacing : {0.008, 0.013, 0.03})
      EXPECT_NEAR(filled_volume(mesh.view(), spacing) / volume, 1.0, 0.8 * spacing) << spacing;
  }
  // Flat walls along the rows are the worst case: the position of each is known to a quarter of a cell.
  const TriangleMesh cube = shapes::cube(0.093f);
  for (const double spacing : {0.008, 0.013, 0.03})
    EXPECT_NEAR(filled_volume(cube.view(), spacing) / closed_volume(cube.view()), 1.0, 4.0 * 0.125 * spacing / 0.093);
}

// Tests inner walls exactly on measured rows and on lattice planes: crossings at edges and corners must still cancel.
TEST(Lattice, HollowWithWallsOnRowsIsMeasured) {
  for (const float inner : {0.064f, 0.068f, 0.066f, 0.062f}) {
    const TriangleMesh mesh = shapes::joined(shapes::cube(0.096f), shapes::turned(shapes::cube(inner)));
    const double volume = closed_volume(mesh.view());
    EXPECT_NEAR(filled_volume(mesh.view(), 0.008) / volume, 1.0, 0.03) << inner;
  }
}

TEST(Lattice, FullnessOfASphereAgreesWithCounting) {
  const float radius = 0.05f;
  const TriangleMesh mesh = shapes::icosphere(5, radius);
  const Lattice lattice = make_lattice(mesh.view(), 0.02);
  const std::vector<float> fullness = measure_fullness(mesh.view(), lattice);
  constexpr int kCounts = 24;
  for (int z = 0; z < lattice.size.z; ++z)
    for (int y = 0; y < lattice.size.y; ++y)
      for (int x = 0; x < lattice.size.x; ++x) {
        int inside = 0;
        for (int i = 0; i < kCounts * kCounts * kCounts; ++i) {
          const glm::dvec3 sample(i % kCounts + 0.5, i / kCounts % kCounts + 0.5, i / kCounts / kCounts + 0.5);
          const glm::dvec3 p = lattice.origin + 0.02 * (glm::dvec3(x, y, z) + sample / double(kCounts));
          inside += glm::dot(p, p) < radius * radius;
        }
        EXPECT_NEAR(fullness[lattice.flat({x, y, z})], inside / double(kCounts * kCounts * kCounts), 0.05);
      }
}

TEST(Lattice, EveryCellTouchedByAFaceExists) {
  const TriangleMesh mesh = shapes::torus(24, 12);
  const Lattice lattice = make_lattice(mesh.view(), 0.01);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    for (int i = 0; i < 20; ++i) {
      const double u = share(random), v = share(random) * (1.0 - u);
      const glm::dvec3 p = t.a + u * (t.b - t.a) + v * (t.c - t.a);
      const glm::dvec3 inside = glm::fract((p - lattice.origin) / lattice.spacing);
      const bool clear = glm::all(glm::greaterThan(inside, glm::dvec3(1e-3))) &&
                         glm::all(glm::lessThan(inside, glm::dvec3(1.0 - 1e-3)));
      if (clear) {
        EXPECT_GE(lattice.cell_of[lattice.flat(lattice.column_of(p))], 0);
      }
    }
  }
}

TEST(Lattice, TriangleBoxOverlapAgreesWithSampling) {
  const std::uint32_t seed = 20240611;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(-2.0, 2.0);
  const auto point = [&] { return glm::dvec3(coordinate(random), coordinate(random), coordinate(random)); };
  int touching = 0;
  for (int i = 0; i < 2000; ++i) {
    const Triangle t{point(), point(), point()};
    const glm::dvec3 half(0.7, 0.4, 0.5);
    double nearest = INFINITY;  // over sampled points, distance outside the box (largest coordinate)
    for (int u = 0; u <= 40; ++u)
      for (int v = 0; v + u <= 40; ++v) {
        const glm::dvec3 p = glm::abs(t.a + (t.b - t.a) * (u / 40.0) + (t.c - t.a) * (v / 40.0)) - half;
        nearest = std::min(nearest, std::max({p.x, p.y, p.z}));
      }
    const bool touches = triangle_touches_box(t, glm::dvec3(0.0), half);
    touching += touches;
    if (nearest <= 0.0) {
      EXPECT_TRUE(touches);
    }
    if (nearest > 0.12) {
      EXPECT_FALSE(touches);
    }
  }
  EXPECT_GT(touching, 200);
}

TEST(Lattice, NeighboursAlongXHaveConsecutiveNumbers) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const Lattice lattice = make_lattice(mesh.view(), 0.02);
  for (const LatticeCell& cell : lattice.cells)
    for (int corner = 0; corner < 8; corner += 2) EXPECT_EQ(cell.node[corner] + 1, cell.node[corner + 1]);
}

TEST(Lattice, RefusesInvalidSpacings) {
  const TriangleMesh mesh = shapes::cube(0.1f);
  EXPECT_NE(sentence_of([&] { make_lattice(mesh.view(), 0.11); }).find("larger than the organ"), std::string::npos);
  EXPECT_NE(sentence_of([&] { make_lattice(mesh.view(), 1e-5); }).find("too small"), std::string::npos);
}

// Tests the report on a lattice: a block whose numbers are known, separate pieces, half-full cells.

TEST(LatticeReport, MatchesABlock) {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TriangleMesh mesh = test::block({0.08f, 0.04f, 0.03f});
  const TissueModel model = make_tissue(mesh.view(), params, {});
  const LatticeReport report = lattice_report(model, mesh.positions);
  EXPECT_EQ(report.cells, 8u * 4 * 3);
  EXPECT_EQ(report.nodes, 9u * 5 * 4);
  EXPECT_EQ(report.springs, spring_count(model));
  EXPECT_NEAR(report.whole, 1.0, 1e-9);
  EXPECT_NEAR(report.volume, 96e-6, 1e-9);
  EXPECT_NEAR(report.organ_volume, 96e-6, 1e-9);
  EXPECT_NEAR(report.mass, 96e-6 * 1060.0, 1e-6);
  EXPECT_EQ(report.pieces, 1u);
  EXPECT_EQ(report.cells_across, 4);
  EXPECT_LT(report.worst_embedding, 1e-7);
  EXPECT_EQ(report.substeps_per_frame, substep_count(model, 1.f / 60.f));
}

TEST(LatticeReport, CountsPiecesAndHalfFullCells) {
  TriangleMesh two = test::block(glm::vec3(0.025f));
  const TriangleMesh other = test::block(glm::vec3(0.025f));
  const auto count = static_cast<std::uint32_t>(two.positions.size());
  for (const glm::vec3& p : other.positions) two.positions.push_back(p + glm::vec3(0.1f, 0.f, 0.f));
  for (const glm::uvec3& face : other.faces) two.faces.push_back(face + count);
  TissueParams params;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(two.view(), params, {});
  const LatticeReport report = lattice_report(model, two.positions);
  EXPECT_EQ(report.pieces, 2u);
  EXPECT_LT(report.whole, 0.5);
  EXPECT_NEAR(report.volume / report.organ_volume, 1.0, 0.05);
}

// Compares the highest frequency with a closed form, and tests its bound when cells are removed.

std::vector<std::uint32_t> all_cells(const TissueModel& model) {
  std::vector<std::uint32_t> cells(model.lattice.cells.size());
  std::iota(cells.begin(), cells.end(), 0u);
  return cells;
}

// Tests a single full cell whose eight corners move out and in: with u = s at every corner (s its signs), the edges
// contribute 4 k1/4 each along one axis, the face diagonals 2 k2/2, the body diagonals k3, and the volume K h 3^2 / 4.
TEST(Stability, FrequencyOfASingleCellMatchesTheClosedForm) {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(test::block(glm::vec3(0.01f)).view(), params, {});
  const double edge = spring_share(params, 1), face = spring_share(params, 2), body = spring_share(params, 3);
  // The force on a corner along x per unit of u comes from its edge along x (stretched by 2), two face diagonals and a
  // body diagonal.
  const double springs = 2.0 * edge + 2.0 * 2.0 * face + 2.0 * body;
  const double volume = volume_modulus(params) * params.node_spacing * 8.0 * 3.0 / 16.0;
  const double expected = std::sqrt((springs + volume) / (model.cell_mass / 8.0));
  EXPECT_NEAR(highest_frequency(model, all_cells(model)) / expected, 1.0, 0.01);
}

TEST(Stability, NoPieceIsFasterThanTheWhole) {
  const TissueModel model = make_tissue(shapes::icosphere(3, 0.05f).view(), {}, {});
  const std::vector<std::uint32_t> cells = all_cells(model);
  const double whole = highest_frequency(model, cells);
  for (std::size_t size : {1u, 8u, 60u})
    EXPECT_LE(highest_frequency(model, std::span(cells).first(size)), whole * 1.02);
}

TEST(Stability, DampingShortensTheSubstep) {
  TissueParams params;
  params.damping_time = 0.f;
  const float undamped = longest_substep(params, 1000.0);
  EXPECT_NEAR(undamped, std::sqrt(0.8f) * 2e-3f, 1e-6f);
  params.damping_time = 1e-3f;
  const float damped = longest_substep(params, 1000.0);
  EXPECT_LT(damped, undamped);
  // w^2 dt^2 + 2 beta w^2 dt = 4 * 0.8
  EXPECT_NEAR(1e6f * damped * damped + 2e3f * damped, 3.2f, 1e-3f);
  EXPECT_EQ(longest_substep(params, 0.0), INFINITY);
}

// Cells are removed one after another, some in the middle, some leaving isolated cells: the step stays stable.
TEST(Stability, SurvivesRemovalOfCells) {
  TissueParams params;
  params.node_spacing = 0.01f;
  TissueModel model = make_tissue(test::block(glm::vec3(0.05f)).view(), params, {});
  SteppedTissue state = rest_state(model);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t cell = i * 61 % static_cast<std::uint32_t>(model.lattice.cells.size());
    const float none = i % 3 == 0 ? 0.1f : 0.f;
    set_fullness(model, {&cell, 1}, {&none, 1});
    for (std::size_t n = 0; n < state.x.size(); ++n) state.x[n].x += 1e-5f * (n % 2 == 0 ? 1.f : -1.f);
    for (int frame = 0; frame < 10; ++frame) step(model, state, {}, 1.f / 60.f);
  }
  EXPECT_LT(test::farthest_from_rest(model, state), 5e-3f);
}

}  // namespace

}  // namespace trocar
