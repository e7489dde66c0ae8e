#include "sim/scene/organ_surface.hpp"

#include <fmt/format.h>

#include "mesh/mesh_io.hpp"

namespace trocar {

TriangleMesh surface_of(const OrganScene& organ) {
  if (organ.surface) return *organ.surface;
  if (organ.tube) return tube_surface(*organ.tube);
  const double unit = organ.mm_per_unit * kMillimetre;
  TriangleMesh mesh = organ.part.empty() ? load_mesh(organ.mesh, unit) : load_mesh_part(organ.mesh, organ.part, unit);
  for (glm::vec3& p : mesh.positions) p += organ.offset;
  return mesh;
}

std::string origin_of(const OrganScene& organ) {
  return organ.tube ? fmt::format("tube of radius {:g} mm", organ.tube->radius * 1e3) : organ.mesh.string();
}

}  // namespace trocar
