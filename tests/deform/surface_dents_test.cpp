// Tests dents in a surface: the whole shift at the faces that are pressed, none far away, nothing steep between them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "deform/contact/surface_dents.hpp"

namespace trocar {
namespace {

PositionBox box_of(std::span<const glm::vec3> positions) {
  PositionBox box;
  for (const glm::vec3& p : positions) box.low = glm::min(box.low, p), box.high = glm::max(box.high, p);
  return box;
}

// A sheet of points 1 mm apart at z = 0.
std::vector<glm::vec3> sheet() {
  std::vector<glm::vec3> points;
  for (int y = -40; y <= 40; ++y)
    for (int x = -40; x <= 40; ++x) points.emplace_back(0.001f * float(x), 0.001f * float(y), 0.f);
  return points;
}

TEST(SurfaceDents, NoneChangesNothing) {
  std::vector<glm::vec3> points = sheet();
  const std::vector<glm::vec3> before = points;
  PositionBox box = box_of(points);
  add_dents({}, points, box);
  const SurfaceDent none[3];
  add_dents(none, points, box);
  EXPECT_EQ(points, before);
  EXPECT_EQ(box.low, before.front());
  EXPECT_EQ(box.high, before.back());
}

TEST(SurfaceDents, AllOfTheShiftWithinAndNoneBeyond) {
  SurfaceDent dent;
  dent.from = {-0.004f, 0.f, -0.002f}, dent.to = {0.004f, 0.f, -0.002f};
  dent.shift = {0.f, 0.f, -0.002f}, dent.full = 0.005f, dent.fade = 0.009f;
  std::vector<glm::vec3> points = sheet();
  const std::vector<glm::vec3> before = points;
  PositionBox box = box_of(points);
  add_dents({&dent, 1}, points, box);
  double steepest = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const glm::vec3& p = before[i];
    const double away = std::hypot(std::max(std::abs(double(p.x)) - 0.004, 0.0), double(p.y));
    const double down = double(before[i].z - points[i].z);
    if (away < 0.005 - 1e-6) {
      EXPECT_NEAR(down, 0.002, 1e-8);
    }
    if (away > 0.014 + 1e-6) {
      EXPECT_EQ(points[i], before[i]);
    }
    if (i > 0 && p.y == before[i - 1].y)
      steepest = std::max(steepest, std::abs(double(points[i].z - points[i - 1].z)) / 0.001);
  }
  EXPECT_FLOAT_EQ(box.low.z, -0.002f);
  EXPECT_LT(steepest, 1.5 * 0.002 / 0.009);
}

// Jaws press both sides of a fold: each side follows its own jaw.
TEST(SurfaceDents, TheNearerOfTwoCountsMore) {
  SurfaceDent dents[2];
  for (int k = 0; k < 2; ++k) {
    const float side = k == 0 ? 1.f : -1.f;
    dents[k].from = dents[k].to = {0.f, 0.f, side * 0.006f};
    dents[k].shift = {0.f, 0.f, -side * 0.001f};
    dents[k].full = 0.003f, dents[k].fade = 0.008f;
  }
  std::vector<glm::vec3> points{{0.f, 0.f, 0.005f}, {0.f, 0.f, -0.005f}, {0.f, 0.f, 0.f}};
  PositionBox box = box_of(points);
  add_dents(dents, points, box);
  EXPECT_NEAR(points[0].z, 0.004, 1e-4);
  EXPECT_NEAR(points[1].z, -0.004, 1e-4);
  EXPECT_NEAR(points[2].z, 0.0, 1e-8);
}

// No vertex moves farther than the deepest dent, whatever dents there are.
TEST(SurfaceDents, AnyDentsMoveNothingFartherThanTheDeepest) {
  constexpr unsigned kSeed = 471;
  std::mt19937 random(kSeed);
  const auto number = [&](float low, float high) { return low + (high - low) * float(random() >> 8) / 16777216.f; };
  const auto place = [&](float size) {
    return glm::vec3(number(-size, size), number(-size, size), number(-size, size));
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<SurfaceDent> dents(random() % 5);
    float deepest = 0.f;
    for (SurfaceDent& dent : dents) {
      dent.from = place(0.03f), dent.to = random() % 3 == 0 ? dent.from : place(0.03f);
      dent.shift = random() % 4 == 0 ? glm::vec3(0.f) : place(0.005f);
      dent.full = random() % 3 == 0 ? 0.f : number(0.f, 0.01f), dent.fade = number(0.004f, 0.02f);
      deepest = std::max(deepest, glm::length(dent.shift));
    }
    std::vector<glm::vec3> points = sheet();
    const std::vector<glm::vec3> before = points;
    PositionBox box = box_of(points);
    add_dents(dents, points, box);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_LE(glm::distance(points[i], before[i]), 1.0001f * deepest) << "seed " << kSeed << " round " << round;
      ASSERT_TRUE(glm::all(glm::lessThanEqual(box.low, points[i])) &&
                  glm::all(glm::lessThanEqual(points[i], box.high)));
    }
  }
}

}  // namespace
}  // namespace trocar
