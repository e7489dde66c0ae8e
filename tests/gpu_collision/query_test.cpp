// Tests the backends on the GPU: `compute`, those that draw, and faults of the driver.
#include <glad/gl.h>

#include <algorithm>
#include <cstdarg>
#include <string>
#include <vector>

#include "geometry/error.hpp"
#include "geometry/touch.hpp"
#include "gpu_collision/compute.hpp"
#include "gpu_collision/gl_fault.hpp"
#include "gpu_collision/queries.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/query_checks.hpp"
#include "tests/support/resident_memory.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::compute_test {
namespace {

// Compares `compute` with the reference, in every variant.

constexpr ComputeTuning kSoftware{true, false}, kGpu{false, true};

std::string tuning_name(const ::testing::TestParamInfo<ComputeTuning>& info) {
  return info.param.cull_blocks ? "Culled" : "AllFaces";
}

class ComputeTest : public ComputeGlTest, public ::testing::WithParamInterface<ComputeTuning> {
 protected:
  void SetUp() override {
    ComputeGlTest::SetUp();
    if (IsSkipped()) return;
    query_ = make_compute_query(*context_, GetParam());
  }
  void TearDown() override {
    if (!context_) return;
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    query_.reset();
  }

  std::unique_ptr<TouchQuery> query_;
};

TEST_P(ComputeTest, RandomToolsVolume) { checks::check_random_tools(*query_, TouchSet::Volume, 300); }
TEST_P(ComputeTest, RandomToolsExact) { checks::check_random_tools(*query_, TouchSet::Exact, 100); }
TEST_P(ComputeTest, DifficultFacesVolume) { checks::check_hostile_faces(*query_, TouchSet::Volume, 300); }
TEST_P(ComputeTest, DifficultFacesExact) { checks::check_hostile_faces(*query_, TouchSet::Exact, 100); }
TEST_P(ComputeTest, SeveralTools) { checks::check_several_tools(*query_); }
TEST_P(ComputeTest, NothingToDo) { checks::check_nothing_to_do(*query_); }
TEST_P(ComputeTest, SingleFaces) { checks::check_single_faces(*query_); }
TEST_P(ComputeTest, MoreRecordsThanOneReply) { checks::check_everything_inside(*query_); }
TEST_P(ComputeTest, NewPositions) { checks::check_new_positions(*query_); }
TEST_P(ComputeTest, NewTopology) { checks::check_new_topology(*query_); }
TEST_P(ComputeTest, Repeatable) { checks::check_repeatable(*query_); }
TEST_P(ComputeTest, NoAllocation) { checks::check_no_allocation(*query_); }
TEST_P(ComputeTest, SwitchesOfCase) { checks::check_switches_of_case(*query_); }
TEST_P(ComputeTest, TinyVolumes) { checks::check_tiny_volumes(*query_); }
TEST_P(ComputeTest, GoodGuest) {
  context_->share();
  checks::check_good_guest([&] { return make_compute_query(*context_, GetParam()); }, context_->info());
}
TEST_P(ComputeTest, AnswersAsANewObjectInAnyOrderOfCalls) {
  const auto make = [&] { return make_compute_query(*context_, GetParam()); };
  checks::check_random_sequences("compute", make, make, {.first_seed = 100, .sequences = 4});
}
TEST_P(ComputeTest, Times) { checks::check_times(*query_); }

// A scene that moves: positions and tools of frame f.
struct Movie {
  TriangleMesh mesh = shapes::icosphere(4);
  std::vector<ToolVolume> tools = checks::random_tools(checks::kSeed + 20, 12, TouchSet::Exact);

  std::vector<glm::vec3> positions(int frame) const {
    std::vector<glm::vec3> moved = mesh.positions;
    for (glm::vec3& p : moved) p += 0.01f * glm::sin(30.f * glm::vec3(p.y, p.z, p.x) + 0.7f * float(frame));
    return moved;
  }
  // Returns one to three tools; their number changes from frame to frame.
  std::span<const ToolVolume> tools_of(int frame) const { return std::span(tools).subspan(frame % 9, 1 + frame % 3); }
  TouchSet set_of(int frame) const { return frame % 2 ? TouchSet::Volume : TouchSet::Exact; }
};

struct Answer {
  std::vector<Touch> touches;
  std::vector<std::uint32_t> first;

