#include "mesh/repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>

#include "geometry/error.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/half_edge.hpp"

namespace trocar {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kShape = 1e-6;  // 1    weight of the squared sides beside the area: it decides between equal areas
constexpr double kFlat = 1.0;    // m^2  added for a face without area: more than any hole

// The best triangulation of the corners from i to j, for every i < j.
struct Table {
  explicit Table(std::size_t corners) : count(corners), cost(corners * corners, kNever), apex(corners * corners, 0) {}

  std::size_t at(std::size_t i, std::size_t j) const { return i * count + j; }

  std::size_t count;
  std::vector<double> cost;         // m^2  kNever: there is none
  std::vector<std::uint32_t> apex;  // third corner of the face on the edge i j
};

void find_best_apex(std::span<const glm::dvec3> corners, std::size_t i, std::size_t j, Table& table) {
  double best = kNever;
  for (std::size_t m = i + 1; m < j; ++m) {
    const double sides = table.cost[table.at(i, m)] + table.cost[table.at(m, j)];
    if (!(sides < best)) continue;
    const double sum = sides + fill_cost(corners[i], corners[m], corners[j]);
    if (!(sum < best)) continue;
    best = sum;
    table.apex[table.at(i, j)] = static_cast<std::uint32_t>(m);
  }
  table.cost[table.at(i, j)] = best;
}

std::vector<glm::uvec3> faces_of(const Table& table) {
  std::vector<glm::uvec3> faces;
  std::vector<glm::uvec2> open{{0, static_cast<std::uint32_t>(table.count - 1)}};
  while (!open.empty()) {
    const glm::uvec2 edge = open.back();
    open.pop_back();
    if (edge.y - edge.x < 2) continue;
    const std::uint32_t apex = table.apex[table.at(edge.x, edge.y)];
    faces.emplace_back(edge.x, apex, edge.y);
    open.emplace_back(edge.x, apex);
    open.emplace_back(apex, edge.y);
  }
  return faces;
}

}  // namespace

double fill_cost(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c) {
  const glm::dvec3 ab = b - a, bc = c - b, ca = a - c;
  const double sides = glm::dot(ab, ab) + glm::dot(bc, bc) + glm::dot(ca, ca);
  const double flat = has_area(glm::vec3(a), glm::vec3(b), glm::vec3(c)) ? 0.0 : kFlat;
  return 0.5 * glm::length(glm::cross(ab, ca)) + kShape * sides + flat;
}

std::vector<glm::uvec3> fill_hole(std::span<const glm::dvec3> corners, const EdgeTaken& taken) {
  const std::size_t count = corners.size();
  Table table(count);
  for (std::size_t i = 0; i + 1 < count; ++i) table.cost[table.at(i, i + 1)] = 0.0;
  for (std::size_t span = 2; span < count; ++span)
    for (std::size_t i = 0; i + span < count; ++i) {
      const bool inner = span + 1 < count;  // the last edge belongs to the boundary
      if (inner && taken(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + span))) continue;
      find_best_apex(corners, i, i + span, table);
    }
  if (table.cost[table.at(0, count - 1)] == kNever) return {};
  return faces_of(table);
}

namespace {

// The steps of repair(), each on a mesh with any faults that earlier steps have not removed.

// A boundary that visits no vertex twice, in the order in which faces that close it run along it.
struct HoleBoundary {
  std::vector<std::uint32_t> corners;  // vertices
  double length = 0.0;                 // m
  glm::dvec3 middle{0.0};              // m
};

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

// Returns the number of vertices without faces.
std::size_t count_unused(const TriangleMesh& mesh) {
  const std::vector<char> used = used_vertices(mesh);
  return static_cast<std::size_t>(std::count(used.begin(), used.end(), 0));
}

// Lets faces use the first of the vertices at one position. Returns the number of vertices that lost all their faces.
std::size_t join_seams(TriangleMesh& mesh) {
  const std::size_t before = count_unused(mesh);
  mesh.faces = welded_faces(mesh.positions, mesh.faces);
  return count_unused(mesh) - before;
}

// Joins vertices of open edges that are at most `distance` apart and share no edge, the closest first. `moved`: the
// largest distance of a joined vertex. Returns the number of vertices joined to another.
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

// Drops faces that use a vertex twice and faces with the corners of an earlier one; returns their number.
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

// Drops connected pieces of fewer than four faces; returns the number of faces.
std::size_t drop_loose(TriangleMesh& mesh) {
  const std::vector<std::uint32_t> piece = face_components(mesh.positions.size(), mesh.faces);
  std::vector<std::size_t> faces;
  for (const std::uint32_t p : piece) {
    faces.resize(std::max<std::size_t>(faces.size(), p + 1), 0);
    ++faces[p];
  }
  return drop_faces(mesh, [&](std::size_t f) { return faces[piece[f]] < kFewestFaces; });
}

// Turns faces until the two faces of every edge agree; the first face of a piece keeps its orientation. Every edge has
// at most two faces. Returns the number of turned faces. Throws InputError when a piece has only one side.
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

// Turns every piece whose volume is negative; returns the number of turned faces.
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

// Drops vertices without faces.
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

// Appends faces that close the hole (repair.hpp); false when there are none without an edge of three faces.
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

// Removes faces without area from a closed surface.

constexpr double kNeedle = 1e-3;  // 1    a side shorter than this part of the longest one is joined to a point

class FlatFaces {
 public:
  explicit FlatFaces(TriangleMesh& mesh)
      : mesh_(mesh), adjacency_(half_edges(mesh.positions.size(), mesh.faces)), touched_(mesh.positions.size(), 0) {}

