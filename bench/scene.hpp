// Makes the scene of the bench: an organ that moves every frame and a tool that follows a trajectory.
// Units: metres.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "app/compare/frame_source.hpp"

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

// Returns the scene of the table: files where given. Throws InputError.
Scene make_scene(const SceneFiles& files);
// Returns our own liver with this many faces and a tool that moves over it. Throws InputError.
Scene make_sized_scene(std::size_t faces, double radius_mm);

}  // namespace trocar::bench
