// Tests the reference itself by closed forms, dense sampling, and duality (a best point and a best mix of planes must
// agree).
#include "cpu_collision/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trocar::reference_test {
namespace {

constexpr unsigned kSeed = 20260714;

using Random = std::mt19937;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

glm::dvec3 random_point(Random& random, double size) {
  return {uniform(random, -size, size), uniform(random, -size, size), uniform(random, -size, size)};
}

// Corners on a coarse grid give many parallel, coplanar, touching and degenerate cases.
glm::dvec3 grid_point(Random& random) {
  std::uniform_int_distribution<int> step(-2, 2);
  return glm::dvec3(step(random), step(random), step(random)) * 0.01;
}

Triangle random_triangle(Random& random, double size) {
  return {random_point(random, size), random_point(random, size), random_point(random, size)};
}

Triangle grid_triangle(Random& random) { return {grid_point(random), grid_point(random), grid_point(random)}; }

glm::dvec3 mix(const Triangle& t, double u, double v) { return t.a + u * (t.b - t.a) + v * (t.c - t.a); }

// Returns an axis-aligned box as a tool volume.
ToolVolume box_volume(const glm::vec3& low, const glm::vec3& high) {
  ToolVolume tool;
  tool.plane_count = 6;
  for (int k = 0; k < 3; ++k) {
    glm::vec3 n(0.f);
    n[k] = 1.f;
    tool.planes[2 * k] = glm::vec4(n, -low[k]);
    tool.planes[2 * k + 1] = glm::vec4(-n, high[k]);
  }
  return tool;
}

ToolVolume random_volume(Random& random, int plane_count) {
  ToolVolume tool;
  tool.plane_count = plane_count;
  for (int i = 0; i < plane_count; ++i) {
    const glm::dvec3 n = glm::normalize(random_point(random, 1.0));
    tool.planes[i] = glm::vec4(glm::vec3(n), float(uniform(random, -0.01, 0.05)));
  }
  return tool;
}

// Returns the largest plane distance, over the corners, of a mix of planes: never below the margin. Returns the
// smallest over all mixes that make one, two or three corners equal. This is the dual of the reference's margin.
double dual_margin(const ToolVolume& tool, const Triangle& face) {
  std::vector<glm::dvec3> rows;
  for (int i = 0; i < tool.plane_count; ++i) {
    const glm::dvec3 n(tool.planes[i]);
    const double d = tool.planes[i].w;
    rows.push_back({glm::dot(n, face.a) + d, glm::dot(n, face.b) + d, glm::dot(n, face.c) + d});
  }
  double best = 1e30;
  const auto offer = [&](const glm::dvec3& row) { best = std::min(best, std::max({row.x, row.y, row.z})); };
  const std::size_t n = rows.size();
  for (std::size_t i = 0; i < n; ++i) {
    offer(rows[i]);
    for (std::size_t j = i + 1; j < n; ++j) {
      for (int k = 0; k < 3; ++k) {
        const int l = (k + 1) % 3;
        const double at_i = rows[i][k] - rows[i][l], at_j = rows[j][k] - rows[j][l];
        const double t = at_i / (at_i - at_j);
        if (t > 0.0 && t < 1.0) offer((1.0 - t) * rows[i] + t * rows[j]);
      }
      for (std::size_t k = j + 1; k < n; ++k) {
        const auto columns = [&](int c) { return glm::dvec3(rows[i][c], rows[j][c], rows[k][c]); };
        const glm::dvec3 w = glm::cross(columns(0) - columns(1), columns(0) - columns(2));
        const glm::dvec3 y = w / (w.x + w.y + w.z);
        if (y.x >= 0.0 && y.y >= 0.0 && y.z >= 0.0) offer(y.x * rows[i] + y.y * rows[j] + y.z * rows[k]);
      }
    }
  }
  return best;
}

double sampled_margin(const ToolVolume& tool, const Triangle& face, int steps) {
  double best = -1e30;
  for (int i = 0; i <= steps; ++i) {
    for (int j = 0; i + j <= steps; ++j) {
      const glm::dvec3 x = mix(face, double(i) / steps, double(j) / steps);
      double smallest = 1e30;
      for (int p = 0; p < tool.plane_count; ++p) {
        smallest = std::min(smallest, glm::dot(glm::dvec3(tool.planes[p]), x) + tool.planes[p].w);
      }
      best = std::max(best, smallest);
    }
  }
  return best;
}

TEST(ReferenceMargin, ClosedForms) {
  const ToolVolume box = box_volume({-1, -1, -1}, {1, 1, 1});
  const Triangle above{{-9, -9, 2}, {9, -9, 2}, {0, 9, 2}};
  EXPECT_DOUBLE_EQ(reference_margin(box, above), -1.0);
  const Triangle through{{-9, -9, 0.25}, {9, -9, 0.25}, {0, 9, 0.25}};
  EXPECT_DOUBLE_EQ(reference_margin(box, through), 0.75);
  const Triangle point{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  EXPECT_DOUBLE_EQ(reference_margin(box, point), 1.0);
  // A segment that passes the edge x = y = 1 at the diagonal distance: planes must move out by 0.5.
  const Triangle past_edge{{3, 0, 0}, {0, 3, 0}, {0, 3, 0}};
  EXPECT_DOUBLE_EQ(reference_margin(box, past_edge), -0.5);
  const Triangle touching{{1, 0, 0}, {5, 1, 0}, {5, -1, 0}};
  EXPECT_DOUBLE_EQ(reference_margin(box, touching), 0.0);
}

TEST(ReferenceMargin, EqualsItsDualAndBoundsSampling) {
  Random random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (int trial = 0; trial < 20000; ++trial) {
    const ToolVolume tool = random_volume(random, 1 + trial % kMaxPlanes);
    const Triangle face = trial % 2 ? random_triangle(random, 0.05) : grid_triangle(random);
    const double margin = reference_margin(tool, face);
    ASSERT_NEAR(margin, dual_margin(tool, face), 1e-12) << "trial " << trial;
    if (trial % 20 == 0) {
      const double sampled = sampled_margin(tool, face, 64);
      ASSERT_GE(margin, sampled - 1e-12) << "trial " << trial;
      ASSERT_LE(margin, sampled + 0.2 / 64) << "trial " << trial;
    }
  }
}

// Tests nearly parallel planes, such as far and cap of a sweep.
TEST(ReferenceMargin, EqualsItsDualWhenPlanesAreNearlyParallel) {
  Random random(kSeed + 1);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1);
  for (int trial = 0; trial < 5000; ++trial) {
    ToolVolume tool = random_volume(random, 4);
    for (int i = 0; i < 4; ++i) {
      const double tilt = std::pow(10.0, uniform(random, -9.0, -2.0));
      const glm::dvec3 n = glm::normalize(glm::dvec3(tool.planes[i]) + tilt * random_point(random, 1.0));
      tool.planes[4 + i] = glm::vec4(glm::vec3(n), tool.planes[i].w + float(uniform(random, -1e-6, 1e-6)));
    }
    tool.plane_count = 8;
    const Triangle face = random_triangle(random, 0.05);
    ASSERT_NEAR(reference_margin(tool, face), dual_margin(tool, face), 1e-9) << "trial " << trial;
  }
}

TEST(ReferenceDistance, ClosedForms) {
  const Triangle floor{{-1, -1, 0}, {3, -1, 0}, {-1, 3, 0}};
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{0, 0, 2}, {0, 1, 3}, {1, 0, 4}}), 2.0);        // corner over face
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{0, 0, 2}, {0, 0, -2}, {5, 5, 5}}), 0.0);       // crossing
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{0, 0, 0}, {9, 9, 9}, {9, 9, 8}}), 0.0);        // touching
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{-4, -5, 0}, {-4, -5, 0}, {-4, -5, 0}}), 5.0);  // a point in its plane
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{-3, -9, 1}, {-3, 9, 1}, {-3, 9, 1}}),
                   std::sqrt(5.0));  // parallel segment
  const Triangle along_x{{-1, 0, 0}, {1, 0, 0}, {0, 0, 0}}, along_y{{0, -1, 3}, {0, 1, 3}, {0, 0, 3}};
  EXPECT_DOUBLE_EQ(reference_distance(along_x, along_y), 3.0);  // crossing segments
  const Triangle point{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  EXPECT_DOUBLE_EQ(reference_distance(point, point), 0.0);
  EXPECT_DOUBLE_EQ(reference_distance(point, {{1, 2, 7}, {1, 2, 7}, {1, 2, 7}}), 4.0);
}

