// Compares the clip in double with an independent test: a convex volume and a triangle are disjoint exactly when a
// direction separates them. Only plane normals, the triangle's normal and cross products of edges need testing (SAT).
#include "geometry/tool_volume.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace trocar {
namespace {

constexpr std::uint32_t kSeed = 20240;

// A volume given only by its planes, with its corners, found by intersecting planes three by three.
struct Hull {
  ToolVolume volume;
  std::vector<glm::dvec3> corners, normals, edges;
};

Hull hull_of(const ToolVolume& volume) {
  Hull hull{volume, {}, {}, {}};
  const int n = volume.plane_count;
  for (int i = 0; i < n; ++i) {
    const glm::dvec4 a(volume.planes[i]);
    hull.normals.emplace_back(a);
    for (int j = i + 1; j < n; ++j) {
      const glm::dvec4 b(volume.planes[j]);
      hull.edges.push_back(glm::cross(glm::dvec3(a), glm::dvec3(b)));
      for (int k = j + 1; k < n; ++k) {
        const glm::dvec4 c(volume.planes[k]);
        const glm::dmat3 rows{glm::dvec3(a), glm::dvec3(b), glm::dvec3(c)};
        if (std::abs(glm::determinant(rows)) < 1e-6) continue;
        const glm::dvec3 corner = glm::inverse(glm::transpose(rows)) * -glm::dvec3(a.w, b.w, c.w);
        bool inside = true;
        for (int p = 0; p < n; ++p) {
          const glm::dvec4 plane(volume.planes[p]);
          inside = inside && glm::dot(glm::dvec3(plane), corner) + plane.w > -1e-12;
        }
        if (inside) hull.corners.push_back(corner);
      }
    }
  }
  return hull;
}

// Returns the largest gap over all relevant directions, in metres: above 0 apart, below 0 sharing a point.
double separation(const Hull& hull, const Triangle& face) {
  const glm::dvec3 sides[] = {face.b - face.a, face.c - face.b, face.a - face.c};
  std::vector<glm::dvec3> directions = hull.normals;
  directions.push_back(glm::cross(sides[0], sides[1]));
  for (const glm::dvec3& edge : hull.edges)
    for (const glm::dvec3& side : sides) directions.push_back(glm::cross(edge, side));
  double widest = -std::numeric_limits<double>::infinity();
  for (const glm::dvec3& direction : directions) {
    const double length = glm::length(direction);
    if (length < 1e-12) continue;
    const glm::dvec3 unit = direction / length;
    double low = 1e300, high = -1e300, face_low = 1e300, face_high = -1e300;
    for (const glm::dvec3& corner : hull.corners) {
      low = std::min(low, glm::dot(unit, corner));
      high = std::max(high, glm::dot(unit, corner));
    }
    for (const glm::dvec3& corner : {face.a, face.b, face.c}) {
      face_low = std::min(face_low, glm::dot(unit, corner));
      face_high = std::max(face_high, glm::dot(unit, corner));
    }
    widest = std::max({widest, face_low - high, low - face_high});
  }
  return widest;
}

struct Random {
  std::mt19937 engine{kSeed};
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
  glm::dvec3 point(double reach) { return {in(-reach, reach), in(-reach, reach), in(-reach, reach)}; }
  glm::dvec3 direction() {
    for (;;) {
      const glm::dvec3 p = point(1.0);
      if (glm::length(p) > 0.1 && glm::length(p) < 1.0) return glm::normalize(p);
    }
  }
};

// Returns a rotated box around the origin, up to 0.2 m long and down to 1 mm thin, its sides tilted by up to 0.2 rad,
// with 0 to 2 additional planes across it.
ToolVolume random_volume(Random& random) {
  const glm::dvec3 x = random.direction();
  const glm::dvec3 y = glm::normalize(glm::cross(x, random.direction())), z = glm::cross(x, y);
  ToolVolume volume;
  for (const glm::dvec3& axis : {x, y, z}) {
    for (const double side : {-1.0, 1.0}) {
      const glm::dvec3 normal = glm::normalize(side * axis + 0.2 * random.point(1.0));
      volume.planes[volume.plane_count++] = glm::vec4(normal, std::pow(10.0, random.in(-3.0, -1.0)));
    }
  }
  for (int extra = random.engine() % 3; extra > 0; --extra)
    volume.planes[volume.plane_count++] = glm::vec4(random.direction(), random.in(0.0, 0.02));
  return volume;
}

Triangle random_face(Random& random) {
  const glm::dvec3 at = random.point(std::pow(10.0, random.in(-3.0, -1.0)));
  const double size = std::pow(10.0, random.in(-5.0, 0.0));
  Triangle face{at + random.point(size), at + random.point(size), at + random.point(size)};
  const auto kind = random.engine() % 8;
  if (kind == 0) face.b = face.c;                                          // a line
  if (kind == 1) face.b = face.c = face.a;                                 // a point
  if (kind == 2) face.c = glm::mix(face.a, face.b, random.in(-1.0, 2.0));  // collinear corners
  return face;
}

TEST(ConvexClip, AgreesWithSeparatingDirections) {
  Random random;
  int touching = 0, apart = 0;
  for (int v = 0; v < 3000; ++v) {
    const Hull hull = hull_of(random_volume(random));
    for (int f = 0; f < 40; ++f) {
      const Triangle face = random_face(random);
      const double gap = separation(hull, face);
      if (std::abs(gap) < 1e-9) continue;
      const bool touches = face_touches_volume(face, hull.volume);
      ASSERT_EQ(touches, gap < 0.0) << "seed " << kSeed << " volume " << v << " face " << f << " gap " << gap;
      (touches ? touching : apart) += 1;
    }
  }
  EXPECT_GT(touching, 2000);
  EXPECT_GT(apart, 2000);
}

ToolVolume unit_box() {
  ToolVolume volume;
  for (const glm::vec3 axis : {glm::vec3(1, 0, 0), glm::vec3(0, 1, 0), glm::vec3(0, 0, 1)}) {
    volume.planes[volume.plane_count++] = glm::vec4(axis, 1.f);
    volume.planes[volume.plane_count++] = glm::vec4(-axis, 1.f);
  }
  return volume;
}

TEST(ConvexClip, SharesOnlyBoundaryPoint) {
  const ToolVolume box = unit_box();
  EXPECT_TRUE(face_touches_volume({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}}, box));   // a corner on a corner
  EXPECT_TRUE(face_touches_volume({{1, 0, 0}, {2, 1, 0}, {2, 0, 1}}, box));   // a corner on a side
  EXPECT_TRUE(face_touches_volume({{1, -5, 0}, {1, 5, 0}, {1, 5, 5}}, box));  // lies in a side
  EXPECT_FALSE(face_touches_volume({{1.0001, -5, 0}, {1.0001, 5, 0}, {1.0001, 5, 5}}, box));
  EXPECT_TRUE(face_touches_volume({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, box));  // a point on a corner
}

TEST(ConvexClip, HugeFaceWithoutCornerInside) {
  const ToolVolume box = unit_box();
  EXPECT_TRUE(face_touches_volume({{-1e3, -1e3, 0.5}, {1e3, -1e3, 0.5}, {0, 1e3, 0.5}}, box));
  EXPECT_FALSE(face_touches_volume({{-1e3, -1e3, 1.5}, {1e3, -1e3, 1.5}, {0, 1e3, 1.5}}, box));
  EXPECT_FALSE(face_touches_volume({{2.5, 0, 0}, {0, 2.5, 0}, {5, 5, 0}}, box));  // passes the edge x = y = 1 outside
}

}  // namespace
}  // namespace trocar
