// Tests recordings that a tool or a faulty disk has changed: each is refused with one sentence, and none is read past
// its end. Surfaces that change: any sequence of frames gives the surfaces that the rows describe.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <span>

#include "geometry/error.hpp"
#include "sim/hdf5/recorded_history.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/support/files.hpp"
#include "tests/sim/recording/put_cell.hpp"
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

TEST_F(DamagedRecording, ScoresUseTheWallTimeIfTheRecordingSaysSo) {
  {
    const Recording recording(file_);
    EXPECT_EQ(recording.clock(), ScoreClock::Wall);
    EXPECT_EQ(recording.score_times()[9], 0.3);
    EXPECT_EQ(recording.times()[9], 0.15);
    EXPECT_EQ(recording.lost_time(0, 9), 0.15);
  }
  change([](hid_t file) { H5Adelete(file, "clock"); });
  const Recording by_ticks(file_);
  EXPECT_EQ(by_ticks.clock(), ScoreClock::Tick);
  EXPECT_EQ(by_ticks.score_times(), by_ticks.times());
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

constexpr std::uint32_t kNodes = 64;

struct Dice {
  std::mt19937 random;
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); }

  Embedding embedding() {
    Embedding embedding;
    for (std::uint32_t k = 0; k < 8; k += 2) {
      embedding.node[k] = below(kNodes - 1);
      embedding.node[k + 1] = embedding.node[k] + 1;
      embedding.weight[k] = static_cast<float>(below(100));
      embedding.weight[k + 1] = static_cast<float>(below(100));
    }
    return embedding;
  }
  glm::uvec3 face(std::uint32_t vertices) { return {below(vertices), below(vertices), below(vertices)}; }
  glm::vec3 point() { return {below(1000), below(1000), below(1000)}; }
};

void add_vertices(SurfaceHistory& history, Dice& dice, std::uint32_t count, std::uint32_t frame) {
  for (std::uint32_t k = 0; k < count; ++k) {
    history.rest.push_back(dice.point());
    history.embedding.push_back(dice.embedding());
    history.vertex_born.push_back(frame);
  }
}

void add_faces(SurfaceHistory& history, Dice& dice, std::uint32_t count, std::uint32_t frame) {
  for (std::uint32_t k = 0; k < count; ++k) {
    history.faces.push_back(dice.face(static_cast<std::uint32_t>(history.rest.size())));
    history.face_born.push_back(frame);
  }
}

// Faces are removed at random, also in the frame in which they were added; vertices get a new embedding, some twice in
// a frame.
SurfaceHistory random_history(Dice& dice, std::uint32_t frames) {
  SurfaceHistory history;
  add_vertices(history, dice, 12, 0);
  add_faces(history, dice, 20, 0);
  std::vector<std::uint32_t> living;
  for (std::uint32_t id = 0; id < 20; ++id) living.push_back(id);
  for (std::uint32_t frame = 0; frame < frames; ++frame) {
    if (dice.below(3) > 0) continue;
    if (frame > 0) add_vertices(history, dice, dice.below(4), frame);
    for (std::uint32_t k = frame > 0 ? dice.below(6) : 0; k > 0; --k) {
      living.push_back(static_cast<std::uint32_t>(history.faces.size()));
      add_faces(history, dice, 1, frame);
    }
    for (std::uint32_t k = dice.below(6); k > 0 && !living.empty(); --k) {
      std::swap(living[dice.below(static_cast<std::uint32_t>(living.size()))], living.back());
      history.removed.push_back(FaceId(living.back()));
      history.removed_frame.push_back(frame);
      living.pop_back();
    }
    for (std::uint32_t k = dice.below(4); k > 0; --k) {
      history.carried.push_back(dice.below(static_cast<std::uint32_t>(history.rest.size())));
      history.carried_embedding.push_back(dice.embedding());
      history.carried_frame.push_back(frame);
    }
  }
  return history;
}

bool same(const Embedding& a, const Embedding& b) {
  return std::equal(a.node, a.node + 8, b.node) && std::equal(a.weight, a.weight + 8, b.weight);
}

