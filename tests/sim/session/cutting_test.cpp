// Compares the region of closing blades with the drawn blades, at random poses, rolls and apertures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <glm/gtc/constants.hpp>
#include <random>

#include "mesh/mesh_io.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/cutting.hpp"
#include "sim/session/session.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"
#include "tests/deform/sculpt_support.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(BladeCut, LiesBetweenTheDrawnBlades) {
  constexpr std::uint32_t kSeed = 5;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * (random() >> 8) / 16777216.0; };
  for (int round = 0; round < 200; ++round) {
    Instrument scissors;
    scissors.kind = InstrumentKind::Scissors;
    scissors.radius = 0.0025;
    scissors.pose = {
        {uniform(-0.1, 0.1), uniform(-0.1, 0.1), 0.3}, {uniform(-0.1, 0.1), uniform(-0.1, 0.1), 0.1}, 0.0025};
    scissors.roll_deg = uniform(-180.0, 180.0);
    scissors.opened = uniform(0.2, 1.0);
    scissors.blades.length = 0.010;
    const BladeCut cut = blade_cut(scissors);
    const auto flat = [&](const glm::dvec3& p) {
      const glm::dvec3 q = p - glm::dvec3(cut.origin);
      return glm::dvec3(glm::dot(q, glm::dvec3(cut.along)), glm::dot(q, glm::dvec3(cut.across)),
                        glm::dot(q, glm::cross(glm::dvec3(cut.along), glm::dvec3(cut.across))));
    };
    const auto depth = [&](const glm::dvec3& p) {
      double least = INFINITY;
      for (int k = 0; k < cut.corners; ++k) {
        const glm::dvec2 a(cut.outline[k]), side = glm::dvec2(cut.outline[(k + 1) % cut.corners]) - a;
        least = std::min(least, (side.x * (p.y - a.y) - side.y * (p.x - a.x)) / glm::length(side));
      }
      return least;
    };
    // The tips of the blades at their widest lie 1.5 mm inside the region, up to the blades' size, and stay inside as
    // they close.
    for (const ToolPart& part : tip_parts(scissors.kind, scissors.radius))
      for (const glm::vec3& p : part.mesh.positions) {
        if (p.z > 1e-4f) continue;
        const auto at = [&](double grip) {
          return flat(glm::dvec3(part_pose(scissors.pose, scissors.roll_deg, grip, part, scissors.limits) *
                                 glm::dvec4(p, 1.0)));
        };
        EXPECT_LT(std::abs(at(scissors.opened).z), 0.0009);
        EXPECT_NEAR(depth(at(scissors.opened)), 0.0015, 0.0007);
        for (const double share : {0.0, 0.3, 0.6}) EXPECT_GT(depth(at(share * scissors.opened)), 0.0013);
      }
    // It begins 10 mm behind the tips, along both sides, and ends 1.5 mm beyond them.
    EXPECT_GT(depth({0.0045, 0.0, 0.0}), 0.0);
    EXPECT_LT(depth({0.0020, 0.0, 0.0}), 0.0);
    EXPECT_GT(depth({0.0150, 0.0, 0.0}), 0.0);
    EXPECT_LT(depth({0.0156, 0.0, 0.0}), 0.0);
  }
}

}  // namespace

// Tests diathermy in sessions: the bare wire burns, in its pose and roll, and the insulated shaft does not.

namespace {

constexpr float kTop = 0.0217f;       // m   the block's upper side; not flush with the lattice
constexpr double kRadius = 0.0025;    // m   of the shaft
constexpr double kFoot = 0.0023;      // m   length of the foot's axis
constexpr double kReach = 0.00145;    // m   of a cut, from the axis of the wire
constexpr double kVoxel = 0.008 / 6;  // m   side
constexpr double kPressed = 0.0003;   // m   of the wire's end below the undeformed surface

// A block on the floor, fixed at its underside, and a hook.
class HookOnABlock : public ::testing::Test {
 protected:
  HookOnABlock() { open(""); }

