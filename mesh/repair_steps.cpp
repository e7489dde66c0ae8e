#include "mesh/repair_steps.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

#include "geometry/error.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/hole_fill.hpp"
#include "mesh/weld.hpp"

namespace trocar {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kFewestFaces = 4;  // that enclose a volume

// A side of a face: an edge and the direction in which the face runs along it.
struct FaceSide {
  std::uint32_t low, high, face;
  bool forward;  // from low to high

  bool same_edge(const FaceSide& other) const { return low == other.low && high == other.high; }
};

std::vector<FaceSide> sorted_sides(const std::vector<glm::uvec3>& faces) {
  std::vector<FaceSide> sides;
  sides.reserve(3 * faces.size());
  for (std::uint32_t f = 0; f < faces.size(); ++f)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t from = faces[f][corner], to = faces[f][(corner + 1) % 3];
      sides.push_back({std::min(from, to), std::max(from, to), f, from < to});
    }
  std::sort(sides.begin(), sides.end(), [](const FaceSide& a, const FaceSide& b) {
    return std::tie(a.low, a.high, a.face) < std::tie(b.low, b.high, b.face);
  });
  return sides;
}

bool has_edge(const std::vector<FaceSide>& sides, std::uint32_t u, std::uint32_t v) {
  const std::pair edge(std::min(u, v), std::max(u, v));
  const auto at = std::lower_bound(sides.begin(), sides.end(), edge, [](const FaceSide& side, const auto& e) {
    return std::pair(side.low, side.high) < e;
  });
  return at != sides.end() && std::pair(at->low, at->high) == edge;
}

template <class Drop>
std::size_t drop_faces(TriangleMesh& mesh, Drop drop) {
  const std::size_t before = mesh.faces.size();
  std::size_t kept = 0;
  for (std::size_t f = 0; f < before; ++f)
    if (!drop(f)) mesh.faces[kept++] = mesh.faces[f];
  mesh.faces.resize(kept);
  return before - kept;
}

std::vector<char> used_vertices(const TriangleMesh& mesh) {
  std::vector<char> used(mesh.positions.size(), 0);
  for (const glm::uvec3& face : mesh.faces)
    for (int corner = 0; corner < 3; ++corner) used[face[corner]] = 1;
  return used;
}

double distance_between(const TriangleMesh& mesh, std::uint32_t u, std::uint32_t v) {
  return glm::distance(glm::dvec3(mesh.positions[u]), glm::dvec3(mesh.positions[v]));
}

}  // namespace

std::size_t count_unused(const TriangleMesh& mesh) {
  const std::vector<char> used = used_vertices(mesh);
  return static_cast<std::size_t>(std::count(used.begin(), used.end(), 0));
}

std::size_t join_seams(TriangleMesh& mesh) {
  const std::size_t before = count_unused(mesh);
  mesh.faces = welded_faces(mesh.positions, mesh.faces);
  return count_unused(mesh) - before;
}

std::size_t join_open_edges(double distance, TriangleMesh& mesh, double& moved) {
  const HalfEdges adjacency = half_edges(mesh.positions.size(), mesh.faces);
  std::vector<std::uint32_t> open;
  for (std::uint32_t h = 0; h < adjacency.kind.size(); ++h)
    if (adjacency.kind[h] == EdgeKind::Boundary) open.insert(open.end(), {adjacency.vertex[h], adjacency.end(h)});
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  std::stable_sort(open.begin(), open.end(),
                   [&](std::uint32_t u, std::uint32_t v) { return mesh.positions[u].x < mesh.positions[v].x; });

  struct Pair {
    double distance;
    std::uint32_t u, v;  // u < v
  };
  std::vector<Pair> pairs;
  const std::vector<FaceSide> sides = sorted_sides(mesh.faces);
  for (std::size_t i = 0; i < open.size(); ++i)
    for (std::size_t j = i + 1; j < open.size() && mesh.positions[open[j]].x - mesh.positions[open[i]].x <= distance;
         ++j) {
      const double apart = distance_between(mesh, open[i], open[j]);
      if (apart <= distance && !has_edge(sides, open[i], open[j]))
        pairs.push_back({apart, std::min(open[i], open[j]), std::max(open[i], open[j])});
    }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tie(a.distance, a.u, a.v) < std::tie(b.distance, b.u, b.v);
  });

  enum State : char { Free, Target, Gone };
  std::vector<char> state(mesh.positions.size(), Free);
  std::vector<std::uint32_t> now(mesh.positions.size());
  std::iota(now.begin(), now.end(), 0u);
  std::size_t joined = 0;
  for (const Pair& pair : pairs) {
    const bool turned = state[pair.v] == Target;
    const std::uint32_t target = turned ? pair.v : pair.u, other = turned ? pair.u : pair.v;
    if (state[target] == Gone || state[other] != Free) continue;
    state[target] = Target, state[other] = Gone, now[other] = target;
    moved = std::max(moved, pair.distance);
    ++joined;
  }
  for (glm::uvec3& face : mesh.faces) face = {now[face.x], now[face.y], now[face.z]};
  return joined;
}

