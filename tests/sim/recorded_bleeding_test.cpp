// Tests bleeding in recordings: losses and sources are those of the session in every frame, also after recover and for
// recordings that begin later; damaged tables are refused with one sentence.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <chrono>
#include <thread>

#include "geometry/error.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/sim/duct_session.hpp"

namespace trocar {
namespace {

struct Seen {
  std::vector<BleedSource> sources;
  std::vector<FluidLoss> lost;
};

Seen seen_in(const Observation& seen) {
  return {{seen.bleeding.sources.begin(), seen.bleeding.sources.end()},
          {seen.bleeding.lost.begin(), seen.bleeding.lost.end()}};
}

void put_in_first_row(const std::filesystem::path& path, const char* name, hsize_t column, std::uint32_t value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t table = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(table);
  const hsize_t at[2] = {0, column}, one[2] = {1, 1};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, one, nullptr);
  const hid_t memory = H5Screate_simple(1, one, nullptr);
  EXPECT_GE(H5Dwrite(table, H5T_NATIVE_UINT32, memory, space, H5P_DEFAULT, &value), 0) << name;
  H5Sclose(memory), H5Sclose(space), H5Dclose(table), H5Fclose(file);
}

class RecordedBleeding : public test::DuctSession {
 protected:
  // Divides a vessel without a clip, then closes a clip. Records from the start, or from the division on.
  void record(bool from_start) {
    std::string text = test::kDuctScene;
    text.insert(text.find("[[band]]"), "[organ.vessel]\nrate_ml_min = 40\nhalf_time_s = 20\n");
    start(text);
    const auto begin = [&] {
      recorder_.emplace(recording_file(file_), scene_, *session_, "none");
      after_frame_ = [this](std::uint64_t frame) {
        recorder_->append(*session_, double(frame) * kFrame);
        seen_.push_back(seen_in(observer_.observe(*session_, double(frame) * kFrame)));
      };
    };
    if (from_start) begin();
    run(10);
    cut(0.030);
    if (!from_start) begin();
    clip(0.012);
    after_frame_ = nullptr;
  }
  void close() {
    recorder_->close();
    recorder_.reset();
  }

  void expect_all(const std::filesystem::path& file) {
    const Recording recording(file);
    ASSERT_EQ(recording.frame_count(), seen_.size());
    RecordingObserver observer(recording, scene_.scope, {});
    for (std::size_t frame = 0; frame < seen_.size(); ++frame) {
      const Seen now = seen_in(observer.observe(frame));
      ASSERT_EQ(now.lost, seen_[frame].lost) << "frame " << frame;
      ASSERT_EQ(now.sources.size(), seen_[frame].sources.size()) << "frame " << frame;
      for (std::size_t k = 0; k < now.sources.size(); ++k) expect_same(now.sources[k], seen_[frame].sources[k]);
    }
  }
  static void expect_same(const BleedSource& recorded, const BleedSource& live) {
    EXPECT_EQ(recorded.organ, live.organ);
    EXPECT_EQ(recorded.vertex, live.vertex);
    EXPECT_EQ(recorded.kind, live.kind);
    EXPECT_EQ(recorded.state, live.state);
    EXPECT_EQ(recorded.rate, live.rate);
    EXPECT_EQ(recorded.half_time, live.half_time);
  }

  std::filesystem::path file_ = folder_.path() / "s.h5";
  std::optional<SessionRecorder> recorder_;
  SessionObserver observer_;
  std::vector<Seen> seen_;  // [recorded frame]
};

TEST_F(RecordedBleeding, IsThatOfTheSessionInEveryFrame) {
  record(true);
  close();
  const Seen& last = seen_.back();
  ASSERT_EQ(last.sources.size(), 1u);
  std::printf("%zu frames, %.3f ml lost\n", seen_.size(), last.lost[0].blood / kMillilitre);
  EXPECT_GT(last.lost[0].blood, 0.0);
  EXPECT_EQ(last.sources[0].state, BleedState::Closed);
  expect_all(file_);
}

TEST_F(RecordedBleeding, BeginsWithTheSourcesSoFar) {
  record(false);
  close();
  ASSERT_EQ(seen_.front().sources.size(), 1u);
  EXPECT_GT(seen_.front().lost[0].blood, 0.0);
  expect_all(file_);
}

// A copy of the file that is still being written is what a kill would have left.
TEST_F(RecordedBleeding, IsRecovered) {
  record(true);
  const std::filesystem::path copy = folder_.path() / "killed.h5";
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::filesystem::copy_file(file_, copy);
  close();
  const RecoverResult result = recover_recording(copy);
  EXPECT_FALSE(result.was_clean);
  EXPECT_EQ(result.frames, seen_.size());
  expect_all(copy);
}

TEST_F(RecordedBleeding, DamageIsRefused) {
  record(false);
  close();
  const auto refused = [&](const char* path, hsize_t column, std::uint32_t value, const char* part) {
    const std::filesystem::path copy = folder_.path() / "damaged.h5";
    std::filesystem::copy_file(file_, copy, std::filesystem::copy_options::overwrite_existing);
    put_in_first_row(copy, path, column, value);
    std::string text = "no error";
    try {
      const Recording recording(copy);
    } catch (const InputError& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << path << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  };
  refused("/bleeding/source", 0, 7, "source 0 of its bleeding is not on an organ");
  refused("/bleeding/source", 1, 1000000, "source 0 of its bleeding is not on an organ");
  refused("/bleeding/source", 2, 9, "source 0 of its bleeding is not on an organ");
  refused("/bleeding/change", 0, 5, "source 5 of its bleeding changes before it opens or does not exist");
  refused("/bleeding/change", 2, 77, "changes before it opens or does not exist");
  refused("/bleeding/change_frame", 0, 100000, "not in ascending order");
}

}  // namespace
}  // namespace trocar
