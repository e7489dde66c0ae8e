// Tests candidate pairs: every touching pair is listed, and a session that queries only candidates gives the same bits
// as one that queries all pairs. Also tests distances between instruments.
#include "sim/session/organ_queries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "cpu_collision/queries.hpp"
#include "sim/session/session.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/sim/session/near_pairs_scene.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using test::EncounterScene;

ToolStep laparoscopic_step(test::Dice& dice) {
  const glm::dvec3 tip = dice.in_cube(0.12);
  return {dice.direction() * 0.2, tip, tip + dice.in_cube(dice.log_uniform(1e-4, 3e-2)), dice.log_uniform(1e-3, 6e-3)};
}

// A box around everything within `radius` of the triangle that the shaft sweeps, plus one micrometre for rounding.
broad::Box box_of(const ToolStep& step) {
  const double margin = step.radius + 1e-6;
  return broad::box_around(glm::min(step.pivot, glm::min(step.tip_before, step.tip_after)) - margin,
                           glm::max(step.pivot, glm::max(step.tip_before, step.tip_after)) + margin);
}

// The box contains every point within the radius of the swept shaft.
TEST(NearPairs, TheBoxContainsTheSweptShaft) {
  constexpr std::uint32_t kSeed = 61;
  test::Dice dice(kSeed);
  for (int k = 0; k < 2000; ++k) {
    const ToolStep step = laparoscopic_step(dice);
    const broad::Box box = box_of(step);
    for (int i = 0; i < 20; ++i) {
      const glm::dvec3 tip = pose_at(step, dice.uniform(0.0, 1.0)).tip;
      const glm::dvec3 on_axis = step.pivot + dice.uniform(0.0, 1.0) * (tip - step.pivot);
      const glm::vec3 p(on_axis + step.radius * dice.direction());
      ASSERT_TRUE(overlap(box, {p, p})) << "seed " << kSeed;
    }
  }
}

// The lists equal a comparison of all boxes, while instruments move around three balls.
TEST(NearPairs, ListsEqualABruteForceSearch) {
  constexpr std::uint32_t kSeed = 62;
  constexpr std::size_t kOrgans = 3, kInstruments = 4;
  test::Dice dice(kSeed);
  NearPairs near_pairs(kOrgans, kInstruments);
  std::size_t near = 0, far = 0;
  for (int frame = 0; frame < 500; ++frame) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " frame " << frame);
    std::vector<broad::Box> surface, contact, tools;
    for (std::size_t k = 0; k < kOrgans; ++k) {
      surface.push_back(broad::cube(glm::vec3(dice.in_cube(0.1)), 0.04f));
      contact.push_back(grown(surface.back(), 0.002f));
      near_pairs.set_organ(k, surface[k], contact[k]);
    }
    for (std::size_t k = 0; k < kInstruments; ++k) {
      tools.push_back(box_of(laparoscopic_step(dice)));
      near_pairs.set_instrument(k, tools[k]);
    }
    near_pairs.update();
    std::vector<std::uint32_t> expected;
    for (std::size_t k = 0; k < kOrgans; ++k) {
      expected.clear();
      for (std::uint32_t tool = 0; tool < kInstruments; ++tool)
        if (overlap(surface[k], tools[tool])) expected.push_back(tool);
      ASSERT_TRUE(std::ranges::equal(near_pairs.instruments_near(k), expected));
      near += expected.size(), far += kInstruments - expected.size();
    }
    std::size_t organ_pairs = 0, tool_pairs = 0;
    for (std::size_t a = 0; a < kOrgans; ++a)
      for (std::size_t b = a + 1; b < kOrgans; ++b) organ_pairs += overlap(contact[a], contact[b]);
    for (std::size_t a = 0; a < kInstruments; ++a)
      for (std::size_t b = a + 1; b < kInstruments; ++b) tool_pairs += overlap(tools[a], tools[b]);
    ASSERT_EQ(near_pairs.organ_pairs().size(), organ_pairs);
    ASSERT_EQ(near_pairs.instrument_pairs().size(), tool_pairs);
  }
  EXPECT_GT(near, 500u);
  EXPECT_GT(far, 500u);
}

TEST(NearPairs, WithoutOrgansAndInstrumentsListsAreEmpty) {
  NearPairs near_pairs;
  near_pairs.update();
  EXPECT_TRUE(near_pairs.organ_pairs().empty());
  NearPairs alone(1, 0);
  alone.set_organ(0, broad::cube(glm::vec3(0.f), 1.f), {});
  alone.update();
  EXPECT_TRUE(alone.instruments_near(0).empty());
}

