#include "sim/scene/organ_surface.hpp"

#include <fmt/format.h>

#include "mesh/mesh_io.hpp"

namespace trocar {

TriangleMesh surface_of(const OrganScene& organ) {
  return organ.tube ? tube_surface(*organ.tube) : load_mesh(organ.mesh, organ.mm_per_unit * kMillimetre);
}

std::string origin_of(const OrganScene& organ) {
  return organ.tube ? fmt::format("tube of radius {:g} mm", organ.tube->radius * 1e3) : organ.mesh.string();
}

}  // namespace trocar
