// Makes glTF files for tests: binary files of given JSON and buffer, and a file with several named parts.
#pragma once

#include <string>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

std::string glb(std::string json, std::string buffer);

struct NamedMesh {
  std::string name;
  TriangleMesh mesh;  // m
};
// Returns a file with one node for each mesh, in metres, each a child of the one before, without a transform.
std::string glb_of(const std::vector<NamedMesh>& parts);

}  // namespace trocar