std::size_t drop_repeated(TriangleMesh& mesh) {
  std::vector<std::pair<std::array<std::uint32_t, 3>, std::size_t>> sorted;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    std::array corners{mesh.faces[f].x, mesh.faces[f].y, mesh.faces[f].z};
    std::sort(corners.begin(), corners.end());
    sorted.emplace_back(corners, f);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<char> drop(mesh.faces.size(), 0);
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const auto& [corners, face] = sorted[k];
    drop[face] = corners[0] == corners[1] || corners[1] == corners[2] || (k > 0 && corners == sorted[k - 1].first);
  }
  return drop_faces(mesh, [&](std::size_t f) { return drop[f] != 0; });
}

std::size_t drop_loose(TriangleMesh& mesh) {
  const std::vector<std::uint32_t> piece = face_components(mesh.positions.size(), mesh.faces);
  std::vector<std::size_t> faces;
  for (const std::uint32_t p : piece) {
    faces.resize(std::max<std::size_t>(faces.size(), p + 1), 0);
    ++faces[p];
  }
  return drop_faces(mesh, [&](std::size_t f) { return faces[piece[f]] < kFewestFaces; });
}

std::size_t orient_alike(TriangleMesh& mesh) {
  struct Neighbour {
    std::uint32_t face;
    bool disagrees;
  };
  const std::vector<FaceSide> sides = sorted_sides(mesh.faces);
  std::vector<std::vector<Neighbour>> neighbours(mesh.faces.size());
  for (std::size_t k = 0; k + 1 < sides.size(); ++k) {
    const FaceSide &a = sides[k], &b = sides[k + 1];
    if (!a.same_edge(b)) continue;
    neighbours[a.face].push_back({b.face, a.forward == b.forward});
    neighbours[b.face].push_back({a.face, a.forward == b.forward});
  }
  enum Turn : char { Unknown, Kept, Turned };
  std::vector<char> turn(mesh.faces.size(), Unknown);
  std::vector<std::uint32_t> open;
  for (std::uint32_t seed = 0; seed < mesh.faces.size(); ++seed) {
    if (turn[seed] != Unknown) continue;
    turn[seed] = Kept;
    open.assign(1, seed);
    while (!open.empty()) {
      const std::uint32_t face = open.back();
      open.pop_back();
      for (const Neighbour& next : neighbours[face]) {
        const char wanted = (turn[face] == Turned) != next.disagrees ? Turned : Kept;
        if (turn[next.face] == Unknown) {
          turn[next.face] = wanted;
          open.push_back(next.face);
        } else if (turn[next.face] != wanted) {
          throw InputError("the surface has only one side, so no orientation is consistent; remove the twisted part");
        }
      }
    }
  }
  std::size_t turned = 0;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    if (turn[f] == Turned) std::swap(mesh.faces[f].y, mesh.faces[f].z), ++turned;
  return turned;
}