// Returns the distance of two triangles by sampling: never too small.
double sampled_distance(const Triangle& f, const Triangle& g, int steps) {
  double best = 1e30;
  for (int i = 0; i <= steps; ++i) {
    for (int j = 0; i + j <= steps; ++j) {
      const glm::dvec3 x = mix(f, double(i) / steps, double(j) / steps);
      for (int k = 0; k <= steps; ++k) {
        for (int l = 0; k + l <= steps; ++l) {
          best = std::min(best, glm::distance(x, mix(g, double(k) / steps, double(l) / steps)));
        }
      }
    }
  }
  return best;
}

TEST(ReferenceDistance, BoundsSampling) {
  Random random(kSeed + 2);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2);
  for (int trial = 0; trial < 3000; ++trial) {
    const bool grid = trial % 3 == 0;
    const Triangle f = grid ? grid_triangle(random) : random_triangle(random, 0.02);
    Triangle g = grid ? grid_triangle(random) : random_triangle(random, 0.02);
    const glm::dvec3 shift = grid ? grid_point(random) * 2.0 : random_point(random, 0.05);
    g = {g.a + shift, g.b + shift, g.c + shift};
    const double distance = reference_distance(f, g), sampled = sampled_distance(f, g, 12);
    ASSERT_LE(distance, sampled + 1e-12) << "trial " << trial;
    ASSERT_GE(distance, sampled - 0.2 / 12) << "trial " << trial;
    ASSERT_NEAR(distance, reference_distance(g, f), 1e-12) << "trial " << trial;
  }
}

