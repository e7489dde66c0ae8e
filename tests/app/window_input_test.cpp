// Tests the window's input: mouse and keyboard as an input device, the queue between two pictures, keyboards of several
// countries, gamepads, and the devices of a scene without a session. Listing gamepads needs a display: CTest runs it as
// app.gamepads.
#define GLFW_INCLUDE_NONE  // other tests of this program load OpenGL
#include <GLFW/glfw3.h>

#include <chrono>
#include <thread>

#include "app/window/input/device_watch.hpp"
#include "app/window/input/hands.hpp"
#include "app/window/input/keys.hpp"
#include "app/window/window.hpp"
#include "sim/link/igtl_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Two instruments held by the mouse, pointing straight down, and a scope between them; the screen's axes are x and y.
class HandsOnTheTable : public ::testing::Test {
 protected:
  HandsOnTheTable() {
    hands_.add(&first_);
    hands_.add(nullptr);
    hands_.add(&third_);
    hands_.set_scope(&scope_);
  }
  glm::dvec3 tip(MouseDevice& mouse) {
    DevicePose pose;
    for (int k = 0; k < 60; ++k, ++frame_) pose = mouse.pose({frame_, static_cast<double>(frame_) / 60.0});
    return pose.tip;
  }
  static WindowInput motion(double right, double up) {
    WindowInput input;
    input.pointer_motion = {right, up};
    return input;
  }

  MouseDevice first_{{-0.1, 0, 0}, {-0.1, 0, -0.1}}, third_{{0.1, 0, 0}, {0.1, 0, -0.1}},
      scope_{{0, 0, 0}, {0, 0, -0.1}};
  Hands hands_;
  HandSettings settings_;
  std::uint64_t frame_ = 0;
};

TEST_F(HandsOnTheTable, TabCyclesThroughWhatTheMouseMoves) {
  EXPECT_EQ(hands_.in_hand(), 0u);
  hands_.take_next();
  EXPECT_EQ(hands_.in_hand(), 2u);
  hands_.take_next();
  EXPECT_TRUE(hands_.scope_in_hand());
  hands_.take_next();
  EXPECT_EQ(hands_.in_hand(), 0u);
}

TEST_F(HandsOnTheTable, WithoutMouseDevicesNothingIsSelected) {
  Hands none;
  none.add(nullptr);
  none.set_scope(nullptr);
  none.take_next();
  EXPECT_FALSE(none.scope_in_hand());
  EXPECT_GT(none.in_hand(), 1u);
  none.move(motion(10, 10), {}, 0.016, settings_);
}

TEST_F(HandsOnTheTable, TheTipMovesWithOrAgainstTheMouse) {
  settings_.fulcrum = false;
  hands_.move(motion(50, 0), {}, 0.016, settings_);
  const glm::dvec3 with = tip(first_);
  EXPECT_GT(with.x, -0.1);
  EXPECT_NEAR(with.y, 0.0, 1e-12);
  settings_.fulcrum = true;
  hands_.move(motion(100, 0), {}, 0.016, settings_);
  EXPECT_LT(tip(first_).x, -0.1);
  EXPECT_DOUBLE_EQ(tip(third_).x, 0.1);
}

// A notch of the wheel moves the tip by the same way at any number of pictures a second, and not at once.
TEST_F(HandsOnTheTable, TheWheelInsertsSmoothly) {
  WindowInput notch;
  notch.wheel = 1.0;
  hands_.move(notch, {}, 0.016, settings_);
  const double first = -0.1 - tip(first_).z;
  for (int k = 0; k < 60; ++k) hands_.move({}, {}, 0.016, settings_);
  const double whole = -0.1 - tip(first_).z;
  EXPECT_GT(first, 0.0);
  EXPECT_LT(first, 0.5 * whole);
  EXPECT_NEAR(whole, MouseParams().insert_per_notch, 1e-5);
  hands_.take(2);
  hands_.move(notch, {}, 0.1, settings_);
  for (int k = 0; k < 10; ++k) hands_.move({}, {}, 0.1, settings_);
  EXPECT_NEAR(-0.1 - tip(third_).z, whole, 1e-5);
}