// Every instrument that touches an organ must be a candidate for it. Brute force over all faces gives the pairs that
// touch; the tools are placed from far away to deep inside.
TEST(NearPairs, EveryTouchingPairIsListed) {
  constexpr std::uint32_t kSeed = 63;
  test::Dice dice(kSeed);
  const TriangleMesh ball = shapes::icosphere(3, 0.05f);
  const auto query = make_scan_query();
  query->rebuild(ball.view());
  query->update(ball.positions);
  NearPairs near_pairs(1, 1);
  near_pairs.set_organ(0, broad::box_of(ball.positions), {});
  int touching = 0, left_out = 0;
  for (int k = 0; k < 4000; ++k) {
    const ToolStep step = laparoscopic_step(dice);
    near_pairs.set_instrument(0, box_of(step));
    near_pairs.update();
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const bool touches = !query->touched({&volume, 1}, TouchSet::Exact).touches.empty();
    const bool near = !near_pairs.instruments_near(0).empty();
    ASSERT_TRUE(near || !touches) << "seed " << kSeed << " case " << k;
    touching += touches, left_out += !near;
  }
  std::printf("%d of 4000 touch, %d are not asked about\n", touching, left_out);
  EXPECT_GT(touching, 500);
  EXPECT_GT(left_out, 100);
}

TEST(InstrumentClash, IsTheDistanceBetweenTheCapsules) {
  constexpr std::uint32_t kSeed = 64;
  constexpr int kSamples = 200;
  test::Dice dice(kSeed);
  int collisions = 0;
  for (int k = 0; k < 300; ++k) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " case " << k);
    const ToolPose a{dice.in_cube(0.1), dice.in_cube(0.1), 0.0025}, b{dice.in_cube(0.1), dice.in_cube(0.1), 0.005};
    const InstrumentClash clash = clash_of(3, a, 7, b);
    EXPECT_EQ(clash.first, 3u);
    EXPECT_EQ(clash.second, 7u);
    double nearest = 1.0;
    for (int i = 0; i <= kSamples; ++i)
      for (int j = 0; j <= kSamples; ++j)
        nearest = std::min(nearest, glm::distance(glm::mix(a.pivot, a.tip, double(i) / kSamples),
                                                  glm::mix(b.pivot, b.tip, double(j) / kSamples)));
    const double sampled = nearest - a.radius - b.radius;
    ASSERT_LE(clash.distance, sampled + 1e-12);
    ASSERT_GE(clash.distance, sampled - 2e-3);
    // The point has the same distance from both surfaces.
    const auto from = [&](const ToolPose& pose) {
      const glm::dvec3 shaft = pose.tip - pose.pivot;
      const double u = glm::clamp(glm::dot(clash.point - pose.pivot, shaft) / glm::dot(shaft, shaft), 0.0, 1.0);
      return glm::distance(clash.point, pose.pivot + u * shaft) - pose.radius;
    };
    if (clash.distance > 0.0) {
      ASSERT_NEAR(from(a), 0.5 * clash.distance, 1e-9);
      ASSERT_NEAR(from(b), 0.5 * clash.distance, 1e-9);
    } else {
      ASSERT_LE(from(a), 1e-9);
      ASSERT_LE(from(b), 1e-9);
      ++collisions;
    }
  }
  EXPECT_GT(collisions, 5);
}

TEST(InstrumentClash, CrossingShafts) {
  const ToolPose along_x{{-1, 0, 0}, {1, 0, 0}, 0.002}, along_y{{0, -1, 0}, {0, 1, 0}, 0.003};
  const InstrumentClash clash = clash_of(0, along_x, 1, along_y);
  EXPECT_DOUBLE_EQ(clash.distance, -0.005);
  EXPECT_EQ(clash.point, glm::dvec3(0.0));
  const InstrumentClash same = clash_of(0, along_x, 1, along_x);
  EXPECT_DOUBLE_EQ(same.distance, -0.004);
}

// Each probe is queried about its own ball alone; the checkers, which query all pairs, agree.
TEST_F(EncounterScene, OnlyCandidatesAreQueried) {
  Session session(scene(), backends_, "scan", {{"obb-refit", 1}}, script);
  std::uint64_t touched = 0;
  for (std::size_t frame = 0; frame < 120; ++frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
    ASSERT_EQ(session.disagreements(), 0u) << "frame " << frame;
    touched += session.touched();
    for (const Organ& organ : session.organs()) {
      const auto near = session.near_pairs().instruments_near(std::size_t(&organ - session.organs().data()));
      for (std::uint32_t tool = 0; tool < 3; ++tool) {
        if (std::ranges::find(near, tool) == near.end()) {
          ASSERT_TRUE(organ.touches.of_tool(tool).empty());
        }
      }
      EXPECT_EQ(organ.touches.first.size(), 4u);
    }
    EXPECT_TRUE(session.near_pairs().organ_pairs().empty());
    EXPECT_EQ(std::ranges::count(session.near_pairs().instruments_near(0), 1u), 0);
    EXPECT_EQ(std::ranges::count(session.near_pairs().instruments_near(1), 0u), 0);
  }
  EXPECT_GT(touched, 200u);
}

}  // namespace
}  // namespace trocar
