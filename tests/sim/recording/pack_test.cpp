// Tests packed and compact recordings: every bit of a session with four kinds of instruments, uneven steps and failing
// devices comes back; a recording that cannot be computed again, or not finished, is refused. Packing in place keeps
// name, permissions and dates; killed at any system call it leaves one whole recording, and the next start finishes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/pack.hpp"
#include "sim/hdf5/recording_bytes.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/compact.hpp"
#include "tests/sim/device/restless_device.hpp"
#include "tests/sim/recording/put_cell.hpp"
#include "tests/sim/recording/recorded_script.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/temporary_folder.hpp"

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

void expect_same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  const H5File a = H5File::open(one), b = H5File::open(other);
  for (const auto& [name, ignored] : text_attributes()) EXPECT_EQ(a.text(name), b.text(name)) << name;
  EXPECT_EQ(b.text(kFormAttribute), "full");
  ASSERT_EQ(a.paths(), b.paths());
  for (const std::string& path : a.paths()) {
    if (a.is_group(path)) continue;
    const H5Table first = a.table(path), second = b.table(path);
    EXPECT_EQ(first.cell(), second.cell()) << path;
    EXPECT_EQ(first.row_shape(), second.row_shape()) << path;
    EXPECT_EQ(first.read_all<std::uint8_t>(), second.read_all<std::uint8_t>()) << path;
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
  const auto keys = compact.table(path_of(ColumnGroup::Compact, kKeyFrame), Cell::U32).read_all<std::uint32_t>();
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

namespace fs = std::filesystem;

class PackInPlace : public ::testing::Test {
 protected:
  PackInPlace() {
    script_.header.run.activity = Activity::Attempt;
    script_.header.run.person = "zoe";
    Recorder recorder(file_, script_.header);
    for (std::uint32_t frame = 0; frame < 300; ++frame) script_.append(recorder, frame);
    recorder.close();
    fs::copy_file(file_, original_);
  }

  void start_again() const {
    fs::remove(packing_file(file_));
    fs::copy_file(original_, file_, fs::copy_options::overwrite_existing);
  }
  // The recording in one of its two forms, and nothing of it is lost.
  void expect_whole(RecordingForm form) const {
    const Recording recording(file_);
    EXPECT_EQ(recording.form(), form);
    EXPECT_TRUE(recording.clean());
    ASSERT_EQ(recording.frame_count(), 300u);
    if (form == RecordingForm::Packed) {
      EXPECT_EQ(difference_of_packed(original_, file_, {}), "");
    } else {
      EXPECT_EQ(read_file(file_), read_file(original_));
    }
  }
  RecordingForm form() const { return Recording(file_).form(); }
  bool has_leftover() const { return fs::exists(packing_file(file_)); }

  std::string refusal(const GoOn& go_on = {}) const {
    try {
      pack_in_place(file_, go_on);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "packed";
  }

  TemporaryFolder folder_;
  test::Script script_;
  fs::path file_ = folder_.path() / "attempt.h5", original_ = folder_.path() / "original";
};

TEST_F(PackInPlace, KeepsEveryBitTheNameAndTheDates) {
  ASSERT_EQ(chmod(file_.c_str(), 0640), 0);
  const timespec times[] = {{1'600'000'000, 5}, {1'700'000'000, 7}};
  ASSERT_EQ(utimensat(AT_FDCWD, file_.c_str(), times, 0), 0);
  const PackedSize size = pack_in_place(file_);
  EXPECT_LT(size.packed * 2, size.full);
  EXPECT_EQ(size.packed, fs::file_size(file_));
  expect_whole(RecordingForm::Packed);
  struct stat status {};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(status.st_mtim.tv_sec, 1'700'000'000);
  EXPECT_FALSE(has_leftover());
  EXPECT_NE(refusal().find("is a packed recording"), std::string::npos) << refusal();
}

TEST_F(PackInPlace, AComparisonFindsOneBitAnywhere) {
  const fs::path packed = folder_.path() / "packed.h5";
  pack_recording(file_, packed);
  ASSERT_EQ(difference_of_packed(file_, packed, {}), "");
  const std::vector<std::string> paths = H5File::open(packed).paths();
  ASSERT_GT(paths.size(), 40u);
  std::size_t changed = 0;
  for (const std::string& path : paths) {
    if (H5File::open(packed).is_group(path)) continue;
    const fs::path copy = folder_.path() / "copy.h5";
    fs::copy_file(packed, copy, fs::copy_options::overwrite_existing);
    const hid_t file = H5Fopen(copy.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t table = H5Dopen2(file, path.c_str(), H5P_DEFAULT), type = H5Dget_type(table);
    std::vector<char> bytes;
    const hid_t space = H5Dget_space(table);
    const auto cells = H5Sget_simple_extent_npoints(space);
    if (cells > 0) {
      bytes.resize(static_cast<std::size_t>(cells) * H5Tget_size(type));
      H5Dread(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
      bytes[bytes.size() / 2] ^= 1;
      H5Dwrite(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    }
    H5Sclose(space), H5Tclose(type), H5Dclose(table), H5Fclose(file);
    if (cells == 0) continue;
    EXPECT_NE(difference_of_packed(file_, copy, {}), "") << path;
    ++changed;
  }
  EXPECT_GT(changed, 30u);
}

// What a person has added with h5py would be lost.
TEST_F(PackInPlace, WhatThePackedFormWouldLoseIsNotPacked) {
  const auto add = [&](bool table) {
    start_again();
    const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    if (table)
      H5Dclose(H5Dcreate2(file, "/notes", H5T_NATIVE_UINT32, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    else
      H5Aclose(H5Acreate2(file, "teacher", H5T_NATIVE_UINT32, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space), H5Fclose(file);
  };
  for (const bool table : {true, false}) {
    add(table);
    const std::string before = read_file(file_);
    EXPECT_NE(refusal().find("attempt.h5: is not packed, because the packed form would not keep"), std::string::npos)
        << refusal();
    EXPECT_EQ(read_file(file_), before);
    EXPECT_FALSE(has_leftover());
  }
}

TEST_F(PackInPlace, ARecordingThatIsRemovedOrReplacedMeanwhileStaysSo) {
  int calls = 0;
  const std::string removed = refusal([&] { return ++calls != 3 || fs::remove(file_); });
  EXPECT_NE(removed.find("attempt.h5: "), std::string::npos) << removed;
  EXPECT_FALSE(fs::exists(file_)) << "an erased recording is back";
  EXPECT_FALSE(has_leftover());
  for (const bool by_name : {true, false}) {
    start_again();
    calls = 0;
    const std::string changed = refusal([&] {
      if (++calls != 3) return true;
      const fs::path other = folder_.path() / "other";
      fs::copy_file(original_, other, fs::copy_options::overwrite_existing);
      if (by_name)
        fs::rename(other, file_);  // another file
      else
        fs::last_write_time(file_, fs::file_time_type::clock::now() + std::chrono::hours(1));
      return true;
    });
    EXPECT_NE(changed.find("was changed while it was packed"), std::string::npos) << changed;
    expect_whole(RecordingForm::Full);
    EXPECT_FALSE(has_leftover());
  }
}

TEST_F(PackInPlace, OnlyOneProgramPacksARecording) {
  std::string second;
  pack_in_place(file_, [&] {
    if (second.empty()) {
      const pid_t child = fork();
      if (child == 0) _exit(refusal().find("another program is writing this recording") == std::string::npos);
      int status = 1;
      waitpid(child, &status, 0);
      second = status == 0 ? "refused" : "not refused";
    }
    return true;
  });
  EXPECT_EQ(second, "refused");
  expect_whole(RecordingForm::Packed);
}

TEST_F(PackInPlace, AFullDiskLeavesTheFullRecording) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{30000, 30000};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(refusal().find("is not packed: the file could not be written (File too large)") == std::string::npos);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  expect_whole(RecordingForm::Full);
  EXPECT_FALSE(has_leftover());
}

TEST_F(PackInPlace, AnInterruptLeavesTheFullRecording) {
  int calls = 0;
  EXPECT_NE(refusal([&] { return ++calls < 5; }).find("it is unchanged"), std::string::npos);
  expect_whole(RecordingForm::Full);
  EXPECT_FALSE(has_leftover());
}

TEST_F(PackInPlace, OnlyFinishedAttemptsOfAFolderArePacked) {
  const auto make = [&](const char* name, Activity activity, bool finished) {
    test::Script script;
    script.header.run.activity = activity;
    const fs::path file = folder_.path() / name;
    const pid_t child = fork();
    if (child == 0) {
      Recorder recorder(file, script.header);
      for (std::uint32_t frame = 0; frame < 60; ++frame) script.append(recorder, frame);
      if (finished) recorder.close();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    return file;
  };
  const fs::path small = make("small.h5", Activity::Attempt, true);
  make("demonstration.h5", Activity::Demonstration, true);
  make("killed.h5", Activity::Attempt, false);
  folder_.write("text.h5", "not a recording");
  fs::create_symlink(file_, folder_.path() / "link.h5");
  EXPECT_EQ(attempts_to_pack(folder_.path()), (std::vector<fs::path>{small, file_}));
  const RecordingLock lock(small);
  EXPECT_EQ(attempts_to_pack(folder_.path()), std::vector<fs::path>{file_});
}

// Foreign files with the name of a leftover, and the only copy of a recording, stay.
TEST_F(PackInPlace, OnlyLeftoversAreRemoved) {
  const fs::path left = packing_file(file_), foreign = packing_file(folder_.path() / "text.h5");
  folder_.write(foreign.filename().string(), "a person's text");
  fs::copy_file(original_, left);
  remove_pack_leftovers(folder_.path());  // beside another full recording
  EXPECT_TRUE(fs::exists(left));
  pack_recording(file_, folder_.path() / "packed.h5");
  fs::rename(folder_.path() / "packed.h5", file_);
  remove_pack_leftovers(folder_.path());  // beside its packed form
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(foreign));
  expect_whole(RecordingForm::Packed);
  fs::copy_file(original_, left);
  fs::remove(file_);
  remove_pack_leftovers(folder_.path());  // the recording was erased
  EXPECT_FALSE(fs::exists(left));
}

// Packs in a child process, which is killed before system call `kill_at`. Returns the number of calls that it made.
long pack_and_kill(const fs::path& file, long kill_at) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    try {
      pack_in_place(file);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  long stops = 0;  // before and after each call
  for (int signal = 0;; ++stops) {
    if (stops == 2 * kill_at) kill(child, SIGKILL);
    ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    if (waitpid(child, &status, 0) != child || WIFEXITED(status) || WIFSIGNALED(status)) break;
    signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
  }
  return (stops + 1) / 2;
}

TEST_F(PackInPlace, KilledAtAnyCallOneRecordingIsWholeAndTheNextStartFinishes) {
  const unsigned seed = 20261128;
  std::printf("seed %u\n", seed);
  const long calls = pack_and_kill(file_, 1L << 40);
  ASSERT_EQ(form(), RecordingForm::Packed);
  // At the beginning, all of the end, where the names change, and between.
  std::set<long> kills = {0, 1, 2, 3};
  for (long k = 1; k <= 40; ++k) kills.insert(calls - k);
  std::mt19937 random(seed);
  while (kills.size() < 100) kills.insert(std::uniform_int_distribution<long>(0, calls - 1)(random));
  std::size_t full = 0, packed = 0, leftovers = 0, both = 0;
  for (const long at : kills) {
    SCOPED_TRACE(at);
    start_again();
    pack_and_kill(file_, at);
    const bool left = has_leftover(), is_full = form() == RecordingForm::Full;
    expect_whole(is_full ? RecordingForm::Full : RecordingForm::Packed);
    ++(is_full ? full : packed), leftovers += left, both += left && !is_full;
    // The next start.
    remove_pack_leftovers(folder_.path());
    EXPECT_FALSE(has_leftover());
    for (const fs::path& file : attempts_to_pack(folder_.path())) pack_in_place(file);
    expect_whole(RecordingForm::Packed);
    EXPECT_FALSE(has_leftover());
  }
  std::printf("%zu kills of %ld system calls: %zu full, %zu packed, %zu with a leftover, %zu of these packed\n",
              kills.size(), calls, full, packed, leftovers, both);
  EXPECT_GT(full, 10u);
  EXPECT_GT(packed, 2u);
  EXPECT_GT(both, 0u);
}

}  // namespace

}  // namespace trocar
