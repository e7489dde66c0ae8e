// Tests that a recording shows the fluid of its session.
#include <gtest/gtest.h>

#include <cstdio>

#include "sim/hdf5/recorder.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recorded_frames.hpp"
#include "tests/sim/fluid_session.hpp"

namespace trocar {
namespace {

using test::FluidOnADuct;

// The recording holds the amounts bit for bit; its picture is recomputed and only similar.
TEST_F(FluidOnADuct, IsShownFromARecording) {
  start(bleeding());
  const std::filesystem::path file = folder_.path() / "s.h5";
  std::vector<FluidAmounts> seen;
  std::vector<double> areas;
  {
    SessionRecorder recorder(recording_file(file), scene_, *session_, "none");
    after_frame_ = [&](std::uint64_t frame) {
      recorder.append(*session_, double(frame) * kFrame);
      seen.push_back(amounts()), areas.push_back(session_->film().blood_area());
    };
    run(10);
    cut(0.026);
    run(120);
    pump(Diathermy::Cut, 30);
    recorder.close();
    after_frame_ = nullptr;
  }
  const Recording recording(file);
  ASSERT_EQ(recording.bleeding().fluids.size(), seen.size());
  RecordedOrganFrames organ(recording, 0);
  RecordedFilm film(recording, scene_);
  for (std::size_t frame = 0; frame < seen.size(); ++frame) {
    EXPECT_EQ(recording.bleeding().fluids[frame], seen[frame]) << "frame " << frame;
    const bool reshaped = organ.load(frame);
    const FilmedOrgan filmed{organ.mesh(), organ.surface().at_rest(), reshaped};
    film.load(frame, std::span(&filmed, 1));
  }
  std::printf("%.2f cm^2 red in the session, %.2f cm^2 in the replay\n", 1e4 * areas.back(), 1e4 * film.blood_area());
  EXPECT_NEAR(film.blood_area(), areas.back(), 0.15 * areas.back());
  RecordedFilm jumped(recording, scene_);
  const FilmedOrgan filmed{organ.mesh(), organ.surface().at_rest(), true};
  jumped.load(seen.size() - 1, std::span(&filmed, 1));
  EXPECT_GT(jumped.blood_area(), 0.3 * areas.back());
}

}  // namespace
}  // namespace trocar
