// Tests connective tissue in recordings: the ends and the intact fibres of every frame are those of the session, bit
// for bit; sessions without fibres have no tables of them; damaged tables are refused with one sentence.
#include "sim/review/recorded_frames.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/device/script_device.hpp"
#include "sim/record/session_recorder.hpp"
#include "tests/sim/put_cell.hpp"
#include "tests/sim/recorded_script.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// The scene of the product without its ducts, with a bed that tears where the grasper pulls and the hook presses.
Scene torn_bed() {
  Scene scene = load_scene(repository_file("data/scenes/gallbladder_bed.toml"));
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.tube.has_value(); });
  std::erase_if(scene.layers, [](const LayerScene& layer) { return layer.name != "bed"; });
  scene.layers[0].params.break_strain = 0.05f;
  scene.instruments[1].tip = {-0.055, 0.060, 0.158};
  return scene;
}

// What a session shows after a frame, or before the first.
struct Shown {
  std::vector<FibreEnds> ends;
  std::vector<std::uint8_t> intact;
  std::vector<std::uint32_t> broken;
  std::vector<FibreBreak> how;
  std::vector<std::uint32_t> group;
};

Shown shown_by(const Session& session) {
  const Bonds& bonds = session.bonds().bonds();
  const auto groups = session.bonds().groups();
  Shown shown{{}, bonds.intact, bonds.broken, bonds.broken_how, {groups.begin(), groups.end()}};
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f) shown.ends.push_back(session.bonds().ends(f));
  return shown;
}

struct LoadedFibres {
  Recording recording;
  RecordedFibres fibres{recording};
  std::vector<OrganFrame> organs{recording.organs().size()};
  std::vector<std::span<const glm::vec3>> nodes{recording.organs().size()};

  void load(std::size_t frame) {
    for (std::size_t k = 0; k < organs.size(); ++k) {
      recording.read_frame(frame, k, organs[k]);
      nodes[k] = organs[k].nodes;
    }
    fibres.load(frame, nodes);
  }
};

// The fibres of a frame are those that the session had when the frame began.
void expect_same(LoadedFibres& loaded, std::size_t frame, const Shown& before, const Shown& after) {
  loaded.load(frame);
  ASSERT_EQ(loaded.fibres.size(), before.ends.size());
  for (std::size_t f = 0; f < before.ends.size(); ++f) {
    ASSERT_EQ(loaded.fibres.at_rest(f).group, before.group[f]) << "fibre " << f;
    ASSERT_EQ(loaded.fibres.intact(f), before.intact[f] != 0) << "frame " << frame << ", fibre " << f;
    ASSERT_EQ(loaded.fibres.ends(f).a, before.ends[f].a) << "frame " << frame << ", fibre " << f;
    ASSERT_EQ(loaded.fibres.ends(f).b, before.ends[f].b) << "frame " << frame << ", fibre " << f;
  }
  ASSERT_TRUE(std::ranges::equal(broken_in(loaded.recording.fibres(), frame), after.broken)) << "frame " << frame;
  ASSERT_TRUE(std::ranges::equal(how_broken_in(loaded.recording.fibres(), frame), after.how)) << "frame " << frame;
}

// Frames in which fibres break.
constexpr std::size_t kFirstBreak = 8, kLastBreak = 10;

class RecordedBed : public ::testing::Test {
 protected:
  // Records the frames of a session from `first` to `last` - 1.
  std::vector<Shown> record(std::size_t first, std::size_t last) {
    const Scene scene = torn_bed();
    Session session(scene, backends_, "scan", {}, [](const InstrumentScene& instrument) {
      return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, 2.0});
    });
    std::size_t frame = 0;
    const auto step = [&] { session.step({frame, double(frame) * kFrame}, kFrame), ++frame; };
    while (frame < first) step();
    std::vector<Shown> shown = {shown_by(session)};
    SessionRecorder recorder(recording_file(file_), scene, session, "none");
    while (frame < last) {
      step();
      recorder.append(session, double(frame) * kFrame);
      shown.push_back(shown_by(session));
    }
    recorder.close();
    return shown;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "s.h5";
  Backends backends_;
};

