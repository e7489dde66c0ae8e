// Tests sheets in a session: their keys and the sentences about them, the touched faces of every backend, jaws, blades
// and hot wires, saved sessions.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// A ball, and over it a sheet whose border is fixed.
class SheetScene : public ::testing::Test {
 protected:
  SheetScene() { save_mesh(shapes::icosphere(4, 0.03f), folder_.path() / "ball.obj"); }

  static std::string sheet(const std::string& keys = "spacing_mm = 6\nthickness_mm = 0.3\n") {
    return "[[organ]]\nname = \"sheet\"\n[organ.sheet]\ncorners_mm = [[-30, -30, 32], [30, -30, 32], [30, 30, 32], "
           "[-30, 30, 32]]\n" +
           keys +
           "[organ.tissue]\nyoungs_modulus = 300000\ndamping_ms = 1\ngravity = [0, 0, -9.81]\n"
           "[[organ.attachment]]\ncentre_mm = [-30, -30, 32]\nradius_mm = 9\n"
           "[[organ.attachment]]\ncentre_mm = [30, 30, 32]\nradius_mm = 9\n"
           "[[organ.attachment]]\ncentre_mm = [-30, 30, 32]\nradius_mm = 9\nstiffness = 200\n";
  }
  static std::string instrument(const std::string& kind, const std::string& script, int x = 0, int y = 0, int z = 38) {
    return "[[instrument]]\nname = \"" + kind + "\"\nkind = \"" + kind + "\"\npivot_mm = [40, 60, 150]\ntip_mm = [" +
           std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) +
           "]\nradius_mm = 2.5\ndevice = \"script\"\nscript = \"" + script + "\"\n";
  }
  Scene scene(const std::string& rest) {
    return load_scene(folder_.write(
        "s.toml",
        "schema = 2\n[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = 8\n"
        "[[organ.attachment]]\ncentre_mm = [0, 0, -38]\nradius_mm = 25\n" +
            rest));
  }
  std::string fault(const std::string& rest) {
    try {
      scene(rest);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::unique_ptr<Session> session(const Scene& scene, const std::string& backend = "scan") {
    return std::make_unique<Session>(
        scene, backends_, backend, std::vector<CheckPlan>{{"obb-refit", 1}, {"aabb", 1}},
        [](const InstrumentScene& instrument) {
          return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.016, 0.008, 2.0});
        });
  }
  static void run(Session& session, std::size_t first, std::size_t last) {
    for (std::size_t frame = first; frame < last; ++frame)
      session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  }
  static std::uint64_t hash_of_state(const Session& session) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const Organ& organ : session.organs()) {
      hash = hash_of(hash, std::as_bytes(std::span(organ.positions)));
      hash = hash_of(hash, std::as_bytes(std::span(organ.state.v)));
      hash = hash_of(hash, std::as_bytes(std::span(organ.mesh.faces)));
    }
    for (const Instrument& instrument : session.instruments())
      hash = hash_of(hash, std::as_bytes(std::span(&instrument.force, 1)));
    return hash;
  }

  TemporaryFolder folder_;
  CpuBackends backends_;
};

TEST_F(SheetScene, FaultsAreSentences) {
  EXPECT_EQ(fault(sheet() + instrument("probe", "press")), "");
  const auto has = [&](const std::string& text, const std::string& words) {
    EXPECT_NE(fault(text).find(words), std::string::npos) << fault(text);
  };
  has("[[organ]]\nname = \"s\"\n[organ.sheet]\ncorners_mm = [[0, 0, 0], [1, 0, 0]]\n", "has 2 corners");
  has("[[organ]]\nname = \"s\"\n[organ.sheet]\ncorners_mm = [[0, 0, 0], [9, 0, 0], [18, 0, 0]]\n", "lie on one line");
  has("[[organ]]\nname = \"s\"\n[organ.sheet]\ncorners_mm = [[0, 0, 0], [900, 0, 0], [0, 900, 0]]\n",
      "raise spacing_mm");
  has("[[organ]]\nname = \"s\"\n[organ.sheet]\nspacing_mm = 4\n", "mesh");
  has(sheet() + "[organ.blood]\n", "not for an organ with [organ.sheet]");
  has(sheet("thickness_mm = 0\n"), "thickness_mm");
  has(sheet() + "[[layer]]\nname = \"l\"\norgan = \"ball\"\nto = \"sheet\"\n", "name sheet as `organ`");
}

TEST_F(SheetScene, ItIsWrittenAsItWasRead) {
  const Scene read = scene(sheet() + instrument("probe", "press"));
  const Scene again = parse_scene(scene_text(read, read.file), read.file);
  ASSERT_TRUE(again.organs[1].sheet.has_value());
  EXPECT_EQ(again.organs[1].sheet->corners, read.organs[1].sheet->corners);
  EXPECT_EQ(again.organs[1].sheet->thickness, read.organs[1].sheet->thickness);
  EXPECT_EQ(surface_of(again.organs[1]).positions, surface_of(read.organs[1]).positions);
}