// Tests two triangles built around a known closest pair: each lies behind its own plane at the gap.
TEST(ReferenceDistance, RecoversAConstructedDistance) {
  Random random(kSeed + 3);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 3);
  for (int trial = 0; trial < 20000; ++trial) {
    const glm::dvec3 u = glm::normalize(random_point(random, 1.0)), at = random_point(random, 0.2);
    const double distance = std::pow(10.0, uniform(random, -6.0, -1.0));
    // A point of each body is the closest one; 1, 2 or 3 corners lie on its plane around that point.
    const auto body = [&](const glm::dvec3& contact, double side) {
      const glm::dvec3 t = glm::normalize(glm::cross(u, random_point(random, 1.0))), b = glm::cross(u, t);
      const double size = std::pow(10.0, uniform(random, -4.0, -1.0));
      const auto behind = [&] { return contact + random_point(random, size) * 0.5 + u * (side * size); };
      switch (std::uniform_int_distribution<int>(1, 3)(random)) {
        case 1:
          return Triangle{contact, behind(), behind()};
        case 2:
          return Triangle{contact - size * t, contact + 2.0 * size * t, behind()};
        default:
          return Triangle{contact - size * t - size * b, contact + size * t - size * b, contact + size * b};
      }
    };
    const Triangle f = body(at, -1.0), g = body(at + u * distance, 1.0);
    ASSERT_NEAR(reference_distance(f, g), distance, 1e-11) << "trial " << trial;
  }
}

TEST(ReferenceTouched, BoxVolumeOverAGrid) {
  // A strip of unit squares along x, two faces each, and a volume that contains squares 3 to 5 and touches 2 and 6.
  std::vector<glm::vec3> positions;
  std::vector<glm::uvec3> faces;
  for (unsigned i = 0; i < 10; ++i) {
    positions.push_back({float(i), 0.f, 0.f});
    positions.push_back({float(i), 1.f, 0.f});
    if (i == 0) continue;
    faces.push_back({2 * i - 2, 2 * i, 2 * i - 1});
    faces.push_back({2 * i - 1, 2 * i, 2 * i + 1});
  }
  const ReferenceAnswer answer =
      reference_touched({positions, faces}, box_volume({3.f, -1.f, -1.f}, {6.f, 2.f, 1.f}), TouchSet::Volume);
  const std::vector<FaceId> touched{FaceId(4), FaceId(5),  FaceId(6),  FaceId(7),  FaceId(8),
                                    FaceId(9), FaceId(10), FaceId(11), FaceId(12), FaceId(13)};
  EXPECT_EQ(answer.touched, touched);
  EXPECT_EQ(answer.borderline, (std::vector<FaceId>{FaceId(4), FaceId(5), FaceId(12), FaceId(13)}));
}

