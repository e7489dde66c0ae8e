// Tests the lock of a recording: one writer, and readers at the same time.
#include "sim/hdf5/recording_lock.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "tests/sim/recorded_script.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

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
