// Tests windows of an operation: which of their lines are free, against plates whose holes are known.
#include "sim/task/clear_window.hpp"

#include <random>

#include "geometry/error.hpp"
#include "mesh/tube_shape.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar::clear_window_test {
namespace {

using glm::dvec3;

// A duct along x at y = 0, an artery along x at y = 12 mm, and a plate in front of them, at z = 4 mm.
class Window {
 public:
  Window() {
    duct_.path = {{-0.02, 0.0, 0.0}, {0.02, 0.0, 0.0}}, duct_.radius = 0.002;
    artery_.path = {{-0.02, 0.012, 0.0}, {0.02, 0.012, 0.0}}, artery_.radius = 0.0013;
    surfaces_ = {tube_surface(duct_), tube_surface(artery_), {}};
    cover({-0.03, -0.01}, {0.03, 0.03});
    step_.kind = StepKind::Clear;
    step_.sides = {{"duct", {-0.008f, 0.f, 0.f}, {0.008f, 0.f, 0.f}, 0.003},
                   {"artery", {-0.008f, 0.012f, 0.f}, {0.008f, 0.012f, 0.f}, 0.002}};
    step_.gone = {{"plate"}};
  }

  // Leaves of the plate what lies between two corners.
  void cover(const glm::dvec2& low, const glm::dvec2& high, float z = 0.004f) {
    surfaces_[2].positions = {{float(low.x), float(low.y), z},
                              {float(high.x), float(low.y), z},
                              {float(high.x), float(high.y), z},
                              {float(low.x), float(high.y), z}};
    surfaces_[2].faces = {{0, 1, 2}, {0, 2, 3}};
  }
  TaskStage stage() const {
    TaskStage stage{{"duct", "artery", "plate"}, {}, {}};
    for (const TriangleMesh& surface : surfaces_) stage.surfaces.push_back(surface.view());
    stage.lines = {centre_line(duct_), centre_line(artery_), {}};
    return stage;
  }
  ClearWindow make() {
    marks_.clear();
    return ClearWindow(step_, stage(), 0, marks_);
  }
  Observation seen() {
    positions_.clear();
    organs_.assign(3, {});
    for (const SurfaceMark& mark : marks_) positions_.push_back(position_of(mark, surfaces_[mark.organ].positions));
    for (std::size_t k = 0; k < 3; ++k) organs_[k].surface = surfaces_[k].view();
    Observation seen;
    seen.organs = organs_, seen.marks = positions_;
    seen.scope.eye = {0.0, 0.0, 0.3};
    return seen;
  }
  void move(const glm::vec3& by) {
    for (TriangleMesh& surface : surfaces_)
      for (glm::vec3& p : surface.positions) p += by;
  }

  TaskStep step_;

 private:
  TubeShape duct_, artery_;
  std::vector<TriangleMesh> surfaces_;
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> positions_;
  std::vector<SeenOrgan> organs_;
};

TEST(ClearWindow, LinesLieBetweenItsSidesAndFaceTheEye) {
  Window w;
  ClearWindow window = w.make();
  window.look(w.seen());
  ASSERT_EQ(window.lines().size(), 24u);
  for (std::size_t k = 0; k < 24; ++k) {
    const WindowLine& line = window.lines()[k];
    EXPECT_NEAR(line.at.x, -0.008 + 0.016 * double(k / 3) / 7.0, 4e-4);
    EXPECT_NEAR(line.at.y, 0.003 + 0.007 * double(k % 3) / 2.0, 1e-4);
    EXPECT_NEAR(line.at.z, 0.0, 1e-4);
    EXPECT_GT(line.normal.z, 0.999);
    EXPECT_GT(line.across.y, 0.999);
    EXPECT_FALSE(line.free);
    EXPECT_NEAR(line.front.z, 0.004, 1e-6);
  }
  EXPECT_EQ(window.share(), 0.0);
}

// Of plates that cover a random part, a line is free where the plate does not lie in front of it or behind it.
TEST(ClearWindow, FreeLinesAreThoseThatThePlateDoesNotCover) {
  std::printf("seed 4801\n");
  std::mt19937 random(4801);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Window w;
  ClearWindow window = w.make();
  int covered = 0, far = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const glm::dvec2 low(uniform(-0.012, 0.0), uniform(0.0, 0.006)), high(uniform(0.0, 0.012), uniform(0.006, 0.012));
    const double z = uniform(-0.012, 0.012);
    w.cover(low, high, static_cast<float>(z));
    window.look_at_all(w.seen());
    for (const WindowLine& line : window.lines()) {
      if (std::abs(std::abs(z) - ClearWindow::kReach) < 2e-4) continue;
      const glm::dvec2 at(line.at);
      const double inside = std::min(std::min(at.x - low.x, high.x - at.x), std::min(at.y - low.y, high.y - at.y));
      if (std::abs(inside) < 1e-4) continue;
      const bool covers = inside > 0.0 && std::abs(z) < ClearWindow::kReach;
      EXPECT_EQ(line.free, !covers) << trial;
      covered += covers, far += std::abs(z) > ClearWindow::kReach;
    }
  }
  std::printf("%d lines covered, %d before a plate that is too far away\n", covered, far);
  EXPECT_GT(covered, 500);
  EXPECT_GT(far, 500);
}

