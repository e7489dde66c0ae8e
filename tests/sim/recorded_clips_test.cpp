// Tests clips in recordings: clips and the state of ducts are those of the session in every frame, also after recover
// and for recordings that begin later; damaged tables are refused with one sentence.
#include <gtest/gtest.h>
#include <hdf5.h>

#include "geometry/error.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/sim/duct_session.hpp"

namespace trocar {
namespace {

struct Seen {
  std::vector<PlacedClip> clips;
  std::vector<TubeState> tubes;
};

Seen seen_in(const Observation& seen) {
  return {{seen.clips.begin(), seen.clips.end()}, {seen.tubes.begin(), seen.tubes.end()}};
}

// Overwrites a number in the first row of a table of whole numbers.
void put_in_first_row(const std::filesystem::path& path, const char* name, hsize_t column, std::uint32_t value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t table = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(table);
  const hsize_t at[2] = {0, column}, one[2] = {1, 1};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, one, nullptr);
  const hid_t memory = H5Screate_simple(1, one, nullptr);
  EXPECT_GE(H5Dwrite(table, H5T_NATIVE_UINT32, memory, space, H5P_DEFAULT, &value), 0) << name;
  H5Sclose(memory), H5Sclose(space), H5Dclose(table), H5Fclose(file);
}

class RecordedClips : public test::DuctSession {
 protected:
  // Closes two clips, cuts between them and drops a third clip. Records from the start, or from the frame on in which
  // the first clip has closed. `holds`: ClipParams, N.
  void record(bool from_start, const char* holds) {
    start(with("holds_n = 8", holds));
    const auto begin = [&] {
      recorder_.emplace(recording_file(file_), scene_, *session_, "none");
      after_frame_ = [this](std::uint64_t frame) {
        recorder_->append(*session_, double(frame) * kFrame);
        seen_.push_back(seen_in(observer_.observe(*session_, double(frame) * kFrame)));
      };
    };
    if (from_start) begin();
    run(10);
    clip(0.015);
    if (!from_start) begin();
    clip(0.036);
    cut(0.026);
    grip(0, 0.0);
    grip(0, 1.0);
    recorder_->close();
    recorder_.reset();
    after_frame_ = nullptr;
  }

  void expect_all(std::size_t frames) {
    const Recording recording(file_);
    ASSERT_EQ(recording.frame_count(), frames);
    RecordingObserver observer(recording, scene_.scope, {});
    for (std::size_t frame = 0; frame < frames; ++frame) {
      const Seen now = seen_in(observer.observe(frame));
      ASSERT_EQ(now.tubes, seen_[frame].tubes) << "frame " << frame;
      ASSERT_EQ(now.clips.size(), seen_[frame].clips.size()) << "frame " << frame;
      for (std::size_t k = 0; k < now.clips.size(); ++k) expect_same(now.clips[k], seen_[frame].clips[k]);
    }
  }
  static void expect_same(const PlacedClip& recorded, const PlacedClip& live) {
    EXPECT_EQ(recorded.on(), live.on());
    EXPECT_EQ(recorded.clip.organ, live.clip.organ);
    EXPECT_EQ(recorded.tool, live.tool);
    EXPECT_EQ(recorded.length, live.length);
    EXPECT_EQ(recorded.along, live.along);
    EXPECT_EQ(recorded.closed, live.closed);
  }

  std::filesystem::path file_ = folder_.path() / "s.h5";
  std::optional<SessionRecorder> recorder_;
  SessionObserver observer_;
  std::vector<Seen> seen_;  // [recorded frame]
};

TEST_F(RecordedClips, AreThoseOfTheSessionInEveryFrame) {
  record(true, "holds_n = 8");
  const Seen& last = seen_.back();
  ASSERT_EQ(last.clips.size(), 3u);
  std::printf("%zu frames; clips on at the end: %d %d %d; divided %d, clips %u and %u\n", seen_.size(),
              last.clips[0].on(), last.clips[1].on(), last.clips[2].on(), last.tubes[0].divided,
              last.tubes[0].clips_at_start, last.tubes[0].clips_at_end);
  EXPECT_TRUE(last.tubes[0].divided);
  EXPECT_EQ(last.clips[2].clip.organ, kNoOrgan);
  expect_all(seen_.size());
}

TEST_F(RecordedClips, ComeOffInTheSameFrame) {
  record(true, "holds_n = 1");
  EXPECT_FALSE(seen_.back().clips[0].on());
  expect_all(seen_.size());
}

TEST_F(RecordedClips, BeginWithTheClipsSoFar) {
  record(false, "holds_n = 8");
  EXPECT_EQ(seen_.front().clips.size(), 1u);
  expect_all(seen_.size());
}

// A file that was damaged on purpose is refused with one sentence.
TEST_F(RecordedClips, DamageIsRefused) {
  record(false, "holds_n = 8");
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
  refused("/clips/vertices", 0, 7, "clip 0 is not on an organ");
  refused("/clips/vertices", 2, kMostStruts + 1, "clip 0 is not on an organ");
  refused("/clips/vertices", 3, 1000000, "clip 0 is not on an organ");
  refused("/clips/frame", 0, 100000, "not in ascending order");
  refused("/clips/tube_state", 0, 9, "duct or vessel 9 does not exist");
  refused("/clips/tube_frame", 0, 100000, "not in ascending order");
}

}  // namespace
}  // namespace trocar
