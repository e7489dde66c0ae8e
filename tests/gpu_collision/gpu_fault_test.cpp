// Tests that every driver error becomes a fault that the query reports, with an empty answer, no exception and no
// access out of bounds, and that driver limits that suffice cause no fault.
#include <glad/gl.h>

#include <vector>

#include "geometry/touch.hpp"
#include "gpu_collision/compute.hpp"
#include "gpu_collision/gl_fault.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/query_checks.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr ComputeTuning kSoftware{true, false}, kGpu{false, true};

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
  for (const Kind kind : {Kind::ComputeCulled, Kind::ComputeAll}) {
    cases.insert(cases.end(), {{kind, FenceFails, TouchFault::DriverError},
                               {kind, FenceTimesOut, TouchFault::TimedOut},
                               {kind, NoFence, TouchFault::DriverError},
                               {kind, NoMapping, TouchFault::OutOfMemory},
                               {kind, DispatchSkipped, TouchFault::WrongAnswer}});
  }
  cases.insert(cases.end(), {{Kind::Occlusion, NoCount, TouchFault::TimedOut}});
  for (const Kind kind : {Kind::ComputeCulled, Kind::ComputeAll, Kind::Occlusion, Kind::Select}) {
    cases.insert(cases.end(), {{kind, CommandRefused, TouchFault::DriverError},
                               {kind, OutOfMemory, TouchFault::OutOfMemory},
                               {kind, ContextLost, TouchFault::LostContext},
                               {kind, ContextLostError, TouchFault::LostContext},
                               {kind, FaceThatIsNot, TouchFault::WrongAnswer},
                               {kind, ToolThatIsNot, TouchFault::WrongAnswer},
                               {kind, TooManyHits, TouchFault::WrongAnswer}});
  }
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
}  // namespace trocar