// Checks every frame, in ascending and in another order. Returns the number of fibres that break.
std::size_t expect_all(LoadedFibres& loaded, const std::vector<Shown>& shown) {
  std::size_t broken = 0;
  for (std::size_t frame = 0; frame + 1 < shown.size(); ++frame) {
    expect_same(loaded, frame, shown[frame], shown[frame + 1]);
    broken += shown[frame + 1].broken.size();
  }
  for (const std::size_t frame : {shown.size() - 2, std::size_t{3}, shown.size() / 2, std::size_t{0}})
    expect_same(loaded, frame, shown[frame], shown[frame + 1]);
  std::printf("%zu fibres, %zu broken before, %zu in %zu frames\n", loaded.fibres.size(),
              broken_before(loaded.recording.fibres(), 0).size(), broken, loaded.recording.frame_count());
  return broken;
}

// Fibres break in several frames, also in the last one of the recording.
TEST_F(RecordedBed, FibresAreThoseOfTheSessionInEveryFrame) {
  const std::vector<Shown> shown = record(0, kLastBreak + 1);
  LoadedFibres loaded{Recording(file_)};
  EXPECT_GT(loaded.fibres.size(), 100u);
  EXPECT_GT(expect_all(loaded, shown), 5u);
  EXPECT_TRUE(broken_before(loaded.recording.fibres(), 0).empty());
  EXPECT_GT(shown[kFirstBreak + 1].broken.size(), 0u);
  EXPECT_GT(shown.back().broken.size(), 0u);
}

TEST_F(RecordedBed, FibresBrokenBeforeTheRecordingStayBroken) {
  const std::vector<Shown> shown = record(kFirstBreak + 1, kLastBreak + 7);
  LoadedFibres loaded{Recording(file_)};
  EXPECT_GT(expect_all(loaded, shown), 0u);
  EXPECT_GT(broken_before(loaded.recording.fibres(), 0).size(), 0u);
}

// A recording of the script, with one change to its file.
class ChangedFibres : public ::testing::Test {
 protected:
  void record(const RecordingHeader& header) const {
    Recorder recorder(file_, header);
    for (std::uint32_t frame = 0; frame < 20; ++frame) script_.append(recorder, frame);
    recorder.close();
  }
  void change(const std::function<void(hid_t)>& what) const {
    std::filesystem::remove(file_);
    record(script_.header);
    const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    what(file);
    H5Fclose(file);
  }
  // Overwrites the first number of a table.
  void put_first(const char* path, double value) const {
    change([&](hid_t file) { test::put_cell(file, path, {0, 0, 0}, value); });
  }
  void set_rows(std::initializer_list<const char*> paths, hsize_t rows) const {
    change([&](hid_t file) {
      for (const char* path : paths) {
        const hid_t table = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(table);
        hsize_t shape[3] = {};
        H5Sget_simple_extent_dims(space, shape, nullptr);
        shape[0] = rows;
        EXPECT_GE(H5Dset_extent(table, shape), 0);
        H5Sclose(space), H5Dclose(table);
      }
    });
  }
  void expect_refused(const std::string& sentence) const {
    try {
      const Recording recording(file_);
      ADD_FAILURE() << "was read, not refused: " << sentence;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), file_.string() + ": " + sentence);
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "s.h5";
  test::Script script_;
};

TEST_F(ChangedFibres, WithoutFibresThereAreNoTablesOfThem) {
  RecordingHeader header = script_.header;
  header.fibres.clear(), header.broken.clear();
  record(header);
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_EQ(H5Lexists(file, "/bonds", H5P_DEFAULT), 0);
  H5Fclose(file);
  const Recording recording(file_);
  EXPECT_EQ(recording.frame_count(), 20u);
  EXPECT_TRUE(recording.fibres().fibres.empty());
  EXPECT_TRUE(broken_in(recording.fibres(), 10).empty());
}

TEST_F(ChangedFibres, OlderRecordingsWithoutFibresAreRead) {
  change([](hid_t file) { EXPECT_GE(H5Ldelete(file, "/bonds", H5P_DEFAULT), 0); });
  const Recording older(file_);
  EXPECT_EQ(older.frame_count(), 20u);
  EXPECT_TRUE(older.fibres().fibres.empty());
}

