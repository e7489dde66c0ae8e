// Tests packed and compact recordings: every bit of a session with four kinds of instruments, uneven steps and failing
// devices comes back; a recording that cannot be computed again, or not finished, is refused.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/pack.hpp"
#include "sim/hdf5/packed_nodes.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/compact.hpp"
#include "tests/sim/ball_scene.hpp"
#include "tests/sim/put_cell.hpp"
#include "tests/sim/restless_device.hpp"
#include "tests/sim/session_support.hpp"

namespace trocar {
namespace {

TEST(PackedNodes, EveryBitPatternComesBack) {
  std::mt19937 random(5);
  for (const std::size_t frames : {1u, 2u, 3u, 119u, 120u}) {
    std::vector<std::uint32_t> block(frames * 7);
    for (std::uint32_t& bits : block) bits = random();  // among them infinities and numbers that are none
    const auto before = block;
    pack_block(block, 7);
    unpack_block(block, 7);
    EXPECT_EQ(block, before) << frames;
  }
}

TEST(PackedNodes, UniformMotionBecomesSmallNumbers) {
  std::vector<std::uint32_t> block;
  for (std::uint32_t frame = 0; frame < 10; ++frame) block.push_back(1000 - 3 * frame);
  pack_block(block, 1);
  EXPECT_EQ(std::vector<std::uint32_t>(block.begin() + 2, block.end()), std::vector<std::uint32_t>(8, 0));
}

class Packing : public ::testing::Test {
 protected:
  Packing()
      : scene_(load_scene(test::write_ball_scene(
            folder_, {.subdivisions = 3, .node_spacing = 14, .tip = 50, .more_tools = test::kFourKinds}))) {}

  std::filesystem::path at(const char* name) const { return folder_.path() / name; }

  // Uneven steps, and a pause in the middle.
  std::filesystem::path record(unsigned seed, const char* name, std::size_t frames = 130) {
    Session session(scene_, backends_, "aabb-refit", {}, [&](const InstrumentScene& instrument) {
      return std::make_unique<test::RestlessDevice>(instrument, seed++);
    });
    SessionRecorder recorder(recording_file(at(name)), scene_, session, "none");
    std::mt19937 random(seed);
    double time = 0.0;
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
      const double step = kFrame * (0.5 + 1e-3 * static_cast<double>(random() % 1000));
      if (frame == frames / 2) session.suspend_devices();
      session.step({frame, time}, step);
      recorder.append(session, time);
      touched_ += session.touched();
      time += step;
    }
    recorder.close();
    const Organ& ball = session.organs()[0];
    removed_ = index(ball.face_ids.back()) + 1 != ball.face_ids.size();  // ids are given once
    return at(name);
  }

  static bool goes_on(std::size_t) { return true; }

  TemporaryFolder folder_;
  Scene scene_;
  Backends backends_;
  std::size_t touched_ = 0;
  bool removed_ = false;
};

std::vector<GrowingTable> all_tables(const Recording& recording) {
  std::vector<GrowingTable> all;
  const std::size_t tools = recording.tools().size();
  const auto add = [&](const std::vector<GrowingTable>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(session_tables(tools, recording.stages().size()));
  add(later_tables(tools));
  add(clash_tables(tools));
  add(fibre_tables());
  add(clip_tables());
  add(bleed_tables(0));
  for (const OrganRecording& organ : recording.organs()) {
    add(organ_tables(organ.name, organ.nodes, tools));
    add(organ_later_tables(organ.name, tools));
  }
  for (const char* path : {kToolRadiusPath, kToolBeforePath, kToolBeforeJointsPath})
    all.push_back({path, Cell::F64, {}});
  return all;
}

void expect_same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  const H5File a = H5File::open(one), b = H5File::open(other);
  for (const char* attribute : kTextAttributes) EXPECT_EQ(a.text(attribute), b.text(attribute)) << attribute;
  EXPECT_EQ(b.text(kFormAttribute), "");
  for (const GrowingTable& kind : all_tables(Recording(one))) {
    ASSERT_EQ(a.has_table(kind.path), b.has_table(kind.path)) << kind.path;
    if (!a.has_table(kind.path)) continue;
    const H5Table first = a.table(kind.path, kind.cell), second = b.table(kind.path, kind.cell);
    EXPECT_EQ(first.row_shape(), second.row_shape()) << kind.path;
    EXPECT_EQ(first.read_all<std::uint8_t>(), second.read_all<std::uint8_t>()) << kind.path;
  }
}

template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Packing, APackedRecordingComesBackAndIsReadInAnyOrder) {
  const auto full = record(1, "full.h5", 260), packed = at("packed.h5");
  pack_recording(full, packed);
  unpack_recording(packed, at("again.h5"));
  expect_same_file(full, at("again.h5"));
  EXPECT_LT(std::filesystem::file_size(packed), std::filesystem::file_size(full) / 2);
  const Recording plain(full), small(packed);
  EXPECT_EQ(small.form(), RecordingForm::Packed);
  OrganFrame one, other;
  std::mt19937 random(2);
  for (int k = 0; k < 60; ++k) {
    const std::size_t frame = random() % plain.frame_count();
    plain.read_frame(frame, 0, one);
    small.read_frame(frame, 0, other);
    EXPECT_EQ(one.nodes, other.nodes) << frame;
    EXPECT_EQ(one.pressure, other.pressure) << frame;
  }
}

TEST_F(Packing, ACompactRecordingIsComputedAgainBitForBit) {
  for (const unsigned seed : {10u, 20u}) {
    touched_ = 0;
    const auto full = record(seed, "full.h5");
    ASSERT_GT(touched_, 1000u) << seed;
    ASSERT_TRUE(removed_) << "nothing was burnt";
    compact_recording(full, at("compact.h5"), goes_on);
    expand_recording(at("compact.h5"), at("again.h5"), goes_on);
    expect_same_file(full, at("again.h5"));
  }
}