TEST_F(HandsOnTheTable, SensitivityFineMovementAndKeysApplyToDepth) {
  const auto depth_of = [&](const WindowInput& input, double speed) {
    settings_.speed = speed;
    const double before = tip(first_).z;
    hands_.move(input, {}, 0.1, settings_);
    for (int k = 0; k < 20; ++k) hands_.move({}, {}, 0.1, settings_);
    return before - tip(first_).z;
  };
  WindowInput wheel, fine, up, down;
  wheel.wheel = fine.wheel = 1.0;
  fine.held[static_cast<std::size_t>(Key::Shift)] = true;
  up.held[static_cast<std::size_t>(Key::Up)] = down.held[static_cast<std::size_t>(Key::Down)] = true;
  const double notch = depth_of(wheel, 1.0);
  EXPECT_NEAR(depth_of(wheel, 2.0), 2.0 * notch, 1e-6);
  EXPECT_NEAR(depth_of(fine, 1.0), 0.25 * notch, 1e-6);
  const double inserted = depth_of(up, 1.0);
  EXPECT_GT(inserted, 0.0);
  EXPECT_NEAR(depth_of(down, 1.0), -inserted, 1e-9);
}

// What the wheel still owes one instrument does not move the next, and is not lost.
TEST_F(HandsOnTheTable, AnotherInstrumentDoesNotTakeTheWheelsMotion) {
  WindowInput notch;
  notch.wheel = 5.0;
  hands_.move(notch, {}, 0.016, settings_);
  hands_.take(2);
  EXPECT_EQ(hands_.in_hand(), 2u);
  for (int k = 0; k < 20; ++k) hands_.move({}, {}, 0.016, settings_);
  EXPECT_DOUBLE_EQ(tip(third_).z, -0.1);
  EXPECT_NEAR(-0.1 - tip(first_).z, 5.0 * MouseParams().insert_per_notch, 1e-5);
  hands_.take(1);
  EXPECT_EQ(hands_.in_hand(), 2u) << "another device moves it";
  hands_.take(3);
  EXPECT_TRUE(hands_.scope_in_hand());
}

// The scope's port is a fulcrum, too: the eye moves against the hand, as a tip does.
TEST_F(HandsOnTheTable, TheRightButtonMovesTheScopeWhicheverInstrumentIsSelected) {
  WindowInput input = motion(40, 30);
  input.right_button = true;
  hands_.move(input, {}, 0.016, settings_);
  EXPECT_LT(tip(scope_).x, 0.0);
  EXPECT_LT(tip(scope_).y, 0.0);
  EXPECT_DOUBLE_EQ(tip(first_).y, 0.0);
  settings_.fulcrum = false;
  for (int twice = 0; twice < 2; ++twice) hands_.move(input, {}, 0.016, settings_);
  EXPECT_GT(tip(scope_).x, 0.0);
  EXPECT_GT(tip(scope_).y, 0.0);
}

TEST_F(HandsOnTheTable, EveryHandHeldDeviceObeysTheSetting) {
  EXPECT_TRUE(settings_.fulcrum);
  GamepadDevice pad{{{0, 0, 0}, {0, 0, -0.1}, glm::dvec3(0.0), {}, 0.0}, [] { return GamepadState(); }};
  hands_.devices().rates.push_back(&pad);
  for (const bool fulcrum : {false, true}) {
    settings_.fulcrum = fulcrum;
    hands_.move({}, {}, 0.016, settings_);
    EXPECT_EQ(pad.fulcrum(), fulcrum);
    EXPECT_EQ(first_.fulcrum(), fulcrum);
  }
}

TEST_F(HandsOnTheTable, PedalAndJawsBelongToTheSelectedInstrument) {
  WindowInput input;
  input.left_button = true;
  input.held[static_cast<std::size_t>(Key::E)] = true;
  hands_.move(input, {}, 0.016, settings_);
  EXPECT_EQ(first_.pose({}).energy, Diathermy::Cut);
  EXPECT_DOUBLE_EQ(first_.pose({1, 1.0}).grip, 0.0);
  EXPECT_EQ(third_.pose({}).energy, Diathermy::Off);
  EXPECT_DOUBLE_EQ(third_.pose({}).grip, 1.0);
  hands_.rest();
  EXPECT_EQ(first_.pose({}).energy, Diathermy::Off);
}

