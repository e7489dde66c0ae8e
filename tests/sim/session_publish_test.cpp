// Tests what a session publishes over OpenIGTLink.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "sim/device/script_device.hpp"
#include "sim/link/igtl_device.hpp"
#include "sim/link/igtl_server.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/ball_scene.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// A tool that follows another session's tool over the network has the same pose.
TEST(PublishedSession, FramesReachADevice) {
  const TemporaryFolder folder;
  const Scene made = load_scene(test::write_ball_scene(folder, {.tip = 56}));
  CpuBackends backends;
  Session session(made, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, "explore", 0.012, 0.008, 2.0});
  });
  IgtlServerParams params;
  params.port = 0;
  IgtlPublisher publisher(made, params);
  const InstrumentScene& scene = made.instruments[0];
  IgtlDevice device({"127.0.0.1", publisher.server().port(), "probe"},
                    {scene.pivot, scene.tip, scene.axis, scene.limits, 0.0});
  DevicePose pose;
  for (std::uint64_t frame = 0; frame < 2000 && device.health() != DeviceHealth::Good; ++frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
    publisher.publish(session);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pose = device.pose({});
  }
  ASSERT_EQ(device.health(), DeviceHealth::Good);
  // The last frame may not have arrived yet.
  const glm::dvec3 tip = session.instruments()[0].pose.tip;
  for (int wait = 0; wait < 2000 && glm::length(pose.tip - tip) >= 1e-6; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pose = device.pose({});
  }
  EXPECT_LT(glm::length(pose.tip - tip), 1e-6);
  EXPECT_NEAR(pose.roll_deg, session.instruments()[0].roll_deg, 1e-3);
}

}  // namespace
}  // namespace trocar