TEST_F(ChangedFibres, OlderRecordingsWithoutGroupsAndCausesAreRead) {
  change([](hid_t file) {
    EXPECT_GE(H5Ldelete(file, "/bonds/group", H5P_DEFAULT), 0);
    EXPECT_GE(H5Ldelete(file, "/bonds/broken_how", H5P_DEFAULT), 0);
  });
  const Recording older(file_);
  test::expect_frames(older);
  EXPECT_TRUE(older.fibres().broken_how.empty());
  EXPECT_TRUE(how_broken_in(older.fibres(), 5).empty());
}

TEST_F(ChangedFibres, CausesThatDoNotExistAreRefused) {
  put_first("/bonds/broken_how", 4.0);
  expect_refused("the cause of a broken fibre is unknown; the file is damaged");
}

TEST_F(ChangedFibres, TablesOfAnotherSizeAreRefused) {
  for (const char* path :
       {"/bonds/organ", "/bonds/node", "/bonds/weight", "/bonds/point", "/bonds/length", "/bonds/group"}) {
    set_rows({path}, 63);
    expect_refused("the tables of its fibres have different numbers of rows; the file is damaged");
  }
  set_rows({"/bonds/organ", "/bonds/node", "/bonds/weight", "/bonds/point", "/bonds/length", "/bonds/group"}, 4);
  expect_refused("more fibres are broken than it has; the file is damaged");
  set_rows({"/bonds/broken_frame"}, 64);
  expect_refused("contains no complete frame");
  set_rows({"/bonds/node"}, hsize_t{1} << 40);
  expect_refused(
      "table /bonds/node claims more rows than its file can hold; the file is damaged, or not a Trocar recording");
  change([](hid_t file) { H5Ldelete(file, "/bonds/weight", H5P_DEFAULT); });
  expect_refused("has no /bonds/weight; the file is damaged, or not a Trocar recording");
  change([](hid_t file) {
    H5Ldelete(file, "/bonds/length", H5P_DEFAULT);
    H5Lcreate_hard(file, "/bonds/point", file, "/bonds/length", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_refused("table /bonds/length has rows of another shape; the file is not a Trocar recording");
}

TEST_F(ChangedFibres, EndsStayInTheirOrgans) {
  put_first("/bonds/organ", 2.0);
  expect_refused("an end of fibre 0 is not in an organ; the file is damaged");
  put_first("/bonds/node", 50.0);
  expect_refused("an end of fibre 0 is not in an organ; the file is damaged");
  put_first("/bonds/weight", std::numeric_limits<double>::infinity());
  expect_refused("an end of fibre 0 is not in an organ; the file is damaged");
  put_first("/bonds/length", -1.0);
  expect_refused("the length of fibre 0 is not a length; the file is damaged");
}

TEST_F(ChangedFibres, AFibreBreaksOnceAndInAscendingOrder) {
  put_first("/bonds/broken_fibre", 64.0);
  expect_refused("fibre 64 breaks twice or does not exist; the file is damaged");
  put_first("/bonds/broken_fibre", 2.0);
  expect_refused("fibre 2 breaks twice or does not exist; the file is damaged");
  put_first("/bonds/broken_frame", 7.0);
  expect_refused("the frames of its broken fibres are not in ascending order; the file is damaged");
}

// The frames before the first one that needs a missing row are complete. Rows of frames that are not complete are not
// read.
TEST_F(ChangedFibres, FramesEndBeforeAMissingRow) {
  set_rows({"/bonds/broken_fibre"}, 3);
  const Recording recording(file_);
  EXPECT_EQ(recording.frame_count(), 10u);
  EXPECT_EQ(recording.fibres().broken.size(), 3u);
  test::expect_frames(recording);
  set_rows({"/session/time"}, 6);
  const Recording shorter(file_);
  EXPECT_EQ(shorter.frame_count(), 6u);
  EXPECT_EQ(shorter.fibres().broken.size(), 3u);
}

TEST_F(ChangedFibres, MoreFibresThanAReaderAcceptsAreNotRecorded) {
  script_.header.fibres.resize(kMostFibres + 1);
  try {
    Recorder recorder(file_, script_.header);
    ADD_FAILURE() << "was recorded";
  } catch (const InputError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        file_.string() + ": the scene has 1048577 fibres, and a recording at most 1048576; make its layers smaller");
  }
  EXPECT_FALSE(std::filesystem::exists(file_));
}

}  // namespace
}  // namespace trocar
