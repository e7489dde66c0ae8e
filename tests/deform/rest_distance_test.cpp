// Compares the distance field in rest space with the closest point of every face, and its sign with the solid angle.
#include "deform/contact/organ_contact.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>

#include "deform/solid/tissue.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/geometry/slow_distance.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

RestDistance field_of(const TriangleMesh& mesh, double spacing) {
  return make_rest_distance(mesh.view(), make_lattice(mesh.view(), spacing));
}

double slow_distance(const MeshView& mesh, const glm::dvec3& p) {
  double best = INFINITY;
  for (const glm::uvec3& face : mesh.faces)
    best = std::min(best, test::slow_point_triangle(p, triangle_of(mesh.positions, face)));
  return best;
}

// Returns the winding number of the surface around the point. Source: van Oosterom, Strackee, "The solid angle of a
// plane triangle", IEEE Transactions on Biomedical Engineering 30, 1983.
double winding(const MeshView& mesh, const glm::dvec3& p) {
  double sum = 0.0;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    const glm::dvec3 a = t.a - p, b = t.b - p, c = t.c - p;
    const double la = glm::length(a), lb = glm::length(b), lc = glm::length(c);
    sum += std::atan2(glm::dot(a, glm::cross(b, c)),
                      la * lb * lc + glm::dot(a, b) * lc + glm::dot(b, c) * la + glm::dot(c, a) * lb);
  }
  return sum / (2.0 * std::numbers::pi);
}

struct Solid {
  const char* name;
  TriangleMesh mesh;
  double spacing;    // m, of the lattice
  double roundness;  // m, allowed rounding by the grid between its nodes
};

std::vector<Solid> solids() {
  return {{"sphere", shapes::icosphere(3, 0.05f, {0.02f, 0.f, 0.3f}), 0.009, 3e-4},
          {"torus", shapes::torus(40, 20, 0.06f, 0.02f), 0.009, 3e-4},
          {"block", test::fine_block({0.f, 0.f, 0.f}, {0.08f, 0.06f, 0.04f}, 0.01f), 0.008, 1.4e-3}};
}

TEST(RestDistance, IsTheDistanceToTheClosestPoint) {
  for (const Solid& solid : solids()) {
    const RestDistance field = field_of(solid.mesh, solid.spacing);
    std::mt19937 random(31);
    std::uniform_int_distribution<std::size_t> face(0, solid.mesh.faces.size() - 1);
    std::normal_distribution<double> beside(0.0, 0.4 * solid.spacing);
    double worst = 0.0, square = 0.0;
    constexpr int kPoints = 300;
    for (int i = 0; i < kPoints; ++i) {
      const Triangle t = triangle_of(solid.mesh.positions, solid.mesh.faces[face(random)]);
      const glm::dvec3 p((t.a + t.b + t.c) / 3.0 + glm::dvec3(beside(random), beside(random), beside(random)));
      const double distance = slow_distance(solid.mesh.view(), p);
      if (distance > 0.6 * solid.spacing) continue;  // the grid's margin
      const double expected = winding(solid.mesh.view(), p) > 0.5 ? -distance : distance;
      const double error = std::abs(sample(field, glm::vec3(p)).distance - expected);
      worst = std::max(worst, error), square += error * error;
      ASSERT_LT(error, solid.roundness) << solid.name << ", seed 31, point " << i;
    }
    std::printf("%s: distance error at most %.3f mm, %.3f mm rms\n", solid.name, worst * 1e3,
                std::sqrt(square / kPoints) * 1e3);
  }
}

// At its nodes the field is exact, including the sign.
TEST(RestDistance, NodesAreExact) {
  for (const Solid& solid : solids()) {
    const RestDistance field = field_of(solid.mesh, solid.spacing);
    std::mt19937 random(32);
    std::uniform_int_distribution<std::size_t> any(0, field.value.size() - 1);
    int checked = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::size_t node = any(random);
      const glm::ivec3 at(node % field.size.x, node / field.size.x % field.size.y, node / field.size.x / field.size.y);
      const glm::dvec3 p = field.origin + field.spacing * glm::dvec3(at);
      if (std::abs(field.value[node]) < 1e-9f) continue;  // on the surface
      const double inside = winding(solid.mesh.view(), p);
      if (field.value[node] < solid.spacing && checked++ < 200) {
        const double distance = slow_distance(solid.mesh.view(), p);
        EXPECT_NEAR(field.value[node], inside > 0.5 ? -distance : distance, 1e-7) << solid.name << ", seed 32";
      }
      EXPECT_EQ(field.value[node]<0.f, inside> 0.5) << solid.name << ", seed 32, node " << node;
    }
    EXPECT_GT(checked, 100) << solid.name;
  }
}

