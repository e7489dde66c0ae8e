#include "deform/rest_distance.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "geometry/closest.hpp"
#include "mesh/face_tree.hpp"

namespace trocar {
namespace {

// Rows pass slightly beside the nodes, so that none meets an edge of the surface; each retry increases the offset.
constexpr double kHair = 1e-6;  // of the grid's spacing
constexpr int kTries = 8;

// A row is a line of nodes along x. A crossing is the point where it enters (+1) or leaves (-1) the organ.
struct RayCrossing {
  std::uint32_t row;
  int turn;
  double x;  // m
};

double turn_of(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

// Computes the crossing of the face with the line along x through `p` = (y, z).
bool crosses(const Triangle& t, const glm::dvec2& p, RayCrossing& crossing) {
  const glm::dvec2 a(t.a.y, t.a.z), b(t.b.y, t.b.z), c(t.c.y, t.c.z);
  const double ab = turn_of(a, b, p), bc = turn_of(b, c, p), ca = turn_of(c, a, p);
  const bool left = ab > 0.0 && bc > 0.0 && ca > 0.0, right = ab < 0.0 && bc < 0.0 && ca < 0.0;
  if (!left && !right) return false;
  crossing.turn = left ? -1 : 1;
  crossing.x = (bc * t.a.x + ca * t.b.x + ab * t.c.x) / (ab + bc + ca);
  return true;
}

class InsideRows {
 public:
  InsideRows(const MeshView& organ, const RestDistance& grid)
      : organ_(organ), grid_(grid), inside_(grid.value.size(), 0) {
    for (const glm::uvec3& face : organ.faces) add(triangle_of(organ.positions, face));
    std::sort(crossings_.begin(), crossings_.end(), before);
    auto begin = crossings_.begin();
    for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(grid.size.y * grid.size.z); ++row) {
      auto end = begin;
      while (end != crossings_.end() && end->row == row) ++end;
      settle(row,
             std::span(crossings_)
                 .subspan(static_cast<std::size_t>(begin - crossings_.begin()), static_cast<std::size_t>(end - begin)));
      begin = end;
    }
  }
  const std::vector<char>& inside() const { return inside_; }

 private:
  static bool before(const RayCrossing& a, const RayCrossing& b) {
    return std::tie(a.row, a.x, a.turn) < std::tie(b.row, b.x, b.turn);
  }

  glm::dvec2 row_position(int j, int k, int attempt) const {
    const double hair = (attempt + 1) * kHair;
    return glm::dvec2(grid_.origin.y, grid_.origin.z) + grid_.spacing * glm::dvec2(j + hair, k + 0.618 * hair);
  }

  void add(const Triangle& t) {
    const glm::dvec3 low = glm::min(t.a, glm::min(t.b, t.c)), high = glm::max(t.a, glm::max(t.b, t.c));
    const glm::ivec3 first = glm::max(glm::ivec3(glm::floor((low - grid_.origin) / grid_.spacing)), 0);
    const glm::ivec3 last = glm::min(glm::ivec3(glm::ceil((high - grid_.origin) / grid_.spacing)), grid_.size - 1);
    for (int k = first.z; k <= last.z; ++k)
      for (int j = first.y; j <= last.y; ++j) {
        RayCrossing crossing{static_cast<std::uint32_t>(k * grid_.size.y + j), 0, 0.0};
        if (crosses(t, row_position(j, k, 0), crossing)) crossings_.push_back(crossing);
      }
  }

  // When the turns of a row do not cancel, it met an edge: repeat it with a larger offset.
  void settle(std::uint32_t row, std::span<const RayCrossing> crossings) {
    std::vector<RayCrossing> again;
    for (int attempt = 1; attempt < kTries && !balanced(crossings); ++attempt) {
      again.clear();
      const int j = static_cast<int>(row) % grid_.size.y, k = static_cast<int>(row) / grid_.size.y;
      for (const glm::uvec3& face : organ_.faces) {
        RayCrossing crossing{row, 0, 0.0};
        if (crosses(triangle_of(organ_.positions, face), row_position(j, k, attempt), crossing))
          again.push_back(crossing);
      }
      std::sort(again.begin(), again.end(), before);
      crossings = again;
    }
    int winding = 0;
    for (std::size_t i = 0; i + 1 < crossings.size(); ++i) {
      winding += crossings[i].turn;
      if (winding > 0) fill(row, crossings[i].x, crossings[i + 1].x);
    }
  }

  static bool balanced(std::span<const RayCrossing> crossings) {
    int turns = 0;
    for (const RayCrossing& crossing : crossings) turns += crossing.turn;
    return turns == 0;
  }

  void fill(std::uint32_t row, double from, double to) {
    const double first = std::ceil((from - grid_.origin.x) / grid_.spacing);
    const double last = std::floor((to - grid_.origin.x) / grid_.spacing);
    for (int i = std::max(0, static_cast<int>(first)); i <= std::min(grid_.size.x - 1, static_cast<int>(last)); ++i)
      inside_[static_cast<std::size_t>(row) * grid_.size.x + i] = 1;
  }

  const MeshView& organ_;
  const RestDistance& grid_;
  std::vector<RayCrossing> crossings_;
  std::vector<char> inside_;  // [node]
};

// The nearest face, starting from the last result: neighbouring nodes mostly have the same nearest face.
class NearestFace {
 public:
  explicit NearestFace(const MeshView& organ) : tree_(build_face_tree(organ)) {
    for (const glm::uvec3& face : organ.faces) faces_.push_back(closest::face(triangle_of(organ.positions, face)));
  }

