// Pins the values of closest points, line hits and touches on fixed cases, with the degenerate ones. Where several
// answers are right (parallel segments, coplanar lines), the choice must not depend on the machine: it decides touches.
// IEEE arithmetic gives the same values everywhere.
#include <gtest/gtest.h>

#include <vector>

#include "geometry/closest.hpp"
#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 97;

// Points on a coarse lattice, so that parallel, equal and coplanar features are frequent.
dvec3 lattice_point(Dice& dice) {
  const int z = dice.pick(3), y = dice.pick(4), x = dice.pick(4);
  return dvec3(x, y, z) / 4.0;
}

void expect_value(double value, double expected) { EXPECT_NEAR(value, expected, 1e-11 * std::abs(expected)); }

TEST(PinnedValues, ClosestSegments) {
  Dice dice(kSeed);
  double u = 0.0, v = 0.0, squared = 0.0;
  for (int trial = 0; trial < 4000; ++trial) {
    const bool exact = trial % 2;
    const auto point = [&] { return exact ? lattice_point(dice) : dice.in_cube(1.0); };
    const dvec3 a = point(), b = point(), c = point();
    dvec3 d = point();
    if (trial % 8 == 0) d = c + dice.uniform(-2.0, 2.0) * (b - a);                          // parallel
    if (trial % 8 == 2) d = c + (b - a) + dvec3(1e-5, 0.0, 1e-4) * dice.uniform(0.0, 1.0);  // nearly
    const closest::SegmentPair pair = closest::closest_segments(closest::segment(a, b), closest::segment(c, d));
    u += (1.0 + trial % 7) * pair.u;
    v += (1.0 + trial % 5) * pair.v;
    squared += pair.squared;
  }
  expect_value(u, 8335.5300753073);
  expect_value(v, 5281.05423443514);
  expect_value(squared, 1918.05200063736);
}

TEST(PinnedValues, LineMeetsTriangle) {
  Dice dice(kSeed + 1);
  int hits = 0;
  double sum = 0.0;
  for (int trial = 0; trial < 6000; ++trial) {
    const bool exact = trial % 3 > 0;
    const auto point = [&] { return exact ? lattice_point(dice) : dice.in_cube(1.0); };
    const Triangle face{point(), point(), point()};
    const dvec3 origin = point(), to = trial % 5 ? point() : face.a + 0.3 * (face.b - face.a);
    const auto hit = line_meets_triangle(origin, to - origin, trial % 2 ? 1.0 : 1e30, face);
    if (!hit) continue;
    ++hits;
    sum += (1.0 + trial % 11) * *hit;
  }
  EXPECT_EQ(hits, 1850);
  expect_value(sum, 8042.67560954579);
}

struct Sums {
  int touches = 0;
  double time = 0.0, depth = 0.0, point = 0.0, normal = 0.0;
};

void add(const Touch& touch, int weight, Sums& sums) {
  ++sums.touches;
  sums.time += weight * double(touch.time);
  sums.depth += weight * double(touch.depth);
  for (int axis = 0; axis < 3; ++axis) {
    sums.point += (axis + 1) * weight * double(touch.point[axis]);
    sums.normal += (axis + 1) * weight * double(touch.normal[axis]);
  }
}

// A step and the faces near it: of all sizes, thin, degenerate, and crossed by the shaft.
struct Case {
  ToolStep step;
  std::vector<Triangle> faces;
  std::vector<FaceId> numbers;
};

Case random_case(Dice& dice) {
  Case made;
  made.step = {dice.in_cube(0.3), {}, {}, dice.uniform(0.002, 0.01)};
  const double arm = dice.uniform(0.05, 0.2);
  made.step.tip_before = made.step.pivot + arm * dice.direction();
  const double way = dice.pick(5) ? dice.uniform(0.0, 0.1) : 0.0;
  made.step.tip_after = made.step.tip_before + way * dice.direction();
  for (std::uint32_t k = 0; k < 23; ++k) {
    const dvec3 along = glm::mix(made.step.tip_before, made.step.tip_after, dice.uniform(-0.1, 1.1)) - made.step.pivot;
    const dvec3 beside = made.step.pivot + dice.uniform(-0.1, 1.1) * along, at = beside + dice.in_cube(0.015);
    const double size = k % 3 ? 0.004 : 0.06;
    Triangle face{at, at + dice.in_cube(size), at + dice.in_cube(size)};
    if (k % 7 == 3) face.c = face.b;
    if (k % 7 == 5) face.c = 0.25 * face.a + 0.75 * face.b + dice.in_cube(1e-6);
    if (k == 20) face.b = face.c = face.a;
    made.faces.push_back(face);
    made.numbers.push_back(FaceId(k));
  }
  return made;
}

TEST(PinnedValues, Touches) {
  Dice dice(kSeed + 2);
  std::vector<const RefineKernels*> kernels{&plain_refine_kernels()};
  if (avx2_refine_kernels()) kernels.push_back(avx2_refine_kernels());
  std::vector<Sums> sums(kernels.size());
  for (int trial = 0; trial < 1500; ++trial) {
    const Case made = random_case(dice);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      std::vector<Touch> touches(made.faces.size());
      touches.resize(refine_touches_with(*kernels[k], made.step, made.faces, made.numbers, touches));
      for (const Touch& touch : touches) add(touch, 1 + static_cast<int>(index(touch.face)) % 5, sums[k]);
    }
  }
  for (const Sums& of_kernel : sums) {
    EXPECT_EQ(of_kernel.touches, 13000);
    expect_value(of_kernel.time, 7518.51407046485);
    expect_value(of_kernel.depth, 141.282232192958);
    expect_value(of_kernel.point, -227.618053039584);
    expect_value(of_kernel.normal, 1466.11493550068);
  }
}

}  // namespace
}  // namespace trocar