  explicit Answer(const TouchList& list)
      : touches(list.touches.begin(), list.touches.end()), first(list.first.begin(), list.first.end()) {}
};

bool same(const Touch& a, const Touch& b) {
  return a.face == b.face && a.point == b.point && a.normal == b.normal && a.depth == b.depth && a.time == b.time;
}

class ComputeInTwoSteps : public ComputeGlTest, public ::testing::WithParamInterface<ComputeTuning> {};

// Three organs of one frame are all submitted before the first answer is collected, in another order.
TEST_P(ComputeInTwoSteps, OrgansSubmittedTogetherAnswerAsAlone) {
  const Movie movie;
  std::vector<std::unique_ptr<TouchQuery>> organs;
  const auto alone = make_compute_query(*context_, GetParam());
  alone->rebuild(movie.mesh.view());
  for (int k = 0; k < 3; ++k) {
    organs.push_back(make_compute_query(*context_, GetParam()));
    organs.back()->rebuild(movie.mesh.view());
  }
  std::size_t touches = 0;
  for (int frame = 0; frame < 40; ++frame) {
    for (int k = 0; k < 3; ++k) {
      // Between two calls the positions change not at all, once or several times.
      for (int i = 0; i < (frame + k) % 4; ++i) organs[k]->update(movie.positions(100 + frame + i));
      organs[k]->update(movie.positions(frame + 7 * k));
      if (k != frame % 5) organs[k]->submit(movie.tools_of(frame + k), movie.set_of(frame + k));
    }
    for (int i = 0; i < 3; ++i) {
      const int k = (i + frame) % 3;
      if (k == frame % 5) continue;
      const Answer together(organs[k]->collect());
      alone->update(movie.positions(frame + 7 * k));
      const Answer expected(alone->touched(movie.tools_of(frame + k), movie.set_of(frame + k)));
      EXPECT_EQ(together.first, expected.first) << "frame " << frame << ", organ " << k;
      EXPECT_TRUE(std::equal(together.touches.begin(), together.touches.end(), expected.touches.begin(),
                             expected.touches.end(), same))
          << "frame " << frame << ", organ " << k;
      touches += expected.touches.size();
    }
  }
  EXPECT_GT(touches, 600u);
}

// The records of a call that is never collected may name tools and faces that the next call does not have.
TEST_P(ComputeInTwoSteps, AnAnswerThatIsNotCollectedIsForgotten) {
  const Movie movie;
  const auto query = make_compute_query(*context_, GetParam());
  query->rebuild(movie.mesh.view());
  query->submit(movie.tools, TouchSet::Exact);
  query->rebuild(shapes::cube().view());
  EXPECT_TRUE(query->collect().touches.empty());
  EXPECT_TRUE(query->touched({}, TouchSet::Exact).touches.empty());
  query->submit(movie.tools, TouchSet::Exact);
  EXPECT_TRUE(query->touched({}, TouchSet::Exact).touches.empty());
  query->rebuild(movie.mesh.view());
  query->submit(std::span(movie.tools).first(1), TouchSet::Exact);
  const Answer answer(query->touched(movie.tools, TouchSet::Exact));
  query->rebuild(movie.mesh.view());
  const Answer expected(query->touched(movie.tools, TouchSet::Exact));
  EXPECT_EQ(answer.first, expected.first);
  EXPECT_GT(expected.first.back(), 0u);
}

class ComputeScene : public ComputeGlTest {};

TEST_F(ComputeScene, SecondContextGivesTheSameAnswer) {
  const Movie movie;
  std::vector<std::vector<Touch>> golden;
  for (int context = 0; context < 2; ++context) {
    if (context == 1) {
      context_.reset();
      SetUp();
    }
    const auto query = make_compute_query(*context_);
    query->rebuild(movie.mesh.view());
    for (int frame = 0; frame < 10; ++frame) {
      query->update(movie.positions(frame));
      const Answer answer(query->touched(movie.tools, TouchSet::Exact));
      if (context == 0) {
        golden.push_back(answer.touches);
        continue;
      }
      EXPECT_TRUE(
          std::equal(answer.touches.begin(), answer.touches.end(), golden[frame].begin(), golden[frame].end(), same));
    }
  }
}

// In a context of their own, one after the other and together.
TEST_F(ComputeScene, OtherBackendsWorkInTheSameContext) {
  const std::vector<ToolVolume> tools = checks::random_tools(checks::kSeed + 21, 3, TouchSet::Volume);
  const TriangleMesh mesh = shapes::icosphere(3);
  const auto first = make_compute_query(*context_);
  for (int round = 0; round < 2; ++round)
    for (int kind = 0; kind < 3; ++kind) {
      if (kind == 2 && !can_select(context_->info())) continue;
      const auto query = kind == 0   ? make_compute_query(*context_)
                         : kind == 1 ? make_occlusion_query(*context_)
                                     : make_select_query(*context_);
      for (TouchQuery* one : {query.get(), first.get()}) {
        one->rebuild(mesh.view());
        EXPECT_GT(checks::expect_agreement(*one, mesh.view(), tools, TouchSet::Volume, std::string(one->name())), 0u);
        EXPECT_EQ(one->fault(), TouchFault::None) << one->name();
      }
    }
}

// A query leaves its program in use in a context of its own. When a renderer joins, and the query is then destroyed,
// the others must not restore a program that no longer exists.
TEST_F(ComputeScene, AContextMayBeSharedLater) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const std::vector<ToolVolume> tools = checks::random_tools(checks::kSeed + 22, 2, TouchSet::Volume);
  const auto other = make_occlusion_query(*context_);
  other->rebuild(mesh.view());
  auto query = make_compute_query(*context_);
  query->rebuild(mesh.view());
  query->touched(tools, TouchSet::Volume);
  context_->share();
  query.reset();
  EXPECT_GT(checks::expect_agreement(*other, mesh.view(), tools, TouchSet::Volume, "occlusion"), 0u);
  EXPECT_EQ(other->fault(), TouchFault::None);
}

