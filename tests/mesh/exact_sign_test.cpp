// Compares orientation with 128-bit integer arithmetic, for random points and for cases that rounding would decide
// wrongly.
#include "mesh/exact_sign.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <random>

#include "geometry/exact_sign.hpp"

namespace trocar {
namespace {

__extension__ using Wide = __int128;

struct Whole {
  std::int64_t x, y, z;
  // Coordinates are whole numbers of up to 24 bits times a power of two, which are exact as floats.
  glm::vec3 as_float() const { return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)}; }
};

int sign_of(Wide value) { return (value > 0) - (value < 0); }

int expected(const Whole& a, const Whole& b, const Whole& c, const Whole& d) {
  const Wide ux = a.x - d.x, uy = a.y - d.y, uz = a.z - d.z, vx = b.x - d.x, vy = b.y - d.y, vz = b.z - d.z;
  const Wide wx = c.x - d.x, wy = c.y - d.y, wz = c.z - d.z;
  return sign_of(ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx));
}

int expected_flat(const Whole& a, const Whole& b, const Whole& c) {
  const Wide ux = a.x - c.x, uy = a.y - c.y, vx = b.x - c.x, vy = b.y - c.y;
  return sign_of(ux * vy - uy * vx);
}

class ExactSign : public testing::Test {
 protected:
  ExactSign() : seed_(std::random_device{}()), random_(seed_) { std::cout << "seed " << seed_ << "\n"; }
  // Returns a number of up to 24 bits, then shifted, so that magnitudes differ by up to 2^12.
  std::int64_t number(int bits) {
    const auto value = static_cast<std::int64_t>(random_() >> (32 - bits)) - (std::int64_t{1} << (bits - 1));
    return value * (std::int64_t{1} << random_() % 13);
  }
  Whole point(int bits) { return {number(bits), number(bits), number(bits)}; }

  std::uint32_t seed_;
  std::mt19937 random_;
};

TEST_F(ExactSign, RandomPoints) {
  for (int round = 0; round < 100000; ++round) {
    const int bits = round % 2 ? 24 : 3;
    const Whole a = point(bits), b = point(bits), c = point(bits), d = point(bits);
    ASSERT_EQ(exact_orientation(a.as_float(), b.as_float(), c.as_float(), d.as_float()), expected(a, b, c, d));
    ASSERT_EQ(planar::side_of_line(without(a.as_float(), 2), without(b.as_float(), 2), without(c.as_float(), 2)),
              expected_flat(a, b, c));
  }
}

// Tests four corners of a jaw for which the largest terms cancel, and the smallest term decides.
TEST_F(ExactSign, LargestTermsMayCancel) {
  const glm::vec3 a = glm::vec3(0x1.9f344p-10f, -0x1.9f344ap-10f, 0x1.78614p-7f);
  const glm::vec3 b = glm::vec3(0x1.50c766p-10f, -0x1.d3edbcp-10f, 0x1.6ea04ep-7f),
                  c = glm::vec3(0x1.2c503ep-10f, -0x1.ec71a8p-10f, 0x1.6a174cp-7f),
                  d = glm::vec3(0x1.c1ebc4p-11f, -0x1.0f8d2ep-9f, 0x1.60b82cp-7f);
  EXPECT_EQ(exact_orientation(a, b, c, d), -1);
  EXPECT_EQ(exact_orientation(b, c, d, a), 1);
}

// The fourth point is rounded onto the plane of the other three: arithmetic in double cannot decide the side.
TEST_F(ExactSign, PointsBesideThePlane) {
  int on_plane = 0;
  for (int round = 0; round < 100000; ++round) {
    const auto coordinate = [this] { return (std::int64_t{1} << 23) + static_cast<std::int64_t>(random_() % 16); };
    const auto near = [&coordinate] { return Whole{coordinate(), coordinate(), coordinate()}; };
    const Whole a = near(), b = near(), c = near();
    Whole d{a.x + b.x - c.x, a.y + b.y - c.y, a.z + b.z - c.z};
    const std::uint32_t offset = random_() % 4;
    d.x += offset == 1;
    d.y -= offset == 2;
    const int sign = expected(a, b, c, d);
    on_plane += sign == 0;
    ASSERT_EQ(exact_orientation(a.as_float(), b.as_float(), c.as_float(), d.as_float()), sign);
    ASSERT_EQ(exact_orientation(b.as_float(), a.as_float(), c.as_float(), d.as_float()), -sign);
  }
  EXPECT_GT(on_plane, 20000);
}

TEST_F(ExactSign, SmallNumbersBesideLargeOnes) {
  // In double, 1e9 + 1e-9 is 1e9: only the small coordinate decides.
  const glm::vec3 a(1e9f, 0, 0), b(0, 1e9f, 0), c(0, 0, 0);
  EXPECT_EQ(exact_orientation(a, b, c, glm::vec3(1e9f, 1e9f, 1e-30f)), -1);
  EXPECT_EQ(exact_orientation(a, b, c, glm::vec3(1e9f, 1e9f, -1e-30f)), 1);
  EXPECT_EQ(exact_orientation(a, b, c, glm::vec3(1e9f, 1e9f, 0)), 0);
  EXPECT_EQ(planar::side_of_line({0, 0}, {1e9f, 1e9f}, {1.f, 1.f + 1.2e-7f}), 1);
}

TEST_F(ExactSign, Collinear) {
  EXPECT_EQ(projection_axis({0, 0, 0}, {1, 2, 3}, {2, 4, 6}), -1);
  EXPECT_EQ(projection_axis({1, 1, 1}, {1, 1, 1}, {5, 6, 7}), -1);
  EXPECT_EQ(projection_axis({0, 0, 0}, {1, 2, 3}, {2, 4, 6.0000005f}), 0);
  EXPECT_EQ(projection_axis({0, 0, 1}, {0, 1, 0}, {0, 0, 0}), 0);
  EXPECT_EQ(projection_axis({0, 0, 0}, {1, 0, 0}, {0, 1, 0}), 2);
}

}  // namespace
}  // namespace trocar