  // Starts a session. `more`: further text of the scene.
  void open(const std::string& more) {
    save_mesh(test::block({0.06f, 0.06f, kTop}), folder_.path() / "block.obj");
    scene_ = load_scene(folder_.write(
        "s.toml",
        "schema = 2\n[[organ]]\nname = \"block\"\nmesh = \"block.obj\"\n[organ.tissue]\nnode_spacing_mm = 8\n"
        "youngs_modulus = 20000\n[[organ.attachment]]\ncentre_mm = [30, 30, -40]\nradius_mm = 60\n"
        "[[instrument]]\nname = \"hook\"\nkind = \"hook\"\npivot_mm = [30, 30, 220]\ntip_mm = [30, 30, 100]\n"
        "radius_mm = 2.5\n" +
            more));
    session_.emplace(scene_, backends_, "scan", std::vector<CheckPlan>{{"obb-refit", 1}},
                     [&](const InstrumentScene&) { return std::make_unique<PosedDevice>(&pose_); });
    frame_ = 0;
    pose_ = vertical(0.03, 0.03, 0.05);
    pose_.energy = Diathermy::Off;
    step();
  }

  // The shaft is vertical; the end of the wire is at this height above the block.
  static DevicePose vertical(double x, double y, double height, double roll_deg = 0.0) {
    const double z = static_cast<double>(kTop) + height + kRadius;
    return {{x, y, z + 0.15}, {x, y, z}, roll_deg, 1.0, Diathermy::Cut};
  }
  // Direction in which the foot points.
  static glm::dvec3 foot_of(const DevicePose& pose) {
    return tool_frame({pose.pivot, pose.tip, kRadius}, glm::radians(pose.roll_deg)).axes[1];
  }
  // The shaft lies along x; its axis is at this height above the block. The foot points down, or turned by `from_down`.
  static DevicePose lying(double height, double from_down) {
    const double z = static_cast<double>(kTop) + height;
    DevicePose pose{{0.2, 0.03, z}, {0.02, 0.03, z}, 0.0, 1.0, Diathermy::Cut};
    const glm::dvec3 foot = foot_of(pose),
                     quarter = tool_frame({pose.pivot, pose.tip, kRadius}, glm::half_pi<double>()).axes[1];
    pose.roll_deg = glm::degrees(std::atan2(-quarter.z, -foot.z)) + from_down;
    return pose;
  }
  void step() {
    session_->step({frame_, static_cast<double>(frame_) * kFrame}, kFrame);
    ++frame_;
    EXPECT_EQ(session_->disagreements(), 0u);
  }
  void hold(const DevicePose& pose, int frames) {
    pose_ = pose;
    for (int k = 0; k < frames; ++k) step();
  }
  const Organ& block() const { return session_->organs()[0]; }