TEST_F(Packing, TissueOfTheLawRisingIsComputedAgainBitForBit) {
  std::string text = scene_.text;
  const std::string spacing = "node_spacing_mm";
  text.insert(text.find(spacing), "law = \"rising\"\nstiffening = 2\n");
  scene_ = load_scene(folder_.write("rising.toml", text));
  const auto full = record(12, "full.h5", 60);
  ASSERT_EQ(scene_.organs[0].tissue.law, TissueLaw::Rising);
  compact_recording(full, at("compact.h5"), goes_on);
  expand_recording(at("compact.h5"), at("again.h5"), goes_on);
  expect_same_file(full, at("again.h5"));
}

TEST_F(Packing, APackedRecordingHasACompactForm) {
  const auto full = record(3, "full.h5", 40);
  pack_recording(full, at("packed.h5"));
  compact_recording(at("packed.h5"), at("compact.h5"), goes_on);
  expand_recording(at("compact.h5"), at("again.h5"), goes_on);
  expect_same_file(full, at("again.h5"));
}

TEST_F(Packing, KeyFramesKeepTheirNodes) {
  compact_recording(record(4, "full.h5", 320), at("compact.h5"), goes_on);
  const Recording full(at("full.h5"));
  const H5File compact = H5File::open(at("compact.h5"));
  const auto keys = compact.table(kKeyFramePath, Cell::U32).read_all<std::uint32_t>();
  ASSERT_EQ(keys.size(), 2u);  // 5 s apart
  EXPECT_EQ(keys[0], 0u);
  const H5Table nodes = compact.table("/organs/ball/key_nodes", Cell::F32);
  OrganFrame frame;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    full.read_frame(keys[k], 0, frame);
    EXPECT_EQ(nodes.read_rows<glm::vec3>(k, 1), frame.nodes);
  }
}

TEST_F(Packing, OtherReadersSayWhatToDoWithACompactRecording) {
  compact_recording(record(5, "full.h5", 10), at("compact.h5"), goes_on);
  EXPECT_NE(refusal([&] { Recording{at("compact.h5")}; }).find("trocar file unpack"), std::string::npos);
  EXPECT_NE(refusal([&] { pack_recording(at("compact.h5"), at("b.h5")); }).find("trocar file unpack"),
            std::string::npos);
  EXPECT_NE(refusal([&] { unpack_recording(at("full.h5"), at("b.h5")); }).find("is a full recording"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(at("b.h5")));
}

// Returns a copy of a recording in which a cell of a table is another.
std::filesystem::path with_number(const std::filesystem::path& file, const char* table,
                                  const std::vector<unsigned long long>& cell, double number) {
  const auto copy = file.parent_path() / "other.h5";
  std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
  test::put_cell(copy, table, cell, number);
  return copy;
}

TEST_F(Packing, ARecordingThatIsComputedOtherwiseHasNoCompactForm) {
  const auto other = with_number(record(6, "full.h5", 60), "/session/step_time", {30}, 0.01);
  const std::string said = refusal([&] { compact_recording(other, at("compact.h5"), goes_on); });
  EXPECT_NE(said.find("of frame 30, organ ball, differ when the session is computed again"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(at("compact.h5")));
  EXPECT_FALSE(std::filesystem::exists(at("compact.h5.partial")));
}

TEST_F(Packing, ADamagedCompactRecordingIsRefused) {
  compact_recording(record(7, "full.h5", 60), at("compact.h5"), goes_on);
  const auto other = with_number(at("compact.h5"), "/session/tool_tip", {20, 0, 2}, 0.03);
  const std::string said = refusal([&] { expand_recording(other, at("again.h5"), goes_on); });
  EXPECT_NE(said.find("cannot be computed again as it was recorded"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(at("again.h5")));
}

TEST_F(Packing, AnInterruptedRunWritesNothing) {
  const auto full = record(8, "full.h5", 20);
  EXPECT_THROW(compact_recording(full, at("compact.h5"), [](std::size_t frames) { return frames < 10; }), RunError);
  EXPECT_FALSE(std::filesystem::exists(at("compact.h5")));
  EXPECT_FALSE(std::filesystem::exists(at("compact.h5.partial")));
}

TEST_F(Packing, RecordingsThatCannotBeComputedAgainSayWhy) {
  Session session(scene_, backends_, "scan", {}, [](const InstrumentScene& instrument) {
    return std::make_unique<test::RestlessDevice>(instrument, 1);
  });
  session.step({0, 0.0}, kFrame);
  SessionRecorder recorder(recording_file(at("late.h5")), scene_, session, "none");
  session.step({1, kFrame}, kFrame);
  recorder.append(session, kFrame);
  const auto compact = [&](const char* name) {
    return refusal([&] { compact_recording(at(name), at("compact.h5"), goes_on); });
  };
  std::string live = compact("late.h5");
  for (int wait = 0; wait < 100 && live.find("complete frame") != std::string::npos; ++wait) {  // not written yet
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    live = compact("late.h5");
  }
  EXPECT_NE(live.find("another program is writing"), std::string::npos) << live;
  std::filesystem::copy_file(at("late.h5"), at("killed.h5"));
  EXPECT_NE(compact("killed.h5").find("trocar file recover"), std::string::npos) << compact("killed.h5");
  recorder.close();
  EXPECT_NE(compact("late.h5").find("began in the middle of a session"), std::string::npos) << compact("late.h5");
  EXPECT_FALSE(std::filesystem::exists(at("compact.h5")));
}

}  // namespace
}  // namespace trocar