// A surface with a border, from a file.
TEST_F(SheetScene, AMeshFileIsASheetToo) {
  TriangleMesh half = shapes::icosphere(2, 0.03f);
  std::erase_if(half.faces, [&](const glm::uvec3& f) {
    return half.positions[f.x].z < 0.01f || half.positions[f.y].z < 0.01f || half.positions[f.z].z < 0.01f;
  });
  save_mesh(half, folder_.path() / "cap.obj");
  const Scene cap = scene(
      "[[organ]]\nname = \"cap\"\nmesh = \"cap.obj\"\noffset_mm = [0, 0, 8]\n[organ.sheet]\n"
      "[organ.tissue]\nyoungs_modulus = 300000\n" +
      instrument("probe", "press"));
  const auto made = session(cap);
  run(*made, 0, 30);
  EXPECT_EQ(made->disagreements(), 0u);
}

// Random paths of a probe: every backend and the double reference find the same faces, and the sheet stays finite.
TEST_F(SheetScene, EveryBackendTouchesTheSameFaces) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::printf("sheet: seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const Scene made = scene(sheet() + instrument("probe", "press") + instrument("grasper", "press", 10, 5));
  std::vector<DevicePose> poses(2);
  std::size_t next = 0;
  Session session(made, backends_, "scan", {{"obb-refit", 1}, {"obb", 1}, {"aabb-refit", 1}},
                  [&](const InstrumentScene&) { return std::make_unique<PosedDevice>(&poses[next++]); });
  std::uint64_t touched = 0;
  std::vector<glm::dvec3> from(2), to(2);
  for (std::size_t frame = 0; frame < 160; ++frame) {
    for (std::size_t k = 0; k < 2; ++k) {
      if (frame % 20 == 0) {
        from[k] = frame == 0 ? glm::dvec3(0.0, 0.02 * double(k), 0.05) : to[k];
        to[k] = {0.025 * unit(random), 0.025 * unit(random), 0.034 + 0.012 * unit(random)};
        if (frame == 0) to[k] = {0.01 * double(k), 0.01 * double(k), 0.03};  // so that every path touches the sheet
      }
      const double share = static_cast<double>(frame % 20 + 1) / 20.0;
      poses[k].pivot = {0.04 - 0.08 * double(k), 0.06, 0.15};
      poses[k].tip = glm::mix(from[k], to[k], share);
      poses[k].grip = 0.5 + 0.5 * unit(random);
    }
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
    touched += session.organs()[1].touches.touches.size();
    for (const glm::vec3& p : session.organs()[1].positions) ASSERT_LT(glm::length(p), 0.2f) << frame;
  }
  std::printf("sheet: %llu faces touched\n", static_cast<unsigned long long>(touched));
  EXPECT_GT(touched, 500u);
  EXPECT_EQ(session.disagreements(), 0u);
}

// Once every buffer has held its largest frame, none grows.
TEST_F(SheetScene, PressingAllocatesNothing) {
  const Scene made = scene(sheet() + instrument("probe", "press", 0, 0, 25));
  Session session(made, backends_, "scan", {}, [](const InstrumentScene& instrument) {
    return std::make_unique<LoopingDevice>(
        make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.016, 0.008, 2.0}));
  });
  run(session, 0, 480);
  const std::uint64_t before = allocations_so_far();
  float strongest = 0.f;
  for (std::size_t frame = 480; frame < 600; ++frame) {
    run(session, frame, frame + 1);
    strongest = std::max(strongest, glm::length(session.instruments()[0].force));
  }
  EXPECT_EQ(allocations_so_far() - before, 0u);
  EXPECT_GT(strongest, 0.05f);
}

// Cut by scissors and burnt by a hook: faces keep their ids, and restored sessions go on with the same bits.
TEST_F(SheetScene, IsCutBurntAndRestored) {
  const Scene made = scene(sheet() + instrument("grasper", "pull", -8, 4, 25) +
                           instrument("scissors", "pull", 12, -8, 24) + instrument("hook", "burn", 2, 12, 25));
  const auto whole = session(made);
  constexpr std::size_t kLast = 120, kSaved = 65;
  std::vector<std::byte> block;
  std::vector<std::uint64_t> frames;
  std::uint32_t changes = 0;
  std::size_t removed = 0;
  bool held = false;
  for (std::size_t frame = 0; frame < kLast; ++frame) {
    if (frame == kSaved) block = whole->save();
    run(*whole, frame, frame + 1);
    const Organ& organ = whole->organs()[1];
    changes = organ.topology, removed += organ.change.removed.size();
    held = held || whole->instruments()[0].grasp.holding();
    frames.push_back(hash_of_state(*whole));
    for (const glm::vec3& p : organ.positions) ASSERT_TRUE(std::isfinite(p.x + p.y + p.z)) << frame;
  }
  std::printf("sheet: %u changes, %zu faces removed, %s\n", changes, removed, held ? "held" : "not held");
  EXPECT_GT(changes, 0u);
  EXPECT_TRUE(held);
  EXPECT_EQ(whole->disagreements(), 0u);
  const auto again = session(made);
  run(*again, 0, 7);
  again->restore(block);
  for (std::size_t frame = kSaved; frame < kLast; ++frame) {
    run(*again, frame, frame + 1);
    ASSERT_EQ(hash_of_state(*again), frames[frame]) << frame;
  }
  const auto fresh = session(made, "obb-refit");
  for (std::size_t frame = 0; frame < kLast; ++frame) {
    run(*fresh, frame, frame + 1);
    ASSERT_EQ(hash_of_state(*fresh), frames[frame]) << frame;
  }
}

}  // namespace
}  // namespace trocar
