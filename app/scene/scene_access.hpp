// What a scene reads and whom it connects to. A scene may come from a stranger: by itself it reaches files of its own
// folder and of the program's data, and this machine only. More needs the user's leave.
// Tested in tests/app/input_test.cpp
#pragma once

#include <string>
#include <vector>

#include "app/scene/scene.hpp"
#include "app/support/output_file.hpp"

namespace trocar {

// What a scene may reach beyond files of its own folder and of the program's data, and beyond this machine.
struct SceneAccess {
  bool outside = false;            // files anywhere
  std::vector<std::string> hosts;  // other machines, as the scene names them
};

// As load_scene() of a file; error: InputError also for a file of the scene that `access` does not allow. load_scene()
// without it allows nothing.
Scene load_scene(const std::filesystem::path& file, const SceneAccess& access);

// The text that a recording keeps. Names, colours and places that scenes of today may not have are taken, so that old
// recordings stay readable; none of its files is opened, none of its devices is made.
Scene parse_recorded_scene(std::string text, const std::filesystem::path& file);

// What a scene is read from: the file itself, meshes, recorded motions. No output may be one of them.
std::vector<NamedFile> files_of(const Scene& scene);

// Error: InputError naming the first file of the scene that lies outside its folder and the program's data, symbolic
// links followed, unless `access` allows it.
void refuse_outside_files(const Scene& scene, const SceneAccess& access);

// Other machines that devices of the scene would connect to and `access` does not allow; each once.
std::vector<std::string> hosts_to_allow(const Scene& scene, const SceneAccess& access);

}  // namespace trocar