// Computes the surface slowly, from every row.
OrganSurface surface_at(const SurfaceHistory& history, std::uint32_t frame) {
  OrganSurface surface;
  for (std::uint32_t id = 0; id < history.faces.size(); ++id) {
    bool lives = history.face_born[id] <= frame;
    for (std::size_t row = 0; row < history.removed.size(); ++row)
      if (index(history.removed[row]) == id && history.removed_frame[row] <= frame) lives = false;
    if (!lives) continue;
    surface.ids.push_back(FaceId(id));
    surface.faces.push_back(history.faces[id]);
  }
  for (std::uint32_t vertex = 0; vertex < history.rest.size(); ++vertex) {
    if (history.vertex_born[vertex] > frame) continue;
    surface.rest.push_back(history.rest[vertex]);
    surface.tissue.embedding.push_back(history.embedding[vertex]);
    for (std::size_t row = 0; row < history.carried.size(); ++row)
      if (history.carried[row] == vertex && history.carried_frame[row] <= frame)
        surface.tissue.embedding.back() = history.carried_embedding[row];
  }
  return surface;
}

void expect_same(const OrganSurface& surface, const OrganSurface& wanted) {
  ASSERT_EQ(surface.ids, wanted.ids);
  ASSERT_EQ(surface.faces, wanted.faces);
  ASSERT_EQ(surface.rest, wanted.rest);
  ASSERT_TRUE(std::equal(surface.tissue.embedding.begin(), surface.tissue.embedding.end(),
                         wanted.tissue.embedding.begin(), wanted.tissue.embedding.end(), same));
}

TEST(SurfaceHistory, AnySequenceOfFramesGivesTheirSurfaces) {
  const unsigned seed = 20261121;
  std::printf("seed %u\n", seed);
  Dice dice{std::mt19937(seed)};
  int reshaped = 0, kept = 0;
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t frames = 1 + dice.below(40);
    const SurfaceHistory history = random_history(dice, frames);
    ASSERT_EQ(fault_of(history, kNodes), "");
    OrganSurface forward, jumping;
    for (std::uint32_t frame = 0; frame < frames; ++frame) {
      const OrganSurface before = forward;
      const bool told = go_to_frame(history, frame, forward);
      expect_same(forward, surface_at(history, frame));
      const bool same_shape =
          before.frames > 0 && before.ids == forward.ids && before.rest.size() == forward.rest.size();
      ASSERT_TRUE(told || same_shape) << "frame " << frame;
      (told ? reshaped : kept) += 1;
      const std::uint32_t other = dice.below(frames);
      go_to_frame(history, other, jumping);
      expect_same(jumping, surface_at(history, other));
    }
    ASSERT_FALSE(go_to_frame(history, frames - 1, forward));
  }
  std::printf("%d frames reshaped, %d not\n", reshaped, kept);
  EXPECT_GT(reshaped, 100);
  EXPECT_GT(kept, 100);
}

TEST(SurfaceHistory, AnEmptySurfaceIsValid) {
  OrganSurface surface;
  EXPECT_TRUE(go_to_frame({}, 3, surface));
  EXPECT_FALSE(go_to_frame({}, 4, surface));
  EXPECT_TRUE(surface.ids.empty());
  EXPECT_EQ(fault_of({}, 0), "");
}

TEST(SurfaceHistory, DamageIsReported) {
  Dice dice{std::mt19937(7)};
  SurfaceHistory sound;
  add_vertices(sound, dice, 4, 0);
  add_vertices(sound, dice, 1, 5);
  add_faces(sound, dice, 2, 0);
  sound.faces = {{0, 1, 2}, {1, 2, 3}};
  ASSERT_EQ(fault_of(sound, kNodes), "");
  const auto fault_with = [&](const auto& damage) {
    SurfaceHistory history = sound;
    damage(history);
    return fault_of(history, kNodes);
  };
  EXPECT_EQ(fault_with([](auto& h) {
              h.vertex_born = {0, 0, 5, 0, 5};
            }),
            "the frames of its surface changes are not in ascending order");
  EXPECT_EQ(fault_with([](auto& h) { h.faces[1].y = 5; }), "face 1 uses vertex 5 before the vertex exists");
  EXPECT_EQ(fault_with([](auto& h) { h.faces[1].y = 4; }), "face 1 uses vertex 4 before the vertex exists");
  EXPECT_EQ(fault_with([](auto& h) { h.removed = {FaceId{2}}, h.removed_frame = {1}; }),
            "face 2 is removed before it exists");
  EXPECT_EQ(fault_with([](auto& h) { h.carried = {4}, h.carried_embedding = {h.embedding[0]}, h.carried_frame = {4}; }),
            "vertex 4 gets a new embedding before it exists");
  EXPECT_NE(fault_with([](auto& h) { h.embedding[2].node[7] = kNodes; }), "");
  EXPECT_NE(fault_with([](auto& h) { h.embedding[2].node[1] += 1; }), "");
}

}  // namespace

}  // namespace trocar
