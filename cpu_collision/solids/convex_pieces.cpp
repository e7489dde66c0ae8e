#include "cpu_collision/solids/convex_pieces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "cpu_collision/solids/point_in_solid.hpp"
#include "geometry/error.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;

// The search tries kOffsets positions of the cut along each axis, then refines the best one in kRefinements rounds,
// each with half the step of the round before.
constexpr int kOffsets = 13;
constexpr int kRefinements = 3;
// When no cut saves a tenth of the volume, as for a ring, balanced halves are worth more than the small saving: the
// ring is cut across instead of being shaved slice by slice.
constexpr double kLittleGained = 0.9;
constexpr double kBalance = 0.25;

// Faces of a piece are at least this thick; this limits the accuracy of the cover.
constexpr double kThinnestFace = 1e-7;  // m

struct Cut {
  dvec3 normal{0.0};
  double offset = 0.0, cost = std::numeric_limits<double>::infinity();
};

// Returns the principal axes of the surface's corners, by repeated squaring of their covariance.
std::array<dvec3, 3> principal_axes(const CutMesh& part) {
  dvec3 mean(0.0);
  for (const vec3& p : part.positions) mean += dvec3(p) / double(part.positions.size());
  glm::dmat3 spread(0.0);
  for (const vec3& p : part.positions) spread += glm::outerProduct(dvec3(p) - mean, dvec3(p) - mean);
  const auto strongest = [](glm::dmat3 m) {
    for (int i = 0; i < 40; ++i) {
      const double size = std::max({glm::length(m[0]), glm::length(m[1]), glm::length(m[2])});
      if (!(size > 0.0)) return dvec3(1, 0, 0);
      m /= size;
      m = m * m;
    }
    const int column = glm::length(m[0]) >= glm::length(m[1]) ? (glm::length(m[0]) >= glm::length(m[2]) ? 0 : 2)
                                                              : (glm::length(m[1]) >= glm::length(m[2]) ? 1 : 2);
    return glm::length(m[column]) > 0.0 ? glm::normalize(m[column]) : dvec3(1, 0, 0);
  };
  const dvec3 first = strongest(spread);
  const glm::dmat3 across = glm::dmat3(1.0) - glm::outerProduct(first, first);
  dvec3 second = across * strongest(across * spread * across);
  if (glm::length(second) < 0.5) second = glm::cross(first, std::abs(first.x) < 0.5 ? dvec3(1, 0, 0) : dvec3(0, 1, 0));
  second = glm::normalize(second);
  return {first, second, glm::cross(first, second)};
}

double volume_of(const CutMesh& part) { return part.faces.empty() ? 0.0 : convex_hull(part.positions).volume(); }

void try_cut(const CutMesh& part, const dvec3& normal, double offset, double balance, Cut& best) {
  const CutMesh above = part_beyond(part.view(), normal, offset), below = part_beyond(part.view(), -normal, -offset);
  if (above.faces.empty() || below.faces.empty()) return;
  const double one = volume_of(above), two = volume_of(below);
  const double cost = one + two + balance * std::abs(one - two);
  if (cost < best.cost) best = {normal, offset, cost};
}

// Returns the cut along one of seven directions with the least total hull volume; `balance` penalises unequal halves.
Cut best_cut(const CutMesh& part, double balance) {
  const auto [a, b, c] = principal_axes(part);
  const dvec3 directions[] = {
      a, b, c, glm::normalize(a + b), glm::normalize(a - b), glm::normalize(a + c), glm::normalize(a - c)};
  Cut best;
  double step = 0.0;
  for (const dvec3& normal : directions) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const vec3& p : part.positions) {
      low = std::min(low, glm::dot(normal, dvec3(p))), high = std::max(high, glm::dot(normal, dvec3(p)));
    }
    const double before = best.cost;
    for (int i = 1; i <= kOffsets; ++i) try_cut(part, normal, low + (high - low) * i / (kOffsets + 1.0), balance, best);
    if (best.cost < before) step = (high - low) / (kOffsets + 1.0);
  }
  if (best.normal == dvec3(0.0)) return best;
  for (int round = 0; round < kRefinements; ++round) {
    step *= 0.5;
    const Cut middle = best;
    for (const double side : {-step, step}) try_cut(part, middle.normal, middle.offset + side, balance, best);
  }
  return best;
}

Cut choose_cut(const CutMesh& part) {
  const Cut cut = best_cut(part, 0.0);
  return cut.cost < kLittleGained * volume_of(part) ? cut : best_cut(part, kBalance);
}

struct Leaf {
  std::uint32_t node;
  CutMesh part;
  bool whole = false;  // no plane cuts it
};

