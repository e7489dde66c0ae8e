// Tests bleeding in recordings: losses and sources are those of the session in every frame, also after recover and for
// recordings that begin later; damaged tables are refused with one sentence.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/sim/recorded_duct.hpp"

namespace trocar {
namespace {

struct SeenBleeding {
  explicit SeenBleeding(const Observation& seen)
      : sources(seen.bleeding.sources.begin(), seen.bleeding.sources.end()),
        lost(seen.bleeding.lost.begin(), seen.bleeding.lost.end()) {}

  std::vector<BleedSource> sources;
  std::vector<FluidLoss> lost;
};

void expect_same(const BleedSource& recorded, const BleedSource& live) {
  EXPECT_EQ(recorded.organ, live.organ);
  EXPECT_EQ(recorded.vertex, live.vertex);
  EXPECT_EQ(recorded.kind, live.kind);
  EXPECT_EQ(recorded.state, live.state);
  EXPECT_EQ(recorded.rate, live.rate);
  EXPECT_EQ(recorded.half_time, live.half_time);
}

void expect_same(const SeenBleeding& recorded, const SeenBleeding& live) {
  ASSERT_EQ(recorded.lost, live.lost);
  ASSERT_EQ(recorded.sources.size(), live.sources.size());
  for (std::size_t k = 0; k < live.sources.size(); ++k) expect_same(recorded.sources[k], live.sources[k]);
}

class RecordedBleeding : public test::RecordedDuct<SeenBleeding> {
 protected:
  // Divides a vessel without a clip, then closes a clip. Records from the start, or from the division on.
  void record(bool from_start) {
    start(test::with_vessel(test::duct_scene()));
    if (from_start) begin_recording();
    run(10);
    cut(0.030);
    if (!from_start) begin_recording();
    clip(0.012);
  }
};

TEST_F(RecordedBleeding, IsThatOfTheSessionInEveryFrame) {
  record(true);
  end_recording();
  const SeenBleeding& last = seen_.back();
  ASSERT_EQ(last.sources.size(), 1u);
  std::printf("%zu frames, %.3f ml lost\n", seen_.size(), last.lost[0].blood / kMillilitre);
  EXPECT_GT(last.lost[0].blood, 0.0);
  EXPECT_EQ(last.sources[0].state, BleedState::Closed);
  expect_all(file_);
}

TEST_F(RecordedBleeding, BeginsWithTheSourcesSoFar) {
  record(false);
  end_recording();
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
  end_recording();
  const RecoverResult result = recover_recording(copy);
  EXPECT_FALSE(result.was_clean);
  EXPECT_EQ(result.frames, seen_.size());
  expect_all(copy);
}

TEST_F(RecordedBleeding, DamageIsRefused) {
  record(false);
  end_recording();
  expect_refused("/bleeding/source", 0, 7, "source 0 of its bleeding is not on an organ");
  expect_refused("/bleeding/source", 1, 1000000, "source 0 of its bleeding is not on an organ");
  expect_refused("/bleeding/source", 2, 9, "source 0 of its bleeding is not on an organ");
  expect_refused("/bleeding/change", 0, 5, "source 5 of its bleeding changes before it opens or does not exist");
  expect_refused("/bleeding/change", 2, 77, "changes before it opens or does not exist");
  expect_refused("/bleeding/change_frame", 0, 100000, "not in ascending order");
}

}  // namespace
}  // namespace trocar
