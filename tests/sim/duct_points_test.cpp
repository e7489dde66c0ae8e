// Tests the lines of ducts as scripted trainees see them.
#include "sim/task/duct.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace trocar {
namespace {

// A straight duct along x, organ 1, held by two fibres of organ 0 near its ends; organ 2 is a duct without fibres.
class Ducts : public ::testing::Test {
 protected:
  std::vector<std::vector<glm::dvec3>> lines_ = {
      {}, {{0, 0, 0}, {0.02, 0, 0}, {0.04, 0, 0}}, {{0, 0.1, 0}, {0.04, 0.1, 0}}};
  std::vector<StageFibre> fibres_ = {{0, {}, 0, 1}, {0, {}, 1, 0}};
  std::vector<FibreEnds> ends_ = {{{0.002f, 0, 0.01f}, {0.002f, 0, 0.001f}}, {{0.038f, 0, 0.001f}, {0.038f, 0, 0.01f}}};
};

TEST_F(Ducts, ClearanceAtRestIsTheDistanceFromTheLines) {
  const DuctPoints ducts(lines_, fibres_, ends_);
  std::mt19937 random(3501);
  std::printf("seed 3501\n");
  const auto number = [&] { return 0.2 * (static_cast<double>(random()) / 4294967296.0 - 0.5); };
  const auto distance = [](const glm::dvec3& p, double y) {
    const glm::dvec3 nearest(std::clamp(p.x, 0.0, 0.04), y, 0.0);
    return glm::distance(p, nearest);
  };
  for (int round = 0; round < 1000; ++round) {
    const double x = number(), y = number(), z = number(), u = number(), v = number(), w = number();
    const glm::dvec3 from(x, y, z), to(u, v, w);
    EXPECT_NEAR(ducts.clearance(from, from), std::min(distance(from, 0.0), distance(from, 0.1)), 1e-9);
    double sampled = INFINITY;
    for (int k = 0; k <= 400; ++k) {
      const glm::dvec3 p = glm::mix(from, to, k / 400.0);
      sampled = std::min({sampled, distance(p, 0.0), distance(p, 0.1)});
    }
    EXPECT_LE(ducts.clearance(from, to), sampled + 1e-9);
    EXPECT_GE(ducts.clearance(from, to), sampled - 1e-3);
  }
}

// Each half follows the end of the fibre that is nearest to it, whichever end of the fibre that is.
TEST_F(Ducts, MoveWithTheNearestEndOfAFibre) {
  DuctPoints ducts(lines_, fibres_, ends_);
  ends_[0].b += glm::vec3(0, 0, 0.03f);
  ends_[1].b += glm::vec3(0, 0, 0.05f);  // the other organ's
  ducts.follow(ends_);
  const auto near = [&](const glm::dvec3& p) { return ducts.clearance(p, p); };
  EXPECT_NEAR(near({0.002, 0, 0.03}), 0.0, 1e-8);
  EXPECT_NEAR(near({0.035, 0, 0.0}), 0.0, 1e-8);
  EXPECT_GT(near({0.005, 0, 0.0}), 0.01);
  EXPECT_NEAR(near({0.02, 0.1, 0.0}), 0.0, 1e-8);
}

TEST_F(Ducts, WithoutDuctsEverythingIsClear) {
  DuctPoints none({}, fibres_, ends_);
  none.follow(ends_);
  EXPECT_EQ(none.clearance({0, 0, 0}, {1, 1, 1}), INFINITY);
  EXPECT_EQ(DuctPoints().clearance({0, 0, 0}, {1, 1, 1}), INFINITY);
}

}  // namespace
}  // namespace trocar
