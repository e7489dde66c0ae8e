#include "mesh/decimate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <queue>

#include "geometry/error.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/weld.hpp"

namespace trocar {
namespace {

// A new face whose area is below this fraction of its squared longest edge is a needle; an equilateral face has 0.43.
constexpr double kFlattest = 0.01;
// In a flat region the quadric has no unique minimum; this weight pulls the vertex towards the middle of the edge.
constexpr double kRegularisation = 1e-6;

// Sum of squared distances to planes: p A p + 2 b p + c.
struct Quadric {
  glm::dmat3 a{0.0};
  glm::dvec3 b{0.0};
  double c = 0.0;

  void add_plane(const glm::dvec3& normal, const glm::dvec3& point, double weight) {
    const double d = -glm::dot(normal, point);
    a += weight * glm::outerProduct(normal, normal);
    b += weight * d * normal;
    c += weight * d * d;
  }
  Quadric& operator+=(const Quadric& other) {
    a += other.a;
    b += other.b;
    c += other.c;
    return *this;
  }
  double at(const glm::dvec3& p) const { return std::max(0.0, glm::dot(p, a * p) + 2.0 * glm::dot(b, p) + c); }
};

struct Collapse {
  double cost;
  std::uint32_t keep, drop;
  std::uint32_t stamp;  // sum of both ends' stamps when the cost was computed
  glm::dvec3 position;
  bool operator<(const Collapse& other) const {
    return cost != other.cost ? cost > other.cost : std::pair(keep, drop) > std::pair(other.keep, other.drop);
  }
};

glm::dvec3 area_vector(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c) {
  return 0.5 * glm::cross(b - a, c - a);
}

class Decimator {
 public:
  Decimator(const TriangleMesh& mesh, const DecimateParams& params)
      : params_(params), cos_turn_(std::cos(params.largest_turn_deg * std::numbers::pi / 180.0)) {
    take(mesh);
    mark_edges();
    sum_quadrics();
  }

  TriangleMesh run() {
    for (std::uint32_t v = 0; v < points_.size(); ++v) offer_edges(v, true);
    while (live_faces_ > params_.faces && !queue_.empty()) {
      const Collapse best = queue_.top();
      queue_.pop();
      if (best.stamp != stamps_[best.keep] + stamps_[best.drop] || dead(best.keep) || dead(best.drop)) continue;
      if (may_collapse(best)) {
        collapse(best);
      } else {
        refused_[best.keep].push_back(best.drop);
        refused_[best.drop].push_back(best.keep);
      }
    }
    return result();
  }

 private:
  void take(const TriangleMesh& mesh) {
    const Weld welding = weld(std::span<const glm::vec3>(mesh.positions));
    for (std::uint32_t point : welding.point_of) points_.emplace_back(mesh.positions[point]);
    faces_of_.resize(points_.size());
    refused_.resize(points_.size());
    stamps_.assign(points_.size(), 0);
    for (const glm::uvec3& face : mesh.faces) {
      const glm::uvec3 f(welding.vertex_of[face.x], welding.vertex_of[face.y], welding.vertex_of[face.z]);
      if (f.x == f.y || f.y == f.z || f.z == f.x) continue;
      for (int corner = 0; corner < 3; ++corner)
        faces_of_[f[corner]].push_back(static_cast<std::uint32_t>(faces_.size()));
      faces_.push_back(f);
    }
    live_faces_ = faces_.size();
  }

  // Vertices on non-manifold or inconsistent edges stay fixed; boundary vertices may slide along the boundary.
  void mark_edges() {
    adjacency_ = half_edges(points_.size(), faces_);
    fixed_.assign(points_.size(), false);
    boundary_.assign(points_.size(), false);
    for (std::uint32_t h = 0; h < adjacency_.vertex.size(); ++h) {
      const EdgeKind kind = adjacency_.kind[h];
      for (std::uint32_t v : {adjacency_.vertex[h], adjacency_.end(h)}) {
        if (kind == EdgeKind::Boundary) boundary_[v] = true;
        if (kind == EdgeKind::Inconsistent || kind == EdgeKind::NonManifold) fixed_[v] = true;
      }
    }
  }

  void sum_quadrics() {
    quadrics_.resize(points_.size());
    for (std::uint32_t f = 0; f < faces_.size(); ++f) {
      const glm::uvec3 face = faces_[f];
      const glm::dvec3 vector = area_vector(points_[face.x], points_[face.y], points_[face.z]);
      const double area = glm::length(vector);
      if (!(area > 0.0)) continue;
      for (int corner = 0; corner < 3; ++corner) {
        quadrics_[face[corner]].add_plane(vector / area, points_[face.x], area);
        const std::uint32_t h = 3 * f + static_cast<std::uint32_t>(corner);
        if (adjacency_.kind[h] == EdgeKind::Boundary)
          add_boundary_plane(adjacency_.vertex[h], adjacency_.end(h), vector / area);
      }
    }
  }

