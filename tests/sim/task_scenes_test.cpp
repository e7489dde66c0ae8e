// Tests the committed task scenes at every level: every target lies on its organ, is visible in the scope's initial
// view without occlusion, and can be touched by the instrument; zones leave the targets free.
#include <gtest/gtest.h>

#include "geometry/planar/polygon.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/zone_watch.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar {
namespace {

// Does the segment from a to b intersect the face? Moeller, Trumbore 1997.
bool blocked(const glm::dvec3& a, const glm::dvec3& b, const Triangle& face) {
  const glm::dvec3 direction = b - a, u = face.b - face.a, v = face.c - face.a, p = glm::cross(direction, v);
  const double det = glm::dot(u, p);
  if (std::abs(det) < 1e-18) return false;
  const glm::dvec3 s = a - face.a, q = glm::cross(s, u);
  const double x = glm::dot(s, p) / det, y = glm::dot(direction, q) / det, t = glm::dot(v, q) / det;
  return x >= 0.0 && y >= 0.0 && x + y <= 1.0 && t > 0.0 && t < 1.0;
}

struct Target {
  glm::dvec3 at, normal;
};

class TaskScenes : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  TaskScenes()
      : scene_(with_level(load_scene(repository_file("data/scenes/tasks/" + std::get<0>(GetParam()) + ".toml")),
                          std::get<1>(GetParam()))) {
    for (const OrganScene& organ : scene_.organs) meshes_.push_back(load_mesh(organ.mesh));
    for (const TaskTarget& given : scene_.task->locations)
      for (std::size_t k = 0; k < meshes_.size(); ++k) {
        if (scene_.organs[k].name != given.organ) continue;
        const SurfaceMark mark = nearest_mark(static_cast<std::uint32_t>(k), meshes_[k].view(), given.location);
        const Triangle face = triangle_of(meshes_[k].positions, mark.vertex);
        targets_.push_back({glm::dvec3(position_of(mark, meshes_[k].positions)),
                            glm::normalize(glm::cross(face.b - face.a, face.c - face.a))});
        EXPECT_LT(glm::distance(targets_.back().at, glm::dvec3(given.location)), 0.006)
            << "targets in the file lie on organs";
      }
  }

  bool seen_from(const glm::dvec3& eye, const Target& target) const {
    const glm::dvec3 over = target.at + 5e-4 * target.normal;
    for (const TriangleMesh& mesh : meshes_)
      for (const glm::uvec3& face : mesh.faces)
        if (blocked(eye, over, triangle_of(mesh.positions, face))) return false;
    return true;
  }

  Scene scene_;
  std::vector<TriangleMesh> meshes_;
  std::vector<Target> targets_;
};

TEST_P(TaskScenes, EveryTargetIsInView) {
  ASSERT_TRUE(scene_.task);
  EXPECT_FALSE(scene_.task->title.empty());
  EXPECT_FALSE(scene_.task->instructions.empty());
  ASSERT_EQ(targets_.size(), scene_.task->locations.size());
  const ScopePose scope = scene_.scope.pose();
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const SeenPoint seen = seen_point(scope, scene_.scope.lens, targets_[k].at);
    EXPECT_TRUE(seen.visible) << "target " << k + 1;
    EXPECT_LT(std::abs(seen.location.y), 0.95) << "target " << k + 1 << ": outside the screen";
    EXPECT_TRUE(seen_from(scope.eye, targets_[k])) << "target " << k + 1 << " is hidden";
  }
}

TEST_P(TaskScenes, EveryTargetIsWithinReach) {
  EXPECT_GE(scene_.instruments.size(), 2u);
  for (const InstrumentScene& instrument : scene_.instruments) {
    if (instrument.name != scene_.task->instrument) continue;
    const RemoteCentre centre = remote_centre(instrument.pivot, instrument.tip - instrument.pivot);
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      DevicePose pose;
      pose.pivot = instrument.pivot, pose.tip = targets_[k].at;
      const Joints joints = joints_of(centre, instrument.limits, pose);
      const Joints within = limited(instrument.limits, joints);
      EXPECT_TRUE(within.pan_deg == joints.pan_deg && within.tilt_deg == joints.tilt_deg &&
                  within.depth == joints.depth)
          << "target " << k + 1;
      // With the other hand a target may lie on the flank, where the tip comes from the side.
      const double least = scene_.task->at_level < 3 ? 0.15 : -0.2;
      EXPECT_GT(glm::dot(targets_[k].normal, glm::normalize(instrument.pivot - targets_[k].at)), least)
          << "target " << k + 1 << " faces away";
      EXPECT_TRUE(seen_from(instrument.pivot, targets_[k])) << "an organ blocks the path to target " << k + 1;
    }
  }
}

TEST_P(TaskScenes, ZonesAreFreeOfTargetsAndOfInstrumentsAtTheStart) {
  const ScopePose scope = scene_.scope.pose();
  for (const TaskZone& outline : scene_.task->zones) {
    const planar::Zone zone(outline.outline, planar::ZoneKind::Forbidden);
    for (const InstrumentScene& instrument : scene_.instruments) {
      EXPECT_LT(depth_in_zone(zone, scope, {instrument.pivot, instrument.tip, instrument.radius}).half_heights, 0.0);
      if (instrument.name != scene_.task->instrument) continue;
      for (std::size_t k = 0; k < targets_.size(); ++k)
        EXPECT_LT(depth_in_zone(zone, scope, {instrument.pivot, targets_[k].at, instrument.radius}).half_heights, 0.0)
            << "target " << k + 1 << " cannot be touched without entering the zone";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, TaskScenes,
                         ::testing::Combine(::testing::ValuesIn(test::task_scenes()), ::testing::Values(1, 2, 3)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_level_" + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace trocar