TEST(ReferenceTouched, EmptyMesh) {
  const ToolVolume box = box_volume({-1, -1, -1}, {1, 1, 1});
  EXPECT_TRUE(reference_touched({}, box, TouchSet::Volume).touched.empty());
  EXPECT_TRUE(reference_touched({}, box, TouchSet::Exact).touched.empty());
}

// The answer over a mesh, with its early outs, equals the plain definition per face.
TEST(ReferenceTouched, EarlyOutsChangeNothing) {
  Random random(kSeed + 4);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 4);
  std::vector<glm::vec3> positions;
  std::vector<glm::uvec3> faces;
  for (unsigned f = 0; f < 3000; ++f) {
    const glm::dvec3 centre = random_point(random, 0.1);
    for (int k = 0; k < 3; ++k) positions.push_back(glm::vec3(centre + random_point(random, f % 2 ? 0.004 : 0.05)));
    faces.push_back({3 * f, 3 * f + 1, 3 * f + 2});
  }
  for (int trial = 0; trial < 30; ++trial) {
    ToolVolume tool = random_volume(random, 5 + trial % 4);
    tool.step = {random_point(random, 0.2), random_point(random, 0.1), random_point(random, 0.1), 0.005};
    if (trial % 3 == 0) tool.step.tip_after = tool.step.tip_before;
    const Triangle sweep{tool.step.pivot, tool.step.tip_before, tool.step.tip_after};
    std::vector<FaceId> in_volume, in_exact;
    for (unsigned f = 0; f < faces.size(); ++f) {
      const Triangle face = triangle_of(positions, faces[f]);
      if (reference_margin(tool, face) >= 0.0) in_volume.push_back(FaceId(f));
      if (reference_distance(face, sweep) <= tool.step.radius) in_exact.push_back(FaceId(f));
    }
    ASSERT_EQ(reference_touched({positions, faces}, tool, TouchSet::Volume).touched, in_volume) << "trial " << trial;
    ASSERT_EQ(reference_touched({positions, faces}, tool, TouchSet::Exact).touched, in_exact) << "trial " << trial;
  }
}

std::vector<Touch> touches_of(std::initializer_list<unsigned> faces) {
  std::vector<Touch> touches;
  for (unsigned face : faces) touches.push_back({.face = FaceId(face)});
  return touches;
}

void expect_agreement(const Agreement& a, unsigned in_both, unsigned borderline, unsigned disagreements) {
  EXPECT_EQ(a.in_both, in_both);
  EXPECT_EQ(a.borderline, borderline);
  EXPECT_EQ(a.disagreements, disagreements);
}

TEST(CompareWithReference, CountsAgreement) {
  const ReferenceAnswer reference{{FaceId(2), FaceId(5), FaceId(7)}, {FaceId(3), FaceId(5)}};
  expect_agreement(compare_with_reference(reference, touches_of({2, 5, 7})), 3, 0, 0);
  expect_agreement(compare_with_reference(reference, touches_of({2, 7})), 2, 1, 0);           // 5 missed, borderline
  expect_agreement(compare_with_reference(reference, touches_of({2, 3, 5, 7})), 3, 1, 0);     // 3 extra, borderline
  expect_agreement(compare_with_reference(reference, touches_of({5, 7})), 2, 0, 1);           // 2 missed
  expect_agreement(compare_with_reference(reference, touches_of({0, 2, 5, 7, 9})), 3, 0, 2);  // 0 and 9 extra
  expect_agreement(compare_with_reference(reference, {}), 0, 1, 2);
  expect_agreement(compare_with_reference({}, touches_of({1})), 0, 0, 1);
  expect_agreement(compare_with_reference({}, {}), 0, 0, 0);
}

TEST(CompareWithReference, OrderAndRepetitionAreDisagreements) {
  const ReferenceAnswer reference{{FaceId(2), FaceId(5), FaceId(7)}, {}};
  expect_agreement(compare_with_reference(reference, touches_of({2, 2, 5, 7})), 3, 0, 1);
  EXPECT_GT(compare_with_reference(reference, touches_of({5, 2, 7})).disagreements, 0u);
}

}  // namespace
}  // namespace trocar::reference_test
