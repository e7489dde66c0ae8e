// Tests that a recording holds the reference's sample, and that it gives the touched faces again.
#include <gtest/gtest.h>

#include "app/replay/replay.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "tests/sim/ball_session.hpp"

namespace trocar {
namespace {

using test::BallScene;

TEST_F(BallScene, TheSampleIsRecorded) {
  Session session = make_session({});
  SessionRecorder recorder(recording_file(folder_.path() / "sample.h5"), scene_, session, "none");
  for (std::size_t frame = 0; frame < 60; ++frame) {
    run(session, frame, 1);
    recorder.append(session, static_cast<double>(frame) * kFrame);
  }
  recorder.close();
  const Recording recording(folder_.path() / "sample.h5");
  std::uint64_t faces = 0, of = 0, wrong = 0;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const auto sample = recording.sample(frame);
    ASSERT_TRUE(sample);
    EXPECT_GE((*sample)[0], 1u);
    faces += (*sample)[0], of += (*sample)[1], wrong += (*sample)[2];
  }
  EXPECT_EQ(faces, session.sample().faces);
  EXPECT_EQ(of, session.sample().of);
  EXPECT_EQ(of, 60u * session.organs()[0].mesh.faces.size()) << "a probe is one volume";
  EXPECT_EQ(wrong, 0u);
}

TEST_F(BallScene, ARecordingReplaysToTheSameTouchedFaces) {
  const auto file = folder_.path() / "s.h5";
  {
    Session session = make_session();
    SessionRecorder recorder(recording_file(file), scene_, session, "none");
    for (std::size_t frame = 0; frame < 120; ++frame) {
      run(session, frame, 1);
      recorder.append(session, static_cast<double>(frame) * kFrame);
    }
    recorder.close();
  }
  const Recording recording(file);
  const auto source = make_recording_source(file);
  const auto query = backends_.make("scan");
  query->rebuild(source->organ(0));
  OrganFrame recorded;
  std::size_t touches = 0;
  for (std::size_t frame = 0; frame < source->frame_count(); ++frame) {
    source->load(frame);
    recording.read_frame(frame, 0, recorded);
    query->update(source->positions(0));
    const TouchList again = query->touched(source->tools(), TouchSet::Exact);
    ASSERT_EQ(again.touches.size(), recorded.touches.size()) << "frame " << frame;
    for (std::size_t k = 0; k < recorded.touches.size(); ++k) {
      EXPECT_EQ(again.touches[k].face, recorded.touches[k].face);
      EXPECT_EQ(again.touches[k].point, recorded.touches[k].point);
      EXPECT_EQ(again.touches[k].depth, recorded.touches[k].depth);
    }
    touches += recorded.touches.size();
  }
  EXPECT_GT(touches, 200u);
}

}  // namespace
}  // namespace trocar
