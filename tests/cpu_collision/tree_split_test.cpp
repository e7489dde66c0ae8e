// Tests that every inner node of a tree is split by its rule: a tree that is split elsewhere answers correctly and
// costs time. The twins compute centres as the build does, and means and covariances in double. Also tests the
// positions that the trees read.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "cpu_collision/trees/obb.hpp"
#include "cpu_collision/trees/volume_tree.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using glm::vec3;

constexpr std::uint32_t kSeed = 90;
constexpr int kDeepest = 48;  // from this depth on, faces are halved by index

struct FaceBox {
  vec3 low, high, centre;
};

FaceBox box_of_face(const TriangleMesh& mesh, std::uint32_t face) {
  const glm::uvec3& f = mesh.faces[face];
  const vec3 &a = mesh.positions[f.x], &b = mesh.positions[f.y], &c = mesh.positions[f.z];
  const vec3 low = glm::min(glm::min(a, b), c), high = glm::max(glm::max(a, b), c);
  return {low, high, 0.5f * (low + high)};
}

int longest_axis(const vec3& size) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (size[k] > size[axis]) axis = k;
  return axis;
}

// Visits the nodes of a tree with their depth and, for the octree, their cell.
class SplitCheck {
 public:
  SplitCheck(const TriangleMesh& mesh, const SplitParams& params, const TreeTopology& tree)
      : mesh_(mesh), params_(params), tree_(tree) {}

  void check_all() {
    if (tree_.node_count() == 0) return;
    vec3 low(3e38f), high(-3e38f);
    for (const vec3& p : mesh_.positions) low = glm::min(low, p), high = glm::max(high, p);
    check(0, 0, low, high);
  }
  std::size_t halved = 0;  // nodes without a mean that separates
  int deepest = 0;

 private:
  std::vector<FaceBox> boxes_of(std::uint32_t first, std::uint32_t count) const {
    std::vector<FaceBox> boxes;
    for (std::uint32_t slot = first; slot < first + count; ++slot)
      boxes.push_back(box_of_face(mesh_, tree_.face_of_slot[slot]));
    return boxes;
  }
  std::vector<FaceBox> boxes_of(std::uint32_t node) const {
    return boxes_of(tree_.slots[node].first, tree_.slots[node].count);
  }
  std::vector<std::uint32_t> children_of(std::uint32_t node) const {
    std::vector<std::uint32_t> children;
    for (std::uint32_t c = node + 1; c != tree_.skip[node]; c = tree_.skip[c]) children.push_back(c);
    return children;
  }

  void check(std::uint32_t node, int depth, const vec3& low, const vec3& high) {
    SCOPED_TRACE(testing::Message() << "node " << node << ", depth " << depth);
    deepest = std::max(deepest, depth);
    const std::uint32_t count = tree_.slots[node].count;
    if (tree_.is_leaf(node) && count > params_.leaf_faces) {
      // Only a rule that keeps straddling faces may leave more.
      ASSERT_EQ(params_.rule, SplitRule::Middle);
    }
    if (count <= params_.leaf_faces) {
      ASSERT_TRUE(tree_.is_leaf(node));
      return;
    }
    if (depth >= kDeepest) {
      ASSERT_NO_FATAL_FAILURE(expect_halves(node));
      for (const std::uint32_t child : children_of(node)) check(child, depth + 1, low, high);
      return;
    }
    switch (params_.rule) {
      case SplitRule::Mean:
        ASSERT_NO_FATAL_FAILURE(check_mean(node));
        break;
      case SplitRule::Median:
        ASSERT_NO_FATAL_FAILURE(check_median(node));
        break;
      case SplitRule::Middle:
        ASSERT_NO_FATAL_FAILURE(check_middle(node, depth));
        break;
      default:
        ASSERT_NO_FATAL_FAILURE(check_octants(node, depth, low, high));
        return;
    }
    for (const std::uint32_t child : children_of(node)) check(child, depth + 1, low, high);
  }

  void expect_halves(std::uint32_t node) {
    const auto children = children_of(node);
    ASSERT_EQ(children.size(), 2u);
    ASSERT_EQ(tree_.slots[children[0]].count, tree_.slots[node].count / 2);
    ASSERT_EQ(tree_.own[node], 0u);
  }

  int axis_of(const std::vector<FaceBox>& boxes) const {
    vec3 low(3e38f), high(-3e38f);
    for (const FaceBox& box : boxes) low = glm::min(low, box.centre), high = glm::max(high, box.centre);
    return longest_axis(high - low);
  }

