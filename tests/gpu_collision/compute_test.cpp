// `compute` against the reference, in every variant, immediate and deferred.
#include <glad/gl.h>

#include "geometry/error.hpp"
#include "gpu_collision/compute_query.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/query_checks.hpp"

namespace trocar {
namespace {

class ComputeTest : public GlTest, public ::testing::WithParamInterface<ComputeTuning> {
 protected:
  void SetUp() override {
    GlTest::SetUp();
    if (IsSkipped()) return;
    query_ = make_compute_query(*context_, ReadBack::Immediate, GetParam());
  }
  void TearDown() override {
    if (!context_) return;
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    query_.reset();
  }

  std::unique_ptr<GpuTouchQuery> query_;
};

TEST_P(ComputeTest, RandomToolsVolume) { checks::check_random_tools(*query_, TouchSet::Volume, 300); }
TEST_P(ComputeTest, RandomToolsExact) { checks::check_random_tools(*query_, TouchSet::Exact, 100); }
TEST_P(ComputeTest, HostileFacesVolume) { checks::check_hostile_faces(*query_, TouchSet::Volume, 300); }
TEST_P(ComputeTest, HostileFacesExact) { checks::check_hostile_faces(*query_, TouchSet::Exact, 100); }
TEST_P(ComputeTest, SeveralTools) { checks::check_several_tools(*query_); }
TEST_P(ComputeTest, NothingToDo) { checks::check_nothing_to_do(*query_); }
TEST_P(ComputeTest, SingleFaces) { checks::check_single_faces(*query_); }
TEST_P(ComputeTest, MoreRecordsThanOneReply) { checks::check_everything_inside(*query_); }
TEST_P(ComputeTest, NewPositions) { checks::check_new_positions(*query_); }
TEST_P(ComputeTest, NewTopology) { checks::check_new_topology(*query_); }
TEST_P(ComputeTest, Repeatable) { checks::check_repeatable(*query_); }
TEST_P(ComputeTest, NoAllocation) { checks::check_no_allocation(*query_); }
TEST_P(ComputeTest, Times) { checks::check_times(*query_); }

// Every pair of choices occurs.
constexpr ComputeTuning kSoftware{true, false, true, false}, kGpu{false, true, true, true};
constexpr ComputeTuning kCulledAndClipped{true, true, false, true}, kBareHost{false, false, false, false};

std::string tuning_name(const ::testing::TestParamInfo<ComputeTuning>& info) {
  const ComputeTuning& tuning = info.param;
  return std::string(tuning.cull_blocks ? "Culled" : "AllFaces") + (tuning.clip_on_gpu ? "GpuClip" : "HostClip") +
         (tuning.persistent_upload ? "Mapped" : "Copied");
}
INSTANTIATE_TEST_SUITE_P(Variants, ComputeTest,
                         ::testing::Values(kSoftware, kGpu, kCulledAndClipped, kBareHost), tuning_name);

}  // namespace
}  // namespace trocar
