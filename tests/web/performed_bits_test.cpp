// Tests in node that the sessions of scripted trainees have the golden hashes of the desktop, frame by frame. Their
// scores come out of recordings, which node does not have: tests/same_bits/perform_test.cpp.
#include "sim/session/cpu_backends.hpp"
#include "tests/same_bits/task_frames.hpp"

namespace trocar {
namespace {

class SameBitsInNode : public test::SameBits {
 protected:
  static void expect_golden_state(const std::string& name, const golden::Performance& expected) {
    const TemporaryFolder folder;
    const Scene scene = test::short_task(name, folder);
    CpuBackends backends;
    PerformedSession attempt = test::golden_attempt(scene, backends);
    test::Hash state;
    while (!attempt.task().feed().finished) {
      attempt.step();
      test::add_frame(attempt.session(), state);
    }
    test::expect_golden_model((name + ", state").c_str(), state, expected.state);
  }
};

TEST_F(SameBitsInNode, PerformLift) { expect_golden_state("lift_gallbladder", golden::kLift); }
TEST_F(SameBitsInNode, PerformBurn) { expect_golden_state("burn_line", golden::kBurn); }
TEST_F(SameBitsInNode, PerformCamera) { expect_golden_state("navigate_camera", golden::kCamera); }

}  // namespace
}  // namespace trocar
