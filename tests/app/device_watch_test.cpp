// Tests the devices without a session: what is missing is said in a sentence, and what a device sends is shown. A
// server of ours sends poses over loopback.
#include "app/window/input/device_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "sim/link/igtl_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using namespace std::chrono_literals;

Scene one_probe() {
  Scene scene;
  scene.file = "scene.toml";
  InstrumentScene probe;
  probe.name = "probe", probe.pivot = {0, 0, 0.2}, probe.tip = {0, 0, 0.1};
  scene.instruments.push_back(probe);
  scene.scope.device = "script";
  return scene;
}

class DevicesOfAScene : public ::testing::Test {
 protected:
  // Watches the probe with this device.
  DeviceWatch& watch(const std::string& device, const std::string& source = {}, const std::string& file = {}) {
    auto choices = device_choices(scene_);
    choices[0].device = device, choices[0].source = source, choices[0].trajectory = file;
    choices[0].typed = !file.empty();
    watch_.reset();
    watch_ = std::make_unique<DeviceWatch>(
        scene_, choices, access_,
        DeviceHardware{[this](const std::string&) { return [this] { return pad_; }; }, [this] { return pads_; }});
    watch_->read(0.0);
    return *watch_;
  }
  const DeviceReading& reading() const { return watch_->readings()[0]; }
  // Reads until the condition holds, ten seconds at most.
  bool comes_true(const std::function<bool()>& what) {
    const auto start = std::chrono::steady_clock::now();
    for (double time = 0.0; time < 10.0 && !what();
         time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()) {
      std::this_thread::sleep_for(2ms);
      watch_->read(time);
    }
    return what();
  }
  bool says(const std::string& part) const { return reading().fault.find(part) != std::string::npos; }

  Scene scene_ = one_probe();
  SceneAccess access_;
  GamepadState pad_;
  std::vector<std::string> pads_;
  std::unique_ptr<DeviceWatch> watch_;
};

TEST(DeviceSetup, ChoicesAreThoseOfTheSceneAndComeBack) {
  Scene scene = one_probe();
  auto choices = device_choices(scene);
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[1].holds, "scope");
  choices[0].device = "trajectory", choices[0].trajectory = "t.csv", choices[0].typed = true;
  choices[1].device = "igtl", choices[1].source = "host:1/x";
  const Scene chosen = with_devices(scene, choices);
  EXPECT_EQ(chosen.instruments[0].trajectory, "t.csv");
  EXPECT_EQ(chosen.scope.source, "host:1/x");
  EXPECT_EQ(device_choices(chosen)[1], choices[1]);
  EXPECT_TRUE(without_typed_files(chosen, choices).instruments[0].trajectory.empty());
  EXPECT_EQ(without_typed_files(chosen, choices).scope.source, "host:1/x");
}

TEST(DeviceSetup, TheFieldsOfASourceComeBack) {
  EXPECT_EQ(igtl_source_text(igtl_fields("")), "localhost:18944/");
  for (const char* source : {"tracker:18945/Probe", "localhost:1/", "h:x/Left hand"})
    EXPECT_EQ(igtl_source_text(igtl_fields(source)), source);
}

TEST_F(DevicesOfAScene, AMouseIsThereAndMoves) {
  watch("mouse");
  EXPECT_TRUE(reading().fault.empty());
  const glm::dvec3 before = reading().pose->tip;
  watch_->move_mouse(0, 100.0, 0.0, 0.0);
  watch_->read(1.0);
  EXPECT_GT(glm::distance(reading().pose->tip, before), 0.005);
  EXPECT_NE(reading().joints.pan_deg, 0.0);
  watch_->move_mouse(7, 1.0, 1.0, 1.0);
  EXPECT_FALSE(watch_->blocks());
  EXPECT_EQ(watch_->readings()[1].state, "Does not move");
}

TEST_F(DevicesOfAScene, AMissingGamepadIsSaidAndMayComeLater) {
  watch("gamepad");
  EXPECT_TRUE(says("No gamepad is connected"));
  EXPECT_FALSE(watch_->blocks());
  EXPECT_FALSE(reading().pose);
  pads_ = {"1 (Pad)"};
  watch("gamepad", "Other");
  EXPECT_TRUE(says("'Other'; connected: 1 (Pad)"));
  pad_.connected = true;
  watch_->read(0.1);
  EXPECT_TRUE(reading().fault.empty()) << reading().fault;
  EXPECT_TRUE(reading().pose);
}

TEST_F(DevicesOfAScene, AMotionIsReadOnceAndPlayed) {
  TemporaryFolder folder;
  const std::string csv =
      folder.write("t.csv", "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,0,0,200,0,0,100\n2,0,0,200,0,0,80\n")
          .string();
  watch("trajectory");
  EXPECT_TRUE(says("No file is chosen"));
  EXPECT_TRUE(watch_->blocks());
  watch("trajectory", "", folder.path() / "none.csv");
  EXPECT_TRUE(says("none.csv")) << reading().fault;
  EXPECT_TRUE(watch_->blocks());
  watch("trajectory", "", csv);
  EXPECT_EQ(reading().state, "2 rows, 2.0 s, repeated here");
  watch_->read(1.0);
  EXPECT_NEAR(reading().pose->tip.z, 0.09, 1e-9);
  watch_->read(3.0);
  EXPECT_NEAR(reading().pose->tip.z, 0.09, 1e-9);
  // A file that the scene names by itself must lie in its folder.
  auto choices = device_choices(scene_);
  choices[0].device = "trajectory", choices[0].trajectory = csv;
  const DeviceWatch untyped(scene_, choices, access_, {});
  EXPECT_NE(untyped.readings()[0].fault.find("outside the folder"), std::string::npos) << untyped.readings()[0].fault;
}

