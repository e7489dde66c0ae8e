#include "tests/gpu_collision/query_sequences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "mesh/triangle_mesh.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/gpu_collision/query_checks.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::checks {
namespace {

using test::Dice;

// Returns shapes with different numbers of faces and vertices; one is empty.
TriangleMesh some_mesh(Dice& dice) {
  switch (dice.pick(7)) {
    case 0:
      return shapes::icosphere(dice.pick(4));
    case 1:
      return shapes::cube(0.15f);
    case 2:
      return shapes::torus(8 + dice.pick(20), 4 + dice.pick(10));
    case 3:
      return shapes::random_soup(static_cast<std::uint32_t>(dice.pick(1000)),
                                 1 + static_cast<std::size_t>(dice.pick(400)), 0.2f, 0.05f);
    case 4:
      return dice.pick(2) ? TriangleMesh{} : shapes::icosphere(0);
    default:
      return shapes::icosphere(2 + dice.pick(2));
  }
}

struct Answer {
  std::vector<Touch> touches;
  std::vector<std::uint32_t> first{0};

  Answer() = default;
  explicit Answer(const TouchList& list)
      : touches(list.touches.begin(), list.touches.end()), first(list.first.begin(), list.first.end()) {}
};

bool same(const Touch& a, const Touch& b) {
  return a.face == b.face && a.point == b.point && a.normal == b.normal && a.depth == b.depth && a.time == b.time;
}

// One object and its current mesh.
class Sequence {
 public:
  Sequence(std::uint32_t seed, const QueryMaker& make, const QueryMaker& make_fresh)
      : dice_(seed), make_fresh_(make_fresh), query_(make()) {
    rebuild();
  }

  void call() {
    const int what = dice_.pick(12);
    if (what < 1) return rebuild();
    if (what < 4) return change_faces();
    if (what < 6) return update();
    touch();
  }

  std::size_t touches = 0, calls_that_touch = 0;
  std::string story;  // the calls so far, for the failure message

 private:
  void rebuild() {
    mesh_ = some_mesh(dice_);
    query_->rebuild(mesh_.view());
    story += " rebuild(" + std::to_string(mesh_.faces.size()) + ")";
  }

  void change_faces() {
    const std::vector<FaceId> removed = test::random_change(dice_, mesh_);
    query_->change_faces(mesh_.view(), removed);
    story += " change_faces(-" + std::to_string(removed.size()) + ", " + std::to_string(mesh_.faces.size()) + ")";
  }

  void update() {
    for (glm::vec3& p : mesh_.positions)
      p += 0.005f * glm::sin(30.f * glm::vec3(p.y, p.z, p.x) + float(dice_.uniform(0.0, 6.0)));
    query_->update(mesh_.positions);
    story += " update";
  }

  void touch() {
    const TouchSet set = dice_.pick(2) ? TouchSet::Exact : TouchSet::Volume;
    const int count = dice_.pick(4) == 0 ? 0 : 1 + dice_.pick(5);
    const auto tools = random_tools(static_cast<std::uint32_t>(dice_.pick(100000)), count, set);
    const int steps = dice_.pick(6);
    story += (steps < 2 ? " submit(" : " touched(") + std::to_string(count) + ")";
    if (steps < 2) query_->submit(tools, set);
    if (steps == 0) return;  // never collected
    const Answer answer(steps == 1 ? query_->collect() : query_->touched(tools, set));
    const auto fresh = make_fresh_();
    fresh->rebuild(mesh_.view());
    const Answer expected(fresh->touched(tools, set));
    ASSERT_EQ(expected.first.size(), tools.size() + 1) << story;
    touches += expected.touches.size();
    calls_that_touch += expected.touches.empty() ? 0 : 1;
    ASSERT_EQ(answer.first, expected.first) << story;
    ASSERT_TRUE(std::equal(answer.touches.begin(), answer.touches.end(), expected.touches.begin(),
                           expected.touches.end(), same))
        << story;
  }

  Dice dice_;
  const QueryMaker& make_fresh_;
  std::unique_ptr<TouchQuery> query_;
  TriangleMesh mesh_;
};

}  // namespace

void check_random_sequences(const std::string& what, const QueryMaker& make, const QueryMaker& make_fresh,
                            const SequencePlan& plan) {
  std::size_t touches = 0, calls_that_touch = 0;
  const auto last = plan.first_seed + static_cast<std::uint32_t>(plan.sequences);
  for (std::uint32_t seed = plan.first_seed; seed < last; ++seed) {
    SCOPED_TRACE(what + ", seed " + std::to_string(seed));
    Sequence sequence(seed, make, make_fresh);
    for (int i = 0; i < plan.calls && !::testing::Test::HasFatalFailure(); ++i) sequence.call();
    if (::testing::Test::HasFatalFailure()) return;
    touches += sequence.touches;
    calls_that_touch += sequence.calls_that_touch;
  }
  std::printf("%s: seeds %u..%u, %zu touches in %zu calls\n", what.c_str(), plan.first_seed, last - 1, touches,
              calls_that_touch);
  EXPECT_GT(calls_that_touch, static_cast<std::size_t>(plan.sequences * plan.calls / 6)) << what;
}

}  // namespace trocar::checks
