// Writes a session to a recording: a header that describes the session, and one frame after every step.
// Tested in tests/sim/recording/recorded_session_test.cpp
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "sim/record/record_sink.hpp"
#include "sim/session/session.hpp"

namespace trocar {

class SessionRecorder {
 public:
  // Opens the sink and writes the header. Throws the errors of `open`. `gl`: from gl_description().
  SessionRecorder(const OpenSink& open, const Scene& scene, const Session& session, const std::string& gl,
                  const RunNote& run = {});

  // Call after session.step(): appends that frame. Its `record` stage is the time of the previous append.
  void append(Session& session, const FrameClock& clock);
  // Does the same for sessions without a trainee, where wall time is the time since the recording began.
  void append(Session& session, double time);
  // Returns whether recording has ended because the disk is full or the file was deleted; failure() gives the reason.
  bool failed() const noexcept { return sink_->failed(); }
  std::string failure() const { return sink_->failure(); }
  // Ends the recording. Throws RunError when a frame was not stored.
  void close(Ending ending = Ending::Stopped) {
    sink_->set_ending(ending);
    sink_->close();
  }

 private:
  static RecordingHeader header_of(const Scene& scene, const Session& session, const std::string& gl,
                                   const RunNote& run);

  // Returns the backend's index in the attribute `backends`; the number of entries when it is not listed.
  std::uint8_t number_of(const std::string& backend) const;

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::unique_ptr<RecordSink> sink_;
  std::vector<ToolPose> poses_;
  std::vector<glm::dvec2> roll_grip_;
  std::vector<std::uint8_t> energy_;
  std::vector<std::uint32_t> heats_;          // [tool]
  std::vector<RecordedHandle> handles_;       // [tool]
  std::vector<RecordedOrganFrame> organs_;    // [organ]
  std::vector<RecordedChange> changes_;       // [organ]
  std::vector<std::vector<FaceId>> tip_ids_;  // [organ]
  std::vector<glm::vec3> forces_;
  std::vector<RecordedClash> clashes_;
  std::vector<float> tip_depth_;   // [tool] m
  std::vector<ToolState> states_;  // [tool]
  std::vector<RecordedTube> tubes_;
  std::vector<RecordedBleedChange> bleed_changes_;
  std::vector<std::string> backends_;
  double last_append_ms_ = 0.0;
};

}  // namespace trocar