TEST_F(DevicesOfAScene, AnotherMachineIsNotConnectedWithoutPermission) {
  watch("igtl", "tracker.example:18944/Probe");
  EXPECT_EQ(reading().asks_host, "tracker.example");
  EXPECT_TRUE(reading().fault.empty());
  watch("igtl", "localhost:0/Probe");
  EXPECT_TRUE(watch_->blocks());
  EXPECT_TRUE(says("no valid port")) << reading().fault;
}

TEST_F(DevicesOfAScene, ATrackerIsMissingThenWrongThenLive) {
  IgtlServerParams params;
  params.port = 0;
  std::optional<IgtlServer> server(std::in_place, params);
  const int port = server->port();
  server.reset();
  const std::string address = "localhost:" + std::to_string(port);
  watch("igtl", address + "/Probe");
  EXPECT_TRUE(comes_true([&] { return says("No OpenIGTLink server answers at " + address); })) << reading().fault;
  EXPECT_FALSE(watch_->blocks());
  EXPECT_FALSE(reading().pose);

  params.port = port;
  server.emplace(params);
  const RemoteCentre centre = remote_centre({0, 0, 0.2}, {0, 0, -1});
  std::vector<PublishedTool> tools{{"Stylus", matrix_of(centre, {20.0, -10.0, 30.0, 0.12, 60.0})}};
  const auto send = [&](const std::function<bool()>& what) {
    return comes_true([&] {
      server->publish(tools);
      return what();
    });
  };
  EXPECT_TRUE(send([&] { return says("sends poses of Stylus, but none of Probe"); })) << reading().fault;
  tools[0].name = "Probe";
  EXPECT_TRUE(send([&] { return reading().rate.value_or(0.0) > 10.0 && reading().fault.empty(); })) << reading().fault;
  EXPECT_NEAR(reading().joints.pan_deg, 20.0, 0.01);
  EXPECT_NEAR(reading().joints.tilt_deg, -10.0, 0.01);
  EXPECT_NEAR(reading().joints.depth, 0.12, 1e-4);
  EXPECT_NEAR(reading().pose->roll_deg, 30.0, 0.01);
  EXPECT_TRUE(comes_true([&] { return says("s old"); })) << reading().fault;  // it has stopped to send
  tools[0].pose[3] = glm::dvec4(0, 0, 9.0, 1.0);
  EXPECT_TRUE(send([&] { return says("is not a tool pose"); })) << reading().fault;
  server.reset();
  EXPECT_TRUE(comes_true([&] { return says("No OpenIGTLink server answers"); })) << reading().fault;
}

TEST(StartDevicesOf, EachSceneKeepsItsChoice) {
  Scene first = one_probe(), second = one_probe();
  second.file = "other.toml";
  StartDevices devices;
  devices.select(first);
  devices.device(0) = "igtl";
  devices.select(second);
  EXPECT_EQ(devices.choices()[0].device, "mouse");
  devices.select(first);
  EXPECT_EQ(devices.choices()[0].device, "igtl");
  first.instruments[0].name = "another";
  devices.select(first);
  EXPECT_EQ(devices.choices()[0].device, "mouse");
  EXPECT_FALSE(devices.blocks());
  EXPECT_EQ(devices.faults(), "");
}

// A tracker whose world is far away and turned: one pose of the tool calibrates it.
TEST_F(DevicesOfAScene, ATrackerIsCalibratedWithTheStartPose) {
  IgtlServerParams params;
  params.port = 0;
  IgtlServer server(params);
  const std::string source = "localhost:" + std::to_string(server.port()) + "/Probe";
  glm::dmat4 sent(glm::dmat3(glm::dvec3(0, 1, 0), glm::dvec3(0, 0, 1), glm::dvec3(1, 0, 0)));
  sent[3] = glm::dvec4(3.0, -4.0, 5.0, 1.0);
  std::vector<PublishedTool> tools{{"Probe", sent}};
  const auto comes = [&](const std::function<bool()>& what) {
    return comes_true([&] {
      server.publish(tools);
      return what();
    });
  };
  watch("igtl", source);
  EXPECT_FALSE(watch_->registration_of_start(1));
  ASSERT_TRUE(comes([&] { return watch_->registration_of_start(0).has_value(); }));
  EXPECT_TRUE(comes([&] { return says("calibrate the tracker"); })) << reading().fault;
  scene_.instruments[0].registration = *watch_->registration_of_start(0);
  watch("igtl", source);
  ASSERT_TRUE(comes([&] { return reading().pose && reading().fault.empty(); })) << reading().fault;
  EXPECT_LT(glm::distance(reading().pose->tip, scene_.instruments[0].tip), 1e-5);
  EXPECT_NEAR(reading().pose->roll_deg, 0.0, 0.01);
  tools[0].pose[3] += glm::dvec4(-0.01, 0, 0, 0);  // back along the shaft of the tracker's world
  EXPECT_TRUE(comes([&] { return std::abs(reading().joints.depth - 0.09) < 1e-4; })) << reading().joints.depth;
}

}  // namespace
}  // namespace trocar