// Presses go to the instrument that was selected when they began; the ratchet keeps its jaws closed.
TEST_F(HandsOnTheTable, ClickHoldAndTab) {
  double time = 0.0;
  const auto run = [&](bool down, double seconds, bool went_down = false) {
    WindowInput input;
    input.left_button = down, input.left_pressed = went_down;
    for (double end = time + seconds; time < end; time += 0.01) {
      hands_.move(input, {}, 0.01, settings_);
      input.left_pressed = false;
      first_.pose({0, time}), third_.pose({0, time});
    }
  };
  const auto grip = [&](MouseDevice& mouse) { return mouse.pose({0, time}).grip; };
  const auto force = [&](MouseDevice& mouse) { return mouse.pose({0, time}).grip_force; };
  run(false, 0.1);
  run(true, 0.1);
  run(false, 0.3);
  EXPECT_EQ(grip(first_), 0.0);
  EXPECT_LT(force(first_), 0.5);
  run(true, 0.1);
  hands_.take_next();
  run(true, 0.4);
  EXPECT_EQ(force(first_), 1.0) << "the press stays with the first instrument";
  EXPECT_EQ(grip(third_), 1.0);
  run(false, 0.1);
  EXPECT_EQ(grip(first_), 0.0);
  run(false, 0.3, true);
  EXPECT_EQ(grip(third_), 0.0) << "a click between two polls";
  run(false, 0.3, true);
  EXPECT_EQ(grip(third_), 1.0);
  run(true, 0.1);
  hands_.rest();
  run(true, 1.0);
  run(false, 0.1);
  EXPECT_EQ(grip(third_), 0.0) << "a pause during a press is no click";
  EXPECT_LT(force(third_), 0.5);
}

using Kind = InputEvent::Kind;

InputEvent key(int code, bool down) { return {.kind = Kind::Key, .code = code, .down = down}; }
InputEvent button(bool down, glm::dvec2 at) { return {.kind = Kind::Button, .down = down, .pointer = at}; }
InputEvent motion(double x) { return {.kind = Kind::Motion, .pointer = {x, 0.0}}; }
InputEvent text(char32_t letter) { return {.kind = Kind::Text, .letter = letter}; }

std::vector<std::size_t> pictures_of(InputQueue& queue) {
  std::vector<std::size_t> sizes;
  while (!queue.empty()) sizes.push_back(queue.next_picture().size());
  return sizes;
}

TEST(InputQueue, WithoutEventsThePictureIsEmpty) {
  InputQueue queue;
  EXPECT_TRUE(queue.next_picture().empty());
  queue.forget_motion();
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, AShortClickCountsWhereTheButtonWentDown) {
  InputQueue queue;
  queue.add(motion(10));
  queue.add(button(true, {10, 0}));
  queue.add(button(false, {10, 0}));
  queue.add(motion(500));
  auto picture = queue.next_picture();
  ASSERT_EQ(picture.size(), 1u) << "the panels first learn where the pointer is";
  EXPECT_EQ(picture[0].pointer.x, 10.0);
  for (const bool down : {true, false}) {
    picture = queue.next_picture();
    ASSERT_EQ(picture.size(), 1u);
    EXPECT_EQ(picture[0].down, down);
    EXPECT_EQ(picture[0].pointer.x, 10.0);
  }
  picture = queue.next_picture();
  ASSERT_EQ(picture.size(), 1u);
  EXPECT_EQ(picture[0].pointer.x, 500.0);
}

TEST(InputQueue, TwoShortPressesAreTwo) {
  InputQueue queue;
  for (int k = 0; k < 2; ++k) queue.add(key(GLFW_KEY_DOWN, true)), queue.add(key(GLFW_KEY_DOWN, false));
  EXPECT_EQ(pictures_of(queue), (std::vector<std::size_t>{1, 1, 1, 1}));
}

