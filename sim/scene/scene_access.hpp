// Decides which files a scene may read and to which machines it may connect, because a scene may come from an untrusted
// source. Without the user's permission it reads only files in its own folder and in the program's data, and connects
// only to this machine.   Tested in tests/app/input_test.cpp
#pragma once

#include <string>
#include <vector>

#include "sim/scene/scene.hpp"
#include "sim/support/output_file.hpp"

namespace trocar {

// The permissions that the user gave in addition.
struct SceneAccess {
  bool outside = false;            // files in any folder
  std::vector<std::string> hosts;  // other machines, with the names that the scene uses
};

// Loads a scene. Throws the errors of load_scene(file), and InputError for a file of the scene that `access` does not
// allow. load_scene(file) gives no additional permission.
Scene load_scene(const std::filesystem::path& file, const SceneAccess& access);

// Parses the scene text of a recording. Accepts names, colours and positions that parse_scene() refuses, so that old
// recordings stay readable. Opens none of its files and creates none of its devices.
Scene parse_recorded_scene(std::string text, const std::filesystem::path& file);

// Returns the input files of a scene: the file itself, meshes, recorded motions. No output may be one of them.
std::vector<NamedFile> files_of(const Scene& scene);

// Returns the path of a file that a scene names: relative to the folder of the scene. A scene that is a symbolic link
// has two folders, its own and that of the file that it names; the own one comes first.
std::filesystem::path file_of_scene(const std::filesystem::path& scene, const std::string& name);
// Returns the folder of the recorded motion of the scope, `ScopeScene::source`.
std::filesystem::path folder_of_scope(const Scene& scene);

// Throws InputError for the first file of the scene that lies outside the scene's folder, or both folders of a link,
// and the program's data, unless `access` allows it. Follows symbolic links.
void refuse_outside_files(const Scene& scene, const SceneAccess& access);

// Returns the other machines that devices of the scene would connect to and that `access` does not allow; each once.
std::vector<std::string> hosts_to_allow(const Scene& scene, const SceneAccess& access);

}  // namespace trocar
