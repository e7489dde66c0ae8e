// A scene as a TOML file that load_scene() reads back equal, number for number. Keys that have their default are left
// out. The words of an older file, its comments and its order among them, are not kept: the scene is.
// Units: metres in, millimetres in the file.   Tested in tests/app/scene_writer_test.cpp
#pragma once

#include <filesystem>
#include <string>

#include "app/scene/scene.hpp"

namespace trocar {

// `file`: where the text will be, for the paths of meshes and trajectories.
std::string scene_text(const Scene& scene, const std::filesystem::path& file);

// Written beside its place and renamed, so that the file is whole or as it was. Error: InputError when it cannot be
// written, and when it is there and `replace` is not said.
void save_scene(const Scene& scene, const std::filesystem::path& file, bool replace);

}  // namespace trocar