TEST(InputQueue, AModifierBelongsToTheKeysAfterIt) {
  InputQueue queue;
  queue.add(key(GLFW_KEY_Z, true));
  queue.add(key(GLFW_KEY_LEFT_CONTROL, true));
  queue.add(key(GLFW_KEY_S, true));
  EXPECT_EQ(pictures_of(queue), (std::vector<std::size_t>{1, 2}));
}

TEST(InputQueue, TextKeepsItsOrderWithTheKeysThatEditIt) {
  InputQueue queue;
  queue.add(key(GLFW_KEY_A, true)), queue.add(text('a'));
  queue.add(key(GLFW_KEY_B, true)), queue.add(text('b'));
  queue.add(key(GLFW_KEY_BACKSPACE, true));
  queue.add(text('c'));
  EXPECT_EQ(pictures_of(queue), (std::vector<std::size_t>{4, 1, 1}));
}

// Random input, with pictures between: everything comes out, in its order, and no key changes twice in a picture.
TEST(InputQueue, NothingIsLostOrReordered) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    InputQueue queue;
    std::vector<int> sent, got;
    int number = 0;
    const auto take = [&] {
      std::map<std::pair<Kind, int>, int> changes;
      for (const InputEvent& event : queue.next_picture()) {
        got.push_back(event.position);
        if (event.kind == Kind::Key || event.kind == Kind::Button) {
          EXPECT_EQ(++changes[std::pair(event.kind, event.code)], 1);
        }
      }
    };
    for (int k = 0; k < 60; ++k) {
      const int codes[] = {GLFW_KEY_A, GLFW_KEY_ENTER, GLFW_KEY_LEFT_SHIFT};
      InputEvent event;
      event.kind = std::array{Kind::Wheel, Kind::Button, Kind::Key, Kind::Key, Kind::Text}[random() % 5];
      event.code = event.kind == Kind::Key ? codes[random() % 3] : static_cast<int>(random() % 2);
      event.down = random() % 2 == 0, event.position = ++number;
      sent.push_back(number);
      queue.add(event);
      if (random() % 4 == 0) take();
    }
    for (int k = 0; k < 200 && !queue.empty(); ++k) take();
    EXPECT_EQ(got, sent);
  }
}

// `rows`: what the layout has where a US keyboard has the rows qwertyuiop, asdfghjkl; and zxcvbnm,./
KeyLayout layout_of(const std::vector<std::string>& upper, const std::vector<std::string>& middle,
                    const std::vector<std::string>& lower) {
  std::map<int, std::string> labels;
  const auto add = [&](std::string_view positions, const std::vector<std::string>& row) {
    for (std::size_t k = 0; k < row.size(); ++k) labels[positions[k]] = row[k];
  };
  add("QWERTYUIOP", upper);
  add("ASDFGHJKL;", middle);
  add("ZXCVBNM,./", lower);
  return KeyLayout([&](int position) { return labels[position]; });
}

std::vector<std::string> letters(const std::string& row) {
  std::vector<std::string> list;
  for (const char letter : row) list.emplace_back(1, letter);
  return list;
}

KeyLayout azerty() { return layout_of(letters("azertyuiop"), letters("qsdfghjklm"), letters("wxcvbn,;:!")); }
KeyLayout qwertz() { return layout_of(letters("qwertzuiop"), letters("asdfghjkl"), letters("yxcvbnm,.-")); }
KeyLayout dvorak() { return layout_of(letters("',.pyfgcrl"), letters("aoeuidhtns"), letters(";qjkxbmwvz")); }
KeyLayout russian() {
  return layout_of({"й", "ц", "у", "к", "е", "н", "г", "ш", "щ", "з"},
                   {"ф", "ы", "в", "а", "п", "р", "о", "л", "д", "ж"},
                   {"я", "ч", "с", "м", "и", "т", "ь", "б", "ю", "."});
}
// F keyboard of Turkey: G lies at a movement key.
KeyLayout turkish_f() {
  return layout_of({"f", "g", "ğ", "ı", "o", "d", "r", "n", "h", "p"},
                   {"u", "i", "e", "a", "ü", "t", "k", "m", "l", "y"},
                   {"j", "ö", "v", "c", "ç", "z", "s", "b", ".", ","});
}

