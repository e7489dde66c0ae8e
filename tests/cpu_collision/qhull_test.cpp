// Compares the volume of convex hulls with Qhull's.
#include <gtest/gtest.h>

#include <libqhull_r/qhull_ra.h>

#include <iostream>
#include <random>

#include "tests/cpu_collision/solids_support.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::solids {
namespace {

using glm::vec3;

double qhull_volume(const std::vector<vec3>& points) {
  std::vector<double> flat;
  for (const vec3& p : points) flat.insert(flat.end(), {p.x, p.y, p.z});
  qhT state;
  qhT* qh = &state;
  qh_zero(qh, stderr);
  char options[] = "qhull Qt FA";
  EXPECT_EQ(qh_new_qhull(qh, 3, static_cast<int>(points.size()), flat.data(), False, options, nullptr, stderr), 0);
  qh_getarea(qh, qh->facet_list);
  const double volume = qh->totvol;
  qh_freeqhull(qh, qh_ALL);
  int kept = 0, total = 0;
  qh_memfreeshort(qh, &kept, &total);
  return volume;
}

TEST(ConvexHull, RandomClouds) {
  const std::uint32_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  test::Dice dice(seed);
  for (int round = 0; round < 150; ++round) {
    std::vector<vec3> points(4 + dice.pick(200));
    const bool ball = dice.pick(2);
    const double flatness = dice.log_uniform(1e-4, 1.0);
    for (vec3& p : points)
      p = vec3((ball ? dice.direction() : dice.in_cube(1.0)) * glm::dvec3(0.1, 0.1, 0.1 * flatness));
    const ConvexBody body = convex_hull(points);
    ASSERT_EQ(body.dimension, 3);
    expect_exact_hull(points, body);
    EXPECT_NEAR(body.volume(), qhull_volume(points), 1e-9 * body.volume());
  }
}

// Tests integer coordinates, with many coplanar, collinear and repeated points.
TEST(ConvexHull, PointsOfAGrid) {
  const std::uint32_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  test::Dice dice(seed);
  int flat = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<vec3> points(4 + dice.pick(60));
    const int width = 2 + dice.pick(4), height = 1 + dice.pick(4);
    for (vec3& p : points) p = vec3(dice.pick(width), dice.pick(width), dice.pick(height));
    const ConvexBody body = convex_hull(points);
    if (body.dimension < 2) continue;
    expect_exact_hull(points, body);
    flat += body.dimension == 2;
    if (body.dimension == 3) {
      EXPECT_NEAR(body.volume(), qhull_volume(points), 1e-12 * body.volume());
      for (const ConvexBody::Edge& e : body.edges) {
        const glm::dvec3 m = body.faces[e.face[0]].normal, n = body.faces[e.face[1]].normal;
        EXPECT_EQ(e.flat, glm::dot(m, n) > 1.0 - 1e-9);
      }
    }
  }
  EXPECT_GT(flat, 50);
}

}  // namespace
}  // namespace trocar::solids
