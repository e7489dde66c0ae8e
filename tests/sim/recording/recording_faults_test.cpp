// Tests recordings that are cut short, full disks and deleted files: a reader gives complete frames or one sentence,
// and does not hang. A recording has one writer, and readers at the same time.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "geometry/error.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_bytes.hpp"
#include "tests/sim/recording/recorded_script.hpp"
#include "tests/support/resident_memory.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using test::Script;

// When a reader takes longer than this it hangs; the alarm then ends the test program.
struct TimeLimit {
  explicit TimeLimit(unsigned seconds) { alarm(seconds); }
  ~TimeLimit() { alarm(0); }
};

// Offsets at which HDF5's structures begin, and offsets close to them.
std::set<std::size_t> structure_bounds(const std::string& bytes) {
  std::set<std::size_t> bounds = {0, 1, 8, 47, 48, bytes.size() - 1, bytes.size() - 4, bytes.size() - 5};
  for (const char* signature : {"OHDR", "OCHK", "BTHD", "BTIN", "BTLF", "FRHP", "FHDB", "FHIB", "FSHD", "FSSE", "EAHD",
                                "EAIB", "EASB", "EADB", "FAHD", "FADB", "GCOL", "TREE", "HEAP", "SNOD", "SMTB"})
    for (std::size_t at = bytes.find(signature); at != std::string::npos; at = bytes.find(signature, at + 1))
      bounds.insert({at == 0 ? 0 : at - 1, at, at + 1, at + 4});
  return bounds;
}

class RecordingFaults : public ::testing::Test {
 protected:
  void record(std::uint32_t frames) const {
    Recorder recorder(file_, script_.header);
    for (std::uint32_t frame = 0; frame < frames; ++frame) script_.append(recorder, frame);
    recorder.close();
  }