  double distance(const glm::dvec3& p) {
    const closest::Segment point = closest::segment(p, p);
    squared_ = closest::closest_axis_face(point, faces_[nearest_]).squared;
    descend(tree_.nodes[0], point);
    return std::sqrt(squared_);
  }

 private:
  static double squared_to_box(const FaceBox& box, const glm::dvec3& p) {
    const glm::dvec3 beyond = glm::max(glm::max(glm::dvec3(box.low) - p, p - glm::dvec3(box.high)), 0.0);
    return glm::dot(beyond, beyond);
  }

  void descend(const FaceTree::Node& node, const closest::Segment& point) {
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
      const std::uint32_t face = tree_.order[i];
      if (!(squared_to_box(tree_.boxes[face], point.p) < squared_)) continue;
      const double squared = closest::closest_axis_face(point, faces_[face]).squared;
      if (squared < squared_) squared_ = squared, nearest_ = face;
    }
    if (node.count > 0) return;
    const FaceTree::Node *near = &tree_.nodes[node.first], *far = near + 1;
    double to_near = squared_to_box(near->box, point.p), to_far = squared_to_box(far->box, point.p);
    if (to_far < to_near) std::swap(near, far), std::swap(to_near, to_far);
    if (to_near < squared_) descend(*near, point);
    if (to_far < squared_) descend(*far, point);
  }