  // Returns the number of removed faces.
  std::size_t remove() {
    std::size_t removed = 0;
    for (std::uint32_t f = 0; f < mesh_.faces.size(); ++f)
      if (is_flat(f)) removed += remove(f) ? 1 : 0;
    if (joined_) drop_repeated(mesh_);
    return removed;
  }
  double longest_joined() const { return longest_joined_; }

 private:
  const glm::vec3& position(std::uint32_t v) const { return mesh_.positions[v]; }
  double length(std::uint32_t h) const {
    return glm::distance(glm::dvec3(position(adjacency_.vertex[h])), glm::dvec3(position(adjacency_.end(h))));
  }
  bool is_flat(std::uint32_t f) const {
    const glm::uvec3& face = mesh_.faces[f];
    return !has_area(position(face.x), position(face.y), position(face.z));
  }

  bool remove(std::uint32_t f) {
    std::array<std::uint32_t, 3> sides{3 * f, 3 * f + 1, 3 * f + 2};
    std::sort(sides.begin(), sides.end(), [this](std::uint32_t a, std::uint32_t b) { return length(a) < length(b); });
    return length(sides[0]) <= kNeedle * length(sides[2]) ? join_ends(sides[0]) : exchange(sides[2]);
  }

  std::vector<std::uint32_t> neighbours(std::uint32_t v) const {
    std::vector<std::uint32_t> around;
    for_each_neighbour(adjacency_, v, [&](std::uint32_t w) { around.push_back(w); });
    std::sort(around.begin(), around.end());
    return around;
  }
  bool any_touched(const std::vector<std::uint32_t>& vertices) const {
    return std::any_of(vertices.begin(), vertices.end(), [this](std::uint32_t v) { return touched_[v] != 0; });
  }
  void touch(const std::vector<std::uint32_t>& vertices) {
    for (const std::uint32_t v : vertices) touched_[v] = 1;
  }

  // Joins the ends of a side, if they have only the opposite corners of its two faces as common neighbours: then the
  // surface stays manifold.
  bool join_ends(std::uint32_t h) {
    const std::uint32_t u = adjacency_.vertex[h], v = adjacency_.end(h);
    if (adjacency_.opposite[h] == kNoHalfEdge) return false;
    const std::vector<std::uint32_t> of_u = neighbours(u), of_v = neighbours(v);
    if (any_touched(of_u) || any_touched(of_v)) return false;
    std::vector<std::uint32_t> common;
    std::set_intersection(of_u.begin(), of_u.end(), of_v.begin(), of_v.end(), std::back_inserter(common));
    if (common.size() != 2) return false;
    for_each_outgoing(adjacency_, v, [&](std::uint32_t out) { mesh_.faces[face_of(out)][out % 3] = u; });
    touch(of_u);
    touch(of_v);
    longest_joined_ = std::max(longest_joined_, length(h));
    joined_ = true;
    return true;
  }

  // Exchanges a side with the other diagonal of its two faces.
  bool exchange(std::uint32_t h) {
    const std::uint32_t over = adjacency_.opposite[h];
    if (over == kNoHalfEdge) return false;
    const std::uint32_t p = adjacency_.vertex[h], q = adjacency_.end(h);
    const std::uint32_t r = adjacency_.vertex[previous_in_face(h)], s = adjacency_.vertex[previous_in_face(over)];
    const std::vector<std::uint32_t> corners{p, q, r, s}, of_r = neighbours(r);
    if (any_touched(corners) || std::binary_search(of_r.begin(), of_r.end(), s)) return false;
    mesh_.faces[face_of(h)] = {r, p, s};
    mesh_.faces[face_of(over)] = {s, q, r};
    touch(corners);
    return true;
  }

  TriangleMesh& mesh_;
  const HalfEdges adjacency_;
  std::vector<char> touched_;  // [vertex] 1: its faces have changed in this pass
  bool joined_ = false;
  double longest_joined_ = 0.0;  // m
};

// Removes faces without area: joins the ends of a very short side, or exchanges the longest side with that of the
// neighbouring face. `moved`: at least the largest distance between joined ends. One pass; returns the number of
// removed faces, 0 when none can be removed.
std::size_t replace_flat_faces(TriangleMesh& mesh, double& moved) {
  FlatFaces faces(mesh);
  const std::size_t removed = faces.remove();
  moved = std::max(moved, faces.longest_joined());
  return removed;
}

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
