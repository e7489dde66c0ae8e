// The committed task scenes: every place lies on its organ, is in view of the scope as it stands at the start with
// nothing before it, and can be reached by the instrument; zones leave the places free.
#include <gtest/gtest.h>

#include "app/session/surface_marks.hpp"
#include "app/task/zone_watch.hpp"
#include "geometry/planar/polygon.hpp"
#include "tests/app/task_support.hpp"

namespace trocar {
namespace {

// Does the straight way from a to b pass through the face? Moeller, Trumbore 1997.
bool blocked(const glm::dvec3& a, const glm::dvec3& b, const Triangle& face) {
  const glm::dvec3 way = b - a, u = face.b - face.a, v = face.c - face.a, p = glm::cross(way, v);
  const double det = glm::dot(u, p);
  if (std::abs(det) < 1e-18) return false;
  const glm::dvec3 s = a - face.a, q = glm::cross(s, u);
  const double x = glm::dot(s, p) / det, y = glm::dot(way, q) / det, t = glm::dot(v, q) / det;
  return x >= 0.0 && y >= 0.0 && x + y <= 1.0 && t > 0.0 && t < 1.0;
}

struct Place {
  glm::dvec3 at, normal;
};

class TaskScenes : public ::testing::TestWithParam<std::string> {
 protected:
  TaskScenes() : scene_(load_scene(repository_file("data/scenes/tasks/" + GetParam() + ".toml"))) {
    for (const OrganScene& organ : scene_.organs) meshes_.push_back(load_mesh(organ.mesh));
    for (const TaskPlace& place : scene_.task->places)
      for (std::size_t k = 0; k < meshes_.size(); ++k) {
        if (scene_.organs[k].name != place.organ) continue;
        const SurfaceMark mark = nearest_mark(static_cast<std::uint32_t>(k), meshes_[k].view(), place.place);
        const Triangle face = triangle_of(meshes_[k].positions, mark.vertex);
        places_.push_back({glm::dvec3(place_of(mark, meshes_[k].positions)),
                           glm::normalize(glm::cross(face.b - face.a, face.c - face.a))});
        EXPECT_LT(glm::distance(places_.back().at, glm::dvec3(place.place)), 0.006)
            << "the file names places on organs";
      }
  }

  bool seen_from(const glm::dvec3& eye, const Place& place) const {
    const glm::dvec3 over = place.at + 5e-4 * place.normal;
    for (const TriangleMesh& mesh : meshes_)
      for (const glm::uvec3& face : mesh.faces)
        if (blocked(eye, over, triangle_of(mesh.positions, face))) return false;
    return true;
  }

  Scene scene_;
  std::vector<TriangleMesh> meshes_;
  std::vector<Place> places_;
};

TEST_P(TaskScenes, EveryPlaceIsInView) {
  ASSERT_TRUE(scene_.task);
  EXPECT_FALSE(scene_.task->title.empty());
  EXPECT_FALSE(scene_.task->instructions.empty());
  ASSERT_EQ(places_.size(), scene_.task->places.size());
  const ScopePose scope = scene_.scope.pose();
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const SeenPoint seen = seen_point(scope, scene_.scope.lens, places_[k].at);
    EXPECT_TRUE(seen.visible) << "place " << k + 1;
    EXPECT_LT(std::abs(seen.place.y), 0.95) << "place " << k + 1 << ": the screen cuts the field off there";
    EXPECT_TRUE(seen_from(scope.eye, places_[k])) << "place " << k + 1 << " is hidden";
  }
}

TEST_P(TaskScenes, EveryPlaceIsWithinReach) {
  EXPECT_GE(scene_.instruments.size(), 2u);
  for (const InstrumentScene& instrument : scene_.instruments) {
    if (instrument.name != scene_.task->instrument) continue;
    const RemoteCentre centre = remote_centre(instrument.pivot, instrument.tip - instrument.pivot);
    for (std::size_t k = 0; k < places_.size(); ++k) {
      DevicePose pose;
      pose.pivot = instrument.pivot, pose.tip = places_[k].at;
      const Joints joints = joints_of(centre, instrument.limits, pose);
      const Joints within = limited(instrument.limits, joints);
      EXPECT_TRUE(within.pan_deg == joints.pan_deg && within.tilt_deg == joints.tilt_deg &&
                  within.depth == joints.depth)
          << "place " << k + 1;
      EXPECT_GT(glm::dot(places_[k].normal, glm::normalize(instrument.pivot - places_[k].at)), 0.15)
          << "place " << k + 1 << " faces away";
      EXPECT_TRUE(seen_from(instrument.pivot, places_[k])) << "something is in the way to place " << k + 1;
    }
  }
}

TEST_P(TaskScenes, ZonesLeaveThePlacesAndTheInstrumentsAtTheStartFree) {
  const ScopePose scope = scene_.scope.pose();
  for (const TaskZone& outline : scene_.task->zones) {
    const planar::Zone zone(outline.outline, planar::ZoneKind::Forbidden);
    for (const InstrumentScene& instrument : scene_.instruments) {
      EXPECT_LT(depth_in_zone(zone, scope, {instrument.pivot, instrument.tip, instrument.radius}).half_heights, 0.0);
      if (instrument.name != scene_.task->instrument) continue;
      for (std::size_t k = 0; k < places_.size(); ++k)
        EXPECT_LT(depth_in_zone(zone, scope, {instrument.pivot, places_[k].at, instrument.radius}).half_heights, 0.0)
            << "place " << k + 1 << " cannot be touched without entering the zone";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, TaskScenes, ::testing::ValuesIn(test::task_scenes()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace trocar
