// Provides every OpenGL test with one off-screen context, or prints why the test is skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "gpu_collision/gl_context.hpp"

namespace trocar {

// Fixture: `context_` is current. Skips, with the reason, only when this machine has no OpenGL at all.
class GlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    context_ = make_offscreen_context(why);
    if (!context_) {
      std::printf("SKIPPED: no OpenGL: %s\n", why.c_str());
      GTEST_SKIP() << why;
    }
  }

  std::unique_ptr<GlContext> context_;
};

}  // namespace trocar