  FaceTree tree_;
  std::vector<closest::Face> faces_;  // [face]
  std::uint32_t nearest_ = 0;         // of the last point
  double squared_ = 0.0;              // m^2
};

RestDistance make_grid(const Lattice& lattice) {
  RestDistance grid;
  grid.spacing = lattice.spacing / kDistanceSteps;
  grid.origin = lattice.origin - kDistanceRim * lattice.spacing;
  grid.size = kDistanceSteps * (lattice.size + 2 * kDistanceRim) + 1;
  grid.value.assign(grid.flat(grid.size - 1) + 1, static_cast<float>(kDistanceRim * lattice.spacing));
  return grid;
}

// Calls visit(node) for the grid nodes in a cell and up to `rim` cells around it.
template <typename Visit>
void for_each_node(const RestDistance& grid, const glm::ivec3& cell, int rim, Visit visit) {
  const glm::ivec3 first = glm::max(kDistanceSteps * (cell + kDistanceRim - rim), 0);
  const glm::ivec3 last = glm::min(kDistanceSteps * (cell + kDistanceRim + rim + 1), grid.size - 1);
  for (int z = first.z; z <= last.z; ++z)
    for (int y = first.y; y <= last.y; ++y)
      for (int x = first.x; x <= last.x; ++x) visit(glm::ivec3(x, y, z));
}

glm::dvec3 position(const RestDistance& grid, const glm::ivec3& at) {
  return grid.origin + grid.spacing * glm::dvec3(at);
}

float box_distance(const glm::dvec3& p, const glm::dvec3& centre, double half) {
  const glm::dvec3 beyond = glm::abs(p - centre) - half;
  const double inside = std::min(std::max({beyond.x, beyond.y, beyond.z}), 0.0);
  return static_cast<float>(glm::length(glm::max(beyond, 0.0)) + inside);
}

}  // namespace

RestDistance make_rest_distance(const MeshView& organ, const Lattice& lattice) {
  RestDistance field = make_grid(lattice);
  const std::vector<char> inside = InsideRows(organ, field).inside();
  NearestFace nearest(organ);
  std::vector<char> near(field.value.size(), 0);
  for (const LatticeCell& cell : lattice.cells)
    for_each_node(field, cell.at, 1, [&](const glm::ivec3& at) { near[field.flat(at)] = 1; });
  for (int z = 0; z < field.size.z; ++z)
    for (int y = 0; y < field.size.y; ++y)
      for (int x = 0; x < field.size.x; ++x) {
        const std::size_t node = field.flat({x, y, z});
        if (!near[node]) continue;
        const auto distance = static_cast<float>(nearest.distance(position(field, {x, y, z})));
        field.value[node] = inside[node] ? -distance : distance;
      }
  return field;
}

DistanceSample sample(const RestDistance& field, const glm::vec3& p) {
  // Central differences need one more node on either side.
  const glm::vec3 grid_position((glm::dvec3(p) - field.origin) / field.spacing);
  const glm::vec3 inner = glm::clamp(grid_position, glm::vec3(1.f), glm::vec3(field.size - 2));
  const glm::ivec3 at = glm::min(glm::ivec3(inner), field.size - 3);
  const glm::vec3 w = inner - glm::vec3(at);
  const std::size_t first = field.flat(at), along[3] = {1, static_cast<std::size_t>(field.size.x),
                                                        static_cast<std::size_t>(field.size.x) * field.size.y};
  DistanceSample result{0.f, glm::vec3(0.f)};
  for (int corner = 0; corner < 8; ++corner) {
    const glm::ivec3 c = corner_offset(corner);
    const float share = (c.x ? w.x : 1.f - w.x) * (c.y ? w.y : 1.f - w.y) * (c.z ? w.z : 1.f - w.z);
    const std::size_t node = first + c.x * along[0] + c.y * along[1] + c.z * along[2];
    result.distance += share * field.value[node];
    for (int axis = 0; axis < 3; ++axis)
      result.gradient[axis] += share * (field.value[node + along[axis]] - field.value[node - along[axis]]);
  }
  result.gradient /= static_cast<float>(2.0 * field.spacing);
  return result;
}

void carve(RestDistance& field, const Lattice& lattice, std::span<const std::uint32_t> cells) {
  for (const std::uint32_t cell : cells) {
    const glm::ivec3 at = lattice.cells[cell].at;
    const glm::dvec3 centre = lattice.origin + lattice.spacing * (glm::dvec3(at) + 0.5);
    for_each_node(field, at, kDistanceRim, [&](const glm::ivec3& node) {
      float& value = field.value[field.flat(node)];
      value = std::max(value, -box_distance(position(field, node), centre, 0.5 * lattice.spacing));
    });
  }
}

}  // namespace trocar