TEST_F(ComputeScene, PositionBufferHoldsTheUpdateUnderOneName) {
  const Movie movie;
  const auto query = make_compute_query(*context_);
  const unsigned name = query->position_buffer();
  query->rebuild(movie.mesh.view());
  for (int frame = 0; frame < 5; ++frame) {
    const std::vector<glm::vec3> positions = movie.positions(frame);
    query->update(positions);
    ASSERT_EQ(query->position_buffer(), name);
    std::vector<glm::vec3> held(positions.size());
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(held.size() * sizeof(glm::vec3)), held.data());
    EXPECT_EQ(held, positions);
  }
}

// 96,800 faces are 1,513 blocks: with 60 tools there are more (block, tool) pairs than 65,535 workgroups, and 150 tools
// are more than a pass has. The records of the second call are more than the room that is there from the start.
TEST_F(ComputeScene, MoreToolsThanOneDispatchAllows) {
  const TriangleMesh mesh = shapes::grid(220, 220, 0.002f, 0.002f);
  for (const ComputeTuning& tuning : {kSoftware, kGpu}) {
    const auto query = make_compute_query(*context_, tuning);
    query->rebuild(mesh.view());
    for (const auto& [count, radius] : {std::pair(60, 0.01), std::pair(3, 0.2), std::pair(150, 0.02)}) {
      std::vector<ToolVolume> tools;
      for (int k = 0; k < count; ++k)
        tools.push_back(static_volume({{0.002 * k, 0.001, 0.1}, {0.002 * k, 0.001, -0.1}, radius}));
      EXPECT_GT(checks::expect_agreement(*query, mesh.view(), tools, TouchSet::Volume, "many"), 1000u) << count;
      EXPECT_EQ(query->fault(), TouchFault::None);
    }
  }
}

TEST_F(ComputeScene, TenThousandFramesLeakNothing) {
  Movie movie;
  movie.mesh = shapes::icosphere(2);
  for (const ComputeTuning& tuning : {kSoftware, kGpu}) {
    const auto query = make_compute_query(*context_, tuning);
    query->rebuild(movie.mesh.view());
    const std::vector<glm::vec3> frames[] = {movie.positions(0), movie.positions(1), movie.positions(2)};
    const auto run = [&](int count) {
      for (int frame = 0; frame < count; ++frame) {
        query->update(frames[frame % 3]);
        query->touched(movie.tools_of(frame % 3), movie.set_of(frame));
      }
    };
    run(500);
    const long before = resident_kib();
    run(5000);
    // A hundred bytes lost per frame would be 500 kB.
    EXPECT_LT(resident_kib() - before, 400);
  }
}

class OldContext final : public GlContext {
 public:
  const GlInfo& info() const override { return info_; }
  void make_current() override {}