  // Returns whether the skin still covers the point of the upper side.
  bool covered(float x, float y) const {
    const Sculpture& sculpture = *block().sculpture;
    for (std::size_t slot = 0; slot < sculpture.faces.size(); ++slot) {
      if (sculpture.faces.kind[slot] != FaceKind::Skin) continue;
      const Triangle t = triangle_of(sculpture.rest, sculpture.faces.corners[slot]);
      if (std::min({t.a.z, t.b.z, t.c.z}) < static_cast<double>(kTop) - 1e-5) continue;
      const auto side = [&](const glm::dvec3& a, const glm::dvec3& b) {
        return (b.x - a.x) * (static_cast<double>(y) - a.y) - (b.y - a.y) * (static_cast<double>(x) - a.x);
      };
      if (side(t.a, t.b) >= 0.0 && side(t.b, t.c) >= 0.0 && side(t.c, t.a) >= 0.0) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  CpuBackends backends_;
  Scene scene_;
  DevicePose pose_;
  std::optional<Session> session_;
  std::uint64_t frame_ = 0;
};

TEST_F(HookOnABlock, AnInsulatedShaftOnTissueBurnsNothing) {
  // The foot points up or sideways; the shaft is pressed 1 mm into the tissue.
  for (const double roll : {180.0, 100.0, -100.0}) {
    hold(lying(0.02, roll), 2);
    hold(lying(kRadius - 0.001, roll), 30);
    const std::size_t touched = block().touches.of_tool(0).size();
    std::printf("%.0f degrees from down: %zu faces touched\n", roll, touched);
    EXPECT_GT(touched, 0u);
    EXPECT_EQ(session_->instruments()[0].energy, Diathermy::Cut);
    EXPECT_EQ(block().topology, 0u) << "roll " << roll;
  }
}

TEST_F(HookOnABlock, TheToeBurnsADot) {
  hold(lying(0.02, 0.0), 2);
  hold(lying(0.0027, 0.0), 20);
  double area = 0.0;  // m^2
  for (double x = 0.012; x < 0.032; x += 1e-4)
    for (double y = 0.02; y < 0.04; y += 1e-4) area += covered(float(x), float(y)) ? 0.0 : 1e-8;
  const double width = 2.0 * std::sqrt(area / 3.14159265);
  std::printf("dot %.2f mm wide, metal and reach %.2f mm\n", width * 1e3, 2e3 * kReach);
  EXPECT_NEAR(width, 2.0 * kReach, kVoxel / 2);
}

// The foot lies flat on the tissue. Another roll burns elsewhere.
TEST_F(HookOnABlock, TheFootBurnsALineWhereItsRollPointsIt) {
  for (const double roll : {0.0, 90.0}) {
    SCOPED_TRACE(roll);
    const double x = roll == 0.0 ? 0.02 : 0.042;
    hold(vertical(x, 0.03, 0.02, roll), 2);
    hold(vertical(x, 0.03, -kPressed, roll), 4);
    hold(vertical(x, 0.03, 0.02, roll), 2);
    const glm::dvec3 foot = foot_of(pose_);
    double along[2] = {0.0, 0.0}, across[2] = {0.0, 0.0};  // m, before and behind the end of the wire
    const auto open_to = [&](const glm::dvec3& direction) {
      double at = 0.0;
      while (at < 0.01 && !covered(float(x + at * direction.x), float(0.03 + at * direction.y))) at += 5e-5;
      return at;
    };
    const glm::dvec3 aside(-foot.y, foot.x, 0.0);
    along[0] = open_to(foot), along[1] = open_to(-foot), across[0] = open_to(aside), across[1] = open_to(-aside);
    std::printf("roll %.0f: %.2f mm along the foot, %.2f behind it, %.2f and %.2f aside\n", roll, along[0] * 1e3,
                along[1] * 1e3, across[0] * 1e3, across[1] * 1e3);
    EXPECT_NEAR(along[0], kFoot + kReach, 0.4 * kVoxel);
    EXPECT_NEAR(along[1], kReach, 0.4 * kVoxel);
    EXPECT_NEAR(across[0], kReach, 0.4 * kVoxel);
    EXPECT_NEAR(across[1], kReach, 0.4 * kVoxel);
  }
}

// A stroke of 24 mm in two frames (0.7 m/s) leaves a line without gaps, as wide as the metal and the reach around it.
TEST_F(HookOnABlock, AFastStrokeLeavesNoGaps) {
  hold(vertical(0.018, 0.03, -kPressed), 1);
  hold(vertical(0.030, 0.03, -kPressed), 1);
  hold(vertical(0.042, 0.03, -kPressed), 1);
  hold(vertical(0.042, 0.03, 0.02), 1);
  double narrowest = 1.0, widest = 0.0;
  for (float x = 0.018f; x <= 0.042f; x += 0.0005f) {
    double width = 0.0;
    for (float y = 0.022f; y < 0.040f; y += 5e-5f) width += covered(x, y) ? 0.0 : 5e-5;
    narrowest = std::min(narrowest, width);
    widest = std::max(widest, width);
  }
  const glm::dvec3 foot = foot_of(pose_);
  const double expected = 2.0 * kReach + kFoot * std::abs(foot.y);
  std::printf("line %.2f to %.2f mm wide, metal and reach %.2f mm\n", narrowest * 1e3, widest * 1e3, expected * 1e3);
  EXPECT_NEAR(narrowest, expected, kVoxel / 2);
  EXPECT_NEAR(widest, expected, kVoxel / 2);
}

// The coagulated zone grows with the root of the time of contact up to its limit, then chars; no tissue is removed.
TEST_F(HookOnABlock, CoagulationBlanchesThenCharsAndRemovesNothing) {
  const std::size_t tissue = test::tissue_voxels(*block().sculpture);
  DevicePose pose = vertical(0.03, 0.03, -kPressed);
  pose.energy = Diathermy::Coagulate;
  const glm::dvec3 foot = foot_of(pose);
  // Depth of dose 1 under the middle of the foot, at rest.
  const auto depth = [&] {
    const glm::vec3 under(glm::dvec3(0.03, 0.03, 0.0) + 0.0012 * foot);
    float at = 0.f;
    while (at < 0.01f && dose_at(*block().sculpture, block().tissue.lattice, {under.x, under.y, kTop - at}) >= 1.f)
      at += 5e-5f;
    return 1e3 * double(at);
  };
  const auto darkest = [&] { return *std::max_element(block().charred.begin(), block().charred.end()); };
  hold(pose, 1);
  EXPECT_EQ(session_->instruments()[0].heats, 1u);
  float look_before = darkest();
  std::vector<double> depths;
  for (const int frames : {60, 180, 720, 960}) {
    hold(pose, frames - static_cast<int>(frame_) + 2);
    depths.push_back(depth());
    std::printf("%.1f s: %.2f mm deep, darkest look %.2f\n", frames / 60.0, depths.back(), double(darkest()));
    EXPECT_GE(darkest(), look_before);
    look_before = darkest();
  }
  EXPECT_EQ(darkest(), 1.f);
  // The tissue yields to the metal, by up to its depth; voxels are 1.3 mm apart.
  const double yields = 0.5e3 * kPressed;
  EXPECT_NEAR(depths[0], yields + 0.75, 0.5);
  EXPECT_NEAR(depths[1], yields + 0.75 * std::sqrt(3.0), 0.5);
  EXPECT_NEAR(depths[2], yields + 0.75 * std::sqrt(12.0), 0.5);
  EXPECT_NEAR(depths[3], yields + 3.0, 0.5);
  EXPECT_EQ(test::tissue_voxels(*block().sculpture), tissue);
  EXPECT_EQ(test::open_edges(faces(*block().sculpture)), 0u);
}

// The tissue of the line burns away while the hook stays beside it: no tissue is left there to burn, and the task can
// still be finished.
TEST_F(HookOnABlock, AnOverburntLineIsFinished) {
  open(
      "[instrument.hook]\nreach_mm = 8\n[task]\nkind = \"burn-line\"\ninstrument = \"hook\"\ntolerance_mm = 2\n"
      "[[task.place]]\norgan = \"block\"\nat_mm = [20, 30, 22]\n[[task.place]]\norgan = \"block\"\n"
      "at_mm = [40, 30, 22]\n");
  const TaskStage stage = stage_of(*session_);
  TaskRun task(*scene_.task, stage);
  session_->set_marks(task.marks());
  SessionObserver observer;
  const auto stroke = [&](double x, Diathermy energy) {
    pose_ = vertical(x, 0.036, -0.003);
    pose_.energy = energy;
    step();
    task.step(observer.observe(*session_, static_cast<double>(frame_) * kFrame));
  };
  for (double x = 0.016; x < 0.0445; x += 0.0005) stroke(x, Diathermy::Cut);
  const TaskResult before = task.result();
  EXPECT_FALSE(before.finished);
  stroke(0.0445, Diathermy::Off);
  stroke(0.0445, Diathermy::Off);
  EXPECT_TRUE(task.feed().finished);
  EXPECT_EQ(task.feed().progress, 1.0);
  const auto removed = session_->marks_removed();
  EXPECT_EQ(std::count(removed.begin(), removed.end(), std::uint8_t{1}), static_cast<long>(removed.size()));
}

}  // namespace

}  // namespace trocar
