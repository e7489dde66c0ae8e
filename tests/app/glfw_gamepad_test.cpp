// Tests that looking for gamepads leaves an open window open. Needs a display: CTest runs it as app.gamepads.
#include "app/window/input/hands.hpp"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

namespace trocar {
namespace {

// Listing gamepads ends GLFW only if it initialised GLFW itself: an open window stays open.
TEST(GamepadsOfThisMachine, ListingThemDoesNotCloseAWindow) {
  if (!glfwInit()) GTEST_SKIP() << "no display";
  EXPECT_TRUE(gamepads_of_this_machine());
  EXPECT_NE(glfwGetTimerFrequency(), 0u);
  glfwTerminate();
  gamepads_of_this_machine();
  EXPECT_EQ(glfwGetTimerFrequency(), 0u);
}

}  // namespace
}  // namespace trocar