 private:
  GlInfo info_{.vendor = "", .renderer = "", .version = "", .major = 4, .minor = 4};
};

TEST(ComputeWithout, OpenGl45GivesAnErrorMessage) {
  OldContext context;
  try {
    make_compute_query(context);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "backend compute: this context is OpenGL 4.4, 4.5 is needed");
  }
}

void expect_sound(const FaceBlocks& blocks, const TriangleMesh& mesh) {
  ASSERT_EQ(blocks.slot_of_face.size(), mesh.faces.size());
  ASSERT_EQ(blocks.face_of_slot.size(), blocks.block_count() * kBlockFaces);
  std::size_t faces = 0;
  for (std::uint32_t block = 0; block < blocks.block_count(); ++block) {
    faces += blocks.filled[block];
    ASSERT_TRUE(blocks.filled[block] > 0 && blocks.filled[block] <= kBlockFaces);
    const auto begin = blocks.vertices.begin() + blocks.ranges[2 * block],
               end = blocks.vertices.begin() + blocks.ranges[2 * block + 1];
    for (std::uint32_t i = 0; i < kBlockFaces; ++i) {
      const std::uint32_t slot = block * kBlockFaces + i, face = blocks.face_of_slot[slot];
      ASSERT_LT(face, mesh.faces.size());
      ASSERT_TRUE(i >= blocks.filled[block] || blocks.slot_of_face[face] == slot);
      for (int corner = 0; corner < 3; ++corner) {
        ASSERT_EQ(blocks.corners[3 * slot + corner], mesh.faces[face][corner]);
        ASSERT_EQ(std::count(begin, end, mesh.faces[face][corner]), 1);
      }
    }
  }
  ASSERT_EQ(faces, mesh.faces.size());
}

TEST(FaceBlocks, HoldEveryFaceOnceAndAllItsCorners) {
  for (const TriangleMesh& mesh : {shapes::icosphere(4), shapes::grid(31, 17), shapes::random_soup(7, 100),
                                   shapes::icosphere(0), TriangleMesh{}}) {
    const FaceBlocks blocks = make_face_blocks(mesh.view());
    expect_sound(blocks, mesh);
    EXPECT_EQ(blocks.block_count(), (mesh.faces.size() + kBlockFaces - 1) / kBlockFaces);
  }
}

TEST(FaceBlocks, StaySoundWhenFacesChange) {
  std::size_t made_again = 0, changes = 0;
  for (std::uint32_t seed = 50; seed < 55; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Dice dice(seed);
    TriangleMesh mesh = shapes::icosphere(4);
    FaceBlocks blocks = make_face_blocks(mesh.view());
    BlockChange change;
    for (int k = 0; k < 100 && !HasFatalFailure(); ++k, ++changes) {
      const std::vector<FaceId> removed = test::random_change(dice, mesh);
      if (!change.apply(mesh.view(), removed, blocks)) blocks = make_face_blocks(mesh.view()), ++made_again;
      expect_sound(blocks, mesh);
    }
  }
  std::printf("seeds 50..54: %zu changes, blocks made again %zu times\n", changes, made_again);
  EXPECT_LT(made_again, changes / 5);
}

// A hook burns craters along a line: the blocks stay as full and as compact as new ones.
TEST(FaceBlocks, StayCompactInThousandsOfChanges) {
  test::Dice dice(60);
  TriangleMesh mesh = shapes::icosphere(5);
  FaceBlocks blocks = make_face_blocks(mesh.view());
  BlockChange change;
  for (int k = 1; k <= 2000; ++k) {
    const double angle = 0.003 * k, height = 0.08 * std::sin(0.0101 * k), ring = std::sqrt(0.01 - height * height);
    const glm::vec3 at(glm::dvec3(ring * std::cos(angle), ring * std::sin(angle), height));
    const std::vector<FaceId> removed = test::burn_crater(dice, mesh, at, 0.003f);
    ASSERT_TRUE(change.apply(mesh.view(), removed, blocks)) << "change " << k;
  }
  expect_sound(blocks, mesh);
  std::printf("%u blocks, %u when made again\n", blocks.block_count(), make_face_blocks(mesh.view()).block_count());
  EXPECT_LT(blocks.block_count(), 1.3 * double(make_face_blocks(mesh.view()).block_count()));
}

