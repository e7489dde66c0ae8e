// Tests superquadrics: they are sound for all exponents, every vertex is on the surface, volume and area equal the
// closed forms, face counts are as requested, triangles are even, and points are equally spaced along the curves.
#include "study/shapes/superquadric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "geometry/error.hpp"
#include "mesh/mesh_report.hpp"

namespace trocar {
namespace {

using std::numbers::pi;

constexpr SuperquadricKind kKinds[] = {SuperquadricKind::Ellipsoid, SuperquadricKind::Toroid};
constexpr double kExponents[] = {0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0};

SuperquadricParams params_of(SuperquadricKind kind, double e1, double e2, int faces,
                             const glm::dvec3& size = {0.05, 0.04, 0.03}) {
  return {kind, size, e1, e2, 0.3 * size.x, faces};
}

double volume_of(const TriangleMesh& mesh) { return mesh_report(mesh.view(), {.find_crossings = false}).volume; }
double area_of(const TriangleMesh& mesh) { return mesh_report(mesh.view(), {.find_crossings = false}).area; }

// How much rounding a vertex to float may change the inside-outside function: at a cusp up to a root of the rounding.
double rounding(const SuperquadricParams& p) {
  const double e = std::max({p.profile_exponent, p.outline_exponent, 2.0});
  return 2e-6 + 0.5 * e * std::pow(0x1p-22, 2.0 / e);
}

// Returns Barr's inside-outside function in its original form.
double barr(const SuperquadricParams& p, const glm::dvec3& point) {
  const auto power = [](double base, double e) { return std::pow(std::abs(base), e); };
  const double e1 = p.profile_exponent, e2 = p.outline_exponent;
  const double outline = power(point.x / p.size.x, 2.0 / e2) + power(point.y / p.size.y, 2.0 / e2);
  const double z = power(point.z / p.size.z, 2.0 / e1);
  if (p.kind == SuperquadricKind::Ellipsoid) return power(outline, e2 / e1) + z;
  const double half_width = 0.5 * (p.size.x - p.hole), middle = p.hole + half_width;
  return power((power(outline, 0.5 * e2) * p.size.x - middle) / half_width, 2.0 / e1) + z;
}

TEST(Superquadric, SoundForEveryExponentAndEveryVertexOnTheSurface) {
  for (const SuperquadricKind kind : kKinds) {
    for (const double e1 : kExponents) {
      for (const double e2 : kExponents) {
        for (const int faces : {32, 200, 2000}) {
          SCOPED_TRACE(testing::Message() << int(kind) << ", exponents " << e1 << " " << e2 << ", faces " << faces);
          const SuperquadricParams params = params_of(kind, e1, e2, faces);
          const TriangleMesh mesh = make_superquadric(params);
          const MeshReport report = mesh_report(mesh.view());
          ASSERT_TRUE(report.sound());
          ASSERT_EQ(report.topology.components, 1u);
          ASSERT_EQ(report.topology.euler_characteristic, kind == SuperquadricKind::Ellipsoid ? 2 : 0);
          ASSERT_EQ(report.repeated_positions, 0u);
          ASSERT_EQ(report.topology.used_vertices, mesh.positions.size());
          for (const glm::vec3& p : mesh.positions)
            ASSERT_NEAR(superquadric_radius(params, glm::dvec3(p)), 1.0, rounding(params));
        }
      }
    }
  }
}

TEST(Superquadric, SoundWhenFlatLongOrLarge) {
  for (const SuperquadricKind kind : kKinds) {
    for (const double e1 : {0.1, 1.0, 4.0}) {
      for (const double e2 : {0.1, 1.0, 4.0}) {
        SCOPED_TRACE(testing::Message() << int(kind) << ", exponents " << e1 << " " << e2);
        for (const glm::dvec3& size : {glm::dvec3(0.1, 0.02, 0.001), glm::dvec3(0.01, 0.03, 1.0)})
          ASSERT_TRUE(mesh_report(make_superquadric(params_of(kind, e1, e2, 3000, size)).view()).sound());
        const MeshReport large =
            mesh_report(make_superquadric(params_of(kind, e1, e2, 200000)).view(), {.find_crossings = false});
        ASSERT_TRUE(large.sound());
      }
    }
  }
}

TEST(Superquadric, FaceCountIsMet) {
  for (const SuperquadricKind kind : kKinds) {
    for (const double e1 : {0.2, 1.0, 3.0}) {
      for (const double e2 : {0.2, 1.0, 3.0}) {
        for (const int faces : {1000, 3333, 31000, 250000}) {
          const double made = double(make_superquadric(params_of(kind, e1, e2, faces)).faces.size());
          EXPECT_NEAR(made / faces, 1.0, 0.04) << int(kind) << " " << e1 << " " << e2 << " " << faces;
        }
      }
    }
  }
  const double most = double(make_superquadric(params_of(SuperquadricKind::Toroid, 1, 1, 4000000)).faces.size());
  EXPECT_NEAR(most / 4e6, 1.0, 0.02);
}

TEST(Superquadric, VolumeByBetaFunctions) {
  for (const double e1 : kExponents) {
    for (const double e2 : kExponents) {
      const SuperquadricParams params = params_of(SuperquadricKind::Ellipsoid, e1, e2, 40000);
      const double box = params.size.x * params.size.y * params.size.z;
      const double beta = 2.0 * box * e1 * e2 * std::beta(0.5 * e1 + 1.0, e1) * std::beta(0.5 * e2, 0.5 * e2);
      EXPECT_NEAR(superquadric_volume(params) / beta, 1.0, 1e-12);
      // The thinner the star, the more volume its chords add.
      EXPECT_NEAR(volume_of(make_superquadric(params)) / beta, 1.0, std::max(e1, e2) > 2.0 ? 0.01 : 0.002)
          << e1 << " " << e2;
    }
  }
}

TEST(Superquadric, VolumeOfToroidsBySampling) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (const auto& [e1, e2] : {std::pair(1.0, 1.0), {0.3, 0.3}, {2.0, 0.5}, {0.5, 3.0}}) {
    const SuperquadricParams params = params_of(SuperquadricKind::Toroid, e1, e2, 40000);
    int inside = 0;
    constexpr int kSamples = 200000;
    for (int i = 0; i < kSamples; ++i) {
      const double x = uniform(random), y = uniform(random), z = uniform(random);
      inside += barr(params, params.size * glm::dvec3(x, y, z)) < 1.0;
    }
    const double sampled = 8.0 * params.size.x * params.size.y * params.size.z * inside / kSamples;
    EXPECT_NEAR(superquadric_volume(params) / sampled, 1.0, 0.02) << e1 << " " << e2;
    EXPECT_NEAR(volume_of(make_superquadric(params)) / superquadric_volume(params), 1.0, 0.004) << e1 << " " << e2;
  }
}

TEST(Superquadric, SphereSpheroidTorusAndBoxByClosedForm) {
  const double a = 0.05, c = 0.02, eccentricity = std::sqrt(1.0 - c * c / (a * a));
  const auto ellipsoid = [](const glm::dvec3& size, double e) {
    return make_superquadric(params_of(SuperquadricKind::Ellipsoid, e, e, 60000, size));
  };
  EXPECT_NEAR(area_of(ellipsoid(glm::dvec3(a), 1.0)) / (4.0 * pi * a * a), 1.0, 5e-4);
  const double oblate =
      2.0 * pi * a * a * (1.0 + (1.0 - eccentricity * eccentricity) / eccentricity * std::atanh(eccentricity));
  EXPECT_NEAR(area_of(ellipsoid({a, a, c}, 1.0)) / oblate, 1.0, 5e-4);
  EXPECT_NEAR(volume_of(ellipsoid({a, 0.03, c}, 1.0)) / (4.0 / 3.0 * pi * a * 0.03 * c), 1.0, 1e-3);
  // An octahedron is represented exactly.
  EXPECT_NEAR(area_of(ellipsoid(glm::dvec3(a), 2.0)) / (4.0 * std::sqrt(3.0) * a * a), 1.0, 1e-5);
  EXPECT_NEAR(volume_of(ellipsoid(glm::dvec3(a), 2.0)) / (4.0 / 3.0 * a * a * a), 1.0, 1e-5);

  SuperquadricParams ring{SuperquadricKind::Toroid, {0.05, 0.05, 0.01}, 1.0, 1.0, 0.03, 60000};
  const TriangleMesh torus = make_superquadric(ring);
  EXPECT_NEAR(volume_of(torus) / (2.0 * pi * pi * 0.04 * 0.01 * 0.01), 1.0, 1e-3);
  EXPECT_NEAR(area_of(torus) / (4.0 * pi * pi * 0.04 * 0.01), 1.0, 1e-3);
  ring.profile_exponent = ring.outline_exponent = 0.1;  // a square frame, nearly
  EXPECT_NEAR(superquadric_volume(ring) / (4.0 * (0.05 * 0.05 - 0.03 * 0.03) * 0.02), 1.0, 0.03);
}

TEST(Superquadric, InsideOutsideFunction) {
  const unsigned seed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  for (const SuperquadricKind kind : kKinds) {
    for (const double e1 : kExponents) {
      for (const double e2 : kExponents) {
        const SuperquadricParams params = params_of(kind, e1, e2, 100);
        for (int i = 0; i < 100; ++i) {
          const double x = uniform(random), y = uniform(random), z = uniform(random);
          const glm::dvec3 p = params.size * glm::dvec3(x, y, z);
          const double plain = std::pow(barr(params, p), 0.5 * e1);
          EXPECT_NEAR(superquadric_radius(params, p) / plain, 1.0, 1e-9);
        }
      }
    }
  }
  const SuperquadricParams sphere = params_of(SuperquadricKind::Ellipsoid, 1, 1, 100, glm::dvec3(0.1));
  EXPECT_EQ(superquadric_radius(sphere, glm::dvec3(0.0)), 0.0);
  EXPECT_NEAR(superquadric_radius(sphere, {0.0, 0.0, 0.2}), 2.0, 1e-12);
}

// Compares normals with the gradient of the inside-outside function at the face's centre.
TEST(Superquadric, EveryNormalLooksOutward) {
  for (const SuperquadricKind kind : kKinds) {
    for (const double e1 : {0.5, 1.0, 1.5}) {
      for (const double e2 : {0.5, 1.0, 1.5}) {
        const SuperquadricParams params = params_of(kind, e1, e2, 8000);
        const TriangleMesh mesh = make_superquadric(params);
        for (const glm::uvec3& face : mesh.faces) {
          const Triangle t = triangle_of(mesh.positions, face);
          const glm::dvec3 centre = (t.a + t.b + t.c) / 3.0;
          glm::dvec3 gradient;
          for (int i = 0; i < 3; ++i) {
            glm::dvec3 step(0.0);
            step[i] = 1e-7;
            gradient[i] = superquadric_radius(params, centre + step) - superquadric_radius(params, centre - step);
          }
          ASSERT_GT(glm::dot(gradient, glm::cross(t.b - t.a, t.c - t.a)), 0.0) << int(kind) << " " << e1 << " " << e2;
        }
      }
    }
  }
}

struct Edges {
  double median, longest;  // m
};

Edges edges_of(const TriangleMesh& mesh) {
  std::vector<double> lengths;
  for (const glm::uvec3& f : mesh.faces)
    for (int i = 0; i < 3; ++i) lengths.push_back(glm::distance(mesh.positions[f[i]], mesh.positions[f[(i + 1) % 3]]));
  std::sort(lengths.begin(), lengths.end());
  return {lengths[lengths.size() / 2], lengths.back()};
}

// Equal steps of the angle leave a box's sides without vertices: the longest edge is then as long as the side.
TEST(Superquadric, EvenTriangles) {
  for (const double e : {0.1, 0.3, 1.0, 2.0}) {
    const SuperquadricParams params = params_of(SuperquadricKind::Ellipsoid, e, e, 20000, glm::dvec3(0.05));
    const Edges edges = edges_of(make_superquadric(params));
    EXPECT_LT(edges.longest, 3.0 * edges.median) << e;
    double longest_by_angle = 0.0;  // along the outline, 71 points a quarter as above
    for (int i = 0; i < 71; ++i) {
      const auto at = [e](int k) {
        return 0.05 * glm::dvec2(std::pow(std::cos(pi / 2 * k / 71), e), std::pow(std::sin(pi / 2 * k / 71), e));
      };
      longest_by_angle = std::max(longest_by_angle, glm::distance(at(i), at(i + 1)));
    }
    std::printf("exponents %.1f: longest edge %.2f medians; by equal angles %.1f\n", e, edges.longest / edges.median,
                longest_by_angle / edges.median);
  }
}

TEST(Superellipse, PiecesOfEqualLength) {
  for (const double n : {0.1, 0.5, 1.0, 1.7, 2.0, 4.0}) {
    const QuarterCurve curve({.a = 0.05, .b = 0.02, .exponent = n});
    const QuarterPoints quarter = curve.cut(5000);
    EXPECT_EQ(quarter.points.front(), glm::dvec2(1.0, 0.0));
    EXPECT_EQ(quarter.points.back(), glm::dvec2(0.0, 1.0));
    EXPECT_NEAR(quarter.points[quarter.corner].x, quarter.points[quarter.corner].y, 1e-15);
    double length = 0.0, longest = 0.0;
    for (std::size_t i = 0; i < 5000; ++i) {
      const glm::dvec2 size(0.05, 0.02);
      const double piece = glm::distance(size * quarter.points[i], size * quarter.points[i + 1]);
      length += piece;
      longest = std::max(longest, piece);
    }
    EXPECT_NEAR(length / curve.length(), 1.0, 1e-4) << n;
    EXPECT_LT(longest, 1.02 * length / 5000) << n;
  }
  const double quarter_circle = QuarterCurve({.a = 0.1, .b = 0.1, .exponent = 1.0}).length();
  EXPECT_NEAR(quarter_circle, 0.05 * pi, 1e-8);
  EXPECT_NEAR(QuarterCurve({.a = 0.03, .b = 0.04, .exponent = 2.0}).length(), 0.05, 1e-12);
}

TEST(Superquadric, InvalidParameters) {
  SuperquadricParams good = params_of(SuperquadricKind::Toroid, 1, 1, 100);
  const auto refused = [&good](auto change) {
    SuperquadricParams params = good;
    change(params);
    EXPECT_THROW(make_superquadric(params), InputError);
  };
  const double nan = std::nan("");
  refused([](auto& p) { p.faces = 31; });
  refused([](auto& p) { p.faces = 4000001; });
  refused([](auto& p) { p.size.x = 0.0; });
  refused([](auto& p) { p.size.z = -0.1; });
  refused([](auto& p) { p.size = {1.0, 0.001, 0.1}; });
  refused([=](auto& p) { p.size.y = nan; });
  refused([](auto& p) { p.profile_exponent = 0.05; });
  refused([](auto& p) { p.outline_exponent = 4.5; });
  refused([=](auto& p) { p.outline_exponent = nan; });
  refused([](auto& p) { p.hole = 0.05; });
  refused([=](auto& p) { p.hole = nan; });
  good.kind = SuperquadricKind::Ellipsoid;
  good.hole = nan;  // not used by an ellipsoid
  EXPECT_NO_THROW(make_superquadric(good));
}

}  // namespace
}  // namespace trocar
