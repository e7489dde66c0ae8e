// `occlusion` against the reference, and as a guest in a renderer's context.
#include <glad/gl.h>

#include "geometry/error.hpp"
#include "gpu_collision/queries.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/query_checks.hpp"

namespace trocar {
namespace {

class OcclusionTest : public GlTest {
 protected:
  void SetUp() override {
    GlTest::SetUp();
    if (IsSkipped()) return;
    query_ = make_occlusion_query(*context_);
  }
  void TearDown() override {
    query_.reset();
    if (context_) {
      EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    }
  }

  std::unique_ptr<GpuTouchQuery> query_;
};

TEST_F(OcclusionTest, RandomToolsVolume) { checks::check_random_tools(*query_, TouchSet::Volume, 300); }
TEST_F(OcclusionTest, RandomToolsExact) { checks::check_random_tools(*query_, TouchSet::Exact, 100); }
TEST_F(OcclusionTest, HostileFacesVolume) { checks::check_hostile_faces(*query_, TouchSet::Volume, 300); }
TEST_F(OcclusionTest, HostileFacesExact) { checks::check_hostile_faces(*query_, TouchSet::Exact, 100); }
TEST_F(OcclusionTest, SeveralTools) { checks::check_several_tools(*query_); }
TEST_F(OcclusionTest, NothingToDo) { checks::check_nothing_to_do(*query_); }
TEST_F(OcclusionTest, SingleFaces) { checks::check_single_faces(*query_); }
TEST_F(OcclusionTest, HitBufferOverflowDrawsAgain) { checks::check_everything_inside(*query_); }
TEST_F(OcclusionTest, NewPositions) { checks::check_new_positions(*query_); }
TEST_F(OcclusionTest, NewTopology) { checks::check_new_topology(*query_); }
TEST_F(OcclusionTest, Repeatable) { checks::check_repeatable(*query_); }
TEST_F(OcclusionTest, NoAllocation) { checks::check_no_allocation(*query_); }
TEST_F(OcclusionTest, Times) { checks::check_times(*query_); }

}  // namespace
}  // namespace trocar
