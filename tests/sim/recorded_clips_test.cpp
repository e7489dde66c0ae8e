// Tests clips in recordings: clips and the state of ducts are those of the session in every frame, also after recover
// and for recordings that begin later; damaged tables are refused with one sentence.
#include <gtest/gtest.h>

#include "tests/sim/recorded_duct.hpp"

namespace trocar {
namespace {

struct SeenClips {
  explicit SeenClips(const Observation& seen)
      : clips(seen.clips.begin(), seen.clips.end()), tubes(seen.tubes.begin(), seen.tubes.end()) {}

  std::vector<PlacedClip> clips;
  std::vector<TubeState> tubes;
};

void expect_same(const PlacedClip& recorded, const PlacedClip& live) {
  EXPECT_EQ(recorded.on(), live.on());
  EXPECT_EQ(recorded.clip.organ, live.clip.organ);
  EXPECT_EQ(recorded.tool, live.tool);
  EXPECT_EQ(recorded.length, live.length);
  EXPECT_EQ(recorded.along, live.along);
  EXPECT_EQ(recorded.closed, live.closed);
}

void expect_same(const SeenClips& recorded, const SeenClips& live) {
  ASSERT_EQ(recorded.tubes, live.tubes);
  ASSERT_EQ(recorded.clips.size(), live.clips.size());
  for (std::size_t k = 0; k < live.clips.size(); ++k) expect_same(recorded.clips[k], live.clips[k]);
}

class RecordedClips : public test::RecordedDuct<SeenClips> {
 protected:
  // Closes two clips, cuts between them and drops a third clip. Records from the start, or from the frame on in which
  // the first clip has closed. `holds`: ClipParams, N.
  void record(bool from_start, const char* holds) {
    start(with("holds_n = 8", holds));
    if (from_start) begin_recording();
    run(10);
    clip(0.015);
    if (!from_start) begin_recording();
    clip(0.036);
    cut(0.026);
    grip(0, 0.0);
    grip(0, 1.0);
    end_recording();
  }
};

TEST_F(RecordedClips, AreThoseOfTheSessionInEveryFrame) {
  record(true, "holds_n = 8");
  const SeenClips& last = seen_.back();
  ASSERT_EQ(last.clips.size(), 3u);
  std::printf("%zu frames; clips on at the end: %d %d %d; divided %d, clips %u and %u\n", seen_.size(),
              last.clips[0].on(), last.clips[1].on(), last.clips[2].on(), last.tubes[0].divided,
              last.tubes[0].clips_at_start, last.tubes[0].clips_at_end);
  EXPECT_TRUE(last.tubes[0].divided);
  EXPECT_EQ(last.clips[2].clip.organ, kNoOrgan);
  expect_all(file_);
}

TEST_F(RecordedClips, ComeOffInTheSameFrame) {
  record(true, "holds_n = 1");
  EXPECT_FALSE(seen_.back().clips[0].on());
  expect_all(file_);
}

TEST_F(RecordedClips, BeginWithTheClipsSoFar) {
  record(false, "holds_n = 8");
  EXPECT_EQ(seen_.front().clips.size(), 1u);
  expect_all(file_);
}

// A file that was damaged on purpose is refused with one sentence.
TEST_F(RecordedClips, DamageIsRefused) {
  record(false, "holds_n = 8");
  expect_refused("/clips/vertices", 0, 7, "clip 0 is not on an organ");
  expect_refused("/clips/vertices", 2, kMostStruts + 1, "clip 0 is not on an organ");
  expect_refused("/clips/vertices", 3, 1000000, "clip 0 is not on an organ");
  expect_refused("/clips/frame", 0, 100000, "not in ascending order");
  expect_refused("/clips/tube_state", 0, 9, "duct or vessel 9 does not exist");
  expect_refused("/clips/tube_frame", 0, 100000, "not in ascending order");
}

}  // namespace
}  // namespace trocar
