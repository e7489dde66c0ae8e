// Tests the view pyramid against the projection of sampled points, and that no visible sphere is left out.
#include "geometry/view_pyramid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <glm/gtc/matrix_transform.hpp>
#include <vector>

#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using test::Dice;

struct Camera {
  glm::dvec3 eye;
  glm::dmat4 clip_from_world;
};

Camera random_camera(Dice& dice) {
  const glm::dvec3 eye = dice.in_cube(0.3), target = eye + dice.in_cube(1.0);
  const glm::dvec3 up = dice.in_cube(1.0);
  const double front = 0.005, back = 0.3 + dice.uniform(0.0, 2.0);
  const glm::dmat4 projection = dice.pick(4) == 0
                                    ? glm::ortho(-0.1, 0.15, -0.2, 0.1, front, back)
                                    : glm::perspective(dice.uniform(0.3, 2.2), dice.uniform(0.5, 2.5), front, back);
  return {eye, projection * glm::lookAt(eye, target, up)};
}

// By projection: the definition.
bool is_visible(const glm::dmat4& clip_from_world, const glm::dvec3& p) {
  const glm::dvec4 clip = clip_from_world * glm::dvec4(p, 1.0);
  return std::abs(clip.x) <= clip.w && std::abs(clip.y) <= clip.w && std::abs(clip.z) <= clip.w;
}

double least_height(const ViewPyramid& pyramid, const glm::dvec3& p) {
  double least = 1e30;
  for (const glm::dvec4& plane : pyramid.planes) least = std::min(least, glm::dot(glm::dvec3(plane), p) + plane.w);
  return least;
}

TEST(ViewPyramidOf, ContainsWhatTheCameraProjectsIntoThePicture) {
  Dice dice(1500);
  int visible = 0, compared = 0;
  for (int k = 0; k < 300; ++k) {
    const Camera camera = random_camera(dice);
    const ViewPyramid pyramid = view_pyramid(camera.clip_from_world);
    for (const glm::dvec4& plane : pyramid.planes) EXPECT_NEAR(glm::length(glm::dvec3(plane)), 1.0, 1e-12);
    for (int i = 0; i < 200; ++i) {
      const glm::dvec3 p = camera.eye + dice.in_cube(1.0);
      if (std::abs(least_height(pyramid, p)) < 1e-9) continue;
      EXPECT_EQ(contains(pyramid, p), is_visible(camera.clip_from_world, p));
      visible += contains(pyramid, p);
      ++compared;
    }
  }
  EXPECT_GT(visible, compared / 50);
  EXPECT_LT(visible, compared / 2);
}

// The front face is at the front distance, the sides have the opening angle.
TEST(ViewPyramidOf, ASimpleCameraHasTheExpectedPlanes) {
  const double quarter = 0.5 * std::acos(0.0);
  const ViewPyramid pyramid = view_pyramid(glm::perspective(2.0 * quarter, 1.0, 0.1, 5.0));
  EXPECT_TRUE(contains(pyramid, {0.0, 0.0, -0.11}));
  EXPECT_FALSE(contains(pyramid, {0.0, 0.0, -0.09}));
  EXPECT_TRUE(contains(pyramid, {0.99, 0.0, -1.0}));
  EXPECT_FALSE(contains(pyramid, {1.01, 0.0, -1.0}));
  EXPECT_TRUE(contains(pyramid, {0.0, -4.9, -4.95}));
  EXPECT_FALSE(contains(pyramid, {0.0, 0.0, -5.01}));
  EXPECT_FALSE(contains(pyramid, {0.0, 0.0, 1.0})) << "behind the camera";
}

TEST(ViewPyramidOf, NoSphereWithAVisiblePointIsLeftOut) {
  Dice dice(1501);
  int left_out = 0, kept = 0, kept_in_vain = 0;
  for (int k = 0; k < 4000; ++k) {
    const Camera camera = random_camera(dice);
    const ViewPyramid pyramid = view_pyramid(camera.clip_from_world);
    const BoundingSphere sphere{camera.eye + dice.in_cube(1.0), dice.uniform(0.0, 0.3)};
    bool any = is_visible(camera.clip_from_world, sphere.centre);
    for (int i = 0; i < 200 && !any; ++i) {
      glm::dvec3 offset = dice.in_cube(1.0);
      if (glm::length(offset) > 1.0) offset /= glm::length(offset);  // many on the surface
      any = is_visible(camera.clip_from_world, sphere.centre + sphere.radius * offset);
    }
    const bool may = may_see(pyramid, sphere);
    ASSERT_TRUE(may || !any) << "seed 1501, camera " << k;
    left_out += !may;
    kept += may;
    kept_in_vain += may && !any;
  }
  std::printf("seed 1501: %d spheres left out, %d kept, of these %d without a sampled visible point\n", left_out, kept,
              kept_in_vain);
  EXPECT_GT(left_out, 1500);
  EXPECT_LT(kept_in_vain, kept / 3);
}

TEST(BoundingSphereOf, HoldsEveryPoint) {
  EXPECT_LT(bounding_sphere({}).radius, 0.0);
  EXPECT_FALSE(may_see(view_pyramid(glm::perspective(1.0, 1.0, 0.1, 5.0)), bounding_sphere({})));
  const glm::vec3 one(1.f, 2.f, -3.f);
  EXPECT_EQ(bounding_sphere({&one, 1}).radius, 0.0);
  EXPECT_EQ(bounding_sphere({&one, 1}).centre, glm::dvec3(one));
  Dice dice(1502);
  for (int k = 0; k < 100; ++k) {
    std::vector<glm::vec3> points(1 + static_cast<std::size_t>(dice.pick(50)));
    for (glm::vec3& p : points) p = glm::vec3(dice.in_cube(0.2) + glm::dvec3(1.0));
    const BoundingSphere sphere = bounding_sphere(points);
    double farthest = 0.0;
    for (const glm::vec3& p : points) farthest = std::max(farthest, glm::distance(glm::dvec3(p), sphere.centre));
    EXPECT_NEAR(sphere.radius, farthest, 1e-12);
  }
}

}  // namespace
}  // namespace trocar
