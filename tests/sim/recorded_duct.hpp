// Records the session of a duct, compares every frame of the recording with the session, and damages copies of the
// file.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "sim/record/session_recorder.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/sim/duct_session.hpp"
#include "tests/sim/put_cell.hpp"

namespace trocar::test {

// `Seen`: what the test compares of a frame. It is made from an Observation; expect_same(recorded, live) compares two.
template <class Seen>
class RecordedDuct : public DuctSession {
 protected:
  // Records each further frame.
  void begin_recording() {
    recorder_.emplace(recording_file(file_), scene_, *session_, "none");
    after_frame_ = [this](std::uint64_t frame) {
      const double time = double(frame) * kFrame;
      recorder_->append(*session_, time);
      seen_.emplace_back(observer_.observe(*session_, time));
    };
  }
  void end_recording() {
    after_frame_ = nullptr;
    recorder_->close();
    recorder_.reset();
  }

  void expect_all(const std::filesystem::path& file) const {
    const Recording recording(file);
    ASSERT_EQ(recording.frame_count(), seen_.size());
    RecordingObserver observer(recording, scene_.scope, {});
    for (std::size_t frame = 0; frame < seen_.size(); ++frame)
      ASSERT_NO_FATAL_FAILURE(expect_same(Seen(observer.observe(frame)), seen_[frame])) << "frame " << frame;
  }

  // Expects one sentence for a copy of the recording with another number in the first row of a table.
  void expect_refused(const char* table, std::uint64_t column, std::uint32_t value, const char* part) const {
    const std::filesystem::path copy = folder_.path() / "damaged.h5";
    std::filesystem::copy_file(file_, copy, std::filesystem::copy_options::overwrite_existing);
    put_cell(copy, table, {0, column}, value);
    std::string text = "no error";
    try {
      const Recording recording(copy);
    } catch (const InputError& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << table << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }

  std::filesystem::path file_ = folder_.path() / "s.h5";
  std::optional<SessionRecorder> recorder_;
  SessionObserver observer_;
  std::vector<Seen> seen_;  // [recorded frame]
};

}  // namespace trocar::test
