// Makes trees of spheres.
#include "study/trees/study_volumes.hpp"

#include <algorithm>

#include "cpu_collision/trees/obb.hpp"
#include "cpu_collision/trees/tree_query.hpp"
#include "study/trees/volumes.hpp"

namespace trocar {

std::unique_ptr<SurfaceTree> make_sphere_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<Sphere>>(std::move(name), plan);
}

// Makes trees of k-DOPs.

template <int k>
std::unique_ptr<SurfaceTree> make_kdop_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<KDop<k>>>(std::move(name), plan);
}

template std::unique_ptr<SurfaceTree> make_kdop_tree<6>(std::string name, const TreePlan& plan);
template std::unique_ptr<SurfaceTree> make_kdop_tree<14>(std::string name, const TreePlan& plan);
template std::unique_ptr<SurfaceTree> make_kdop_tree<18>(std::string name, const TreePlan& plan);
template std::unique_ptr<SurfaceTree> make_kdop_tree<26>(std::string name, const TreePlan& plan);

namespace {

constexpr int kRow = 2 * kQuantisedSteps + 1;

std::array<glm::vec3, kQuantisedDirections> all_directions() {
  std::array<glm::vec3, kQuantisedDirections> table;
  for (int face = 0; face < 3; ++face)
    for (int u = 0; u < kRow; ++u)
      for (int v = 0; v < kRow; ++v) {
        glm::dvec3 d;
        d[face] = kQuantisedSteps;
        d[(face + 1) % 3] = u - kQuantisedSteps;
        d[(face + 2) % 3] = v - kQuantisedSteps;
        table[face * kQuantisedPerFace + u * kRow + v] = glm::vec3(glm::normalize(d));
      }
  return table;
}

const std::array<glm::vec3, kQuantisedDirections> kDirections = all_directions();

}  // namespace

int nearest_quantised(const glm::vec3& d) {
  const glm::vec3 size = glm::abs(d);
  const int face = size.x >= size.y ? (size.x >= size.z ? 0 : 2) : (size.y >= size.z ? 1 : 2);
  const auto step = [&](float along) {
    const float projected = kQuantisedSteps * along / d[face];
    return std::clamp(static_cast<int>(std::lround(projected)), -kQuantisedSteps, kQuantisedSteps) + kQuantisedSteps;
  };
  if (!(size[face] > 0.f)) return 0;
  return face * kQuantisedPerFace + step(d[(face + 1) % 3]) * kRow + step(d[(face + 2) % 3]);
}

glm::vec3 quantised_direction(int number) { return kDirections[number]; }

Quospo quantised(const ObbNode& box) {
  Quospo q{};
  std::array<glm::vec3, 3> normal;
  for (int k = 0; k < 3; ++k) {
    const int number = nearest_quantised({box.axis_x[k], box.axis_y[k], box.axis_z[k]});
    q.direction[k] = static_cast<std::uint16_t>(number);
    normal[k] = quantised_direction(number);
    q.normal_x[k] = normal[k].x, q.normal_y[k] = normal[k].y, q.normal_z[k] = normal[k].z;
  }
  const float volume = glm::dot(normal[0], glm::cross(normal[1], normal[2]));
  for (int k = 0; k < 3; ++k) {
    const glm::vec3 edge = glm::cross(normal[(k + 1) % 3], normal[(k + 2) % 3]) / volume;
    q.edge_x[k] = edge.x, q.edge_y[k] = edge.y, q.edge_z[k] = edge.z;
  }
  return q;
}

void Quospo::Tool::extent(int direction, float& from, float& to) const {
  if (!known[direction]) {
    const glm::dvec3 d(kDirections[direction]);
    double least = std::numeric_limits<double>::max(), most = -least;
    for (int i = 0; i < box.convex.corner_count; ++i) {
      const double projected = glm::dot(d, box.convex.corners[i]);
      least = std::min(least, projected), most = std::max(most, projected);
    }
    low[direction] = static_cast<float>(least) - box.convex.slack;
    high[direction] = static_cast<float>(most) + box.convex.slack;
    known[direction] = true;
  }
  from = low[direction], to = high[direction];
}

// Makes trees of QuOSPOs. Topology and axes come from the build of the oriented boxes.
template <>
struct TreeBuilder<Quospo> {
  ObbScratch scratch;
  ObbTree boxes;

  void build(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
             VolumeTree<Quospo>& tree) {
    build_obb_tree(positions, faces, params, scratch, boxes);
    static_cast<TreeTopology&>(tree) = boxes;
    tree.nodes.resize(boxes.nodes.size());
    std::transform(boxes.nodes.begin(), boxes.nodes.end(), tree.nodes.begin(), quantised);
  }
  void release() { scratch = {}, boxes = {}; }
  std::size_t memory_bytes() const {
    return trocar::memory_bytes(scratch) + trocar::memory_bytes(boxes) + held_bytes(boxes.nodes);
  }
};

std::unique_ptr<SurfaceTree> make_quospo_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<Quospo>>(std::move(name), plan);
}

}  // namespace trocar
