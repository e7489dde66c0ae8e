#include "mesh/repair.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/repair_steps.hpp"

namespace trocar {
namespace {

constexpr int kMostPasses = 50;  // of replacing faces without area; each pass removes at least one

std::string place(const glm::dvec3& p) {
  return fmt::format("({:.2f}, {:.2f}, {:.2f}) mm", p.x * 1e3, p.y * 1e3, p.z * 1e3);
}

std::string count_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void refuse_shared_edges(const TriangleMesh& mesh) {
  const HalfEdges adjacency = half_edges(mesh.positions.size(), mesh.faces);
  if (adjacency.non_manifold_edges == 0) return;
  const auto at = std::find(adjacency.kind.begin(), adjacency.kind.end(), EdgeKind::NonManifold);
  const auto h = static_cast<std::uint32_t>(at - adjacency.kind.begin());
  throw InputError(fmt::format("more than two faces meet at {}, the first at {}; separate the parts that meet there",
                               count_of(adjacency.non_manifold_edges, "edge"),
                               place(mesh.positions[adjacency.vertex[h]])));
}

void close_holes(const RepairParams& params, TriangleMesh& mesh, RepairCounts& counts) {
  const std::vector<HoleBoundary> holes = hole_boundaries(mesh);
  for (const HoleBoundary& hole : holes) {
    if (hole.length > params.longest_boundary)
      throw InputError(
          fmt::format("the boundary of a hole at {} is {:.1f} mm long, and at most {:g} mm are allowed; allow longer "
                      "ones (--holes), or close it in another program",
                      place(hole.middle), hole.length * 1e3, params.longest_boundary * 1e3));
    if (hole.corners.size() > params.most_hole_edges)
      throw InputError(fmt::format("a hole at {} has {} edges, and at most {} can be closed; decimate the mesh first",
                                   place(hole.middle), hole.corners.size(), params.most_hole_edges));
    const std::size_t before = mesh.faces.size();
    if (!close_hole(hole, mesh))
      throw InputError(
          fmt::format("a hole at {} cannot be closed without an edge of more than two faces; close it by hand",
                      place(hole.middle)));
    counts.new_faces += mesh.faces.size() - before;
    ++counts.closed_holes;
  }
}

// What a sound result lacks, as one sentence; empty: nothing.
std::string fault_of(const MeshReport& report) {
  if (report.faces == 0) return "no face remains";
  if (!report.welded.closed())
    return fmt::format("the surface is still open at {}", count_of(report.welded.boundary_edges, "edge"));
  if (!report.welded.manifold())
    return fmt::format("separate parts of the surface meet at {}; move them apart",
                       count_of(report.welded.non_manifold_vertices, "point"));
  if (report.degenerate_faces() > 0)
    return fmt::format("{} without area could not be replaced", count_of(report.degenerate_faces(), "face"));
  if (report.crossing_pairs + report.folded_pairs > 0)
    return fmt::format("{} of faces would cross, for instance faces {} and {} of the repaired mesh; cut them apart",
                       count_of(report.crossing_pairs + report.folded_pairs, "pair"), report.listed_pairs[0].first,
                       report.listed_pairs[0].second);
  return report.solid.fault;
}

// The largest distance of the faces from `first` on, at points spread over each, from the old surface.
double farthest_from(const FaceTree& old_surface, const TriangleMesh& mesh, std::size_t first) {
  constexpr int kParts = 6;  // of each side
  double farthest = 0.0;
  for (std::size_t f = first; f < mesh.faces.size(); ++f) {
    const Triangle t = triangle_of(mesh.positions, mesh.faces[f]);
    for (int i = 0; i <= kParts; ++i)
      for (int j = 0; i + j <= kParts; ++j) {
        const double u = static_cast<double>(i) / kParts, v = static_cast<double>(j) / kParts;
        farthest = std::max(farthest, distance_to_surface(old_surface, t.a + u * (t.b - t.a) + v * (t.c - t.a)));
      }
  }
  return farthest;
}

}  // namespace

Repaired repair(const TriangleMesh& mesh, const RepairParams& params) {
  Repaired result;
  if (!(params.join_distance >= 0.0) || !(params.longest_boundary >= 0.0))
    throw InputError("the join distance and the longest boundary of a hole must be numbers of at least 0");
  RepairCounts& counts = result.counts;
  TriangleMesh& now = result.mesh;
  now = mesh;
  counts.unused_vertices = count_unused(now);
  counts.joined_vertices = join_seams(now);
  counts.dropped_faces = drop_repeated(now);
  double moved = 0.0;
  if (params.join_distance > 0.0) {
    counts.joined_vertices += join_open_edges(params.join_distance, now, moved);
    counts.dropped_faces += drop_repeated(now);
  }
  counts.loose_faces = drop_loose(now);
  if (now.faces.empty()) throw InputError("no face remains: the mesh has no piece of four faces or more");
  refuse_shared_edges(now);
  counts.turned_faces = orient_alike(now);
  const TriangleMesh old_surface = now;
  close_holes(params, now, counts);
  if (counts.closed_holes > 0) {
    const FaceTree tree = build_face_tree(old_surface.view());
    counts.farthest = farthest_from(tree, now, old_surface.faces.size());
  }
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const std::size_t replaced = replace_flat_faces(now, moved);
    counts.replaced_faces += replaced;
    if (replaced == 0) break;
  }
  counts.farthest = std::max(counts.farthest, moved);
  counts.turned_faces += orient_outward(now);
  drop_unused(now);
  result.report = mesh_report(now.view());
  if (const std::string fault = fault_of(result.report); !fault.empty()) throw InputError(fault);
  return result;
}

}  // namespace trocar