  // A process that records with three flushes and is then killed.
  void record_and_be_killed(std::uint32_t frames) const {
    const pid_t child = fork();
    if (child == 0) {
      Recorder recorder(file_, script_.header);
      for (std::uint32_t frame = 0; frame < frames; ++frame) {
        script_.append(recorder, frame);
        if (frame % (frames / 3) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(350));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  // Reads the file: its frames are correct, or it is refused with one sentence. Returns the number of frames.
  std::size_t read(const std::filesystem::path& file) const {
    const TimeLimit limit(10);
    try {
      const Recording recording(file);
      test::expect_frames(recording);
      return recording.frame_count();
    } catch (const InputError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with(file.string() + ": ")) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      return 0;
    }
  }

  // Cuts the file at the bounds of every structure, at regular intervals and at random offsets, with and without a
  // program that seems to write it.
  void cut_everywhere(std::size_t random_cuts, unsigned seed) const {
    const std::string whole = read_file(file_);
    std::set<std::size_t> cuts = structure_bounds(whole);
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 150) cuts.insert(at);
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::size_t> anywhere(0, whole.size() - 1);
    for (std::size_t k = 0; k < random_cuts; ++k) cuts.insert(anywhere(random));
    const auto cut = folder_.write("cut.h5", whole);
    std::size_t read_whole = 0, refused = 0, read_live = 0;
    // The longest cut comes first. Each cut then only shortens the file, so that it is written once.
    for (auto at = cuts.rbegin(); at != cuts.rend(); ++at) {
      SCOPED_TRACE(std::to_string(*at) + " of " + std::to_string(whole.size()) + " bytes");
      std::filesystem::resize_file(cut, *at);
      ++(read(cut) > 0 ? read_whole : refused);
      const RecordingLock as_if_live(cut);
      read_live += read(cut) > 0;
    }
    std::printf("%zu cuts: %zu read with complete frames, %zu refused; locked like a live file, %zu read\n",
                cuts.size(), read_whole, refused, read_live);
    EXPECT_GT(refused, cuts.size() / 2);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "s.h5";
  Script script_;
};

TEST_F(RecordingFaults, AFinishedRecordingCutShortIsRefused) {
  record(300);
  ASSERT_EQ(read(file_), 300u);
  cut_everywhere(100, 20261122);
}

TEST_F(RecordingFaults, AKilledRecordingCutShortGivesCompleteFramesOrASentence) {
  record_and_be_killed(300);
  ASSERT_EQ(read(file_), 300u);
  cut_everywhere(100, 20261123);
}

// recover turns a cut recording into one that opens, or does not change the file.
TEST_F(RecordingFaults, RecoverNeverDamagesACutRecording) {
  record_and_be_killed(60);
  const std::string whole = read_file(file_);
  std::mt19937 random(20261124);
  std::printf("seed 20261124\n");
  std::uniform_int_distribution<std::size_t> anywhere(0, whole.size());
  for (int round = 0; round < 60; ++round) {
    const std::size_t at = round < 30 ? anywhere(random) : whole.size() - anywhere(random) / 20;
    SCOPED_TRACE(at);
    const auto cut = folder_.write("cut.h5", std::string_view(whole).substr(0, at));
    const TimeLimit limit(10);
    try {
      const RecoverResult result = recover_recording(cut);
      const Recording recording(cut);
      EXPECT_TRUE(recording.clean());
      EXPECT_EQ(recording.frame_count(), result.frames);
      test::expect_frames(recording);
    } catch (const std::exception&) {
      EXPECT_EQ(std::filesystem::file_size(cut), at);
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cut.h5.partial"));
  }
}

// Result of a child process with a limit on file sizes.
struct Report {
  bool at_the_start = false, in_a_frame = false, at_the_end = false;
  long grown = 0;  // KiB   growth of memory during 20,000 frames after the failure
};

Report record_under_limit(const std::filesystem::path& file, const Script& script, rlim_t bytes) {
  Report report;
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  try {
    Recorder recorder(file, script.header);
    for (std::uint32_t frame = 0; frame < 1200 && !recorder.failed(); ++frame) {
      script.append(recorder, frame);
      if (frame % 400 == 399) std::this_thread::sleep_for(std::chrono::milliseconds(400));  // longer than to a flush
    }
    report.in_a_frame = recorder.failed();
    const long before = resident_kib();
    for (std::uint32_t frame = 0; report.in_a_frame && frame < 20000; ++frame) script.append(recorder, frame);
    report.grown = resident_kib() - before;
    try {
      recorder.close();
    } catch (const RunError& error) {
      report.at_the_end =
          std::string(error.what()).find("the file could not be written (File too large)") != std::string::npos;
    }
  } catch (const RunError& error) {
    report.at_the_start =
        std::string(error.what()).find("the file could not be written (File too large)") != std::string::npos;
  }
  return report;
}

// Any write may fail. Only our sentence is printed.
TEST_F(RecordingFaults, AFullDiskEndsTheRecordingAndKeepsTheFrames) {
  const unsigned seed = 20261125;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<rlim_t> early(0, 2000000), late(2300000, 3400000);
  int at_start = 0, in_frame = 0, readable = 0;
  for (int round = 0; round < 12; ++round) {
    std::filesystem::remove(file_);
    const rlim_t bytes = round % 3 == 0 ? early(random) : late(random);
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(open((folder_.path() / "errors").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
      const Report report = record_under_limit(file_, script_, bytes);
      _exit(write(ends[1], &report, sizeof report) == sizeof report ? 0 : 1);
    }
    close(ends[1]);
    Report report;
    EXPECT_EQ(::read(ends[0], &report, sizeof report), static_cast<ssize_t>(sizeof report));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(read_file(folder_.path() / "errors"), "");
    EXPECT_TRUE(report.at_the_start || (report.in_a_frame && report.at_the_end));
    EXPECT_LT(report.grown, 1024);
    at_start += report.at_the_start, in_frame += report.in_a_frame;
    // A failure at the start leaves no file; after a later failure the frames written before can be read.
    EXPECT_EQ(std::filesystem::exists(file_), !report.at_the_start);
    if (report.at_the_start) continue;
    const std::size_t frames = read(file_);
    readable += frames > 0;
    EXPECT_TRUE(frames > 0 || bytes < 3000000);
    if (frames == 0) continue;
    EXPECT_EQ(recover_recording(file_).frames, frames);
  }
  std::printf("12 full disks: %d reported at the start, %d in a frame, %d with readable frames\n", at_start, in_frame,
              readable);
  EXPECT_GT(at_start, 0);
  EXPECT_GT(readable, 4);
}

TEST_F(RecordingFaults, ASlowDiskEndsTheRecordingBeforeMemoryRunsOut) {
  Recorder recorder(file_, script_.header, {.most_waiting = 100000});
  for (std::uint32_t frame = 0; frame < 2000; ++frame) script_.append(recorder, frame);
  EXPECT_TRUE(recorder.failed());
  EXPECT_NE(recorder.failure().find("the disk is too slow"), std::string::npos) << recorder.failure();
  EXPECT_THROW(recorder.close(), RunError);
}

TEST_F(RecordingFaults, ADeletedFileEndsTheRecording) {
  Recorder recorder(file_, script_.header);
  script_.append(recorder, 0);
  std::filesystem::remove(file_);
  const TimeLimit limit(10);
  for (std::uint32_t frame = 1; !recorder.failed(); ++frame) {
    script_.append(recorder, frame);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(recorder.failure(), file_.string() +
                                    ": the file was deleted during the recording; the frames recorded until "
                                    "then are lost");
  EXPECT_THROW(recorder.close(), RunError);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(RecordingFaults, AFileDeletedJustBeforeTheEndIsAnError) {
  Recorder recorder(file_, script_.header);
  script_.append(recorder, 0);
  std::filesystem::remove(file_);
  EXPECT_THROW(recorder.close(), RunError);
}

using test::Script;

void expect_refused(const std::function<void()>& what, const std::string& part) {
  try {
    what();
    ADD_FAILURE() << "was not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// Runs a function in another process until the process is killed.
struct Other {
  pid_t pid;

  explicit Other(const std::function<void()>& what) : pid(fork()) {
    if (pid != 0) return;
    what();
    for (;;) pause();
  }
  ~Other() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
};

void wait_for(const std::function<bool()>& condition) {
  for (int round = 0; round < 2000 && !condition(); ++round) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(condition());
}

class Locked : public ::testing::Test {
 protected:
  std::size_t frames() const {
    try {
      return Recording(file_).frame_count();
    } catch (const InputError&) {
      return 0;
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "s.h5";
  Script script_;
};

TEST_F(Locked, ALiveRecordingCanOnlyBeRead) {
  {
    const Other writer([&] {
      Recorder recorder(file_, script_.header);
      for (std::uint32_t frame = 0;; ++frame) {
        script_.append(recorder, frame);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    wait_for([&] { return frames() > 0; });
    std::size_t before = 0;
    for (int round = 0; round < 40; ++round) {
      const Recording live(file_);
      EXPECT_TRUE(live.live());
      EXPECT_FALSE(live.clean());
      EXPECT_GE(live.frame_count(), before);
      before = live.frame_count();
      if (round % 10 == 0) test::expect_frames(live);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    expect_refused([&] { recover_recording(file_); }, "another program is writing this recording");
    expect_refused([&] { Recorder(file_, script_.header); }, "another program is writing this recording");
    // Other programs can read at the same time, too.
    const std::string python = "/usr/bin/python3 -c \"import h5py; f = h5py.File('" + file_.string() +
                               "', swmr=True); assert f['session/time'].shape[0] > 0\"";
    EXPECT_EQ(std::system(python.c_str()), 0);
  }
  // After the kill the system has released the lock, and all frames so far are readable.
  EXPECT_FALSE(Recording(file_).live());
  const RecoverResult result = recover_recording(file_);
  EXPECT_FALSE(result.was_clean);
  EXPECT_GT(result.frames, 100u);
  test::expect_frames(Recording(file_));
}

// HDF5 opens and closes files at any time, which would release POSIX locks of the same file.
TEST_F(Locked, ReadersInTheWritersProcessDoNotReleaseItsLock) {
  Recorder recorder(file_, script_.header);
  for (std::uint32_t frame = 0; frame < 50; ++frame) script_.append(recorder, frame);
  wait_for([&] { return frames() == 50; });
  EXPECT_TRUE(Recording(file_).live());
  EXPECT_EQ(std::system(("cp " + file_.string() + " " + (folder_.path() / "copy.h5").string()).c_str()), 0);
  expect_refused([&] { recover_recording(file_); }, "another program is writing this recording");
  recorder.close();
  EXPECT_TRUE(Recording(file_).clean());
  EXPECT_TRUE(recover_recording(file_).was_clean);
  // The copy was never locked, so it counts as left behind by a killed program.
  EXPECT_FALSE(recover_recording(folder_.path() / "copy.h5").was_clean);
}

// Tests a file whose HDF5 lock a program with its own HDF5 library (h5py, "r+") holds.
TEST_F(Locked, RecoverRefusesAFileThatAnotherProgramWrites) {
  {
    Recorder recorder(file_, script_.header);
    script_.append(recorder, 0);
    recorder.close();
  }
  const auto ready = folder_.path() / "ready";
  const Other writer([&] {
    H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    folder_.write("ready", "");
  });
  wait_for([&] { return std::filesystem::exists(ready); });
  expect_refused([&] { recover_recording(file_); }, "another program has it open for writing");
}

// A reader waits for the file and opens it as soon as it exists, again and again.
TEST_F(Locked, EarlyReadersDoNotBlockTheWriter) {
  const Other reader([&] {
    for (;;) frames();
  });
  for (int round = 0; round < 100; ++round) {
    std::filesystem::remove(file_);
    Recorder recorder(file_, script_.header);
    script_.append(recorder, 0);
    recorder.close();
  }
  EXPECT_EQ(frames(), 1u);
}

TEST_F(Locked, OnlyOneHolderAtATime) {
  const auto file = folder_.write("f", "");
  {
    const RecordingLock lock(file);
    expect_refused([&] { RecordingLock second(file); }, "another program is writing");
  }
  EXPECT_NO_THROW(RecordingLock{file});
}

}  // namespace

}  // namespace trocar
