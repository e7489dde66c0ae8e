// Tests the device factory: every name creates its device, for instruments and for the scope; an error contains the
// instrument's name.
#include "sim/link/make_device.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

InstrumentScene instrument(const std::string& device) {
  InstrumentScene scene;
  scene.name = "left";
  scene.pivot = {0, 0, 0.2};
  scene.tip = {0, 0, 0.1};
  scene.device = device;
  return scene;
}

DeviceContext fake_context() {
  DeviceContext context;
  context.gamepad = [](const std::string&) { return [] { return GamepadState{true}; }; };
  return context;
}

std::string fault_of(const InstrumentScene& scene) {
  DeviceContext context = fake_context();
  try {
    make_device(scene, context);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(MakeDevice, CreatesEveryDevice) {
  TemporaryFolder folder;
  setenv("SPNAV_SOCKET", (folder.path() / "none.sock").c_str(), 1);
  const auto csv =
      folder.write("t.csv", "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,0,0,200,0,0,90\n1,0,0,200,0,0,80\n");
  for (const std::string& name : device_names()) {
    InstrumentScene scene = instrument(name);
    scene.trajectory = csv;
    if (name == "igtl") scene.source = "127.0.0.1:1/Probe";
    if (name == "spacemouse") {
      EXPECT_NE(fault_of(scene).find("spacenavd"), std::string::npos);
      continue;
    }
    DeviceContext context = fake_context();
    const auto device = make_device(scene, context);
    ASSERT_TRUE(device) << name;
    const DevicePose pose = device->pose({0, 0.0});
    EXPECT_EQ(pose.pivot, scene.pivot) << name;
    EXPECT_EQ(context.mice.size(), 1u);
    EXPECT_EQ(context.mice[0] != nullptr, name == "mouse") << name;
    EXPECT_EQ(context.rates.size(), name == "gamepad" ? 1u : 0u) << name;
    EXPECT_NEAR(pose.tip.z, name == "trajectory" ? 0.09 : 0.1, 0.04) << name;
  }
}

TEST(MakeDevice, CreatesDevicesForTheScope) {
  TemporaryFolder folder;
  DeviceContext context = fake_context();
  ScopeScene scope;
  const auto mouse = make_scope_device(scope, {}, context);
  ASSERT_TRUE(mouse);
  ASSERT_TRUE(context.scope_mouse);
  EXPECT_NEAR(glm::length(mouse->pose({}).tip - scope.pose().eye), 0.0, 1e-9);
  EXPECT_EQ(mouse->pose({}).pivot, scope.pose().port);
  scope.device = "script";
  EXPECT_FALSE(make_scope_device(scope, {}, context));
  scope.device = "gamepad";
  EXPECT_TRUE(make_scope_device(scope, {}, context));
  for (const char* device : {"haptic", "trajectory"}) {
    scope.device = device;
    EXPECT_THROW(make_scope_device(scope, {}, context), InputError) << device;
  }
}

TEST(MakeDevice, FaultsNameTheInstrument) {
  InstrumentScene far = instrument("mouse");
  far.tip = {0, 0, -0.2};
  EXPECT_NE(fault_of(far).find("instrument left: its tip starts 400 mm"), std::string::npos) << fault_of(far);
  InstrumentScene network = instrument("igtl");
  network.source = "localhost:port/Probe";
  EXPECT_NE(fault_of(network).find("instrument left: source"), std::string::npos) << fault_of(network);
  InstrumentScene replay = instrument("trajectory");
  replay.trajectory = "/nowhere/t.csv";
  EXPECT_NE(fault_of(replay).find("/nowhere/t.csv"), std::string::npos);
}

}  // namespace
}  // namespace trocar
