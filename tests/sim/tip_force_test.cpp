// Tests the force at the tip against the lever rule, and against the principle of virtual work for random contacts.
#include "sim/device/haptics.hpp"

#include <gtest/gtest.h>

#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr double kDepth = 0.2;  // m
const ToolPose kPose{{0.1, 0.0, 0.3}, {0.1, 0.0, 0.3 - kDepth}, 0.0025};

TipForce of_contact(const dvec3& point, const dvec3& force) {
  return tip_force(kPose, glm::vec3(force), glm::vec3(glm::cross(point - kPose.pivot, force)));
}

TEST(TipForce, ALever) {
  for (const double share : {0.1, 0.5, 1.0}) {
    const dvec3 on_shaft = kPose.pivot + share * (kPose.tip - kPose.pivot);
    const TipForce beside = of_contact(on_shaft, {2.0, -1.0, 0.0});
    EXPECT_LT(glm::distance(dvec3(beside.force), share * dvec3(2.0, -1.0, 0.0)), 1e-6);
    EXPECT_NEAR(beside.twist, 0.f, 1e-7f);
    const TipForce along = of_contact(on_shaft, {0.0, 0.0, 3.0});
    EXPECT_LT(glm::distance(dvec3(along.force), dvec3(0.0, 0.0, 3.0)), 1e-6);
  }
  // Seen from the trocar, with +x to the right and +y up, a force along -y on the right side turns the shaft clockwise.
  EXPECT_NEAR(of_contact(kPose.tip + dvec3(0.003, 0.0, 0.0), {0.0, -1.0, 0.0}).twist, 0.003f, 1e-6f);
  EXPECT_EQ(tip_force(kPose, glm::vec3(0.f), glm::vec3(0.f)).force, glm::vec3(0.f));
}

// In every motion of an instrument (it swings and spins by `turn` about the trocar and slides by `slide`) the contacts
// do the work that the force at the tip and the twist do.
TEST(TipForce, DoesTheWorkOfTheContacts) {
  Dice dice(417);
  std::printf("seed 417\n");
  for (int i = 0; i < 1000; ++i) {
    const dvec3 pivot = dice.in_cube(0.2), tip = pivot + dice.uniform(0.02, 0.3) * dice.direction();
    const dvec3 along = glm::normalize(tip - pivot), turn = dice.in_cube(1.0);
    const double slide = dice.uniform(-0.1, 0.1);
    dvec3 force(0.0), torque(0.0);
    double work = 0.0;
    for (int contact = 0; contact < 5; ++contact) {
      const dvec3 point = dice.in_cube(0.3), f = dice.in_cube(3.0);
      force += f, torque += glm::cross(point - pivot, f);
      work += glm::dot(f, glm::cross(turn, point - pivot) + slide * along);
    }
    const TipForce felt = tip_force({pivot, tip, 0.0025}, glm::vec3(force), glm::vec3(torque));
    const double same = glm::dot(dvec3(felt.force), glm::cross(turn, tip - pivot) + slide * along) +
                        static_cast<double>(felt.twist) * glm::dot(turn, along);
    EXPECT_NEAR(same, work, 1e-5);
  }
}

}  // namespace
}  // namespace trocar