std::size_t orient_outward(TriangleMesh& mesh) {
  const std::vector<std::uint32_t> piece = face_components(mesh.positions.size(), mesh.faces);
  std::vector<double> volume;
  const glm::dvec3 origin(mesh.positions[mesh.faces[0].x]);
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    volume.resize(std::max<std::size_t>(volume.size(), piece[f] + 1), 0.0);
    const Triangle t = triangle_of(mesh.positions, mesh.faces[f]);
    volume[piece[f]] += glm::dot(t.a - origin, glm::cross(t.b - origin, t.c - origin));
  }
  std::size_t turned = 0;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    if (volume[piece[f]] < 0.0) std::swap(mesh.faces[f].y, mesh.faces[f].z), ++turned;
  return turned;
}

void drop_unused(TriangleMesh& mesh) {
  const std::vector<char> used = used_vertices(mesh);
  std::vector<std::uint32_t> now(mesh.positions.size(), kNone);
  std::size_t kept = 0;
  for (std::size_t v = 0; v < used.size(); ++v)
    if (used[v]) now[v] = static_cast<std::uint32_t>(kept), mesh.positions[kept++] = mesh.positions[v];
  mesh.positions.resize(kept);
  for (glm::uvec3& face : mesh.faces) face = {now[face.x], now[face.y], now[face.z]};
}

std::vector<HoleBoundary> hole_boundaries(const TriangleMesh& mesh) {
  const HalfEdges adjacency = half_edges(mesh.positions.size(), mesh.faces);
  const BoundaryLoops loops = boundary_loops(adjacency);
  std::vector<HoleBoundary> holes;
  const auto add = [&](std::span<const std::uint32_t> corners) {
    HoleBoundary hole{{corners.rbegin(), corners.rend()}};
    for (std::size_t k = 0; k < hole.corners.size(); ++k) {
      hole.length += distance_between(mesh, hole.corners[k], hole.corners[(k + 1) % hole.corners.size()]);
      hole.middle += glm::dvec3(mesh.positions[hole.corners[k]]) / static_cast<double>(hole.corners.size());
    }
    holes.push_back(std::move(hole));
  };
  std::vector<std::uint32_t> path, place(mesh.positions.size(), kNone);  // [vertex] its index in the path
  for (std::size_t k = 0; k < loops.count(); ++k) {
    path.clear();
    for (const std::uint32_t h : loops.of_loop(k)) {
      const std::uint32_t v = adjacency.vertex[h];
      if (const std::uint32_t first = place[v]; first != kNone) {  // the path has returned: a boundary of its own
        add(std::span(path).subspan(first));
        for (std::size_t i = first; i < path.size(); ++i) place[path[i]] = kNone;
        path.resize(first);
      }
      place[v] = static_cast<std::uint32_t>(path.size());
      path.push_back(v);
    }
    add(path);
    for (const std::uint32_t v : path) place[v] = kNone;
  }
  return holes;
}

bool close_hole(const HoleBoundary& hole, TriangleMesh& mesh) {
  if (hole.corners.size() < 3) return false;
  std::vector<std::uint32_t> corner_of(mesh.positions.size(), kNone);
  std::vector<glm::dvec3> corners;
  for (const std::uint32_t v : hole.corners) {
    corner_of[v] = static_cast<std::uint32_t>(corners.size());
    corners.emplace_back(mesh.positions[v]);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;  // corners, the lower first
  for (const glm::uvec3& face : mesh.faces)
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t a = corner_of[face[k]], b = corner_of[face[(k + 1) % 3]];
      if (a != kNone && b != kNone) taken.emplace_back(std::min(a, b), std::max(a, b));
    }
  std::sort(taken.begin(), taken.end());
  const std::vector<glm::uvec3> faces = fill_hole(corners, [&](std::uint32_t a, std::uint32_t b) {
    return std::binary_search(taken.begin(), taken.end(), std::pair(a, b));
  });
  for (const glm::uvec3& face : faces)
    mesh.faces.emplace_back(hole.corners[face.x], hole.corners[face.y], hole.corners[face.z]);
  return !faces.empty();
}

}  // namespace trocar
