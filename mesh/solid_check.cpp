#include "mesh/solid_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "geometry/error.hpp"
#include "mesh/weld.hpp"

namespace trocar {
namespace {

bool finite(const glm::vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

void require_sound_arrays(const MeshView& organ) {
  for (std::size_t v = 0; v < organ.positions.size(); ++v)
    if (!finite(organ.positions[v]))
      throw InputError(
          fmt::format("vertex {} of the organ has a coordinate that is not a finite number; repair the mesh", v));
  for (std::size_t f = 0; f < organ.faces.size(); ++f)
    for (int corner = 0; corner < 3; ++corner)
      if (organ.faces[f][corner] >= organ.positions.size())
        throw InputError(fmt::format("face {} of the organ uses vertex {}, the mesh has {}; export the mesh again", f,
                                     organ.faces[f][corner], organ.positions.size()));
}

// One half-edge for each kind of fault; kNoHalfEdge when there is none.
struct Examples {
  std::uint32_t open = kNoHalfEdge, unbalanced = kNoHalfEdge, inconsistent = kNoHalfEdge;
};

std::uint32_t first_of(const HalfEdges& adjacency, EdgeKind kind) {
  const auto found = std::find(adjacency.kind.begin(), adjacency.kind.end(), kind);
  return found == adjacency.kind.end() ? kNoHalfEdge : static_cast<std::uint32_t>(found - adjacency.kind.begin());
}

// Several solids may share one edge: then equal numbers of faces run along it in both directions.
void count_unbalanced(const HalfEdges& adjacency, SolidCheck& check, Examples& examples) {
  struct Side {
    std::uint32_t low, high;
    int turn;
    std::uint32_t half_edge;
  };
  std::vector<Side> sides;
  for (std::uint32_t h = 0; h < adjacency.kind.size(); ++h) {
    if (adjacency.kind[h] != EdgeKind::NonManifold) continue;
    const std::uint32_t from = adjacency.vertex[h], to = adjacency.end(h);
    sides.push_back({std::min(from, to), std::max(from, to), from < to ? 1 : -1, h});
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.half_edge) < std::tie(b.low, b.high, b.half_edge);
  });
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    int turns = 0;
    for (; end < sides.size() && sides[end].low == sides[begin].low && sides[end].high == sides[begin].high; ++end)
      turns += sides[end].turn;
    if (turns == 0) continue;
    ++check.unbalanced_edges;
    examples.unbalanced = std::min(examples.unbalanced, sides[begin].half_edge);
  }
}

double signed_volume(const MeshView& organ) {
  if (organ.faces.empty()) return 0.0;
  const glm::dvec3 base(organ.positions[organ.faces[0].x]);
  double six_volumes = 0.0;
  for (const glm::uvec3& face : organ.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    six_volumes += glm::dot(t.a - base, glm::cross(t.b - base, t.c - base));
  }
  return six_volumes / 6.0;
}

std::string position_of(const MeshView& organ, const HalfEdges& adjacency, std::uint32_t h) {
  const std::uint32_t from = adjacency.vertex[h], to = adjacency.end(h);
  const glm::vec3 middle = 500.f * (organ.positions[from] + organ.positions[to]);
  return fmt::format("edge {}-{} of face {}, near ({:.1f}, {:.1f}, {:.1f}) mm", from, to, face_of(h), middle.x,
                     middle.y, middle.z);
}

std::string fault_of(const MeshView& organ, const HalfEdges& adjacency, const SolidCheck& check,
                     const Examples& examples) {
  const auto s = [](std::size_t count) { return count == 1 ? "" : "s"; };
  if (organ.faces.empty()) return "the organ has no faces; tissue needs a closed surface to fill";
  if (check.open_edges > 0)
    return fmt::format(
        "the organ's surface has a hole at {} ({} open edge{} in all); close it, for instance with `trocar mesh "
        "repair`",
        position_of(organ, adjacency, examples.open), check.open_edges, s(check.open_edges));
  if (check.unbalanced_edges > 0)
    return fmt::format(
        "three or more faces of the organ meet at {} without bounding a solid ({} such edge{}); remove the surplus "
        "faces",
        position_of(organ, adjacency, examples.unbalanced), check.unbalanced_edges, s(check.unbalanced_edges));
  if (check.inconsistent_edges > 0)
    return fmt::format("two faces of the organ disagree about the outside at {} ({} such edge{}); orient the mesh",
                       position_of(organ, adjacency, examples.inconsistent), check.inconsistent_edges,
                       s(check.inconsistent_edges));
  if (check.volume < 0.0)
    return fmt::format("the organ is inside out (volume {:.3g} ml); flip its faces", check.volume * 1e6);
  if (!(check.volume > 0.0)) return "the organ encloses no volume; tissue needs a solid to fill";
  return "";
}

}  // namespace

SolidCheck check_solid(const MeshView& welded, const HalfEdges& adjacency) {
  SolidCheck check;
  Examples examples{.open = first_of(adjacency, EdgeKind::Boundary),
                    .inconsistent = first_of(adjacency, EdgeKind::Inconsistent)};
  check.open_edges = adjacency.boundary_edges;
  check.non_manifold_edges = adjacency.non_manifold_edges;
  check.inconsistent_edges = adjacency.inconsistent_edges;
  count_unbalanced(adjacency, check, examples);
  check.volume = signed_volume(welded);
  check.fault = fault_of(welded, adjacency, check, examples);
  return check;
}

SolidCheck check_solid(const MeshView& organ) {
  const std::vector<glm::uvec3> faces = welded_faces(organ.positions, organ.faces);
  return check_solid({organ.positions, faces}, half_edges(organ.positions.size(), faces));
}

double closed_volume(const MeshView& organ) {
  require_sound_arrays(organ);
  const SolidCheck check = check_solid(organ);
  if (!check.fault.empty()) throw InputError(check.fault);
  return check.volume;
}

}  // namespace trocar
