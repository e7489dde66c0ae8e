// Tests the complete chain from tissue to haptic device: a liver is pressed at 60 frames per second, and the force is
// felt at 1 kHz between the frames.
#include <gtest/gtest.h>

#include <cmath>

#include "mesh/organ_maker.hpp"
#include "sim/device/haptics.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

constexpr double kTick = 1e-3, kFrame = 1.0 / 60.0;

struct Felt1kHz {
  double jump = 0.0, against = 0.0, greatest = 0.0, last = 0.0;
};

// Moves 12 mm into the front of the liver at 20 mm/s, reverses within 0.1 s, and moves back.
double depth_at(double t) {
  const double half = 0.012 / 0.02, turn = 0.05;
  const double u = t < half ? t : std::max(2.0 * half - t, -1.0);
  const double s = std::max(u - (half - turn), 0.0);
  return 0.02 * (u - s * s / (2.0 * turn)) - 0.001;
}

Felt1kHz press_liver() {
  const TriangleMesh mesh = make_liver({});
  const Attachment back{{-0.06f, 0.12f, 0.06f}, 0.045f};
  TissueParams params;
  params.node_spacing = 0.009f;
  const TissueModel model = make_tissue(mesh.view(), params, {&back, 1});
  test::Press press{mesh, model};
  std::uint32_t front = 0;
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
    if (mesh.positions[v].z > mesh.positions[front].z) front = v;
  const glm::dvec3 touch = glm::dvec3(mesh.positions[front]) + glm::dvec3(0.0, 0.0, 0.0025);
  const auto tip = [&](double t) { return touch - glm::dvec3(0.0, 0.0, depth_at(t)); };

  ContactModelParams haptics;
  ContactModel contact;
  Felt1kHz felt;
  double next_frame = kFrame;
  for (double t = kTick; t < 1.2; t += kTick) {
    if (t >= next_frame) {
      const ToolStep tool{touch + glm::dvec3(0.0, 0.0, 0.2), tip(next_frame - kFrame), tip(next_frame), 0.0025};
      const glm::vec3 force = press.frame(tool, static_cast<float>(kFrame));
      contact = updated(haptics, contact, {force, tip(next_frame), next_frame}, tip(t), t);
      next_frame += kFrame;
    }
    const double now = felt_force(haptics, contact, tip(t), t).z;
    felt.jump = std::max(felt.jump, std::abs(now - felt.last));
    felt.against = std::max(felt.against, t < 0.55 ? felt.last - now : t > 0.65 ? now - felt.last : 0.0);
    felt.greatest = std::max(felt.greatest, now);
    felt.last = now;
  }
  return felt;
}

TEST(HapticChain, TheForceOfALiverIsSmooth) {
  const Felt1kHz felt = press_liver();
  std::printf("greatest %.3f N, jump %.4f N, against the motion %.4f N, left %.4f N\n", felt.greatest, felt.jump,
              felt.against, felt.last);
  EXPECT_GT(felt.greatest, 0.2);
  EXPECT_LT(felt.jump, 0.1);
  EXPECT_LT(felt.against, 0.01);
  EXPECT_LT(felt.last, 0.01);
}

}  // namespace
}  // namespace trocar
