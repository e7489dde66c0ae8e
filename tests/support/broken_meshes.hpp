// Loads the damaged meshes of the shared test data, and prints the reader's sentence for those that it refuses.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::test {

struct BrokenMesh {
  std::string name;
  TriangleMesh mesh;
};

// Returns an empty list without the shared test data.
inline std::vector<BrokenMesh> broken_meshes_that_load() {
  std::vector<BrokenMesh> meshes;
  for (const char* name : {"busted.STL", "dragon.obj", "featuretype.STL", "quadknot.obj", "self_intersectA.obj",
                           "wallhole.obj", "Cray_right.obj"}) {
    const auto file = shared_file(std::string("broken/") + name);
    if (!file) return {};
    try {
      meshes.push_back({name, load_mesh(*file)});
    } catch (const InputError& error) {
      std::printf("%s\n", error.what());
    }
  }
  return meshes;
}

}  // namespace trocar::test