  // Adds the plane through the boundary edge, perpendicular to the face.
  void add_boundary_plane(std::uint32_t from, std::uint32_t to, const glm::dvec3& normal) {
    const glm::dvec3 edge = points_[to] - points_[from];
    const double length = glm::length(edge);
    if (!(length > 0.0)) return;
    const glm::dvec3 upright = glm::normalize(glm::cross(edge, normal));
    for (std::uint32_t v : {from, to}) {
      quadrics_[v].add_plane(upright, points_[from], params_.rim_weight * length * length);
    }
  }

  bool dead(std::uint32_t v) const { return faces_of_[v].empty(); }

  void neighbours(std::uint32_t v, std::vector<std::uint32_t>& found) const {
    found.clear();
    for (std::uint32_t f : faces_of_[v]) {
      for (int corner = 0; corner < 3; ++corner) {
        if (faces_[f][corner] != v) found.push_back(faces_[f][corner]);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }

  // Offers all edges of v. At the start only those to higher indices, so that each edge is offered once.
  void offer_edges(std::uint32_t v, bool only_higher) {
    neighbours(v, ring_);
    for (std::uint32_t w : ring_) {
      if (!only_higher || w > v) offer(std::min(v, w), std::max(v, w));
    }
  }

  void offer(std::uint32_t a, std::uint32_t b) {
    if (fixed_[a] || fixed_[b]) return;
    // A boundary vertex absorbs an inner one and stays. Two boundary vertices collapse only along the boundary, see
    // may_collapse().
    Collapse candidate{0.0, a, b, stamps_[a] + stamps_[b], {}};
    if (boundary_[b] && !boundary_[a]) std::swap(candidate.keep, candidate.drop);
    Quadric sum = quadrics_[a];
    sum += quadrics_[b];
    candidate.position = boundary_[a] != boundary_[b] ? points_[candidate.keep] : best_position(sum, a, b);
    candidate.cost = sum.at(candidate.position);
    queue_.push(candidate);
  }

  glm::dvec3 best_position(const Quadric& sum, std::uint32_t a, std::uint32_t b) const {
    const glm::dvec3 middle = 0.5 * (points_[a] + points_[b]);
    const double weight = kRegularisation * (sum.a[0][0] + sum.a[1][1] + sum.a[2][2]);
    const glm::dmat3 matrix = sum.a + weight * glm::dmat3(1.0);
    if (!(std::abs(glm::determinant(matrix)) > 0.0)) return middle;
    const glm::dvec3 best = glm::inverse(matrix) * (weight * middle - sum.b);
    // Nearly parallel planes meet far away; such a point is not a valid position for a vertex of this edge.
    const bool near = glm::distance(best, middle) <= 2.0 * glm::distance(points_[a], points_[b]);
    return near ? best : middle;
  }

  bool may_collapse(const Collapse& c) {
    neighbours(c.keep, ring_);
    neighbours(c.drop, other_ring_);
    common_.clear();
    std::set_intersection(ring_.begin(), ring_.end(), other_ring_.begin(), other_ring_.end(),
                          std::back_inserter(common_));
    std::size_t shared = 0;
    for (std::uint32_t f : faces_of_[c.drop]) shared += has_corner(f, c.keep);
    // Link condition: the only common neighbours are those opposite to the edge.
    if (shared == 0 || common_.size() != shared) return false;
    if (boundary_[c.keep] && boundary_[c.drop] && shared != 1) return false;
    // A tetrahedron and a single triangle are the smallest components; they do not collapse.
    const std::size_t around = faces_of_[c.keep].size() + faces_of_[c.drop].size();
    if (around == 2 * shared || (shared == 2 && around == 6)) return false;
    return keeps_shape(c.keep, c.drop, c.position) && keeps_shape(c.drop, c.keep, c.position);
  }

  bool has_corner(std::uint32_t f, std::uint32_t v) const {
    return faces_[f].x == v || faces_[f].y == v || faces_[f].z == v;
  }

  // Do the faces of `v` that survive the collapse keep their direction and shape when `v` moves?
  bool keeps_shape(std::uint32_t v, std::uint32_t other, const glm::dvec3& position) const {
    for (std::uint32_t f : faces_of_[v]) {
      if (has_corner(f, other)) continue;
      glm::dvec3 old_corners[3], corners[3];
      for (int i = 0; i < 3; ++i) {
        old_corners[i] = points_[faces_[f][i]];
        corners[i] = faces_[f][i] == v ? position : old_corners[i];
      }
      const glm::dvec3 before = area_vector(old_corners[0], old_corners[1], old_corners[2]);
      const glm::dvec3 after = area_vector(corners[0], corners[1], corners[2]);
      const double area = glm::length(after);
      if (glm::dot(before, after) < cos_turn_ * glm::length(before) * area) return false;
      const double flatness = area / longest_squared(corners);
      if (!(flatness > kFlattest) && !(flatness > glm::length(before) / longest_squared(old_corners))) return false;
    }
    return true;
  }

  static double longest_squared(const glm::dvec3 (&c)[3]) {
    const auto squared = [](const glm::dvec3& v) { return glm::dot(v, v); };
    return std::max({squared(c[1] - c[0]), squared(c[2] - c[1]), squared(c[0] - c[2])});
  }

  void collapse(const Collapse& c) {
    points_[c.keep] = c.position;
    quadrics_[c.keep] += quadrics_[c.drop];
    for (std::uint32_t f : faces_of_[c.drop]) {
      if (has_corner(f, c.keep)) {
        remove_face(f, c.drop);
        continue;
      }
      for (int corner = 0; corner < 3; ++corner) {
        if (faces_[f][corner] == c.drop) faces_[f][corner] = c.keep;
      }
      faces_of_[c.keep].push_back(f);
    }
    faces_of_[c.drop].clear();
    ++stamps_[c.keep];
    offer_edges(c.keep, false);
    offer_refused(c.keep);
  }

  // Collapses refused near a vertex that has moved may be possible now.
  void offer_refused(std::uint32_t moved) {
    neighbours(moved, ring_);
    for (std::uint32_t v : ring_) {
      again_.clear();
      std::swap(again_, refused_[v]);
      if (again_.empty()) continue;
      neighbours(v, other_ring_);
      for (std::uint32_t w : again_) {
        std::erase(refused_[w], v);
        if (w == moved || !std::binary_search(other_ring_.begin(), other_ring_.end(), w)) continue;
        offer(std::min(v, w), std::max(v, w));
      }
    }
  }

  // Removes the face from the lists of its corners, except the list that the caller iterates over.
  void remove_face(std::uint32_t f, std::uint32_t walked) {
    for (int corner = 0; corner < 3; ++corner) {
      if (faces_[f][corner] != walked) std::erase(faces_of_[faces_[f][corner]], f);
    }
    --live_faces_;
    faces_[f] = glm::uvec3(kNoHalfEdge);
  }

  TriangleMesh result() const {
    TriangleMesh mesh;
    std::vector<std::uint32_t> number(points_.size(), kNoHalfEdge);
    for (const glm::uvec3& face : faces_) {
      if (face.x == kNoHalfEdge) continue;
      glm::uvec3 renumbered;
      for (int corner = 0; corner < 3; ++corner) {
        std::uint32_t& n = number[face[corner]];
        if (n == kNoHalfEdge) {
          n = static_cast<std::uint32_t>(mesh.positions.size());
          mesh.positions.emplace_back(points_[face[corner]]);
        }
        renumbered[corner] = n;
      }
      mesh.faces.push_back(renumbered);
    }
    return mesh;
  }

  DecimateParams params_;
  double cos_turn_;
  std::vector<glm::dvec3> points_;                    // [vertex] m
  std::vector<glm::uvec3> faces_;                     // [face]
  std::vector<std::vector<std::uint32_t>> faces_of_;  // [vertex]
  std::vector<Quadric> quadrics_;                     // [vertex]
  std::vector<std::uint32_t> stamps_;                 // [vertex] number of changes of the vertex
  std::vector<std::vector<std::uint32_t>> refused_;   // [vertex] other ends of edges whose collapse was refused
  std::vector<bool> fixed_, boundary_;                // [vertex] must not move; lies on a boundary edge
  HalfEdges adjacency_;                               // of the input mesh
  std::priority_queue<Collapse> queue_;
  std::size_t live_faces_ = 0;
  std::vector<std::uint32_t> ring_, other_ring_, common_, again_;
};

// Vertices, edge middles and face centres.
std::vector<glm::dvec3> samples_of(const MeshView& mesh) {
  std::vector<bool> taken(mesh.positions.size(), false);
  std::vector<glm::dvec3> samples;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    const glm::dvec3 corners[3] = {t.a, t.b, t.c};
    samples.push_back((t.a + t.b + t.c) / 3.0);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      // Of the two faces at an edge one traverses it upwards. Some boundary edges' middles are not sampled.
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
  result.mesh = Decimator(mesh, params).run();
  if (result.mesh.faces.empty()) throw InputError("every face of the mesh is degenerate; load another mesh");
  const SurfaceDistance distance = surface_distance(mesh.view(), result.mesh.view());
  result.mean_error = distance.mean;
  result.max_error = distance.max;
  return result;
}

}  // namespace trocar
