// `select` against the reference, and as a guest in a renderer's context.
#include <glad/gl.h>

#include "geometry/error.hpp"
#include "gpu_collision/queries.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/query_checks.hpp"

namespace trocar {
namespace {

class SelectTest : public GlTest {
 protected:
  void SetUp() override {
    GlTest::SetUp();
    if (IsSkipped()) return;
    if (!context_->info().compatibility_profile) GTEST_SKIP() << "this context has no compatibility profile";
    query_ = make_select_query(*context_);
  }
  void TearDown() override {
    query_.reset();
    if (context_) {
      EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    }
  }

  std::unique_ptr<GpuTouchQuery> query_;
};

TEST_F(SelectTest, RandomToolsVolume) { checks::check_random_tools(*query_, TouchSet::Volume, 300); }
TEST_F(SelectTest, RandomToolsExact) { checks::check_random_tools(*query_, TouchSet::Exact, 100); }
TEST_F(SelectTest, HostileFacesVolume) { checks::check_hostile_faces(*query_, TouchSet::Volume, 300); }
TEST_F(SelectTest, HostileFacesExact) { checks::check_hostile_faces(*query_, TouchSet::Exact, 100); }
TEST_F(SelectTest, SeveralTools) { checks::check_several_tools(*query_); }
TEST_F(SelectTest, NothingToDo) { checks::check_nothing_to_do(*query_); }
TEST_F(SelectTest, SingleFaces) { checks::check_single_faces(*query_); }
TEST_F(SelectTest, BufferOverflowDrawsAgain) { checks::check_everything_inside(*query_); }
TEST_F(SelectTest, NewPositions) { checks::check_new_positions(*query_); }
TEST_F(SelectTest, NewTopology) { checks::check_new_topology(*query_); }
TEST_F(SelectTest, Repeatable) { checks::check_repeatable(*query_); }
TEST_F(SelectTest, NoAllocation) { checks::check_no_allocation(*query_); }
TEST_F(SelectTest, Times) { checks::check_times(*query_); }

}  // namespace
}  // namespace trocar
