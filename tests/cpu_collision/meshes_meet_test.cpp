// Tests the meetings of two moving meshes against all pairs of faces, and on cases with a known first contact.
#include "cpu_collision/trees/motion_crossing.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mesh/exact_sign.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

struct Moved {
  TriangleMesh mesh;
  std::vector<glm::vec3> after;

  MovingMesh motion() const { return {mesh.positions, after, mesh.faces}; }
};

Moved moved(TriangleMesh mesh, const glm::vec3& by) {
  Moved result{std::move(mesh), {}};
  for (const glm::vec3& p : result.mesh.positions) result.after.push_back(p + by);
  return result;
}

TEST(MeshesMeet, TwoCubesMeetWhenTheirSidesDo) {
  // The gap between their sides is 0.04 m, and the first moves by 0.1 m.
  const Moved left = moved(shapes::cube(0.1f, {-0.07f, 0.f, 0.f}), {0.1f, 0.f, 0.f});
  const Moved right = moved(shapes::cube(0.1f, {0.07f, 0.01f, 0.013f}), glm::vec3(0.f));
  const auto meetings = meshes_meet(left.motion(), right.motion());
  const auto contact = first_contact(meetings);
  ASSERT_TRUE(contact);
  EXPECT_LE(contact->time, 0.4 + 1e-6);
  EXPECT_GT(contact->time, 0.4 - 1e-4);
  EXPECT_LE(contact->apart, 1e-6);
  EXPECT_TRUE(meshes_meet(right.motion(), right.motion()).size() > 0) << "equal meshes touch at the start";
}

TEST(MeshesMeet, WhatCrossesAtTheStartMeetsAtTimeZero) {
  const Moved a = moved(shapes::icosphere(2, 0.05f), glm::vec3(0.f));
  const Moved b = moved(shapes::icosphere(2, 0.05f, {0.04f, 0.f, 0.f}), {0.001f, 0.f, 0.f});
  const auto meetings = meshes_meet(a.motion(), b.motion());
  ASSERT_FALSE(meetings.empty());
  EXPECT_EQ(first_contact(meetings)->time, 0.0);
}

TEST(MeshesMeet, MeshesThatPassAtADistanceOrAreEmptyDoNotMeet) {
  const Moved a = moved(shapes::cube(0.1f), {0.3f, 0.f, 0.f});
  const Moved b = moved(shapes::cube(0.1f, {0.15f, 0.1003f, 0.f}), glm::vec3(0.f));
  EXPECT_TRUE(meshes_meet(a.motion(), b.motion()).empty());
  EXPECT_TRUE(meshes_meet(a.motion(), {}).empty());
  EXPECT_FALSE(first_contact({}));
}

// The same pairs as a test of all pairs, for meshes that deform at random.
TEST(MeshesMeet, FindsThePairsOfAllPairs) {
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    std::mt19937 random(seed);
    const auto number = [&](float most) { return most * (2.f * static_cast<float>(random() >> 8) / 16777216.f - 1.f); };
    const auto deformed = [&](TriangleMesh mesh, const glm::vec3& by) {
      Moved result = moved(std::move(mesh), by);
      for (glm::vec3& p : result.after)
        for (int axis = 0; axis < 3; ++axis) p[axis] += number(0.01f);
      return result;
    };
    const Moved a = deformed(shapes::icosphere(2, 0.05f), {0.03f, 0.f, 0.f});
    const Moved b = deformed(shapes::random_soup(seed, 200, 0.2f, 0.03f), {-0.01f, 0.005f, 0.f});
    const auto meetings = meshes_meet(a.motion(), b.motion());
    std::size_t next = 0, at_start = 0;
    for (std::uint32_t f = 0; f < a.mesh.faces.size(); ++f)
      for (std::uint32_t g = 0; g < b.mesh.faces.size(); ++g) {
        glm::vec3 first[3], second[3];
        for (int k = 0; k < 3; ++k) {
          first[k] = a.mesh.positions[a.mesh.faces[f][k]];
          second[k] = b.mesh.positions[b.mesh.faces[g][k]];
        }
        const bool crosses = solids::faces_cross_exactly(first, second);
        const auto meeting = triangles_meet(
            {triangle_of(a.mesh.positions, a.mesh.faces[f]), triangle_of(a.after, a.mesh.faces[f])},
            {triangle_of(b.mesh.positions, b.mesh.faces[g]), triangle_of(b.after, b.mesh.faces[g])}, 1e-6);
        if (!crosses && !meeting) continue;
        ASSERT_LT(next, meetings.size()) << "seed " << seed << ": pair " << f << ", " << g << " is missing";
        EXPECT_EQ(meetings[next].first, FaceId(f));
        EXPECT_EQ(meetings[next].second, FaceId(g));
        EXPECT_EQ(meetings[next].time, crosses ? 0.0 : meeting->time);
        at_start += crosses ? 1 : 0;
        ++next;
      }
    EXPECT_EQ(next, meetings.size());
    EXPECT_GT(next, at_start + 10) << "seed " << seed << ": the case must have meetings during the motion";
  }
}

}  // namespace
}  // namespace trocar
