// Tests recordings: frames are read back as appended, a process that is killed at any time loses less than a second,
// and what a recording says about its run; the estimate of its size against recordings of whole tasks.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "sim/hdf5/h5_file.hpp"
#include "sim/hdf5/pack.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/link/make_device.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/scene/scene.hpp"
#include "tests/sim/recording/recorded_script.hpp"
#include "tests/support/resident_memory.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using test::expect_frame;
using test::Script;

TEST(Recorder, FramesAreReadBackAsAppended) {
  const TemporaryFolder folder;
  const Script script;
  {
    Recorder recorder(folder.path() / "s.h5", script.header);
    for (std::uint32_t frame = 0; frame < 100; ++frame) script.append(recorder, frame);
    recorder.close();
  }
  const Recording recording(folder.path() / "s.h5");
  EXPECT_TRUE(recording.clean());
  ASSERT_EQ(recording.frame_count(), 100u);
  EXPECT_EQ(recording.text("scene"), "title = \"script\"");
  EXPECT_EQ(recording.tools(), (std::vector<std::string>{"left", "right"}));
  ASSERT_EQ(recording.organs().size(), 2u);
  EXPECT_EQ(recording.organs()[1].name, "stomach");
  EXPECT_EQ(recording.organs()[0].history.faces.size(), 2u);
  EXPECT_EQ(recording.organs()[0].history.embedding[3].node[7], 7u);
  for (std::uint32_t frame = 0; frame < 100; ++frame) expect_frame(recording, frame);
}

// 40 tables of 2 MiB, in chunks of 64 KiB. HDF5 keeps 1 MiB of each table if it is not told otherwise.
TEST(Recorder, ATableKeepsOneChunkInMemory) {
  const TemporaryFolder folder;
  H5File file = H5File::create(folder.path() / "s.h5");
  std::vector<H5Table> tables;
  for (int k = 0; k < 40; ++k) tables.push_back(file.make_table("/table " + std::to_string(k), Cell::F32, {4}, 4096));
  const std::vector<std::byte> rows(256 * 16);
  const auto append_chunks = [&](int chunks) {
    for (int k = 0; k < 16 * chunks; ++k)
      for (H5Table& table : tables) table.append(rows), table.flush();
  };
  append_chunks(1);
  const long before = resident_kib();
  append_chunks(31);
  EXPECT_LT(resident_kib() - before, 10'000);
  tables.clear();
  file.close();
}

void replace_text(hid_t file, const char* attribute, const std::string& text) {
  if (H5Aexists(file, attribute) > 0) H5Adelete(file, attribute);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, text.size());
  const hid_t made = H5Acreate2(file, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(made, type, text.data()), 0);
  H5Aclose(made), H5Sclose(space), H5Tclose(type);
}

struct VersionedRecording : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "s.h5";

  VersionedRecording() {
    const Script script;
    Recorder recorder(file, script.header);
    for (std::uint32_t frame = 0; frame < 10; ++frame) script.append(recorder, frame);
    recorder.close();
  }
  void expect_refused(const std::string& what) const {
    try {
      const Recording recording(file);
      ADD_FAILURE() << "not refused";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), file.string() + what);
    }
  }
};

TEST_F(VersionedRecording, CarriesFormatAndModel) {
  const Recording recording(file);
  EXPECT_EQ(recording.text("format"), "trocar-recording-" + std::to_string(kFormatMajor));
  EXPECT_EQ(recording.text("format_minor"), std::to_string(kFormatMinor));
  EXPECT_EQ(recording.text("form"), "full");
  EXPECT_EQ(recording.model_version(), kModelVersion);
}

TEST_F(VersionedRecording, LaterFormatsAreRefused) {
  for (const auto& [format, minor, has] :
       {std::tuple("trocar-recording-4", "99", "4.99"), std::tuple("trocar-recording-5", "0", "5.0")}) {
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    replace_text(id, "format", format), replace_text(id, "format_minor", minor), replace_text(id, "version", "9.1.0");
    H5Fclose(id);
    expect_refused(
        fmt::format(": has format {}, but this version reads up to {}.{}; use the version that recorded it (9.1.0) "
                    "or a later one",
                    has, kFormatMajor, kFormatMinor));
  }
}

// A file with nothing but the attributes is refused by its format, not by what it lacks.
TEST(Recorder, EarlierFormatsAreRefusedWithTheLastVersionThatReadsThem) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "old.h5";
  for (const auto& [format, minor, has] :
       {std::tuple("trocar-recording-2", "", "2.0"), std::tuple("trocar-recording-2", "11", "2.11"),
        std::tuple("trocar-recording-3", "9", "3.9")}) {
    {
      H5File made = H5File::create(file);
      made.set_text("format", format);
      if (*minor) made.set_text("format_minor", minor);
      made.close();
    }
    try {
      const Recording recording(file);
      ADD_FAILURE() << has;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), fmt::format("{}: has format {}, which the program no longer reads; the last version that "
                                          "does is commit 48bdcf6",
                                          file.string(), has));
    }
    EXPECT_THROW(recover_recording(file), InputError);
    std::filesystem::remove(file);
  }
}

