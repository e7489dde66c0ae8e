#include "mesh/decimate.hpp"

#include <fmt/format.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkQuadricDecimation.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/vtk_surface.hpp"

namespace trocar {
namespace {

// Returns the mesh welded, without unused vertices and without faces that repeat a corner.
TriangleMesh cleaned(const TriangleMesh& mesh) {
  TriangleMesh clean;
  std::vector<std::uint32_t> number(mesh.positions.size(), kNoHalfEdge);
  for (glm::uvec3 face : welded_faces(mesh.positions, mesh.faces)) {
    if (face.x == face.y || face.y == face.z || face.z == face.x) continue;
    for (int corner = 0; corner < 3; ++corner) {
      std::uint32_t& n = number[face[corner]];
      if (n == kNoHalfEdge) {
        n = static_cast<std::uint32_t>(clean.positions.size());
        clean.positions.push_back(mesh.positions[face[corner]]);
      }
      face[corner] = n;
    }
    clean.faces.push_back(face);
  }
  return clean;
}

TriangleMesh quadric_decimation(const TriangleMesh& mesh, std::size_t faces) {
  vtkNew<vtkPolyData> data;
  copy_to_vtk(std::vector<glm::dvec3>(mesh.positions.begin(), mesh.positions.end()), mesh.faces, *data);
  vtkNew<vtkQuadricDecimation> filter;
  filter->SetInputData(data);
  // The half face keeps rounding from removing one collapse too few.
  filter->SetTargetReduction(1.0 - (static_cast<double>(faces) + 0.5) / static_cast<double>(mesh.faces.size()));
  filter->Update();
  std::vector<glm::dvec3> points;
  TriangleMesh result;
  copy_from_vtk(*filter->GetOutput(), points, result.faces);
  result.positions.assign(points.begin(), points.end());
  return cleaned(result);
}

// Where the filter closes a slit it leaves one of two faces that lie on each other: a face with two boundary edges
// whose third edge has three faces. Without these faces the surface is whole again.
TriangleMesh without_folded_faces(TriangleMesh mesh) {
  for (bool found = true; found;) {
    const HalfEdges adjacency = half_edges(mesh.positions.size(), mesh.faces);
    std::vector<glm::uvec3> kept;
    for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
      const auto kinds = std::span(adjacency.kind).subspan(3 * f, 3);
      const bool folded = std::count(kinds.begin(), kinds.end(), EdgeKind::Boundary) == 2 &&
                          std::count(kinds.begin(), kinds.end(), EdgeKind::NonManifold) == 1;
      if (!folded) kept.push_back(mesh.faces[f]);
    }
    found = kept.size() < mesh.faces.size();
    mesh.faces = std::move(kept);
  }
  return cleaned(mesh);
}

// What a manifold, oriented surface has lost; empty: nothing.
std::string_view lost(const MeshReport& before, const MeshReport& after) {
  const Topology &a = before.welded, &b = after.welded;
  if (!a.manifold() || !a.oriented()) return "";
  if (a.closed() && !b.closed()) return "would no longer be closed";
  if (!b.manifold() || after.duplicate_faces > before.duplicate_faces) return "would no longer be manifold";
  if (!b.oriented()) return "would no longer be consistently oriented";
  if (after.degenerate_faces() > before.degenerate_faces()) return "would have faces without area";
  if (a.components != b.components) return "would lose a component";
  const bool same = a.euler_characteristic == b.euler_characteristic && a.holes.size() == b.holes.size();
  return same ? "" : "would lose a handle or a hole";
}

// Returns vertices, edge middles and face centres.
std::vector<glm::dvec3> samples_of(const MeshView& mesh) {
  std::vector<bool> taken(mesh.positions.size(), false);
  std::vector<glm::dvec3> samples;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    const glm::dvec3 corners[3] = {t.a, t.b, t.c};
    samples.push_back((t.a + t.b + t.c) / 3.0);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      // Of the two faces at an edge, the one that traverses the edge upwards samples its middle. The middles of some
      // boundary edges are therefore not sampled.
      if (face[i] < face[j]) samples.push_back(0.5 * (corners[i] + corners[j]));
      if (!taken[face[i]]) samples.push_back(corners[i]);
      taken[face[i]] = true;
    }
  }
  return samples;
}

void measure(const MeshView& from, const MeshView& to, double& sum, double& max, std::size_t& count) {
  const FaceTree tree = build_face_tree(to);
  for (const glm::dvec3& point : samples_of(from)) {
    const double distance = distance_to_surface(tree, point);
    sum += distance;
    max = std::max(max, distance);
    ++count;
  }
}

}  // namespace

SurfaceDistance surface_distance(const MeshView& first, const MeshView& second) {
  double sum = 0.0, max = 0.0;
  std::size_t count = 0;
  measure(first, second, sum, max, count);
  measure(second, first, sum, max, count);
  return {sum / static_cast<double>(count), max};
}

Decimated decimate(const TriangleMesh& mesh, const DecimateParams& params) {
  if (mesh.faces.empty()) throw InputError("the mesh to decimate has no faces; load another mesh");
  if (params.faces == 0) throw InputError("a mesh cannot be decimated to 0 faces; ask for at least 4");
  Decimated result;
  result.mesh = cleaned(mesh);
  if (result.mesh.faces.empty()) throw InputError("every face of the mesh is degenerate; load another mesh");
  const MeshReport before = mesh_report(result.mesh.view(), {.find_crossings = false});
  if (result.mesh.faces.size() > params.faces) {
    result.mesh = quadric_decimation(result.mesh, params.faces);
    if (before.welded.manifold()) result.mesh = without_folded_faces(std::move(result.mesh));
  }
  result.health = mesh_report(result.mesh.view());
  const std::string_view loss = lost(before, result.health);
  if (!loss.empty())
    throw InputError(fmt::format("with {} faces the surface {}; ask for more faces", params.faces, loss));
  const SurfaceDistance distance = surface_distance(mesh.view(), result.mesh.view());
  result.mean_error = distance.mean;
  result.max_error = distance.max;
  return result;
}

}  // namespace trocar