constexpr Key kAllLetters[] = {Key::C, Key::E, Key::G, Key::H, Key::L, Key::N, Key::O, Key::P,
                               Key::Q, Key::R, Key::S, Key::T, Key::W, Key::X, Key::Y, Key::Z};

TEST(KeyLayout, WithoutLabelsPositionsCount) {
  const KeyLayout none([](int) { return std::string(); });
  for (const char letter : {'C', 'Q', 'Z'}) EXPECT_EQ(none.key_at(letter, false), us_layout().key_at(letter, false));
  EXPECT_EQ(none.key_at(-1, false), Key::Other);
  EXPECT_EQ(none.key_at(100000, true), Key::Other);
  EXPECT_EQ(none.position_by_label('Z'), 'Z');
}

TEST(KeyLayout, ShortcutsGoByTheirLabel) {
  EXPECT_EQ(azerty().key_at('W', true), Key::Z);
  EXPECT_EQ(azerty().key_at('Z', true), Key::W);
  EXPECT_EQ(qwertz().key_at('Y', true), Key::Z);
  EXPECT_EQ(qwertz().key_at('Z', true), Key::Y);
  EXPECT_EQ(dvorak().key_at('B', false), Key::X);
  EXPECT_EQ(dvorak().key_at(';', true), Key::S);
  EXPECT_EQ(russian().key_at('Z', true), Key::Z) << "no label is Latin: the position counts";
  EXPECT_EQ(azerty().position_by_label('W'), 'Z');
}

TEST(KeyLayout, MovementKeysArePositions) {
  for (const KeyLayout& layout : {azerty(), qwertz(), dvorak(), russian(), turkish_f()}) {
    EXPECT_EQ(layout.key_at('Q', false), Key::Q);
    EXPECT_EQ(layout.key_at('W', false), Key::W);
  }
}

// Each key is meant by exactly one position, so nothing is out of reach and no key does two things.
TEST(KeyLayout, EveryKeyIsSomewhereOnce) {
  for (const KeyLayout& layout : {us_layout(), azerty(), qwertz(), dvorak(), russian(), turkish_f()})
    for (const Key key : kAllLetters) {
      int plain = 0, control = 0;
      for (int position = 0; position < kMostPositions; ++position) {
        plain += layout.key_at(position, false) == key ? 1 : 0;
        control += layout.key_at(position, true) == key ? 1 : 0;
      }
      EXPECT_EQ(plain, 1) << layout.label_of(key, false);
      EXPECT_EQ(control, 1) << layout.label_of(key, true);
    }
}

TEST(KeyLayout, TextsHaveTheUsersLabels) {
  EXPECT_EQ(in_layout("Q  W, left  right", us_layout()), "Q  W, left  right");
  EXPECT_EQ(in_layout("Q  W, left  right", azerty()), "A  Z, left  right");
  EXPECT_EQ(in_layout("Ctrl Y, Ctrl Shift Z", qwertz()), "Ctrl Y, Ctrl Shift Z");
  EXPECT_EQ(in_layout("Ctrl Z, W", azerty()), "Ctrl Z, Z");
  EXPECT_EQ(in_layout("List of contacts (L)", russian()), "List of contacts (Д)");
  EXPECT_EQ(in_layout("suction: E removes fluid, R rinses", russian()), "suction: У removes fluid, К rinses");
  EXPECT_EQ(in_layout("F1, Tab", azerty()), "F1, Tab");
  EXPECT_EQ(turkish_f().label_of(Key::G, false), "Ü") << "its own position is a movement key";
}

// Listing gamepads ends GLFW only if it initialised GLFW itself: an open window stays open.
TEST(GamepadsOfThisMachine, ListingThemDoesNotCloseAWindow) {
  if (!glfwInit()) GTEST_SKIP() << "no display";
  EXPECT_TRUE(gamepads_of_this_machine());
  EXPECT_NE(glfwGetTimerFrequency(), 0u);
  glfwTerminate();
  gamepads_of_this_machine();
  EXPECT_EQ(glfwGetTimerFrequency(), 0u);
}

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
