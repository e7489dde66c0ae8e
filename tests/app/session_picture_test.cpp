// Tests pictures of sessions off-screen: they equal the view's picture of the same objects, and each part of the look
// changes them.
#include "app/view/view.hpp"

#include <gtest/gtest.h>

#include "app/compare/backends.hpp"
#include "sim/device/script_device.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/app/ball_task.hpp"

namespace trocar {
namespace {

using Pixels = std::vector<glm::u8vec3>;

constexpr int kWidth = 160, kHeight = 120;

// The task of a ball, after some frames.
class SessionPictureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!backends_.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends_.why_no_context() << ")";
    session_.emplace(scene_, backends_, "scan", std::vector<CheckPlan>{}, [](const InstrumentScene& instrument) {
      return make_script_device({instrument.pivot, instrument.tip, "press"});
    });
    task_.emplace(*scene_.task, stage_of(*session_));
    picture_.emplace(*backends_.context(), *session_);
  }

  void step() {
    for (std::uint64_t k = 0; k < 3; ++k, ++frame_)
      session_->step({frame_, static_cast<double>(frame_) / 60.0}, 1.0 / 60.0);
  }

  template <typename Draw>
  static Pixels pixels_of(const Draw& draw) {
    PictureTarget target(kWidth, kHeight);
    target.bind();
    draw();
    Pixels pixels = target.pixels();
    PictureTarget::unbind();
    return pixels;
  }
  Pixels draw(const SessionLook& look) {
    return pixels_of([&] { picture_->draw(*session_, look, kWidth, kHeight); });
  }

  TemporaryFolder folder_;
  Scene scene_ = load_scene(test::write_ball_task(folder_));
  Backends backends_;
  std::optional<Session> session_;
  std::optional<TaskRun> task_;
  std::optional<SessionPicture> picture_;
  std::uint64_t frame_ = 0;
};

TEST_F(SessionPictureTest, EqualsTheViewsPictureOfTheSameObjects) {
  step();
  std::vector<DrawnOrgan> organs;
  std::vector<DrawnTool> tools;
  DrawnBonds bonds;
  DrawnMarks marks;
  drawn_organs(*session_, organs);
  drawn_tools(*session_, tools);
  drawn_bonds(*session_, bonds);
  task_->draw(marks);
  View view(*backends_.context(), organs);
  const Pixels expected = pixels_of([&] {
    view.draw(organs, tools, bonds, session_->scope().pose, session_->scope().lens, marks, {}, kWidth, kHeight);
  });
  EXPECT_TRUE(draw({.task = &*task_}) == expected);
  EXPECT_TRUE(draw({.task = &*task_}) == expected) << "the second picture keeps nothing of the first";
}

TEST_F(SessionPictureTest, EachPartOfTheLookChangesIt) {
  const Pixels before = draw({});
  EXPECT_TRUE(draw({.task = &*task_}) == before) << "the marks of a task appear with its first frame";
  step();
  const Pixels plain = draw({});
  EXPECT_FALSE(draw({.task = &*task_}) == plain) << "marks";
  ScopePose nearer = session_->scope().pose;
  nearer.field_of_view_deg *= 0.7;
  EXPECT_FALSE(draw({.scope = nearer}) == plain) << "scope";
  Lens lens = session_->scope().lens;
  lens.barrel += 0.1;
  EXPECT_FALSE(draw({.lens = lens}) == plain) << "lens";
  std::vector<DrawnTool> ghosts;
  drawn_tools(*session_, ghosts);
  ghosts[0].pose.tip += glm::dvec3(0.03, 0.0, 0.0);
  EXPECT_FALSE(draw({.ghosts = ghosts}) == plain) << "ghosts";
  EXPECT_TRUE(draw({}) == plain) << "nothing of the look is kept";
}

}  // namespace
}  // namespace trocar
