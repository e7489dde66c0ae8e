// Tests the numbering of submissions, and how fences, waits and errors are shared.
#include "gpu_collision/gl_fault.hpp"

#include <glad/gl.h>

#include "tests/gpu_collision/gl_faults.hpp"
#include "tests/gpu_collision/gl_support.hpp"

namespace trocar {
namespace {

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