TEST(FaceBlocks, AreCompact) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const FaceBlocks blocks = make_face_blocks(mesh.view());
  // 64 faces of a closed mesh have about 32 inner vertices and some 16 on their boundary.
  EXPECT_LT(blocks.vertices.size(), 55 * blocks.block_count());
}

INSTANTIATE_TEST_SUITE_P(Variants, ComputeInTwoSteps, ::testing::Values(kSoftware, kGpu), tuning_name);
INSTANTIATE_TEST_SUITE_P(Variants, ComputeTest, ::testing::Values(kSoftware, kGpu), tuning_name);

// Counts the OpenGL calls of a steady frame of `compute` through the loader's hooks: few, without a read of state that
// would wait for the driver, and with one fence and one wait for all organs.

namespace gl_calls_test {

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
  for (const auto& [tuning, name] : {std::pair(kSoftware, "software"), std::pair(kGpu, "GPU")})
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

}  // namespace gl_calls_test

// Compares `occlusion` and `select` with the reference, and tests them in a renderer's context.

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

// Tests that every driver error becomes a fault that the query reports, with an empty answer, no exception and no
// access out of bounds, and that driver limits that suffice cause no fault.

enum class Kind { ComputeCulled, ComputeAll, Occlusion, Select };

struct Case {
  Kind kind;
  GlFault fault;
  TouchFault expected;
};

std::string_view name_of(Kind kind) {
  constexpr std::string_view kNames[] = {"ComputeCulled", "ComputeAll", "Occlusion", "Select"};
  return kNames[static_cast<int>(kind)];
}

class FaultTest : public ComputeGlTest {
 protected:
  std::unique_ptr<TouchQuery> make(Kind kind) {
    if (kind == Kind::ComputeCulled) return make_compute_query(*context_, kSoftware);
    if (kind == Kind::ComputeAll) return make_compute_query(*context_, kGpu);
    return kind == Kind::Occlusion ? make_occlusion_query(*context_) : make_select_query(*context_);
  }
  bool has(Kind kind) const { return kind != Kind::Select || context_->info().compatibility_profile; }
  // The tool touches many faces in every frame.
  TouchList frame(TouchQuery& query) {
    query.update(mesh_.positions);
    return query.touched({&tool_, 1}, TouchSet::Volume);
  }
  static void expect_no_answer(const TouchList& list, std::size_t tools) {
    ASSERT_EQ(list.first.size(), tools + 1);
    EXPECT_EQ(list.first.back(), 0u);
    EXPECT_TRUE(list.touches.empty());
  }

  TriangleMesh mesh_ = shapes::icosphere(3);
  ToolVolume tool_ = static_volume({{0.0, 0.0, 0.2}, {0.01, 0.02, -0.2}, 0.02});
};

class FaultCase : public FaultTest, public ::testing::WithParamInterface<Case> {};

// The fault occurs in mid-session, after two good frames.
TEST_P(FaultCase, IsReportedInMidSession) {
  const auto [kind, fault, expected] = GetParam();
  if (!has(kind)) GTEST_SKIP() << "this context has no compatibility profile";
  std::unique_ptr<InjectedFault> watch;
  // To falsify an answer, the memory that receives it must be known from the start.
  const bool falsified =
      fault == GlFault::FaceThatIsNot || fault == GlFault::ToolThatIsNot || fault == GlFault::TooManyHits;
  if (falsified) watch = std::make_unique<InjectedFault>(fault, mesh_.faces.size(), 1);
  auto query = make(kind);
  query->rebuild(mesh_.view());
  if (!falsified) {
    ASSERT_FALSE((frame(*query), frame(*query)).touches.empty());
    ASSERT_EQ(query->fault(), TouchFault::None);
    watch = std::make_unique<InjectedFault>(fault, mesh_.faces.size(), 1);
  }
  // A larger organ needs new memory.
  if (fault == GlFault::NoMapping || fault == GlFault::OutOfMemory) query->rebuild(shapes::icosphere(5).view());
  const TouchList list = frame(*query);
  EXPECT_EQ(query->fault(), expected);
  EXPECT_FALSE(sentence_of(query->fault()).empty());
  expect_no_answer(list, 1);
  // Later calls are harmless, whether or not the driver works again.
  query->rebuild(shapes::cube().view());
  query->update(shapes::cube().positions);
  const ToolVolume tools[] = {tool_, tool_, tool_};
  expect_no_answer(query->touched(tools, TouchSet::Volume), 3);
  expect_no_answer(query->touched({}, TouchSet::Volume), 0);
  watch.reset();
  expect_no_answer(query->touched(tools, TouchSet::Volume), 3);
  EXPECT_EQ(query->fault(), expected) << "it stays";
  query.reset();
  while (glGetError() != GL_NO_ERROR) {
  }
}

