#include "mesh/mesh_report.hpp"

#include <algorithm>
#include <array>

#include "mesh/half_edge.hpp"
#include "mesh/self_crossing.hpp"
#include "mesh/weld.hpp"

namespace trocar {
namespace {

std::vector<Hole> holes_of(const MeshView& mesh, const HalfEdges& adjacency) {
  const BoundaryLoops loops = boundary_loops(adjacency);
  std::vector<Hole> holes;
  for (std::size_t k = 0; k < loops.count(); ++k) {
    Hole hole;
    for (std::uint32_t h : loops.of_loop(k)) {
      const glm::dvec3 from(mesh.positions[adjacency.vertex[h]]), to(mesh.positions[adjacency.end(h)]);
      hole.length += glm::distance(from, to);
      hole.position += from;
      ++hole.edges;
    }
    hole.position /= static_cast<double>(hole.edges);
    holes.push_back(hole);
  }
  std::stable_sort(holes.begin(), holes.end(), [](const Hole& a, const Hole& b) { return a.length > b.length; });
  return holes;
}

Topology topology_of(const MeshView& mesh, const HalfEdges& adjacency) {
  Topology topology;
  topology.edges = adjacency.edges;
  topology.boundary_edges = adjacency.boundary_edges;
  topology.inconsistent_edges = adjacency.inconsistent_edges;
  topology.non_manifold_edges = adjacency.non_manifold_edges;
  topology.non_manifold_vertices = adjacency.non_manifold_vertices;
  const auto unused = std::count(adjacency.outgoing.begin(), adjacency.outgoing.end(), kNoHalfEdge);
  topology.used_vertices = adjacency.outgoing.size() - static_cast<std::size_t>(unused);
  const auto degenerate = std::count(adjacency.kind.begin(), adjacency.kind.end(), EdgeKind::Degenerate) / 3;
  topology.euler_characteristic = static_cast<std::int64_t>(topology.used_vertices) -
                                  static_cast<std::int64_t>(topology.edges) +
                                  static_cast<std::int64_t>(mesh.faces.size()) - degenerate;
  const std::vector<std::uint32_t> components = face_components(mesh.positions.size(), mesh.faces);
  for (std::uint32_t component : components)
    topology.components = std::max<std::size_t>(topology.components, component + 1);
  topology.holes = holes_of(mesh, adjacency);
  return topology;
}

void count_bad_faces(const MeshView& welded, MeshReport& report) {
  std::vector<std::array<std::uint32_t, 3>> corners;
  corners.reserve(welded.faces.size());
  for (const glm::uvec3& face : welded.faces) {
    corners.push_back({face.x, face.y, face.z});
    std::sort(corners.back().begin(), corners.back().end());
    if (face.x == face.y || face.y == face.z || face.z == face.x) {
      ++report.repeated_corner_faces;
    } else if (!has_area(welded.positions[face.x], welded.positions[face.y], welded.positions[face.z])) {
      ++report.zero_area_faces;
    }
  }
  std::sort(corners.begin(), corners.end());
  report.duplicate_faces = static_cast<std::size_t>(corners.end() - std::unique(corners.begin(), corners.end()));
}

// Computes the volume by the divergence theorem, relative to the centre of the box, because far from the origin the
// terms would cancel.
void measure(const MeshView& welded, MeshReport& report) {
  if (welded.faces.empty()) return;
  report.low = report.high = glm::dvec3(welded.positions[welded.faces[0].x]);
  std::vector<double> edges;
  for (const glm::uvec3& face : welded.faces) {
    for (int corner = 0; corner < 3; ++corner) {
      const glm::dvec3 from(welded.positions[face[corner]]), to(welded.positions[face[(corner + 1) % 3]]);
      report.low = glm::min(report.low, from);
      report.high = glm::max(report.high, from);
      edges.push_back(glm::distance(from, to));
    }
  }
  std::nth_element(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(edges.size() / 2), edges.end());
  report.median_edge = edges[edges.size() / 2];

  const glm::dvec3 middle = 0.5 * (report.low + report.high);
  const std::vector<std::uint32_t> components = face_components(welded.positions.size(), welded.faces);
  std::vector<double> volumes(report.welded.components, 0.0);
  for (std::size_t f = 0; f < welded.faces.size(); ++f) {
    const Triangle t = triangle_of(welded.positions, welded.faces[f]);
    report.area += 0.5 * glm::length(glm::cross(t.b - t.a, t.c - t.a));
    volumes[components[f]] += glm::dot(t.a - middle, glm::cross(t.b - middle, t.c - middle)) / 6.0;
  }
  for (double volume : volumes) {
    report.volume += volume;
    report.inward_pieces += volume < 0.0;
  }
}

}  // namespace

bool credible_size(double longest_side) { return longest_side >= kSmallestOrgan && longest_side <= kLargestOrgan; }

SizeUnit suggested_unit(double longest_side) {
  const auto credible = [longest_side](double metres) { return credible_size(longest_side * metres); };
  if (credible(1e-3)) return SizeUnit::Millimetre;
  if (credible(1e-2)) return SizeUnit::Centimetre;
  return credible(1.0) ? SizeUnit::Metre : SizeUnit::Unclear;
}

bool MeshReport::fit_for_simulation() const { return sound() && solid.fault.empty() && credible_size(longest_side()); }

MeshReport mesh_report(const MeshView& mesh, const ReportOptions& options) {
  MeshReport report;
  report.vertices = mesh.positions.size();
  report.faces = mesh.faces.size();
  report.metres_per_unit = options.metres_per_unit;
  const Weld welding = weld(mesh.positions);
  report.repeated_positions = mesh.positions.size() - welding.point_of.size();
  const std::vector<glm::uvec3> faces = welded_faces(welding, mesh.faces);
  const MeshView welded{mesh.positions, faces};
  const HalfEdges adjacency = half_edges(mesh.positions.size(), faces);

  report.welded = topology_of(welded, adjacency);
  report.topology =
      report.repeated_positions == 0 ? report.welded : topology_of(mesh, half_edges(mesh.positions.size(), mesh.faces));
  report.solid = check_solid(welded, adjacency);
  count_bad_faces(welded, report);
  measure(welded, report);
  report.suggested = suggested_unit(report.longest_side() / options.metres_per_unit);
  if (!options.find_crossings) return report;
  SelfCrossings crossings = self_crossings(welded, options.listed_pairs);
  report.crossing_pairs = crossings.crossing;
  report.folded_pairs = crossings.folded;
  report.listed_pairs = std::move(crossings.pairs);
  return report;
}

}  // namespace trocar
