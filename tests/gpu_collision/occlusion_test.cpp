// Compares `occlusion` with the reference, and tests it in a renderer's context.
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

  std::unique_ptr<TouchQuery> query_;
};

TEST_F(OcclusionTest, RandomToolsVolume) { checks::check_random_tools(*query_, TouchSet::Volume, 300); }
TEST_F(OcclusionTest, RandomToolsExact) { checks::check_random_tools(*query_, TouchSet::Exact, 100); }
TEST_F(OcclusionTest, DifficultFacesVolume) { checks::check_hostile_faces(*query_, TouchSet::Volume, 300); }
TEST_F(OcclusionTest, DifficultFacesExact) { checks::check_hostile_faces(*query_, TouchSet::Exact, 100); }
TEST_F(OcclusionTest, SwitchesOfCase) { checks::check_switches_of_case(*query_); }
TEST_F(OcclusionTest, TinyVolumes) { checks::check_tiny_volumes(*query_); }
TEST_F(OcclusionTest, SeveralTools) { checks::check_several_tools(*query_); }
TEST_F(OcclusionTest, NothingToDo) { checks::check_nothing_to_do(*query_); }
TEST_F(OcclusionTest, SingleFaces) { checks::check_single_faces(*query_); }
TEST_F(OcclusionTest, HitBufferOverflowDrawsAgain) { checks::check_everything_inside(*query_); }
TEST_F(OcclusionTest, NewPositions) { checks::check_new_positions(*query_); }
TEST_F(OcclusionTest, NewTopology) { checks::check_new_topology(*query_); }
TEST_F(OcclusionTest, Repeatable) { checks::check_repeatable(*query_); }
TEST_F(OcclusionTest, NoAllocation) { checks::check_no_allocation(*query_); }
TEST_F(OcclusionTest, GoodGuest) {
  checks::check_good_guest([&] { return make_occlusion_query(*context_); }, context_->info());
}
TEST_F(OcclusionTest, Times) { checks::check_times(*query_); }

TEST_F(OcclusionTest, PositionBufferHoldsTheUpdate) {
  std::vector<glm::vec3> positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<glm::uvec3> faces{{0, 1, 2}};
  query_->rebuild({positions, faces});
  positions[1] = {0.5f, 0.25f, 0.125f};
  query_->update(positions);
  std::vector<glm::vec3> held(positions.size());
  glBindBuffer(GL_COPY_READ_BUFFER, query_->position_buffer());
  glGetBufferSubData(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(held.size() * sizeof(glm::vec3)), held.data());
  EXPECT_EQ(held, positions);
}

class OldContext final : public GlContext {
 public:
  const GlInfo& info() const override { return info_; }
  void make_current() override {}

 private:
  GlInfo info_{.vendor = "", .renderer = "", .version = "", .major = 3, .minor = 2};
};

TEST(OcclusionWithout, OpenGl33GivesAnErrorMessage) {
  OldContext context;
  try {
    make_occlusion_query(context);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "backend occlusion: this context is OpenGL 3.2, 3.3 is needed");
  }
}

}  // namespace
}  // namespace trocar
