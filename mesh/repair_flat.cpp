// Removes faces without area from a closed surface.
#include <algorithm>
#include <array>
#include <iterator>

#include "mesh/exact_sign.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/repair_steps.hpp"

namespace trocar {
namespace {

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

}  // namespace

std::size_t replace_flat_faces(TriangleMesh& mesh, double& moved) {
  FlatFaces faces(mesh);
  const std::size_t removed = faces.remove();
  moved = std::max(moved, faces.longest_joined());
  return removed;
}

}  // namespace trocar
