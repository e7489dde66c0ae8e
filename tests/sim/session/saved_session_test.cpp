// Tests saved sessions: a session that is restored and continued has the same bits as one that was never interrupted,
// after cuts, grasps, breathing and a device that failed. Damaged blocks and blocks of other scenes are refused.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// A script whose device gives no new poses in ticks 70 to 79: the guard then leads the instrument back.
class InterruptedScript final : public Device {
 public:
  explicit InterruptedScript(std::unique_ptr<Device> path) : path_(std::move(path)) {}
  DevicePose pose(const FrameClock& clock) override {
    health_ = clock.frame >= 70 && clock.frame < 80 ? DeviceHealth::Stale : DeviceHealth::Good;
    return path_->pose(clock);
  }
  DeviceHealth health() const override { return health_; }
  bool follows_ticks() const override { return true; }

 private:
  std::unique_ptr<Device> path_;
  DeviceHealth health_ = DeviceHealth::Good;
};

class SavedSession : public ::testing::Test {
 protected:
  SavedSession() {
    save_mesh(shapes::icosphere(4, 0.04f), folder_.path() / "left.obj");
    save_mesh(shapes::icosphere(3, 0.03f, {0.072f, 0.f, 0.f}), folder_.path() / "right.obj");
  }

  static std::string organ(const std::string& name, int x, const std::string& law) {
    return "[[organ]]\nname = \"" + name + "\"\nmesh = \"" + name + ".obj\"\n[organ.tissue]\n" + law +
           "node_spacing_mm = 8\n[[organ.attachment]]\ncentre_mm = [" + std::to_string(x) +
           ", 0, -38]\nradius_mm = 25\ndiaphragm = true\n";
  }
  static std::string instrument(const std::string& kind, const std::string& script) {
    return "[[instrument]]\nname = \"" + kind + "\"\nkind = \"" + kind +
           "\"\npivot_mm = [0, 20, 150]\ntip_mm = [0, 0, 39]\nradius_mm = 3\ndevice = \"script\"\nscript = \"" +
           script + "\"\n";
  }

  Scene scene(const std::string& more = "", const std::string& law = "") {
    return load_scene(
        folder_.write("s.toml", "schema = 2\n[breathing]\namplitude_mm = 8\nrate_hz = 1\ndirection = [1, 0, 0]\n" +
                                    organ("left", 0, law) + organ("right", 72, law) + instrument("probe", "press") +
                                    instrument("grasper", "pull") + instrument("hook", "burn") +
                                    instrument("scissors", "press") + more));
  }

  std::unique_ptr<Session> session(const Scene& scene, const std::string& backend = "scan") {
    return std::make_unique<Session>(
        scene, backends_, backend, std::vector<CheckPlan>{{"obb-refit", 1}}, [](const InstrumentScene& instrument) {
          auto path = make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, 2.0});
          return std::make_unique<InterruptedScript>(std::move(path));
        });
  }

  static void run(Session& session, std::size_t first, std::size_t last) {
    for (std::size_t frame = first; frame < last; ++frame)
      session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  }

  static std::uint64_t add_face(std::uint64_t hash, FaceId face) { return (hash ^ index(face)) * 1099511628211ull; }

  // What a recording would show of the last frame.
  static std::uint64_t hash_of_frame(const Session& session) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const Organ& organ : session.organs()) {
      hash = hash_of(hash, std::as_bytes(std::span(organ.positions)));
      for (const FaceId slot : organ.tip_faces) hash = add_face(hash, queried_ids(organ)[index(slot)]);
      hash = hash_of(hash, std::as_bytes(std::span(organ.touch_pressure)));
      for (const Touch& touch : organ.touches.touches) hash = add_face(hash, queried_ids(organ)[index(touch.face)]);
    }
    for (const Instrument& instrument : session.instruments())
      hash = hash_of(hash, std::as_bytes(std::span(&instrument.force, 1)));
    return hash;
  }

  // Makes the checksum of an altered block right.
  static void put_checksum(std::vector<std::byte>& block) {
    constexpr std::size_t kChecksum = 24;  // bytes
    const std::uint64_t sum = hash_of(14695981039346656037ull, std::span(block).subspan(kBody));
    std::memcpy(block.data() + kChecksum, &sum, sizeof sum);
  }

  static constexpr std::size_t kBody = 32;  // bytes of a block before its arrays
  TemporaryFolder folder_;
  CpuBackends backends_;
};

