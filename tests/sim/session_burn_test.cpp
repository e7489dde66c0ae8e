// Tests the backends while hooks burn tissue in a session: they agree throughout, also in OpenGL, and faces keep their
// ids.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "app/compare/backends.hpp"
#include "app/window/practice/hud.hpp"
#include "cpu_collision/queries.hpp"
#include "mesh/solid_check.hpp"
#include "tests/sim/tissue_session.hpp"

namespace trocar {
namespace {

using test::FaceBook, test::TissueScene;

TEST_F(TissueScene, BackendsAgreeWhileTheHookBurns) {
  Session session(scene(instrument("hook", "burn")), backends_, "scan", {{"obb-refit", 1}, {"obb", 1}}, script);
  const Organ& ball = session.organs()[0];
  FaceBook book(ball);
  const std::vector<glm::vec3> rest = ball.mesh.positions;
  std::uint32_t changes = 0;
  std::uint64_t touched = 0;
  for (std::size_t frame = 0; frame < 120; ++frame) {
    step(session, frame);
    book.check(ball);
    ASSERT_EQ(session.disagreements(), 0u) << "frame " << frame;
    EXPECT_EQ(ball.change.empty(), ball.topology == changes);
    if (session.instruments()[0].energy == Diathermy::Off) {
      EXPECT_TRUE(ball.change.empty());
    }
    changes = ball.topology;
    touched += session.touched();
  }
  EXPECT_GT(changes, 5u);
  EXPECT_GT(touched, 50u);
  EXPECT_GT(book.count_removed(), 20u);
  EXPECT_EQ(book.size(), ball.damage.marks.size());
  for (std::size_t id = 0; id < book.size(); ++id)
    EXPECT_EQ((ball.damage.marks[id] & kBurnt) != 0, book.removed(id)) << id;
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), ball.mesh.positions.begin()));
  const DamageReading reading = reading_of(ball.damage);
  EXPECT_EQ(reading.burnt, book.count_removed());
  EXPECT_EQ(reading.torn, 0u);
  EXPECT_EQ(reading.peak, *std::max_element(ball.damage.peak.begin(), ball.damage.peak.end()));
  EXPECT_NO_THROW(closed_volume(ball.mesh.view()));
  std::printf("%u changes, %zu of %zu faces burnt, %llu touched\n", changes, book.count_removed(), book.size(),
              static_cast<unsigned long long>(touched));
}

// Two hooks burn the same ball and scissors cut it: in some frames faces of the first change are removed by the second.
// The query then answers like a new object.
TEST_F(TissueScene, TheQueryFollowsSeveralChangesInAFrame) {
  std::string second = instrument("hook", "burn");
  second.replace(second.find("\"burn\""), 6, "\"second\"");
  second.replace(second.find("[0, 0, 39]"), 10, "[3, 1, 39]");
  std::vector<CheckPlan> checks{{"obb-refit", 1}};
  Backends backends;
  if (backends.context()) checks.push_back({"compute", 1});
  Session session(scene(instrument("hook", "burn") + second + instrument("scissors", "pull")), backends, "scan", checks,
                  script);
  const Organ& ball = session.organs()[0];
  std::size_t twice = 0, passing = 0;
  for (std::size_t frame = 0; frame < 110; ++frame) {
    step(session, frame);
    ASSERT_EQ(session.disagreements(), 0u) << "frame " << frame;
    twice += ball.topology > ball.topology_before + 1;
    const std::size_t added = ball.change.new_faces.size();
    passing += ball.change.removed.size() > ball.removed_slots.size();
    if (added == 0) continue;
    const ToolStep step{{0.02, 0.02, 0.15}, {0.0, 0.0, 0.03}, {0.005, 0.0, 0.03}, 0.01};
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const auto fresh = make_scan_query();
    fresh->rebuild({ball.positions, ball.mesh.faces});
    const TouchList expected = fresh->touched({&volume, 1}, TouchSet::Exact);
    const TouchList answer = ball.query->touched({&volume, 1}, TouchSet::Exact);
    ASSERT_TRUE(std::equal(
        answer.touches.begin(), answer.touches.end(), expected.touches.begin(), expected.touches.end(),
        [](const Touch& a, const Touch& b) { return a.face == b.face && a.point == b.point && a.depth == b.depth; }))
        << "frame " << frame;
  }
  EXPECT_GT(twice, 0u);
  EXPECT_GT(passing, 0u);
  std::printf("%zu frames with two changes, %zu in which faces came and went\n", twice, passing);
}

}  // namespace
}  // namespace trocar
