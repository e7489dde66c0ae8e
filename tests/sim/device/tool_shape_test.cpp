// Tests the instruments' shapes: closed convex parts of limited size that start at the tip, fit the shaft and open with
// the grip.
#include "sim/device/tool_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mesh/mesh_report.hpp"

namespace trocar {
namespace {

constexpr InstrumentKind kKinds[] = {InstrumentKind::Probe,    InstrumentKind::Grasper,     InstrumentKind::Hook,
                                     InstrumentKind::Scissors, InstrumentKind::ClipApplier, InstrumentKind::Suction};

// Returns the largest distance of a vertex in front of a face: 0 for a convex part.
double nonconvexity(const TriangleMesh& mesh) {
  double worst = 0.0;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    const glm::dvec3 normal = glm::cross(t.b - t.a, t.c - t.a);
    if (glm::length(normal) < 1e-12) continue;
    for (const glm::vec3& p : mesh.positions)
      worst = std::max(worst, glm::dot(glm::normalize(normal), glm::dvec3(p) - t.a));
  }
  return worst;
}

TEST(ToolShape, PartsAreClosedConvexAndSmall) {
  for (const InstrumentKind kind : kKinds) {
    for (const ToolPart& part : tip_parts(kind, 0.0025)) {
      const MeshReport report = mesh_report(part.mesh.view());
      EXPECT_TRUE(report.topology.closed() && report.topology.manifold() && report.topology.oriented());
      EXPECT_TRUE(report.outward());
      EXPECT_EQ(report.degenerate_faces(), 0u);
      EXPECT_LT(nonconvexity(part.mesh), 2e-7) << "kind " << static_cast<int>(kind) << ", m";
      EXPECT_LE(part.mesh.faces.size(), 300u);
    }
  }
}

TEST(ToolShape, StartsAtTheTipAndFitsTheTrocarWhenClosed) {
  for (const InstrumentKind kind : kKinds) {
    float lowest = 1.f, widest = 0.f, highest = 0.f;
    for (const ToolPart& part : tip_parts(kind, 0.0025)) {
      for (const glm::vec3& p : part.mesh.positions) {
        lowest = std::min(lowest, p.z);
        highest = std::max(highest, p.z);
        widest = std::max(widest, glm::length(glm::vec2(p)));
      }
    }
    EXPECT_NEAR(lowest, 0.f, 1e-4f);
    EXPECT_GE(highest, tip_length(kind, 0.0025));
    EXPECT_LE(widest,
              kind == InstrumentKind::Hook ? 0.0033f : 0.0025001f);  // a foot of 3 mm passes the trocar obliquely
  }
}

// The collar insulates the wire from this height on.
TEST(ToolShape, TheWireIsBareUpToTheCollar) {
  for (const double radius : {0.0025, 0.0015}) {
    double collar = 1.0;
    for (const ToolPart& part : tip_parts(InstrumentKind::Hook, radius))
      if (part.surface == ToolSurface::Ceramic)
        for (const glm::vec3& p : part.mesh.positions) collar = std::min(collar, static_cast<double>(p.z));
    EXPECT_NEAR(bare_wire(radius), collar, 1e-8);
  }
}

TEST(ToolShape, JawsOpenWithTheGripAboutTheirHinge) {
  const ToolPose pose{{0.02, -0.03, 0.30}, {-0.01, 0.04, 0.10}, 0.0025};
  for (const InstrumentKind kind : {InstrumentKind::Grasper, InstrumentKind::Scissors}) {
    const auto parts = tip_parts(kind, pose.radius);
    const auto tip_of = [&](double side, double grip) {
      const auto part = std::find_if(parts.begin(), parts.end(), [&](const ToolPart& p) { return p.side == side; });
      const glm::dmat4 world = part_pose(pose, 20.0, grip, *part);
      const glm::dvec3 hinge(world * glm::dvec4(0, 0, part->hinge_z, 1)), tip(world * glm::dvec4(0, 0, 0, 1));
      return glm::normalize(tip - hinge);
    };
    for (const double grip : {0.0, 0.3, 1.0})
      EXPECT_NEAR(glm::degrees(std::acos(std::min(1.0, glm::dot(tip_of(1, grip), tip_of(-1, grip))))), 60.0 * grip,
                  1e-5);
    EXPECT_GT(glm::dot(tip_of(1, 1), tool_frame(pose, glm::radians(20.0)).axes[1]), 0.4);
  }
}

TEST(ToolShape, FrameIsRightHandedAndRollIsClockwiseFromTheTrocar) {
  const ToolPose pose{{0.05, -0.10, 0.28}, {0.01, 0.06, 0.12}, 0.0025};
  const glm::dmat3 frame = tool_frame(pose, glm::radians(35.0)).axes, unrolled = tool_frame(pose, 0.0).axes;
  EXPECT_NEAR(glm::determinant(frame), 1.0, 1e-12);
  EXPECT_NEAR(glm::dot(frame[0], frame[1]), 0.0, 1e-12);
  const glm::dvec3 into_body = glm::normalize(pose.tip - pose.pivot);
  // The turn is clockwise when seen along `into_body`: x turns towards into_body x x.
  EXPECT_NEAR(glm::dot(frame[0], glm::cross(into_body, unrolled[0])), std::sin(glm::radians(35.0)), 1e-12);
  EXPECT_NEAR(glm::dot(frame[0], unrolled[0]), std::cos(glm::radians(35.0)), 1e-12);
}

// A moving shaft does not make the jaws jump.
TEST(ToolShape, FrameHasNoJumps) {
  glm::dmat3 before = tool_frame({{0, 0, 0.3}, {0.1, 0, 0.1}}, 0.0).axes;
  for (int k = 0; k <= 1000; ++k) {
    const double angle = 2.0 * 3.14159265358979 * k / 1000;
    const glm::dvec3 tip(0.2 * std::cos(angle), 0.2 * std::sin(angle), 0.1);
    const glm::dmat3 now = tool_frame({{0, 0, 0.3}, tip}, 0.0).axes;
    if (k > 0) {
      EXPECT_LT(glm::length(now[0] - before[0]), 0.02);
    }
    before = now;
  }
}

TEST(ToolShape, ShaftReachesFromTheHingeToItsEnd) {
  for (const InstrumentKind kind : kKinds) {
    float lowest = 1.f, highest = 0.f;
    for (const ToolPart& part : shaft_parts(kind, 0.0025)) {
      EXPECT_TRUE(mesh_report(part.mesh.view()).topology.closed());
      for (const glm::vec3& p : part.mesh.positions) {
        lowest = std::min(lowest, p.z);
        highest = std::max(highest, p.z);
      }
    }
    EXPECT_NEAR(lowest, tip_length(kind, 0.0025), 5e-4);
    EXPECT_NEAR(highest, 0.35f, 1e-6f);
  }
}

}  // namespace
}  // namespace trocar