// Lines move with the organs, and every one is looked at within kTurns frames.
TEST(ClearWindow, FollowsTheOrgans) {
  Window w;
  ClearWindow window = w.make();
  window.look(w.seen());
  w.move({0.05f, -0.03f, 0.01f});
  w.cover({1.0, 1.0}, {1.1, 1.1});
  const dvec3 moved = window.place_of(w.seen(), 17);
  for (int frame = 0; frame < ClearWindow::kTurns - 1; ++frame) window.look(w.seen());
  EXPECT_LT(window.share(), 1.0);
  window.look(w.seen());
  EXPECT_EQ(window.share(), 1.0);
  EXPECT_NEAR(window.lines()[0].at.x, 0.042, 4e-4);
  EXPECT_EQ(window.lines()[17].at, moved);
}

// Of an organ that need only be opened the lines in the middle count.
TEST(ClearWindow, AnOpenedSheetMayLieBesideTheMiddle) {
  Window w;
  w.step_.gone[0].opened = true;
  ClearWindow window = w.make();
  window.look_at_all(w.seen());
  EXPECT_NEAR(window.share(), 2.0 / 3.0, 1e-12);
  w.cover({-0.03, -0.01}, {0.03, 0.004});
  window.look_at_all(w.seen());
  EXPECT_EQ(window.share(), 1.0);
}

// What may stay does not close the window.
TEST(ClearWindow, DoesNotAskForWhatMayStay) {
  Window w;
  w.step_.gone[0].may_stay = true;
  ClearWindow window = w.make();
  window.look_at_all(w.seen());
  EXPECT_EQ(window.share(), 1.0);
}

// Beside the duct and beside the artery different lines count.
TEST(ClearWindow, WhatIsFreeBesideASide) {
  Window w;
  ClearWindow window = w.make();
  w.cover({-0.03, -0.01}, {0.03, 0.005});
  window.look_at_all(w.seen());
  EXPECT_EQ(window.share_beside(0), 0.0);
  EXPECT_EQ(window.share_beside(1), 1.0);
  w.cover({-0.03, -0.01}, {0.0, 0.03});
  window.look_at_all(w.seen());
  EXPECT_NEAR(window.share_beside(0), 0.5, 0.02);
  EXPECT_NEAR(window.share_beside(1), 0.5, 0.02);
}

// Sides that lie on each other, or have shrunk to a point, give lines without a side, and nothing that is not a number.
TEST(ClearWindow, DegenerateSides) {
  Window w;
  w.step_.sides[1] = w.step_.sides[0];
  ClearWindow flat = w.make();
  flat.look_at_all(w.seen());
  w.step_.sides[1] = {"artery", {0.f, 0.012f, 0.f}, {0.f, 0.012f, 0.f}, 0.002};
  ClearWindow fan = w.make();
  fan.look_at_all(w.seen());
  for (const ClearWindow* window : {&flat, &fan})
    for (const WindowLine& line : window->lines()) {
      EXPECT_TRUE(std::isfinite(line.at.x + line.at.y + line.at.z + line.normal.x + line.normal.y + line.normal.z));
      EXPECT_NEAR(glm::length(line.normal), 1.0, 1e-9);
    }
  w.step_.sides[0].organ = "stomach";
  EXPECT_THROW(w.make(), InputError);
}

}  // namespace
}  // namespace trocar::clear_window_test