void add_node(ConvexPieces& pieces, std::vector<Leaf>& leaves, CutMesh part, const PieceError& error) {
  PieceNode node;
  node.hull = tidy_hull(part.positions, kThinnestFace);
  node.deviation = error.deviation(node.hull);
  leaves.push_back({static_cast<std::uint32_t>(pieces.nodes.size()), std::move(part)});
  pieces.nodes.push_back(std::move(node));
}

void check(const MeshView& mesh, const PieceParams& params) {
  if (mesh.faces.empty()) throw InputError("convex pieces need a mesh with faces; this one has none");
  if (!(params.largest_deviation > 0.0) || params.most_pieces < 1 || params.most_pieces > 256) {
    throw InputError("convex pieces need largest_deviation above 0 and 1 to 256 pieces; got " +
                     std::to_string(params.largest_deviation) + " m and " + std::to_string(params.most_pieces));
  }
}

// Returns the part with only the vertices that faces use.
CutMesh used_part(const MeshView& mesh) {
  CutMesh part;
  std::vector<std::uint32_t> number(mesh.positions.size(), PieceNode::kNone);
  for (const glm::uvec3& face : mesh.faces) {
    glm::uvec3 made;
    for (int i = 0; i < 3; ++i) {
      std::uint32_t& n = number[face[i]];
      if (n == PieceNode::kNone)
        n = static_cast<std::uint32_t>(part.positions.size()), part.positions.push_back(mesh.positions[face[i]]);
      made[i] = n;
    }
    part.faces.push_back(made);
  }
  return part;
}

}  // namespace

double ConvexPieces::deviation() const {
  double most = 0.0;
  for (const PieceNode& node : nodes) {
    if (node.leaf()) most = std::max(most, node.deviation);
  }
  return most;
}

CutMesh part_beyond(const MeshView& mesh, const dvec3& normal, double offset) {
  CutMesh part;
  for (const glm::uvec3& face : mesh.faces) {
    std::array<vec3, 4> polygon{};
    std::uint32_t corners = 0;
    for (int i = 0; i < 3; ++i) {
      const vec3 p = mesh.positions[face[i]], q = mesh.positions[face[(i + 1) % 3]];
      const double hp = glm::dot(normal, dvec3(p)) - offset, hq = glm::dot(normal, dvec3(q)) - offset;
      if (hp >= 0.0) polygon[corners++] = p;
      if ((hp < 0.0) == (hq < 0.0) || hp == 0.0 || hq == 0.0) continue;
      // From the lexicographically lower end, so that both sides of the plane round the same.
      const bool p_first = p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : p.z < q.z;
      const dvec3 from(p_first ? p : q), to(p_first ? q : p);
      const double h_from = p_first ? hp : hq, h_to = p_first ? hq : hp;
      polygon[corners++] = vec3(glm::mix(from, to, h_from / (h_from - h_to)));
    }
    if (corners < 3) continue;
    const auto first = static_cast<std::uint32_t>(part.positions.size());
    part.positions.insert(part.positions.end(), polygon.begin(), polygon.begin() + corners);
    for (std::uint32_t i = 2; i < corners; ++i) part.faces.emplace_back(first, first + i - 1, first + i);
  }
  return part;
}

ConvexPieces convex_pieces(const MeshView& mesh, const PieceParams& params) {
  check(mesh, params);
  const PieceError error(mesh);
  ConvexPieces pieces;
  std::vector<Leaf> leaves;
  add_node(pieces, leaves, used_part(mesh), error);
  while (static_cast<int>(leaves.size()) < params.most_pieces) {
    const auto deviation_of = [&](const Leaf& leaf) { return leaf.whole ? 0.0 : pieces.nodes[leaf.node].deviation; };
    const auto worst = std::max_element(
        leaves.begin(), leaves.end(), [&](const Leaf& a, const Leaf& b) { return deviation_of(a) < deviation_of(b); });
    if (deviation_of(*worst) <= params.largest_deviation) break;
    const Cut cut = choose_cut(worst->part);
    if (cut.normal == dvec3(0.0)) {
      worst->whole = true;
      continue;
    }
    const Leaf parent = std::move(*worst);
    leaves.erase(worst);
    for (const int side : {0, 1}) {
      pieces.nodes[parent.node].child[side] = static_cast<std::uint32_t>(pieces.nodes.size());
      const double sign = side == 0 ? 1.0 : -1.0;
      add_node(pieces, leaves, part_beyond(parent.part.view(), sign * cut.normal, sign * cut.offset), error);
    }
  }
  return pieces;
}

namespace {

using glm::dvec3;

// Sample spacing as a share of the mesh's shortest box side, with at most kMostSamples along a side of a face.
constexpr double kSpacing = 1.0 / 24.0;
constexpr int kMostSamples = 40;

Triangle longest_side_first(const Triangle& t) {
  const double ab = glm::distance(t.a, t.b), bc = glm::distance(t.b, t.c), ca = glm::distance(t.c, t.a);
  if (bc >= ab && bc >= ca) return {t.b, t.c, t.a};
  return ca >= ab ? Triangle{t.c, t.a, t.b} : t;
}

int steps_over(double length, double spacing) {
  return std::clamp(static_cast<int>(std::ceil(length / std::max(spacing, 1e-12))), 1, kMostSamples);
}

}  // namespace