TEST_F(VersionedRecording, UnknownTablesAndAttributesAreIgnored) {
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  replace_text(id, "colour_of_the_gloves", "blue");
  const hid_t group = H5Gcreate2(id, "/gloves", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
  for (const char* table : {"/gloves/left", "/session/gloves", "/organs/liver/gloves"}) {
    const hid_t made = H5Dcreate2(id, table, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(made, 0) << table;
    H5Dclose(made);
  }
  H5Sclose(space), H5Gclose(group), H5Fclose(id);
  const Recording recording(file);
  ASSERT_EQ(recording.frame_count(), 10u);
  for (std::uint32_t frame = 0; frame < 10; ++frame) expect_frame(recording, frame);
}

TEST_F(VersionedRecording, AnUnknownFormIsRefused) {
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  replace_text(id, "form", "thin"), replace_text(id, "version", "9.1.0");
  H5Fclose(id);
  expect_refused(": is a recording of the unknown form 'thin'; use the version that wrote it (9.1.0)");
}

TEST_F(VersionedRecording, ADamagedVersionIsRefused) {
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  replace_text(id, "model_version", "1.5");
  H5Fclose(id);
  expect_refused(": its attribute model_version is '1.5', not a whole number; the file is damaged");
}

TEST(Recorder, PairsOfToolsAreNumbered) {
  for (const std::size_t tools : {2, 3, 5}) {
    std::size_t next = 0;
    for (std::size_t first = 0; first < tools; ++first)
      for (std::size_t second = first + 1; second < tools; ++second) EXPECT_EQ(tool_pair(tools, first, second), next++);
    EXPECT_EQ(tool_pairs(tools), next);
  }
  EXPECT_EQ(tool_pairs(1), 0u);
  EXPECT_FALSE(has_column(columns_of(ColumnGroup::Session)[kClashDistance], {.tools = 1}));
}

// A child process that records a frame every 2 ms and reports each appended frame and its time through a pipe.
struct Child {
  pid_t pid = 0;
  int pipe_end = -1;

  Child(const Script& script, const std::filesystem::path& file) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
      Recorder recorder(file, script.header);
      for (std::uint32_t frame = 0;; ++frame) {
        script.append(recorder, frame);
        if (write(ends[1], &frame, sizeof frame) != sizeof frame) _exit(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    close(ends[1]);
    pipe_end = ends[0];
  }

  // Kills the child `life` after its first frame; returns the last frame appended at least a second before the kill
  // (-1: none).
  int kill_after(std::chrono::milliseconds life) {
    std::vector<Clock::time_point> seen;
    std::uint32_t frame = 0;
    if (read(pipe_end, &frame, sizeof frame) == sizeof frame) seen.push_back(Clock::now());
    std::thread reader([&] {
      while (read(pipe_end, &frame, sizeof frame) == sizeof frame) seen.push_back(Clock::now());
    });
    std::this_thread::sleep_for(life);
    const auto killed = Clock::now();
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    reader.join();
    close(pipe_end);
    int last = -1;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (killed - seen[k] >= std::chrono::seconds(1)) last = static_cast<int>(k);
    }
    return last;
  }
};

TEST(Recorder, KilledAtAnyMomentLosesLessThanASecond) {
  const unsigned seed = 20261120;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> life_ms(1100, 2400);
  const Script script;
  int recovered_frames = 0;
  for (int round = 0; round < 10; ++round) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "killed.h5";
    Child child(script, file);
    const int must_have = child.kill_after(std::chrono::milliseconds(life_ms(random)));
    const RecoverResult result = recover_recording(file);
    EXPECT_FALSE(result.was_clean);
    EXPECT_GT(static_cast<int>(result.frames), must_have) << "round " << round;
    const Recording recording(file);
    EXPECT_TRUE(recording.clean());
    ASSERT_EQ(recording.frame_count(), result.frames);
    for (std::uint32_t frame = 0; frame < result.frames; frame += 37) expect_frame(recording, frame);
    recovered_frames += static_cast<int>(result.frames);
  }
  std::printf("10 kills, %d frames recovered\n", recovered_frames);
}

TEST(Recorder, RecoverDoesNotChangeACleanFile) {
  const TemporaryFolder folder;
  const Script script;
  {
    Recorder recorder(folder.path() / "s.h5", script.header);
    script.append(recorder, 0);
    recorder.close();
  }
  const std::string before = read_file(folder.path() / "s.h5");
  EXPECT_TRUE(recover_recording(folder.path() / "s.h5").was_clean);
  EXPECT_EQ(read_file(folder.path() / "s.h5"), before);
}

TEST(Recorder, RefusesOtherFiles) {
  const TemporaryFolder folder;
  EXPECT_THROW(Recording(folder.path() / "absent.h5"), InputError);
  EXPECT_THROW(Recording(folder.write("text.h5", "this is no HDF5")), InputError);
  EXPECT_THROW(Recording(folder.write("empty.h5", "")), InputError);
  EXPECT_THROW(recover_recording(folder.path()), InputError);
  EXPECT_THROW(Recorder(folder.path() / "no" / "folder" / "s.h5", Script().header), InputError);
}

TEST(Activities, NamesOfActivitiesAreReadBack) {
  for (const Activity activity : {Activity::Attempt, Activity::Demonstration, Activity::Replay, Activity::Script})
    EXPECT_EQ(activity_named(name_of(activity)), activity);
  EXPECT_EQ(activity_named(""), std::nullopt);
  EXPECT_EQ(activity_named("game"), std::nullopt);
}

TEST(Activities, WithoutATaskARunIsStopped) { EXPECT_EQ(ending_of(nullptr), Ending::Stopped); }

// Bytes a second of attempts by the scripted expert, in docs/file-formats.md.
TEST(RecordingRate, IsThatOfWholeTasks) {
  constexpr std::pair<const char*, double> kTasks[] = {{"touch_targets", 5.62e6}, {"keep_out", 5.58e6},
                                                       {"cut_band", 2.01e6},      {"retract_expose", 3.90e6},
                                                       {"clip_and_cut", 3.76e6},  {"dissect_bed", 3.33e6}};
  for (const auto& [task, measured] : kTasks) {
    const double rate =
        recording_rate(load_scene(repository_file("data/scenes/tasks") / (std::string(task) + ".toml")));
    std::printf("%s: %.2f MB a second, measured %.2f\n", task, 1e-6 * rate, 1e-6 * measured);
    EXPECT_GT(rate, 0.7 * measured) << task;
    EXPECT_LT(rate, 1.3 * measured) << task;
  }
}

using test::Script;

class RunNoteTest : public ::testing::Test {
 protected:
  std::filesystem::path record(RunNote run, Ending ending) {
    Script script;
    script.header.run = std::move(run);
    script.header.devices = {"mouse", "haptic", "script"};
    const auto file = folder_.path() / "s.h5";
    Recorder recorder(file, script.header);
    for (std::uint32_t frame = 0; frame < 3; ++frame) script.append(recorder, frame);
    recorder.set_ending(ending);
    recorder.close();
    return file;
  }

  static void expect_note(const Recording& recording, Ending ending) {
    EXPECT_EQ(recording.activity(), Activity::Attempt);
    EXPECT_EQ(recording.text("person"), "Zoë 7");
    EXPECT_EQ(recording.devices(), (std::vector<std::string>{"mouse", "haptic", "script"}));
    EXPECT_EQ(recording.ending(), ending);
  }

  TemporaryFolder folder_;
};

TEST_F(RunNoteTest, IsReadBackAlsoFromAPackedRecording) {
  for (const Ending ending : {Ending::Done, Ending::NotDone, Ending::Stopped}) {
    const auto file = record({ScoreClock::Wall, Activity::Attempt, "Zoë 7"}, ending);
    expect_note(Recording(file), ending);
    pack_recording(file, folder_.path() / "packed.h5");
    expect_note(Recording(folder_.path() / "packed.h5"), ending);
    unpack_recording(folder_.path() / "packed.h5", folder_.path() / "full.h5");
    expect_note(Recording(folder_.path() / "full.h5"), ending);
    for (const char* name : {"s.h5", "packed.h5", "full.h5"}) std::filesystem::remove(folder_.path() / name);
  }
}

TEST_F(RunNoteTest, ALiveRecordingHasNoEnding) {
  Script script;
  Recorder recorder(folder_.path() / "live.h5", script.header);
  for (std::uint32_t frame = 0; frame < 3; ++frame) script.append(recorder, frame);
  std::size_t frames = 0;
  for (int k = 0; k < 200 && frames == 0; ++k) try {
      const Recording live(folder_.path() / "live.h5");
      frames = live.frame_count();
      EXPECT_EQ(live.ending(), Ending::Unknown);
    } catch (const InputError&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  EXPECT_EQ(frames, 3u);
}

TEST_F(RunNoteTest, APersonWhoseNameCannotBeWrittenIsRefused) {
  Script script;
  for (const char* person : {"a\nb", " a", "..", "a/b"}) {
    script.header.run.person = person;
    EXPECT_THROW(Recorder(folder_.path() / "s.h5", script.header), InputError) << person;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(RunNoteTest, OneLiveDeviceMakesAnAttempt) {
  Scene scene;
  scene.instruments.resize(2);
  scene.instruments[0].device = scene.instruments[1].device = scene.scope.device = "script";
  EXPECT_EQ(activity_of(scene), Activity::Script);
  scene.instruments[1].device = "trajectory";
  EXPECT_EQ(activity_of(scene), Activity::Replay);
  scene.scope.device = "mouse";
  EXPECT_EQ(activity_of(scene), Activity::Attempt);
}

}  // namespace

}  // namespace trocar