// A new object of the same kind works once the driver works.
TEST_P(FaultCase, ANewObjectWorksAgain) {
  const auto [kind, fault, expected] = GetParam();
  if (!has(kind) || fault == GlFault::ContextLost) GTEST_SKIP() << "a lost context stays lost";
  {
    const InjectedFault watch(fault, mesh_.faces.size(), 1);
    const auto query = make(kind);
    query->rebuild(mesh_.view());
    frame(*query), frame(*query);
    EXPECT_EQ(query->fault(), expected);
  }
  const auto query = make(kind);
  query->rebuild(mesh_.view());
  frame(*query);
  EXPECT_FALSE(frame(*query).touches.empty());
  EXPECT_EQ(query->fault(), TouchFault::None);
}

std::vector<Case> all_cases() {
  using enum GlFault;
  std::vector<Case> cases;
  for (const Kind kind : {Kind::ComputeCulled, Kind::ComputeAll})
    cases.insert(cases.end(), {{kind, FenceFails, TouchFault::DriverError},
                               {kind, FenceTimesOut, TouchFault::TimedOut},
                               {kind, NoFence, TouchFault::DriverError},
                               {kind, NoMapping, TouchFault::OutOfMemory},
                               {kind, DispatchSkipped, TouchFault::WrongAnswer}});
  cases.insert(cases.end(), {{Kind::Occlusion, NoCount, TouchFault::TimedOut}});
  for (const Kind kind : {Kind::ComputeCulled, Kind::ComputeAll, Kind::Occlusion, Kind::Select})
    cases.insert(cases.end(), {{kind, CommandRefused, TouchFault::DriverError},
                               {kind, OutOfMemory, TouchFault::OutOfMemory},
                               {kind, ContextLost, TouchFault::LostContext},
                               {kind, ContextLostError, TouchFault::LostContext},
                               {kind, FaceThatIsNot, TouchFault::WrongAnswer},
                               {kind, ToolThatIsNot, TouchFault::WrongAnswer},
                               {kind, TooManyHits, TouchFault::WrongAnswer}});
  return cases;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  constexpr std::string_view kFaults[] = {"FenceFails",      "FenceTimesOut",  "NoFence",       "NoMapping",
                                          "OutOfMemory",     "CommandRefused", "ContextLost",   "ContextLostError",
                                          "DispatchSkipped", "FaceThatIsNot",  "ToolThatIsNot", "TooManyHits",
                                          "NoCount"};
  return std::string(name_of(info.param.kind)) + std::string(kFaults[static_cast<int>(info.param.fault)]);
}

INSTANTIATE_TEST_SUITE_P(Drivers, FaultCase, ::testing::ValuesIn(all_cases()), case_name);

// The buffer for the worst case, in which every tool touches every face, may exceed a storage block. The actual touches
// still fit.
TEST_F(FaultTest, AStorageBlockSmallerThanTheWorstCaseIsEnough) {
  const InjectedFault small(GlFault::SmallStorageBlock);
  for (const Kind kind : {Kind::ComputeCulled, Kind::ComputeAll}) {
    const auto query = make(kind);
    query->rebuild(mesh_.view());
    const std::vector<ToolVolume> tools = checks::random_tools(7, 5, TouchSet::Volume);
    ASSERT_GT(mesh_.faces.size() * tools.size() * 8, 8192u);
    EXPECT_GT(checks::expect_agreement(*query, mesh_.view(), tools, TouchSet::Volume, "a small storage block"), 0u);
    EXPECT_EQ(query->fault(), TouchFault::None);
  }
}

TEST_F(FaultTest, MoreTouchesThanAStorageBlockHoldsIsAFault) {
  const InjectedFault small(GlFault::SmallStorageBlock);
  const TriangleMesh mesh = shapes::sphere_of(2000, 0.01f);
  for (const Kind kind : {Kind::ComputeCulled, Kind::ComputeAll}) {
    const auto query = make(kind);
    query->rebuild(mesh.view());
    expect_no_answer(query->touched({&tool_, 1}, TouchSet::Volume), 1);
    EXPECT_EQ(query->fault(), TouchFault::TooLarge);
  }
}