TEST_F(SavedSession, ContinuesBitForBit) {
  constexpr std::size_t kLast = 160;
  const Scene everything = scene();
  const auto whole = session(everything);
  std::vector<std::uint64_t> frames;
  std::vector<std::vector<std::byte>> blocks = {whole->save()};
  for (std::size_t frame = 0; frame < kLast; ++frame) {
    run(*whole, frame, frame + 1);
    frames.push_back(hash_of_frame(*whole));
    blocks.push_back(whole->save());
  }
  ASSERT_GT(whole->organs()[0].topology, 0u);
  // Restores into a fresh session, and into one that has run other frames with another backend.
  const auto fresh = session(everything), used = session(everything, "aabb-refit");
  run(*used, 40, 120);
  for (const std::size_t saved :
       {std::size_t{0}, std::size_t{33}, std::size_t{75}, std::size_t{82}, std::size_t{130}}) {
    for (Session* session : {fresh.get(), used.get()}) {
      session->restore(blocks[saved]);
      EXPECT_EQ(session->save(), blocks[saved]) << "saved after frame " << saved;
      for (std::size_t frame = saved; frame < kLast; ++frame) {
        run(*session, frame, frame + 1);
        ASSERT_EQ(hash_of_frame(*session), frames[frame]) << "saved after frame " << saved << ", frame " << frame;
      }
      EXPECT_EQ(session->save(), blocks[kLast]) << "saved after frame " << saved;
      EXPECT_EQ(session->disagreements(), 0u);
    }
  }
  std::printf("a block of %zu organs and %zu instruments: %zu KiB\n", whole->organs().size(),
              whole->instruments().size(), blocks.back().size() >> 10);
}

// Burning moves the centroids of cells, on which the law `rising` depends.
TEST_F(SavedSession, TissueOfTheLawRisingContinuesBitForBit) {
  const Scene everything = scene("", "law = \"rising\"\nstiffening = 2\n");
  const auto whole = session(everything), again = session(everything);
  const auto moved = [&] {
    const TissueModel &burnt = whole->organs()[0].tissue, &intact = again->organs()[0].tissue;
    for (std::size_t k = 0; k < burnt.centre.size(); ++k)
      if (burnt.centre[k] != intact.centre[k] && burnt.bulk[burnt.bulk_index[k]] > 0.f) return true;
    return false;
  };
  std::size_t frame = 0;
  while (!moved() && frame < 160) run(*whole, frame, frame + 1), ++frame;
  ASSERT_TRUE(moved());
  // As long as the hook burns there, every frame computes the centroids again.
  for (const std::size_t later = frame + 60; frame < later; ++frame) run(*whole, frame, frame + 1);
  again->restore(whole->save());
  for (const std::size_t last = frame + 25; frame < last; ++frame) {
    run(*whole, frame, frame + 1), run(*again, frame, frame + 1);
    ASSERT_EQ(hash_of_frame(*again), hash_of_frame(*whole)) << frame;
  }
  EXPECT_EQ(again->save(), whole->save());
}

TEST_F(SavedSession, ADamagedBlockIsRefusedAndChangesNothing) {
  const Scene everything = scene();
  const auto first = session(everything);
  run(*first, 0, 70);
  const std::vector<std::byte> block = first->save();
  std::mt19937 random(1999);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::byte> damaged = block;
    const std::size_t at = trial < 40 ? static_cast<std::size_t>(trial) : random() % block.size();
    if (trial % 2 == 0) {
      damaged[at] ^= std::byte{1};
    } else {
      damaged.resize(at);
    }
    EXPECT_THROW(first->restore(damaged), InputError) << "byte " << at;
  }
  EXPECT_EQ(first->save(), block);
}

// It is refused after its last array has been read.
TEST_F(SavedSession, ATooLongBlockOfAnotherFrameChangesNothing) {
  const Scene everything = scene();
  const auto first = session(everything);
  run(*first, 0, 2);
  std::vector<std::byte> longer = first->save();
  longer.push_back(std::byte{0});
  put_checksum(longer);
  run(*first, 2, 4);
  const std::vector<std::byte> block = first->save();
  EXPECT_THROW(first->restore(longer), InputError);
  EXPECT_EQ(first->save(), block);
}

// The checksum of an altered block can be right; its arrays then contradict each other.
TEST_F(SavedSession, AnAlteredBlockIsRefusedAndChangesNothing) {
  const Scene everything = scene();
  const auto first = session(everything);
  run(*first, 0, 70);
  const std::vector<std::byte> block = first->save();
  std::vector<std::byte> longer = block, fewer = block;
  longer.push_back(std::byte{0});
  fewer[kBody] = std::byte{3};  // the number of vertices of the first organ
  for (std::vector<std::byte>* altered : {&longer, &fewer}) {
    put_checksum(*altered);
    EXPECT_THROW(first->restore(*altered), InputError);
    EXPECT_EQ(first->save(), block);
  }
}

TEST_F(SavedSession, AnotherSceneIsRefused) {
  const auto first = session(scene());
  const std::vector<std::byte> block = first->save();
  std::string fifth = instrument("probe", "press");
  fifth.replace(fifth.find("probe"), 5, "fifth");
  std::string text = scene().text;
  text.replace(text.find("rate_hz = 1"), 11, "rate_hz = 2");
  for (const Scene& other : {scene(fifth), load_scene(folder_.write("s.toml", text))}) {
    try {
      session(other)->restore(block);
      FAIL() << "restored";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "the session was saved from another scene; open that scene");
    }
  }
}

}  // namespace
}  // namespace trocar
