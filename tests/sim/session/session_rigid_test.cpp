// Tests rigid bodies in a session: their keys and the sentences about them, a ring that jaws lift off its peg and drop,
// the touched faces of every backend, forces on the instrument, saved sessions.
#include "sim/session/session_rigid.hpp"

#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

const std::string kRingKeys = "side_mm = 17.3\nwall_mm = 1.6\nheight_mm = 14.5\nround_mm = 0.5\n";

std::string rigid(const std::string& name, const std::string& form, const std::string& at, const std::string& keys) {
  return "[[organ]]\nname = \"" + name + "\"\n[organ.rigid]\nform = \"" + form + "\"\nat_mm = " + at + "\n" + keys;
}
const std::string kBoard = rigid("board", "board", "[0, 0, 0]",
                                 "size_mm = [154, 103, 22]\npegs_mm = [[0, 0, 0], [20, 0, 0]]\npeg_radius_mm = 1\n"
                                 "peg_height_mm = 28\n");
const std::string kRing = rigid("ring", "ring", "[0, 0, 7.25]", kRingKeys);
const std::string kGrasper =
    "[[instrument]]\nname = \"grasper\"\nkind = \"grasper\"\npivot_mm = [5, 7.2, 170]\ntip_mm = [0, 7.2, 60]\n"
    "radius_mm = 2.5\nscript = \"press\"\n";

// Lowers the jaws over the ring's corner, closes them, lifts the ring above the peg, moves aside, and opens them.
class LiftingDevice final : public Device {
 public:
  explicit LiftingDevice(double opens) : opens_(opens) {}
  DevicePose pose(const FrameClock& clock) override {
    const double t = clock.time;
    const auto ramp = [t](double from, double to) { return std::clamp((t - from) / (to - from), 0.0, 1.0); };
    const double end = 0.050 - 0.040 * ramp(0.0, 1.0) + 0.045 * ramp(2.0, 3.0);
    const glm::dvec3 pivot(0.005, 0.0072, 0.17), tip(0.030 * ramp(3.2, 3.8), 0.0072, end + 0.0025);
    const double grip = 0.3 - 0.3 * ramp(1.2, 1.6) + (t > opens_ ? 0.4 : 0.0);
    return {pivot, tip, 0.0, grip};
  }

 private:
  double opens_;
};

class RigidScene : public ::testing::Test {
 protected:
  Scene scene(const std::string& rest) { return load_scene(folder_.write("s.toml", "schema = 2\n" + rest)); }
  std::string fault(const std::string& rest) {
    try {
      const Scene read = scene(rest);
      session(read);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::unique_ptr<Session> session(const Scene& scene, const std::string& backend = "scan") {
    return std::make_unique<Session>(scene, backends_, backend, std::vector<CheckPlan>{{"obb-refit", 1}, {"aabb", 1}},
                                     [](const InstrumentScene&) { return std::make_unique<LiftingDevice>(4.2); });
  }
  static void run(Session& session, std::size_t first, std::size_t last) {
    for (std::size_t frame = first; frame < last; ++frame)
      session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  }
  static std::uint64_t hash_of_state(const Session& session) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const Organ& organ : session.organs()) hash = hash_of(hash, std::as_bytes(std::span(organ.positions)));
    for (const Instrument& instrument : session.instruments()) {
      hash = hash_of(hash, std::as_bytes(std::span(&instrument.force, 1)));
      hash = hash_of(hash, std::as_bytes(std::span(&instrument.grip, 1)));
    }
    return hash;
  }
  static glm::vec3 middle(const Organ& organ) { return 0.5f * (glm::vec3(organ.box.low) + glm::vec3(organ.box.high)); }

  TemporaryFolder folder_;
  CpuBackends backends_;
};