  void check_mean(std::uint32_t node) {
    const std::vector<FaceBox> boxes = boxes_of(node);
    const int axis = axis_of(boxes);
    double mean = 0.0, size = 0.0;
    for (const FaceBox& box : boxes) mean += box.centre[axis] / double(boxes.size());
    for (const FaceBox& box : boxes) size = std::max(size, std::abs(double(box.centre[axis])));
    const double rounding = 1e-6 * size;
    const auto high = [&](const FaceBox& box) { return box.centre[axis] > mean + rounding; };
    const auto low = [&](const FaceBox& box) { return box.centre[axis] < mean - rounding; };
    if (std::none_of(boxes.begin(), boxes.end(), high) || std::none_of(boxes.begin(), boxes.end(), low)) {
      ++halved;
      return;  // within rounding of one point: halves, or any split by the rounded mean
    }
    const auto children = children_of(node);
    ASSERT_EQ(children.size(), 2u);
    const auto first = boxes_of(children[0]), second = boxes_of(children[1]);
    ASSERT_TRUE(std::none_of(first.begin(), first.end(), high));
    ASSERT_TRUE(std::none_of(second.begin(), second.end(), low));
    ASSERT_EQ(tree_.own[node], 0u);
  }

  void check_median(std::uint32_t node) {
    ASSERT_NO_FATAL_FAILURE(expect_halves(node));
    const int axis = axis_of(boxes_of(node));
    const auto children = children_of(node);
    float highest = -3e38f, lowest = 3e38f;
    for (const FaceBox& box : boxes_of(children[0])) highest = std::max(highest, box.centre[axis]);
    for (const FaceBox& box : boxes_of(children[1])) lowest = std::min(lowest, box.centre[axis]);
    ASSERT_LE(highest, lowest);
  }

  void check_middle(std::uint32_t node, int depth) {
    const int axis = depth % 3;
    float low = 3e38f, high = -3e38f;
    for (const FaceBox& box : boxes_of(node)) low = std::min(low, box.low[axis]), high = std::max(high, box.high[axis]);
    const float at = 0.5f * (low + high);
    std::size_t straddling = 0, below = 0, above = 0;
    for (const FaceBox& box : boxes_of(node)) ++(box.high[axis] < at ? below : box.low[axis] > at ? above : straddling);
    ASSERT_EQ(tree_.own[node], straddling);
    for (const FaceBox& box : boxes_of(tree_.slots[node].first, tree_.own[node]))
      ASSERT_TRUE(box.low[axis] <= at && box.high[axis] >= at);
    const auto children = children_of(node);
    ASSERT_EQ(children.size(), std::size_t(below > 0) + std::size_t(above > 0));
    for (const std::uint32_t child : children) {
      const bool is_low = child == children.front() && below > 0;
      ASSERT_EQ(tree_.slots[child].count, is_low ? below : above);
      for (const FaceBox& box : boxes_of(child)) ASSERT_TRUE(is_low ? box.high[axis] < at : box.low[axis] > at);
    }
  }

  void check_octants(std::uint32_t node, int depth, const vec3& low, const vec3& high) {
    const vec3 centre = 0.5f * (low + high);
    const auto octant_of = [&](const FaceBox& box) {
      return (box.centre.x > centre.x ? 1 : 0) + (box.centre.y > centre.y ? 2 : 0) + (box.centre.z > centre.z ? 4 : 0);
    };
    std::size_t counts[8] = {};
    for (const FaceBox& box : boxes_of(node)) ++counts[octant_of(box)];
    const auto children = children_of(node);
    ASSERT_EQ(children.size(), static_cast<std::size_t>(8 - std::count(counts, counts + 8, std::size_t{0})));
    int before = -1;
    for (const std::uint32_t child : children) {
      const auto boxes = boxes_of(child);
      const int octant = octant_of(boxes.front());
      ASSERT_GT(octant, before);
      ASSERT_EQ(boxes.size(), counts[octant]);
      for (const FaceBox& box : boxes) ASSERT_EQ(octant_of(box), octant);
      before = octant;
      vec3 child_low = low, child_high = centre;
      for (int axis = 0; axis < 3; ++axis)
        if (octant >> axis & 1) child_low[axis] = centre[axis], child_high[axis] = high[axis];
      check(child, depth + 1, child_low, child_high);
    }
  }

  const TriangleMesh& mesh_;
  const SplitParams& params_;
  const TreeTopology& tree_;
};

// Faces that a split at the mean separates one at a time: each is smaller than the mean of those that remain.
TriangleMesh shrinking(std::uint32_t faces) {
  TriangleMesh mesh;
  float size = 1e35f;
  for (std::uint32_t f = 0; f < faces; ++f, size *= 0.9f / float(faces - f)) {
    for (const vec3 corner : {vec3(0, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0)})
      mesh.positions.push_back(size * (corner + vec3(1, 0.3, 0.2)));
    mesh.faces.push_back({3 * f, 3 * f + 1, 3 * f + 2});
  }
  return mesh;
}

