// Compares `occlusion` and `select` with the reference, and tests them in a renderer's context.
#include <glad/gl.h>

#include <cstdarg>
#include <string>
#include <vector>

#include "geometry/error.hpp"
#include "gpu_collision/queries.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/query_checks.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

struct DrawnBackend {
  std::string name;
  std::unique_ptr<TouchQuery> (*make)(GlContext& context);
  bool needs_compatibility;
};

std::string backend_name(const ::testing::TestParamInfo<DrawnBackend>& info) { return info.param.name; }

class DrawnQuery : public GlTest, public ::testing::WithParamInterface<DrawnBackend> {
 protected:
  void SetUp() override {
    GlTest::SetUp();
    if (IsSkipped()) return;
    if (GetParam().needs_compatibility && !context_->info().compatibility_profile)
      GTEST_SKIP() << "this context has no compatibility profile";
    query_ = GetParam().make(*context_);
  }
  void TearDown() override {
    query_.reset();
    if (context_) {
      EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    }
  }

  std::unique_ptr<TouchQuery> query_;
};

TEST_P(DrawnQuery, RandomToolsVolume) { checks::check_random_tools(*query_, TouchSet::Volume, 300); }
TEST_P(DrawnQuery, RandomToolsExact) { checks::check_random_tools(*query_, TouchSet::Exact, 100); }
TEST_P(DrawnQuery, DifficultFacesVolume) { checks::check_hostile_faces(*query_, TouchSet::Volume, 300); }
TEST_P(DrawnQuery, DifficultFacesExact) { checks::check_hostile_faces(*query_, TouchSet::Exact, 100); }
TEST_P(DrawnQuery, SwitchesOfCase) { checks::check_switches_of_case(*query_); }
TEST_P(DrawnQuery, TinyVolumes) { checks::check_tiny_volumes(*query_); }
TEST_P(DrawnQuery, SeveralTools) { checks::check_several_tools(*query_); }
TEST_P(DrawnQuery, NothingToDo) { checks::check_nothing_to_do(*query_); }
TEST_P(DrawnQuery, SingleFaces) { checks::check_single_faces(*query_); }
TEST_P(DrawnQuery, BufferOverflowDrawsAgain) { checks::check_everything_inside(*query_); }
TEST_P(DrawnQuery, NewPositions) { checks::check_new_positions(*query_); }
TEST_P(DrawnQuery, NewTopology) { checks::check_new_topology(*query_); }
TEST_P(DrawnQuery, Repeatable) { checks::check_repeatable(*query_); }
TEST_P(DrawnQuery, NoAllocation) { checks::check_no_allocation(*query_); }
TEST_P(DrawnQuery, GoodGuest) {
  checks::check_good_guest([&] { return GetParam().make(*context_); }, context_->info());
}
TEST_P(DrawnQuery, Times) { checks::check_times(*query_); }

// Targets through which buffers are written while it is there.
std::vector<GLenum> written_through;

void note_target(const char* name, void (*)(), int count, ...) {
  if (std::string_view(name) != "glBufferData" && std::string_view(name) != "glBufferSubData") return;
  std::va_list arguments;
  va_start(arguments, count);
  written_through.push_back(va_arg(arguments, GLenum));
  va_end(arguments);
}

// Through another target the first drawing on NVIDIA's driver can see the former positions; no software driver shows
// it.
TEST_P(DrawnQuery, PositionsAreWrittenThroughTheTargetOfVertexData) {
  const TriangleMesh mesh = shapes::icosphere(2);
  query_->rebuild(mesh.view());
  written_through.clear();
  const GlHooks hooks(note_target);
  query_->update(mesh.positions);
  EXPECT_EQ(written_through, std::vector<GLenum>{GL_ARRAY_BUFFER});
}

TEST_P(DrawnQuery, PositionBufferHoldsTheUpdate) {
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

INSTANTIATE_TEST_SUITE_P(Backends, DrawnQuery,
                         ::testing::Values(DrawnBackend{"Occlusion", make_occlusion_query, false},
                                           DrawnBackend{"Select", make_select_query, true}),
                         backend_name);

class BareContext final : public GlContext {
 public:
  BareContext(int major, int minor)
      : info_{.vendor = "", .renderer = "", .version = "", .major = major, .minor = minor} {}
  const GlInfo& info() const override { return info_; }
  void make_current() override {}

 private:
  GlInfo info_;
};

std::string error_of(std::unique_ptr<TouchQuery> (*make)(GlContext&), BareContext context) {
  try {
    make(context);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(DrawnQueryWithout, OpenGl33GivesAnErrorMessage) {
  EXPECT_EQ(error_of(make_occlusion_query, {3, 2}), "backend occlusion: this context is OpenGL 3.2, 3.3 is needed");
}

TEST(DrawnQueryWithout, ACompatibilityProfileGivesAnErrorMessage) {
  EXPECT_EQ(error_of(make_select_query, {4, 5}), "backend select: this context has no compatibility profile");
}

}  // namespace
}  // namespace trocar
