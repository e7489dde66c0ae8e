#include "sim/scene/organ_surface.hpp"

#include <fmt/format.h>

#include "deform/solid/lattice.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_report.hpp"

namespace trocar {
namespace {

LoadedMesh loaded(const OrganScene& organ) {
  return load_placed(organ.mesh, {organ.mm_per_unit, organ.axes, organ.rotate_deg, organ.offset}, organ.part);
}

// A wrong unit is named where no lattice fits; a small organ with a fine lattice may be meant.
std::string unit_fault(const OrganScene& organ, const LoadedMesh& loaded, double longest_side) {
  if (lattice_fault(loaded.mesh.view(), organ.tissue.node_spacing).empty()) return "";
  return size_fault(longest_side, organ.mm_per_unit, loaded.facts, "mm_per_unit =");
}

}  // namespace

TriangleMesh surface_of(const OrganScene& organ) {
  if (organ.surface) return *organ.surface;
  if (organ.tube) return tube_surface(*organ.tube);
  return loaded(organ).mesh;
}

TriangleMesh solid_surface_of(const OrganScene& organ) {
  if (organ.surface || organ.tube) return surface_of(organ);
  LoadedMesh file = loaded(organ);
  const MeshReport report = mesh_report(file.mesh.view());
  std::string fault = unit_fault(organ, file, report.longest_side());
  if (fault.empty()) fault = report.fault;
  if (!fault.empty()) throw InputError(fmt::format("organ {} ({}): {}", organ.name, origin_of(organ), fault));
  return std::move(file.mesh);
}

std::string origin_of(const OrganScene& organ) {
  return organ.tube ? fmt::format("tube of radius {:g} mm", organ.tube->radius * 1e3) : organ.mesh.string();
}

}  // namespace trocar