TEST_F(RigidScene, FaultsAreSentences) {
  EXPECT_EQ(fault(kBoard + kRing + kGrasper), "");
  const auto has = [&](const std::string& text, const std::string& words) {
    EXPECT_NE(fault(text + kGrasper).find(words), std::string::npos) << fault(text + kGrasper);
  };
  has(rigid("r", "ring", "[0, 0, 0]", kRingKeys + "friction = -0.1\n"), "friction");
  has(rigid("r", "ring", "[0, 0, 0]", kRingKeys + "friction = nan\n"), "friction");
  has(rigid("r", "ring", "[0, 0, 0]", kRingKeys + "density = 0\n"), "density");
  has(rigid("r", "ring", "[0, 0, 0]", kRingKeys + "mass = 1\n"), "mass");
  has(rigid("r", "ball", "[0, 0, 0]", ""), "must be box, ring or board");
  has(rigid("r", "ring", "[0, 0, 0]", "side_mm = 10\n"), "leaves no hole");
  has(rigid("r", "box", "[0, 0, 0]", "size_mm = [20, 0, 20]\n"), "more than twice round_mm");
  has(rigid("r", "board", "[0, 0, 0]", "pegs_mm = [[0, 0, 0], [90, 0, 0]]\n"), "does not stand on the board");
  has(rigid("r", "box", "[0, 0, 0]", "[organ.tissue]\nfriction = 0.1\n"), "is of no use beside [organ.rigid]");
  has(kBoard + kRing +
          "[[layer]]\nname = \"l\"\norgan = \"ring\"\nto = \"board\"\nreach_mm = 2\nmodulus = 1000\nthickness_mm = 1\n",
      "rigid body");
}

TEST_F(RigidScene, JawsLiftARingOffItsPegAndDropIt) {
  const Scene read = scene(kBoard + kRing + kGrasper);
  const auto live = session(read);
  const Organ& ring = live->organs()[1];
  run(*live, 0, 60);
  EXPECT_NEAR(middle(ring).z, 0.00725f, 4e-4f);  // the jaws touch it
  EXPECT_EQ(live->rigid().held_by(0), kNoBody);
  EXPECT_NEAR(live->instruments()[0].grip, 0.3, 1e-9);
  run(*live, 60, 115);
  EXPECT_EQ(live->rigid().held_by(0), 1u);
  const glm::vec3 held = middle(ring);
  // The wall keeps the jaws open, and the touch query finds the ring on both of them.
  EXPECT_GT(live->instruments()[0].grip, 0.03);
  for (const std::uint32_t jaw : {1u, 2u})
    EXPECT_LT(ring.touched.part_first[jaw], ring.touched.part_first[jaw + 1]) << jaw;
  run(*live, 115, 185);
  EXPECT_EQ(live->rigid().held_by(0), 1u);
  EXPECT_NEAR(middle(ring).z - held.z, 0.045f, 4e-3f);
  run(*live, 185, 250);
  EXPECT_EQ(live->rigid().held_by(0), 1u);
  EXPECT_NEAR(middle(ring).x, 0.030f, 8e-3f);
  // The weight of the ring: a few millinewtons.
  const double weight = live->rigid().model().bodies[1].mass * 9.81;
  EXPECT_NEAR(live->instruments()[0].force.z, -weight, 0.3 * weight + 1e-3);
  run(*live, 250, 400);
  EXPECT_EQ(live->rigid().held_by(0), kNoBody);
  const glm::vec3 dropped = middle(ring);
  EXPECT_LT(dropped.z, 0.012f);
  EXPECT_GT(dropped.z, 0.002f);
  EXPECT_EQ(live->instruments()[0].force, glm::vec3(0.f));
  run(*live, 400, 460);
  EXPECT_LT(glm::distance(middle(ring), dropped), 1e-3f);
  EXPECT_EQ(live->disagreements(), 0u);
  EXPECT_EQ(live->organs()[0].positions[0], live->organs()[0].mesh.positions[0]);
}

TEST_F(RigidScene, EveryBackendFindsTheSameFaces) {
  const Scene read = scene(kBoard + kRing + kGrasper);
  const auto first = session(read), other = session(read, "obb");
  for (std::size_t frame = 0; frame < 200; ++frame) {
    for (Session* one : {first.get(), other.get()}) run(*one, frame, frame + 1);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto &a = first->organs()[k].touched.touches, &b = other->organs()[k].touched.touches;
      ASSERT_EQ(a.size(), b.size()) << frame;
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].face, b[i].face);
    }
  }
  EXPECT_EQ(hash_of_state(*first), hash_of_state(*other));
  EXPECT_EQ(first->disagreements() + other->disagreements(), 0u);
}

TEST_F(RigidScene, ARestoredSessionContinuesWithTheSameBits) {
  const Scene read = scene(kBoard + kRing + kGrasper);
  for (const std::size_t frame : {std::size_t{0}, std::size_t{70}, std::size_t{160}, std::size_t{255}}) {
    const auto one = session(read), other = session(read);
    run(*one, 0, frame);
    const std::vector<std::byte> block = one->save();
    run(*one, frame, frame + 60);
    other->restore(block);
    EXPECT_EQ(other->save(), block);
    run(*other, frame, frame + 60);
    EXPECT_EQ(hash_of_state(*one), hash_of_state(*other)) << frame;
  }
}

}  // namespace
}  // namespace trocar