TEST_F(FaultTest, MoreFacesThanATextureBufferHoldsIsAFault) {
  const InjectedFault small(GlFault::SmallTextureBuffer);
  const auto query = make(Kind::ComputeCulled);
  query->rebuild(shapes::cube().view());
  EXPECT_EQ(query->fault(), TouchFault::None);
  query->rebuild(mesh_.view());
  EXPECT_EQ(query->fault(), TouchFault::TooLarge);
  expect_no_answer(frame(*query), 1);
}

// Errors that a renderer left are not ours.
TEST_F(FaultTest, ErrorsOfOtherCodeAreNotFaults) {
  context_->share();
  for (const Kind kind : {Kind::ComputeCulled, Kind::Occlusion, Kind::Select}) {
    if (!has(kind)) continue;
    const auto query = make(kind);
    query->rebuild(mesh_.view());
    glEnable(GL_CURRENT_PROGRAM);  // not a capability
    EXPECT_FALSE(frame(*query).touches.empty()) << name_of(kind);
    EXPECT_EQ(query->fault(), TouchFault::None);
  }
}

TEST(TouchFaults, EachHasItsMessage) {
  std::vector<std::string_view> seen;
  for (std::size_t k = 1; k < kTouchFaults; ++k) {
    const std::string_view sentence = sentence_of(static_cast<TouchFault>(k));
    EXPECT_FALSE(sentence.empty());
    EXPECT_EQ(std::find(seen.begin(), seen.end(), sentence), seen.end());
    seen.push_back(sentence);
  }
  EXPECT_TRUE(sentence_of(TouchFault::None).empty());
}

// Tests the numbering of submissions, and how fences, waits and errors are shared.

class SubmissionsTest : public ComputeGlTest {
 protected:
  gl::Submissions submissions_;
};

TEST_F(SubmissionsTest, AWaitCoversAllSubmissionsBeforeIt) {
  gl::FaultWatch fault(*context_);
  EXPECT_TRUE(submissions_.wait(0, fault)) << "nothing was submitted";
  const auto first = submissions_.add(), second = submissions_.add();
  EXPECT_FALSE(submissions_.finished(first));
  EXPECT_TRUE(submissions_.wait(first, fault));
  EXPECT_TRUE(submissions_.finished(second));
  EXPECT_FALSE(submissions_.finished(submissions_.add()));
  EXPECT_FALSE(fault.any());
}

// The query that waits first reads the error; the others of the same frame learn of it, later ones do not.
TEST_F(SubmissionsTest, AnErrorReachesEveryQueryOfTheFrame) {
  gl::FaultWatch first(*context_), second(*context_), later(*context_);
  const auto a = submissions_.add(), b = submissions_.add();
  glEnable(GL_CURRENT_PROGRAM);  // not a capability
  EXPECT_FALSE(submissions_.wait(b, first));
  EXPECT_FALSE(submissions_.wait(a, second));
  EXPECT_EQ(first.fault(), TouchFault::DriverError);
  EXPECT_EQ(second.fault(), TouchFault::DriverError);
  EXPECT_TRUE(submissions_.wait(submissions_.add(), later));
  EXPECT_FALSE(later.any());
}

// A query whose answer was collected before the error still works.
TEST_F(SubmissionsTest, AnErrorDoesNotReachWhatWasFinishedBefore) {
  gl::FaultWatch early(*context_), late(*context_);
  const auto before = submissions_.add();
  EXPECT_TRUE(submissions_.wait(before, early));
  const auto after = submissions_.add();
  glEnable(GL_CURRENT_PROGRAM);
  EXPECT_FALSE(submissions_.wait(after, late));
  EXPECT_TRUE(submissions_.wait(before, early));
  EXPECT_EQ(early.fault(), TouchFault::None);
}

TEST_F(SubmissionsTest, AFenceThatDoesNotFinishIsAFaultOfItsQueryOnly) {
  gl::FaultWatch fault(*context_), later(*context_);
  {
    const InjectedFault hangs(GlFault::FenceTimesOut);
    EXPECT_FALSE(submissions_.wait(submissions_.add(), fault));
    EXPECT_EQ(fault.fault(), TouchFault::TimedOut);
  }
  EXPECT_TRUE(submissions_.wait(submissions_.add(), later));
}

}  // namespace
}  // namespace trocar::compute_test
