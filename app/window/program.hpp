// Runs the program's window from start screen to Quit, screen by screen and frame by frame, and jobs beside it.
// Driven in tests/app/window_path_test.sh; jobs are tested in tests/app/window_test.cpp
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/view/drawn.hpp"
#include "sim/link/igtl_server.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

struct WindowOptions {
  std::filesystem::path scene;           // empty: the start screen
  std::string backend;                   // empty: the scene's
  bool check = true;                     // by obb-refit, in every picture with enough time
  std::size_t frames = 0;                // 0: until the window is closed
  bool record = false;                   // starts at once, without waiting for Enter
  std::optional<Quality> quality;        // empty: automatic
  std::optional<IgtlServerParams> igtl;  // frames go to OpenIGTLink clients as well
  std::filesystem::path folder = "out";  // for recordings and pictures
  std::filesystem::path picture;         // of the last frame, panels included; empty: none
  std::filesystem::path state;           // a JSON file with the window's state; empty: none
  SceneAccess access;                    // files and hosts that scenes may use
  std::string person;                    // id of who practises; empty: no person is named
  std::string database;                  // address of the lab's database; empty: the station's
  std::filesystem::path curriculum;      // empty: the program's own
  std::optional<std::uint32_t> anatomy;  // of `scene`; empty: its own
  std::optional<int> level;              // of `scene`; empty: 1
  bool mute = false;                     // opens no sound device
  int width = 1280, height = 720;        // pixels
};

// Returns false, with the reason in `why`, when there is no display. Throws InputError for the scene in `options`
// (later errors appear on the start screen), RunError.
bool run_window(const WindowOptions& options, std::string& why);

// Runs a program again with other arguments, one job after the other, each in a process of its own at the lowest
// priority of processor and disk. The caller never waits: not for a job, and not for its end. A job ends with the
// process that started it.
class BackgroundJobs {
 public:
  // `program`: a path.
  explicit BackgroundJobs(std::string program) : program_(std::move(program)) {}
  // Asks the running job to end, by SIGTERM, and forgets those that wait.
  ~BackgroundJobs();
  BackgroundJobs(const BackgroundJobs&) = delete;
  BackgroundJobs& operator=(const BackgroundJobs&) = delete;

  using Job = std::vector<std::string>;  // arguments
  // A job that waits already is not added again.
  void add(Job job);
  // Starts the next job when none is running. Call it now and then.
  void step();
  bool busy() const { return process_ > 0 || !jobs_.empty(); }

 private:
  std::string program_;
  std::deque<Job> jobs_;
  pid_t process_ = -1;
};

}  // namespace trocar
