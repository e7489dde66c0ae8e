// Tests a SpaceMouse whose state the test sets, and one that libspnav connects to a daemon of the test (8 integers per
// event).
#include "sim/device/hand_device.hpp"
#include "sim/link/make_device.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::spacemouse_device_test {
namespace {

using namespace std::chrono_literals;
constexpr double kFrame = 1.0 / 60.0;

struct Puck {
  Puck() { state.connected = true; }
  DevicePose run(int frames) {
    DevicePose pose;
    for (int k = 0; k < frames; ++k, ++frame) pose = device.pose({frame, static_cast<double>(frame) * kFrame});
    return pose;
  }
  SpaceMouseState state;
  SpaceMouseParams params;
  std::uint64_t frame = 0;
  SpaceMouseDevice device{{{0, 0, 0.2}, {0, 0, 0.1}, glm::dvec3(0.0), {}, 0.0}, [this] { return state; }};
};

TEST(SpaceMouseDevice, EveryAxisMovesItsJoint) {
  Puck puck;
  puck.device.set_screen({1, 0, 0}, {0, 1, 0});
  puck.run(1);
  puck.state.axes = {0, 0, 350, 0, 0, 0};  // forward: in
  EXPECT_NEAR(-(puck.run(60).tip.z - 0.1), puck.params.insert_rate, 1e-6);
  puck.state.axes = {0, 0, 0, 0, -350, 0};  // clockwise from above
  EXPECT_NEAR(puck.run(30).roll_deg, 0.5 * puck.params.spin_rate_deg, 1e-6);
  puck.state.axes = {350, 0, 0, 0, 0, 0};  // moves the handle right
  EXPECT_LT(puck.run(30).tip.x, -0.01);
  puck.state.axes = {0, 0, 0, 0, 0, -350};
  EXPECT_NEAR(puck.run(30).tip.x, 0.0, 1e-3);
  puck.state.axes = {0, 350, 0, 0, 0, 0};
  EXPECT_LT(puck.run(30).tip.y, -0.01);
  puck.state.axes = {0, 0, 0, -350, 0, 0};
  EXPECT_NEAR(puck.run(30).tip.y, 0.0, 1e-3);
  puck.state.axes = {15, -15, 15, 15, -15, 15};  // within the dead zone
  const DevicePose rest = puck.run(1);
  EXPECT_NEAR(glm::length(puck.run(30).tip - rest.tip), 0.0, 1e-12);
  puck.state.buttons = {true, true, false};
  EXPECT_EQ(puck.run(1).grip, 0.0);
  EXPECT_EQ(puck.run(1).energy, Diathermy::Cut);
  puck.state.buttons = {false, false, true};
  EXPECT_EQ(puck.run(1).energy, Diathermy::Coagulate);
  puck.state = {};
  EXPECT_EQ(puck.run(1).energy, Diathermy::Off);
  EXPECT_EQ(puck.device.health(), DeviceHealth::Lost);
}

// The daemon's end of the socket at the path in SPNAV_SOCKET.
class FakeDaemon {
 public:
  explicit FakeDaemon(const std::string& path) {
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 4), 0);
  }
  ~FakeDaemon() {
    if (client_ >= 0) close(client_);
    close(listener_);
  }
  bool accept_one() {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, 10000) != 1) return false;
    client_ = accept(listener_, nullptr, nullptr);
    return client_ >= 0;
  }
  void motion(int x, int y, int z, int rx, int ry, int rz) { say({0, x, y, z, rx, ry, rz, 16}); }
  void press(int button) { say({1, button, 0, 0, 0, 0, 0, 0}); }
  void release(int button) { say({2, button, 0, 0, 0, 0, 0, 0}); }

 private:
  void say(const std::array<int, 8>& event) {
    EXPECT_EQ(send(client_, event.data(), sizeof event, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof event));
  }
  int listener_ = -1, client_ = -1;
};

bool comes_true(const std::function<bool()>& what) {
  for (int k = 0; k < 1000; ++k, std::this_thread::sleep_for(10ms))
    if (what()) return true;
  return false;
}

TEST(SpaceMouseReader, AMissingDaemonGivesOneSentence) {
  TemporaryFolder folder;
  setenv("SPNAV_SOCKET", (folder.path() / "none.sock").c_str(), 1);
  EXPECT_FALSE(spacenavd_answers());
  EXPECT_THROW(SpaceMouseReader(), InputError);
}

TEST(SpaceMouseReader, FollowsTheDaemonAndReconnects) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "spnav.sock";
  setenv("SPNAV_SOCKET", path.c_str(), 1);
  auto daemon = std::make_unique<FakeDaemon>(path);
  SpaceMouseReader reader;
  EXPECT_TRUE(reader.state().connected);
  EXPECT_THROW(SpaceMouseReader(), InputError);  // only one at a time
  ASSERT_TRUE(daemon->accept_one());
  daemon->motion(1, 2, 3, 40, 50, 60);
  daemon->press(1);
  EXPECT_TRUE(comes_true([&] { return reader.state().buttons[1]; }));
  EXPECT_EQ(reader.state().axes, (std::array<int, 6>{1, 2, 3, 40, 50, 60}));
  daemon->release(1);
  EXPECT_TRUE(comes_true([&] { return !reader.state().buttons[1]; }));
  daemon.reset();
  EXPECT_TRUE(comes_true([&] { return !reader.state().connected; }));
  EXPECT_EQ(reader.state().axes, (std::array<int, 6>{}));
  unlink(path.c_str());
  daemon = std::make_unique<FakeDaemon>(path);
  EXPECT_TRUE(comes_true([&] { return reader.state().connected; }));
}

}  // namespace
}  // namespace trocar::spacemouse_device_test