std::vector<Lanes4> in_lanes(const TriangleMesh& mesh) {
  std::vector<Lanes4> result;
  for (const vec3& p : mesh.positions) result.push_back(lanes(p));
  return result;
}

std::vector<TriangleMesh> meshes() {
  TriangleMesh stretched = shapes::random_soup(kSeed, 700);
  for (vec3& p : stretched.positions) p = vec3(p.z, 0.4f * p.x + 0.3f, 2.f * p.y);
  return {shapes::icosphere(3), shapes::grid(31, 17), shapes::torus(40, 20), stretched, shrinking(52)};
}

TEST(TreeSplit, EveryNodeIsSplitByItsRule) {
  for (const SplitRule rule : {SplitRule::Mean, SplitRule::Median, SplitRule::Middle, SplitRule::Octree}) {
    for (const std::uint32_t leaf_faces : {1u, 7u}) {
      int deepest = 0;
      for (const TriangleMesh& mesh : meshes()) {
        SCOPED_TRACE(testing::Message() << "rule " << int(rule) << ", " << mesh.faces.size() << " faces");
        SplitScratch scratch;
        TreeTopology tree;
        const SplitParams params{rule, leaf_faces, false};
        build_topology(in_lanes(mesh), mesh.faces, params, scratch, tree);
        SplitCheck check(mesh, params, tree);
        ASSERT_NO_FATAL_FAILURE(check.check_all());
        EXPECT_LE(check.halved, mesh.faces.size() / 2);
        deepest = std::max(deepest, check.deepest);
      }
      if (rule == SplitRule::Mean && leaf_faces == 1) {
        EXPECT_GE(deepest, kDeepest);
      }
    }
  }
}

// Faces with one centre are halved by index: the tree stays balanced.
TEST(TreeSplit, CoincidentFacesAreHalved) {
  TriangleMesh mesh{{{0.1f, 0.2f, 0.3f}, {0.2f, 0.2f, 0.3f}, {0.1f, 0.3f, 0.3f}}, {}};
  mesh.faces.assign(64, {0, 1, 2});
  SplitScratch scratch;
  TreeTopology tree;
  build_topology(in_lanes(mesh), mesh.faces, {SplitRule::Mean, 1, false}, scratch, tree);
  ASSERT_EQ(tree.node_count(), 127u);
  EXPECT_EQ(tree.slots[1].count, 32u);
  EXPECT_EQ(tree.slots[2].count, 16u);
}

// ---- oriented boxes ----

struct Spread {
  dvec3 mean{0.0};
  Eigen::Matrix3d covariance = Eigen::Matrix3d::Zero();
  double size = 0.0;  // m  largest coordinate
};

// Least weight of a face: this part of the squared size of the mesh, shared by all faces.
constexpr double kLeastWeight = 1e-6;

double weight_of(const TriangleMesh& mesh, std::uint32_t face, double least) {
  const Triangle t = triangle_of(mesh.positions, mesh.faces[face]);
  return 0.5 * glm::length(glm::cross(t.b - t.a, t.c - t.a)) + least;
}

double least_weight(const TriangleMesh& mesh) {
  dvec3 low(1e30), high(-1e30);
  for (const vec3& p : mesh.positions) low = glm::min(low, dvec3(p)), high = glm::max(high, dvec3(p));
  return kLeastWeight * glm::dot(high - low, high - low) / double(mesh.faces.size());
}

// Returns mean and covariance of the surface.
Spread spread_of(const TriangleMesh& mesh, std::span<const std::uint32_t> faces) {
  const double least = least_weight(mesh);
  Spread spread;
  double total = 0.0;
  for (const std::uint32_t face : faces) {
    const Triangle t = triangle_of(mesh.positions, mesh.faces[face]);
    const double weight = weight_of(mesh, face, least);
    spread.mean += weight * (t.a + t.b + t.c) / 3.0;
    total += weight;
  }
  spread.mean /= total;
  for (const std::uint32_t face : faces) {
    const Triangle t = triangle_of(mesh.positions, mesh.faces[face]);
    const double weight = weight_of(mesh, face, least) / total;
    // Exact for squares on a triangle: the mean over the midpoints of the sides.
    for (const dvec3& p : {0.5 * (t.a + t.b), 0.5 * (t.b + t.c), 0.5 * (t.c + t.a)}) {
      const Eigen::Vector3d d(p.x - spread.mean.x, p.y - spread.mean.y, p.z - spread.mean.z);
      spread.covariance += weight / 3.0 * d * d.transpose();
      spread.size = std::max(spread.size, d.cwiseAbs().maxCoeff());
    }
  }
  return spread;
}

Eigen::Vector3d axis_of_box(const ObbNode& box, int k) { return {box.axis_x[k], box.axis_y[k], box.axis_z[k]}; }

