// Makes the scene of the bench: an organ that moves every frame and a tool that follows a trajectory.
// Units: metres.
#pragma once

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "app/compare/frame_source.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"

namespace trocar::bench {

struct SceneFiles {
  std::filesystem::path mesh;        // empty: our own liver
  std::filesystem::path trajectory;  // empty: a tool that moves over the organ
  double radius_mm = 2.5;            // mm, > 0
};

struct Scene {
  std::string organ;  // "Liver.stl", "own liver"
  std::string motion;
  std::unique_ptr<FrameSource> frames;
};

inline constexpr double kWobbleFraction = 0.02;  // of the organ's diagonal, as in `trocar compare`
inline constexpr QueryKind kKind{ToolMode::Swept, Cover::Capsule, TouchSet::Volume};
inline constexpr int kOwnLiverFaces = 30726;  // the number of the scanned liver of the tests

// Returns the motion of a tool with a port above the organ and a tip that dips into the organ along an open curve, 60
// steps per second.
inline Trajectory wandering_tool(const MeshView& organ) {
  glm::dvec3 low(organ.positions[0]), high(low);
  for (const glm::vec3& position : organ.positions) {
    low = glm::min(low, glm::dvec3(position));
    high = glm::max(high, glm::dvec3(position));
  }
  const glm::dvec3 centre = 0.5 * (low + high), half = 0.5 * (high - low);
  Trajectory trajectory;
  for (int row = 0; row < 600; ++row) {
    const double t = row / 60.0;
    const glm::dvec3 offset(0.7 * std::sin(0.9 * t), 0.7 * std::sin(1.3 * t + 1.0),
                            0.3 + 0.5 * std::sin(1.7 * t + 2.0));
    trajectory.rows.push_back({t, centre + glm::dvec3(0.3, -0.2, 2.5) * half.z, centre + offset * half});
  }
  return trajectory;
}

// Returns the scene of the table: files where given. Throws InputError.
inline Scene make_scene(const SceneFiles& files) {
  TriangleMesh mesh = files.mesh.empty() ? make_liver({kOwnLiverFaces}) : load_mesh(files.mesh);
  const double radius = files.radius_mm * kMillimetre;
  check_radius(radius, mesh.view());
  Trajectory trajectory = files.trajectory.empty() ? wandering_tool(mesh.view()) : load_trajectory(files.trajectory);
  return {files.mesh.empty() ? "own liver" : files.mesh.filename().string(),
          files.trajectory.empty() ? "wandering tool" : files.trajectory.filename().string(),
          make_mesh_source(std::move(mesh), std::move(trajectory), radius, kKind, kWobbleFraction)};
}

// Returns our own liver with this many faces and a tool that moves over it. Throws InputError.
inline Scene make_sized_scene(std::size_t faces, double radius_mm) {
  TriangleMesh mesh = make_liver({static_cast<int>(faces)});
  Trajectory trajectory = wandering_tool(mesh.view());
  return {"own liver", "wandering tool",
          make_mesh_source(std::move(mesh), std::move(trajectory), radius_mm * kMillimetre, kKind, kWobbleFraction)};
}

}  // namespace trocar::bench
