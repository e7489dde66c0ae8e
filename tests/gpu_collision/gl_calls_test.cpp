// Counts the OpenGL calls of a steady frame of `compute` through the loader's hooks: few, without a read of state that
// would wait for the driver, and with one fence and one wait for all organs.
#include <glad/gl.h>

#include <vector>

#include "gpu_collision/compute.hpp"
#include "tests/gpu_collision/gl_call_count.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/query_checks.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

struct Scene {
  TriangleMesh mesh = shapes::icosphere(4);
  std::vector<ToolVolume> tools = checks::random_tools(3, 4, TouchSet::Exact);
  std::vector<std::unique_ptr<TouchQuery>> organs;

  Scene(GlContext& context, const ComputeTuning& tuning, int count) {
    for (int k = 0; k < count; ++k) organs.push_back(make_compute_query(context, tuning));
    for (const auto& organ : organs) organ->rebuild(mesh.view());
    for (int k = 0; k < 5; ++k) frame();
  }
  std::size_t frame() {
    for (const auto& organ : organs) {
      organ->update(mesh.positions);
      organ->submit(tools, TouchSet::Exact);
    }
    std::size_t touches = 0;
    for (const auto& organ : organs) touches += organ->collect().touches.size();
    return touches;
  }
};

constexpr ComputeTuning kSoftware{true, false}, kGpu{false, false};

class GlCalls : public ComputeGlTest {};

TEST_F(GlCalls, ASteadyFrameMakesFewAndReadsNoState) {
  for (const auto& [tuning, name] : {std::pair(kSoftware, "software"), std::pair(kGpu, "GPU")}) {
    for (const int organs : {1, 2, 5}) {
      Scene scene(*context_, tuning, organs);
      const CallCount calls;
      EXPECT_GT(scene.frame(), 0u);
      std::printf("variant for %s, %d organ(s): %d calls\n", name, organs, calls.total());
      EXPECT_EQ(calls.reads(), 0);
      EXPECT_LE(calls.total(), (tuning.cull_blocks ? 11 : 7) * organs + 6);
      for (const char* once : {"glFenceSync", "glDeleteSync", "glGetError", "glGetGraphicsResetStatus"})
        EXPECT_EQ(calls.by_name.at(once), 1) << once;
    }
  }
}

// In the context of a renderer the state is saved and restored: more calls, and reads.
TEST_F(GlCalls, InASharedContextStateIsRead) {
  Scene scene(*context_, kSoftware, 1);
  context_->share();
  const CallCount calls;
  EXPECT_GT(scene.frame(), 0u);
  std::printf("in a shared context: %d calls, %d reads\n", calls.total(), calls.reads());
  EXPECT_GT(calls.reads(), 0);
}

// Positions that are only drawn.
TEST_F(GlCalls, PositionsWithoutAQueryTakeFewCalls) {
  Scene scene(*context_, kSoftware, 1);
  for (int frame = 0; frame < 5; ++frame) {
    const CallCount calls;
    scene.organs[0]->update(scene.mesh.positions);
    EXPECT_LE(calls.total(), 2) << "frame " << frame;
  }
  EXPECT_GT(scene.frame(), 0u);
}

}  // namespace
}  // namespace trocar
