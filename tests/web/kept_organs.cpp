// Stands in for mesh/organ_maker, which needs VTK, in tests that run in node: loads organs that it made before.
// OrganMaker.TheOrgansKeptForNodeAreItsOwn compares the files.
#include <string>

#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {

TriangleMesh make_organ(std::string_view name, const OrganParams& params) {
  const std::string organ(name);
  if (organ == "liver" && params.faces == OrganParams{}.faces)
    return load_mesh(repository_file("data/organs/liver.obj"));
  return load_mesh(repository_file("tests/web/organs/" + organ + "_" + std::to_string(params.faces) + ".ply"));
}

TriangleMesh make_liver(const OrganParams& params) { return make_organ("liver", params); }

}  // namespace trocar