PieceError::PieceError(const MeshView& mesh) : mesh_(mesh), tree_(build_face_tree(mesh)) {
  const FaceBox& box = tree_.nodes[0].box;
  const dvec3 size = dvec3(box.high) - dvec3(box.low);
  spacing_ = kSpacing * std::max(std::min({size.x, size.y, size.z}), 0.02 * glm::length(size));
}

// The tree makes the distance cheap, but not the winding number. The winding number is therefore computed only where
// the distance would raise the maximum and no earlier ball contains the point.
double PieceError::outside_by(const dvec3& point, double best, std::vector<Ball>& inside) const {
  for (const Ball& ball : inside) {
    if (glm::distance(point, ball.centre) < ball.radius) return best;
  }
  const double distance = distance_to_surface(tree_, point);
  if (distance <= best) return best;
  if (std::abs(winding_number(mesh_, point)) <= 0.5) return distance;
  inside.push_back({point, distance});
  return best;
}

double PieceError::deviation(const ConvexBody& body) const {
  double most = 0.0;
  std::vector<Ball> inside;
  for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
    const Triangle t = longest_side_first(body.corners(f));
    const dvec3 along = t.b - t.a, up = t.c - t.a;
    const double length = glm::length(along), height = glm::length(glm::cross(along, up)) / std::max(length, 1e-12);
    const int rows = steps_over(height, spacing_), columns = steps_over(length, spacing_);
    for (int row = 0; row <= rows; ++row) {
      const double v = double(row) / rows;
      for (int column = 0; column <= columns; ++column) {
        const double u = (1.0 - v) * column / columns;
        most = outside_by(t.a + u * along + v * up, most, inside);
      }
    }
  }
  return most;
}

namespace {

bool boxes_apart(const ConvexBody& a, const ConvexBody& b) {
  return glm::any(glm::lessThan(a.high, b.low)) || glm::any(glm::lessThan(b.high, a.low));
}

}  // namespace

PieceFaces::PieceFaces(const ConvexPieces& pieces)
    : pieces_(pieces),
      face_(triangle_body({glm::dvec3(0.0), glm::dvec3(0.0), glm::dvec3(0.0)})),
      features_(pieces.nodes.size()) {
  open_.reserve(pieces.nodes.size() + 1);
}

PieceFaces::Box PieceFaces::box(const RigidFrame& pose) const {
  const ConvexBody& root = pieces_.nodes[0].hull;
  const glm::dvec3 middle = pose.to_world(0.5 * (root.low + root.high)), half = 0.5 * (root.high - root.low);
  const glm::dvec3 half_box =
      glm::abs(pose.axes[0]) * half.x + glm::abs(pose.axes[1]) * half.y + glm::abs(pose.axes[2]) * half.z;
  return {middle - half_box, middle + half_box};
}

bool PieceFaces::any_piece_touches() {
  open_.clear();
  open_.push_back(0);
  while (!open_.empty()) {
    const std::uint32_t at = open_.back();
    open_.pop_back();
    const PieceNode& node = pieces_.nodes[at];
    if (boxes_apart(node.hull, face_)) continue;
    if (!node.leaf()) {
      open_.push_back(node.child[0]);
      open_.push_back(node.child[1]);
      continue;
    }
    features_[at].second = {};  // the face differs from the last one: only the piece's own feature is a good start
    if (closest_features(node.hull, {}, face_, {}, features_[at]).overlapping) return true;
  }
  return false;
}

bool PieceFaces::touches(const RigidFrame& pose, const Triangle& face) {
  reset_triangle(face_, {pose.to_local(face.a), pose.to_local(face.b), pose.to_local(face.c)});
  return any_piece_touches();
}

std::span<const FaceId> PieceFaces::touched(const RigidFrame& pose, const MeshView& mesh,
                                            std::span<const FaceId> candidates) {
  touched_.clear();
  for (const FaceId face : candidates) {
    if (touches(pose, triangle_of(mesh.positions, mesh.faces[index(face)]))) touched_.push_back(face);
  }
  return touched_;
}

std::span<const FaceId> PieceFaces::touched(const RigidFrame& pose, const MeshView& mesh) {
  touched_.clear();
  for (std::uint32_t face = 0; face < mesh.faces.size(); ++face) {
    if (touches(pose, triangle_of(mesh.positions, mesh.faces[face]))) touched_.push_back(FaceId(face));
  }
  return touched_;
}

}  // namespace trocar::solids
