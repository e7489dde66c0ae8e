// Writes a scene as a TOML file; load_scene() reads back exactly the same numbers. Omits most keys that have their
// default. Keeps the content of the scene, but not the comments and the order of the keys of an older file.
// Units: metres in, millimetres in the file.   Tested in tests/sim/scene/scene_writer_test.cpp
#pragma once

#include <filesystem>
#include <string>

#include "sim/scene/scene.hpp"

namespace trocar {

// Returns the text of the scene's file. `file`: the target file; the paths of meshes and trajectories are written
// relative to its folder.
std::string scene_text(const Scene& scene, const std::filesystem::path& file);

// Writes a temporary file and renames it, so that the target is complete or unchanged. Throws InputError when the file
// cannot be written, when load_scene() would refuse the scene, or when the file exists and `replace` is false.
void save_scene(const Scene& scene, const std::filesystem::path& file, bool replace);

}  // namespace trocar
