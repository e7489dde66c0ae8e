// Tests recordings that a tool or a faulty disk has changed: each is refused with one sentence, and none is read past
// its end. Text that another program wrote is read.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "geometry/error.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/support/output_file.hpp"
#include "tests/sim/put_cell.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using test::put_cell;

void put_text(hid_t file, const char* name, hid_t type, hid_t space, const void* value) {
  H5Adelete(file, name);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, value), 0);
  H5Aclose(attribute), H5Sclose(space);
}

// Replaces a table by another one.
void replace(hid_t file, const char* path, hid_t type, std::span<const hsize_t> shape, hid_t create) {
  H5Ldelete(file, path, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t table = H5Dcreate2(file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  EXPECT_GE(table, 0);
  H5Dclose(table), H5Sclose(space);
}

class DamagedRecording : public ::testing::Test {
 protected:
  DamagedRecording() {
    TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
    TissueModel tissue;
    tissue.rest.assign(8, glm::vec3(0.f));
    tissue.embedding.resize(3);
    for (auto& embedding : tissue.embedding)
      std::iota(std::begin(embedding.node), std::end(embedding.node), std::uint32_t{0});
    RecordingHeader header;
    header.scene_text = "title = \"script\"";
    header.organs = {{"liver", &mesh, &tissue}};
    header.tools = {"left"};
    header.tool_radius = {0.0025};
    header.stages = {"query"};
    header.run.clock = ScoreClock::Wall;
    Recorder recorder(file_, header);
    const std::vector<glm::vec3> nodes(8, glm::vec3(0.f)), forces(1, glm::vec3(0.f));
    const std::vector<Touch> touches = {{FaceId{0}, {1, 2, 3}, {0, 0, 1}, 0.5f, 0.25f}};
    const std::vector<std::uint32_t> first = {0, 1};
    const std::vector<ToolPose> poses = {{{0, 0, 1}, {0, 0, 0}, 0.0025}};
    const std::vector<glm::dvec2> roll_grip = {{0.0, 1.0}};
    const std::vector<RecordedOrganFrame> organs = {{nodes, {touches, first}}};
    const std::vector<float> stage_ms = {0.5f};
    const std::vector<std::uint8_t> energy = {0};
    for (int frame = 0; frame < 10; ++frame)
      recorder.append({frame / 60.0,
                       poses,
                       roll_grip,
                       organs,
                       forces,
                       stage_ms,
                       0,
                       energy,
                       {},
                       {},
                       {},
                       {},
                       0,
                       TouchFault::None,
                       {},
                       frame / 30.0,
                       frame / 60.0});
    recorder.close();
  }

  void change(const std::function<void(hid_t)>& what) const {
    const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    what(file);
    H5Fclose(file);
  }

  void expect_refused(const std::string& part) const {
    try {
      const Recording recording(file_);
      ADD_FAILURE() << "was read";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "s.h5";
};

TEST_F(DamagedRecording, TheUndamagedRecordingIsRead) { EXPECT_EQ(Recording(file_).frame_count(), 10u); }

TEST_F(DamagedRecording, TimesMustBeFiniteAndAscending) {
  change([](hid_t file) { put_cell(file, "/session/time", {4}, 0.0); });
  expect_refused("the time of frame 4");
  change([](hid_t file) { put_cell(file, "/session/time", {4}, std::numeric_limits<double>::quiet_NaN()); });
  expect_refused("the time of frame 4");
}

TEST_F(DamagedRecording, WallTimesUsedByScoresMustBeFiniteAndAscending) {
  change([](hid_t file) { put_cell(file, "/session/wall_time", {4}, 0.0); });
  expect_refused("the time of frame 4");
}

// Scores use the wall time if the recording says so; an older recording without wall times uses the tick times.
TEST_F(DamagedRecording, OlderRecordingsUseTheTickTimes) {
  {
    const Recording recording(file_);
    EXPECT_EQ(recording.clock(), ScoreClock::Wall);
    EXPECT_EQ(recording.score_times()[9], 0.3);
    EXPECT_EQ(recording.times()[9], 0.15);
    EXPECT_EQ(recording.lost_time(0, 9), 0.15);
  }
  change([](hid_t file) {
    H5Ldelete(file, "/session/wall_time", H5P_DEFAULT);
    H5Ldelete(file, "/session/lost_time", H5P_DEFAULT);
    H5Adelete(file, "clock");
  });
  const Recording older(file_);
  EXPECT_EQ(older.clock(), ScoreClock::Tick);
  EXPECT_EQ(older.score_times(), older.times());
  EXPECT_TRUE(older.wall_times().empty());
  EXPECT_EQ(older.lost_time(0, 9), 0.0);
}

TEST_F(DamagedRecording, LastsNoLongerThanADay) {
  change([](hid_t file) { put_cell(file, "/session/time", {9}, 1e12); });
  expect_refused("longer than a day");
}

TEST_F(DamagedRecording, TouchesStayWithinTheirTables) {
  change([](hid_t file) { put_cell(file, "/organs/liver/touch_first", {3, 1}, 0x1p40); });
  expect_refused("not in ascending order");
}

TEST_F(DamagedRecording, TouchesBeginInAscendingOrder) {
  change([](hid_t file) { put_cell(file, "/organs/liver/touch_first", {3, 0}, 9.0); });
  expect_refused("not in ascending order");
}

TEST_F(DamagedRecording, EveryToolHasARadius) {
  change([](hid_t file) {
    H5Ldelete(file, "/session/tool_radius", H5P_DEFAULT);
    const hsize_t none = 0;
    const hid_t space = H5Screate_simple(1, &none, nullptr);
    H5Dclose(H5Dcreate2(file, "/session/tool_radius", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  });
  expect_refused("a tool has no radius");
}

// Every number of the header is checked: finite, and in its range.
TEST_F(DamagedRecording, TheFrameRateIsANumberInItsRange) {
  for (const std::string wrong : {"0", "nan", "-60", "inf", "1e300", "60 Hz", "0x40", "-nan", "1e-300"}) {
    change([&](hid_t file) {
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, wrong.size());
      put_text(file, "frame_rate", type, H5Screate(H5S_SCALAR), wrong.data());
      H5Tclose(type);
    });
    expect_refused("its frame_rate is '" + wrong + "'");
  }
}

TEST_F(DamagedRecording, RadiiAndPosesAreFiniteAndInRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {nan, infinity, 0.0, -0.0025, 1e9}) {
    change([&](hid_t file) { put_cell(file, "/session/tool_radius", {0}, wrong); });
    expect_refused("the radius of the instrument 'left'");
  }
  change([](hid_t file) { put_cell(file, "/session/tool_radius", {0}, 0.0025); });
  struct Cell {
    const char* path;
    std::vector<hsize_t> at;
    double right;
    const char* of;
  };
  for (const Cell& cell : {Cell{"/session/tool_pivot", {3, 0, 2}, 1.0, "positions of the trocars"},
                           Cell{"/session/tool_tip", {3, 0, 0}, 0.0, "positions of the tips"},
                           Cell{"/session/tool_roll_grip", {3, 0, 1}, 1.0, "rolls and grips"},
                           Cell{"/session/scope", {3, 4}, 0.0, "poses of the scope"}})
    for (const double wrong : {nan, -infinity, 1e30, cell.right}) {
      change([&](hid_t file) { put_cell(file, cell.path, cell.at, wrong); });
      if (wrong == cell.right)
        EXPECT_EQ(Recording(file_).frame_count(), 10u);
      else
        expect_refused(cell.of);
    }
}

TEST_F(DamagedRecording, TextAttributesMustBeText) {
  change([](hid_t file) {
    const std::vector<int> numbers(5000, 7);
    const hsize_t count = numbers.size();
    put_text(file, "tools", H5T_NATIVE_INT, H5Screate_simple(1, &count, nullptr), numbers.data());
  });
  expect_refused("attribute tools is not text");
}

// A table that claims more rows than the file can hold is refused before memory is allocated.
TEST_F(DamagedRecording, ATableHasNoMoreRowsThanItsFileCanHold) {
  for (const char* path : {"/session/time", "/organs/liver/faces", "/organs/liver/touch_face", "/session/stage_ms"}) {
    change([&](hid_t file) {
      const hid_t table = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(table);
      hsize_t shape[2] = {0, 0};
      const int dimensions = H5Sget_simple_extent_dims(space, shape, nullptr);
      EXPECT_GT(dimensions, 0);
      shape[0] = hsize_t{1} << 50;
      EXPECT_GE(H5Dset_extent(table, shape), 0);
      H5Sclose(space), H5Dclose(table);
    });
    expect_refused("claims more rows than its file can hold");
  }
}

TEST_F(DamagedRecording, RowCountsBeyondTheAddressSpaceAreRefused) {
  change([](hid_t file) {
    const hsize_t shape[] = {1, hsize_t{1} << 40, hsize_t{1} << 40};
    replace(file, "/organs/liver/nodes", H5T_IEEE_F32LE, shape, H5P_DEFAULT);
  });
  expect_refused("claims more rows than its file can hold");
}

TEST_F(DamagedRecording, DataInOtherFilesAreRefused) {
  const hsize_t shape[] = {10};
  change([&](hid_t file) {
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(create, "/etc/hostname", 0, 80);
    replace(file, "/session/time", H5T_IEEE_F64LE, shape, create);
    H5Pclose(create);
  });
  expect_refused("has its data in other files");
  change([&](hid_t file) {
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, shape, nullptr);
    H5Pset_virtual(create, space, "other.h5", "/session/time", space);
    replace(file, "/session/time", H5T_IEEE_F64LE, shape, create);
    H5Sclose(space), H5Pclose(create);
  });
  expect_refused("is a virtual dataset");
}

TEST_F(DamagedRecording, LinksToOtherObjectsAreRefused) {
  std::filesystem::copy_file(file_, folder_.path() / "other.h5");
  const auto link = [&](const char* path, bool external) {
    change([&](hid_t file) {
      H5Ldelete(file, path, H5P_DEFAULT);
      EXPECT_GE(external ? H5Lcreate_external("other.h5", path, file, path, H5P_DEFAULT, H5P_DEFAULT)
                         : H5Lcreate_soft("/session/tool_energy", file, path, H5P_DEFAULT, H5P_DEFAULT),
                0);
    });
    expect_refused("is a link to another object or another file");
  };
  link("/session/tool_state", false);
  link("/session/tool_state", true);
  link("/organs/liver/faces", true);
  link("/organs/liver", true);
  link("/organs", true);
}

// h5py writes such texts.
TEST_F(DamagedRecording, TextOfVariableLengthIsRead) {
  change([](hid_t file) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const char* text = "title = \"another title, which is much longer\"";
    put_text(file, "scene", type, H5Screate(H5S_SCALAR), &text);
    H5Tclose(type);
  });
  EXPECT_EQ(Recording(file_).text("scene"), "title = \"another title, which is much longer\"");
}

TEST_F(DamagedRecording, OnlyARecordingReplacesARecording) {
  EXPECT_THROW(OutputFile(file_, OutputKind::Json), InputError);
  EXPECT_THROW(OutputFile::replacing(file_), InputError);
  EXPECT_EQ(Recording(file_).frame_count(), 10u);
  const auto scene = folder_.write("s.toml", "title = \"scene\"");
  EXPECT_THROW(Recorder(scene, RecordingHeader{}), InputError);
  EXPECT_EQ(std::filesystem::file_size(scene), 15u);
}

}  // namespace
}  // namespace trocar
