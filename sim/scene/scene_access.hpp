// The files and machines that a scene names: which of them it may use, because a scene may come from an untrusted
// source, and the surface of an organ from its mesh file or as a tube. Without the user's permission a scene reads only
// files in its own folder and in the program's data, and connects only to this machine.   Units: metres. Tested in
// tests/app/files_test.cpp and tests/sim/session/session_clips_test.cpp
#pragma once

#include <string>
#include <vector>

#include "mesh/triangle_mesh.hpp"
#include "sim/scene/scene.hpp"
#include "sim/support/files.hpp"

namespace trocar {

// The permissions that the user gave in addition.
struct SceneAccess {
  bool outside = false;            // files in any folder
  std::vector<std::string> hosts;  // other machines, with the names that the scene uses
};

// Loads a scene. Throws the errors of load_scene(file), and InputError for a file of the scene that `access` does not
// allow. load_scene(file) gives no additional permission.
Scene load_scene(const std::filesystem::path& file, const SceneAccess& access);

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

// Reads the `source` of an OpenIGTLink device in a scene: the address of its server, and the tool that it follows.

struct IgtlSource {
  std::string host = "localhost";
  int port = 18944;
  std::string tool;  // device name of TRANSFORM and SENSOR, tool name in TDATA; empty: any pose, and no SENSOR
};

// Parses "HOST:PORT/TOOL"; each part has a default: "", "/Probe", "tracker:18945", ... Throws InputError for a port
// that is not a number from 1 to 65535.
IgtlSource parse_igtl_source(const std::string& text);

// Gives the surface of an organ of a scene: from its mesh file, made as a tube or as the slab of a sheet, or given with
// the scene.
// Units: metres.

// Throws InputError for a mesh file that cannot be read.
TriangleMesh surface_of(const OrganScene& organ);

// Does the same for a surface that tissue will fill. Throws InputError also for a mesh file that is not sound, with the
// sentence of `trocar mesh check` (MeshReport::fault), and for one in a wrong unit, with the unit that fits.
TriangleMesh solid_surface_of(const OrganScene& organ);

// The sheet of an organ with [organ.sheet]. Throws InputError for a mesh file that cannot be read.
SheetPatch patch_of(const OrganScene& organ);
SheetParams sheet_params_of(const OrganScene& organ);

// The surface of a neighbour, from the program's data folder: the text of a scene is enough to draw it. Throws
// InputError when that folder lacks it.
TriangleMesh surface_of(const BackdropScene& backdrop);

// Returns the name of the mesh file, or says that the organ is a tube or a sheet.
std::string origin_of(const OrganScene& organ);

}  // namespace trocar
