// Watches how much room the folder of the recordings has, in minutes of a task. Before an attempt the size of the
// recording is estimated from the scene; during the attempt it is measured. Never waits for the disk.
// Units: seconds, bytes a second.   Tested in tests/app/practice_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "sim/scene/scene.hpp"
#include "sim/support/files.hpp"
#include "sim/support/task.hpp"

namespace trocar {

class DiskWatch {
 public:
  // `folder`: of the recordings; it need not exist.
  explicit DiskWatch(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Call once a picture, `elapsed` s after the last. `scene`: what is to be recorded.
  void watch(const Scene& scene, double elapsed);
  // Names the recording that runs, from then on: what it has taken says more than an estimate. `seconds`: recorded.
  void measure(const std::filesystem::path& recording, double seconds);

  // Returns the time that can still be recorded; nothing while it is not known.
  std::optional<double> seconds() const;
  // Returns whether the disk has too little room for an attempt that would show anything.
  bool blocks() const { return state() == DiskState::Full; }
  DiskState state() const;
  // The room for an attempt in words; empty while it is not known.
  std::string text() const;
  // A warning for the recording that runs; empty while there is enough room or it is not known.
  std::string warning() const;

 private:
  struct Answer {
    std::optional<std::uint64_t> free;
    std::uint64_t recorded = 0;  // bytes  0: nothing
    double seconds = 0.0;        // of the recording when the question was asked
  };
  void ask_disk(double elapsed);
  void take(const Answer& answer);
  void ask_rate(const Scene& scene);

  std::filesystem::path folder_;
  std::string scene_;                    // key of the scene in rates_
  std::map<std::string, double> rates_;  // by scene; 0: not known
  std::string asked_scene_;
  Task<double> asked_rate_;
  Task<Answer> asked_disk_;
  std::filesystem::path recording_;
  double recorded_ = 0.0;  // s
  std::optional<std::uint64_t> free_;
  double since_ = 1e9;     // s  since the disk was asked
  double measured_ = 0.0;  // bytes a second; 0: not yet
  double needed_ = 0.0;    // s  that an attempt may take; 0: not known
};

}  // namespace trocar
