// Tests what happens when the window's OpenGL context is lost during a session: the recording is closed completely, and
// the program ends with an error message. Needs a display: the test app.window_lost provides one.
#include <glad/gl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "app/window/program.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "tests/sim/ball_scene.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

GLenum GLAD_API_PTR was_reset() { return GL_UNKNOWN_CONTEXT_RESET; }

// Makes the driver report a lost context after the recording has begun. The thread of the window reads the driver's
// functions in every frame, so it also replaces this one: in a signal handler.
void lose_context_once_there_is(const std::filesystem::path& recording, pthread_t window) {
  for (int i = 0; i < 600 && !std::filesystem::exists(recording); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  pthread_kill(window, SIGUSR1);
}

TEST(WindowLost, ClosesTheRecordingAndReportsIt) {
  if (!std::getenv("DISPLAY")) GTEST_SKIP() << "no display";
  TemporaryFolder folder;
  WindowOptions options;
  options.scene = test::write_ball_scene(folder, {.subdivisions = 3, .node_spacing = 15});
  options.folder = folder.path();
  options.record = true;
  options.check = false;
  options.backend = "scan";
  options.width = 320, options.height = 240;
  options.quality = Quality::Low;
  const auto recording = folder.path() / "ball.h5";
  signal(SIGUSR1, [](int) { glad_debug_glGetGraphicsResetStatus = was_reset; });
  std::thread driver([&, window = pthread_self()] { lose_context_once_there_is(recording, window); });
  std::string why, said;
  try {
    const bool opened = run_window(options, why);
    driver.join();
    if (!opened) GTEST_SKIP() << why;
  } catch (const RunError& error) {
    driver.join();
    said = error.what();
  }
  EXPECT_EQ(said, "the graphics driver lost the window's OpenGL context; the recording " + recording.string() +
                      " is complete up to here; start the program again");
  const Recording read(recording);
  EXPECT_TRUE(read.clean());
  EXPECT_GT(read.frame_count(), 1u);
}

}  // namespace
}  // namespace trocar