TEST(RestDistance, GradientPointsAwayFromTheSurface) {
  const Solid solid = solids()[0];
  const RestDistance field = field_of(solid.mesh, solid.spacing);
  std::mt19937 random(33);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> radius(0.035f, 0.060f);
  for (int i = 0; i < 1000; ++i) {
    const glm::vec3 direction = glm::normalize(glm::vec3(normal(random), normal(random), normal(random)));
    const DistanceSample at = sample(field, glm::vec3(0.02f, 0.f, 0.3f) + radius(random) * direction);
    EXPECT_GT(glm::dot(glm::normalize(at.gradient), direction), 0.99f) << "seed 33, point " << i;
    EXPECT_NEAR(glm::length(at.gradient), 1.f, 0.05f);
  }
}

TEST(RestDistance, FarPointsAreOutsideAndFinite) {
  const Solid solid = solids()[0];
  const RestDistance field = field_of(solid.mesh, solid.spacing);
  for (const glm::vec3& p : {glm::vec3(10.f), glm::vec3(-10.f, 0.f, 0.3f), glm::vec3(0.02f, 0.f, 5.f)}) {
    const DistanceSample at = sample(field, p);
    EXPECT_GT(at.distance, 0.f);
    EXPECT_TRUE(std::isfinite(at.gradient.x + at.gradient.y + at.gradient.z));
  }
}

// A solid of two halves that pass through each other: points inside either half or both are inside.
TEST(RestDistance, SelfCrossingSurfacesAreFilled) {
  const TriangleMesh mesh = shapes::joined(test::fine_block({0.f, 0.f, 0.f}, glm::vec3(0.04f), 0.01f),
                                           test::fine_block({0.02f, 0.01f, 0.01f}, glm::vec3(0.04f), 0.01f));
  const RestDistance field = field_of(mesh, 0.008);
  std::mt19937 random(34);
  std::uniform_real_distribution<float> coordinate(0.f, 0.06f);
  for (int i = 0; i < 1000; ++i) {
    const glm::vec3 p(coordinate(random), coordinate(random), coordinate(random));
    const glm::vec3 from = glm::abs(p - 0.02f), beside = glm::abs(p - glm::vec3(0.04f, 0.03f, 0.03f));
    const float first = 0.02f - std::max({from.x, from.y, from.z});
    const float second = 0.02f - std::max({beside.x, beside.y, beside.z});
    if (std::abs(first) < 0.004f || std::abs(second) < 0.004f) continue;
    EXPECT_EQ(sample(field, p).distance<0.f, first> 0.f || second > 0.f) << "seed 34, point " << i;
  }
}

TEST(RestDistance, CarvedCellsAreOutside) {
  const Solid solid = solids()[2];
  const Lattice lattice = make_lattice(solid.mesh.view(), solid.spacing);
  RestDistance field = make_rest_distance(solid.mesh.view(), lattice);
  // The middle cell of the top layer.
  std::uint32_t cell = 0;
  while (lattice.cells[cell].at != glm::ivec3(lattice.size.x / 2, lattice.size.y / 2, lattice.size.z - 1)) ++cell;
  const glm::vec3 centre(lattice.origin + lattice.spacing * (glm::dvec3(lattice.cells[cell].at) + 0.5));
  const glm::vec3 under = centre - glm::vec3(0.f, 0.f, 0.008f);
  EXPECT_NEAR(sample(field, centre).distance, -0.004f, 2e-4f);
  EXPECT_NEAR(sample(field, under).distance, -0.012f, 2e-4f);
  carve(field, lattice, {&cell, 1});
  EXPECT_GT(sample(field, centre).distance, 0.0025f);
  EXPECT_NEAR(sample(field, under).distance, -0.004f, 5e-4f);
  EXPECT_GT(glm::normalize(sample(field, under).gradient).z, 0.99f);
}

TEST(RestDistance, LiverOfTheProject) {
  const TriangleMesh mesh = load_mesh(repository_file("data/organs/liver.obj"));
  const Lattice lattice = make_lattice(mesh.view(), 0.009);
  const auto start = std::chrono::steady_clock::now();
  const RestDistance field = make_rest_distance(mesh.view(), lattice);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double worst = 0.0;
  for (const glm::vec3& p : mesh.positions)
    worst = std::max(worst, std::abs(static_cast<double>(sample(field, p).distance)));
  std::printf("liver: %zu nodes in %.2f s, error at vertices at most %.3f mm\n", field.value.size(), seconds,
              worst * 1e3);
  EXPECT_LT(worst, 2e-3);
}

}  // namespace
}  // namespace trocar