// The three variances along the box's axes are the eigenvalues; the first child holds the faces below the mean.
void expect_principal_axes(const TriangleMesh& mesh, std::uint32_t leaf_faces) {
  ObbScratch scratch;
  ObbTree tree;
  build_obb_tree(in_lanes(mesh), mesh.faces, {.leaf_faces = leaf_faces}, scratch, tree);
  ASSERT_EQ(tree.nodes.size(), tree.node_count());
  for (std::uint32_t node = 0; node < tree.node_count(); ++node) {
    SCOPED_TRACE(testing::Message() << "node " << node << " of " << mesh.faces.size() << " faces");
    const auto faces_below = [&](std::uint32_t at) {
      return std::span(tree.face_of_slot).subspan(tree.slots[at].first, tree.slots[at].count);
    };
    const Spread spread = spread_of(mesh, faces_below(node));
    const Eigen::Vector3d values = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(spread.covariance).eigenvalues();
    const double rounding = 1e-4 * values[2] + 1e-12;
    for (int k = 0; k < 3; ++k) {
      const Eigen::Vector3d axis = axis_of_box(tree.nodes[node], k);
      ASSERT_NEAR(axis.dot(spread.covariance * axis), values[2 - k], rounding) << "axis " << k;
    }
    if (tree.is_leaf(node)) continue;
    const Eigen::Vector3d first = axis_of_box(tree.nodes[node], 0);
    const auto height = [&](std::uint32_t face) {
      const Triangle t = triangle_of(mesh.positions, mesh.faces[face]);
      const dvec3 middle = (t.a + t.b + t.c) / 3.0 - spread.mean;
      return first.dot(Eigen::Vector3d(middle.x, middle.y, middle.z));
    };
    for (const std::uint32_t face : faces_below(node + 1)) ASSERT_LE(height(face), 1e-5 * spread.size);
    for (const std::uint32_t face : faces_below(tree.skip[node + 1])) ASSERT_GE(height(face), -1e-5 * spread.size);
  }
}

TEST(TreeSplit, OrientedBoxesFollowTheSurface) {
  TriangleMesh soup = shapes::random_soup(kSeed, 300, 0.1f, 0.05f);
  for (vec3& p : soup.positions) p = vec3(3.f * p.x + p.y + 0.5f, p.y - 0.2f * p.z, 0.5f * p.z - 0.3f);
  TriangleMesh ball = shapes::icosphere(3);
  for (vec3& p : ball.positions) p = vec3(2.f * p.x, p.y + 0.3f * p.x, 0.6f * p.z - 0.2f * p.y);
  for (const TriangleMesh& mesh : {soup, ball}) {
    ASSERT_NO_FATAL_FAILURE(expect_principal_axes(mesh, 1));
    ASSERT_NO_FATAL_FAILURE(expect_principal_axes(mesh, 16));
  }
}

// Faces without area have a mean and a spread too: points along a line, and two of them far apart.
TEST(TreeSplit, OrientedBoxesOfFacesWithoutArea) {
  TriangleMesh points;
  for (std::uint32_t k = 0; k < 40; ++k) {
    points.positions.push_back(0.01f * float(k) * vec3(1.f, 2.f, -2.f) +
                               0.002f * float(k * k % 7) * vec3(2.f, 1.f, 2.f));
    points.faces.push_back({k, k, k});
  }
  ASSERT_NO_FATAL_FAILURE(expect_principal_axes(points, 4));
}

// ---- positions ----

TEST(PaddedPositions, ReadsEveryVertex) {
  std::vector<vec3> positions;
  for (int k = 0; k < 9; ++k) positions.emplace_back(float(k), 0.5f * float(k), -float(k));
  PaddedPositions padded(positions);
  for (std::uint32_t v = 0; v < positions.size(); ++v) EXPECT_EQ(xyz(padded[v]), positions[v]);
  EXPECT_EQ(padded.view().size(), 9u);
  padded.assign({});
  EXPECT_EQ(padded.view().size(), 0u);
}

// The largest coordinate is found at every index, on every axis, with both signs; it may be smaller than 1.
TEST(PaddedPositions, FindsTheLargestCoordinate) {
  EXPECT_EQ(reach_of({}), 0.f);
  for (std::size_t count = 1; count <= 9; ++count) {
    for (std::size_t at = 0; at < 3 * count; ++at) {
      std::vector<vec3> positions(count, vec3(0.125f, -0.0625f, 0.1f));
      positions[at / 3][static_cast<int>(at % 3)] = at % 2 ? 0.25f : -0.25f;
      EXPECT_EQ(reach_of(positions), 0.25f) << count << " " << at;
    }
  }
}

}  // namespace
}  // namespace trocar
