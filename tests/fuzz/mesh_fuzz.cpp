// Feeds files to the mesh readers. The first byte selects the format. An accepted mesh has finite positions and valid
// vertex indices; it is saved and read again as the same mesh, and its report is computed.
#include <cmath>

#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace trocar::fuzz {
namespace {

constexpr const char* kFormats[] = {"stl", "obj", "ply", "vtp", "vtk", "glb", "gltf"};
// Larger meshes are read but not checked further, because their report takes long.
constexpr std::size_t kReported = 2000;  // faces

void check_mesh(const TriangleMesh& mesh) {
  for (const glm::vec3& p : mesh.positions)
    require(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z), "a position is not finite");
  for (const glm::uvec3& face : mesh.faces)
    for (int corner = 0; corner < 3; ++corner)
      require(face[corner] < mesh.positions.size(), "a face uses a vertex that does not exist");
}

void check_round_trip(const TriangleMesh& mesh) {
  const std::filesystem::path file = as_file({}, "copy.ply");
  std::filesystem::remove(file);
  save_mesh(mesh, file);
  const TriangleMesh again = load_mesh(file);
  require(again.faces == mesh.faces, "a mesh that was saved and read again has different faces");
}

}  // namespace
}  // namespace trocar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  if (size == 0) return 0;
  const auto file = as_file({data + 1, size - 1}, kFormats[data[0] % std::size(kFormats)]);
  TriangleMesh mesh;
  if (!accepted([&] { mesh = load_mesh(file); })) return 0;
  check_mesh(mesh);
  if (mesh.faces.size() > kReported) return 0;
  mesh_report(mesh.view());
  accepted([&] { check_round_trip(mesh); });
  return 0;
}
