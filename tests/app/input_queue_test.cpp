// Tests that nothing that happens between two pictures is lost: every press and release is delivered, in its order, at
// most one change of a key or button a picture.
#include "app/window/window.hpp"

#include <gtest/gtest.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <map>
#include <random>

namespace trocar {
namespace {

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
      event.down = random() % 2 == 0;
      event.position = ++number;
      sent.push_back(number);
      queue.add(event);
      if (random() % 4 == 0) take();
    }
    for (int k = 0; k < 200 && !queue.empty(); ++k) take();
    EXPECT_EQ(got, sent);
  }
}

}  // namespace
}  // namespace trocar
