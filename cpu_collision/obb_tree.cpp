#include "cpu_collision/obb_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "cpu_collision/obb_eigen.hpp"

namespace trocar {
namespace {

// From this depth on faces are halved by number: no mesh, however uneven, makes a tree deeper than this + 32.
constexpr int kDeepestMeanSplit = 48;
// Every face counts a little, so that a patch of points and needles still has a mean.
constexpr float kLeastWeight = 1e-6f;  // of the squared size of the mesh, shared by all faces
// Rounding of axes and of sums in float, as a part of the largest coordinate; boxes grow by it to contain their
// vertices.
constexpr float kBoxRounding = 1e-6f;

const Mask4 kFirstThree{-1, -1, -1, 0};

Lanes4 first_three(Lanes4 v) { return std::bit_cast<Lanes4>(std::bit_cast<Mask4>(v) & kFirstThree); }

struct Bounds {
  Lanes4 low = lanes(std::numeric_limits<float>::max()), high = lanes(std::numeric_limits<float>::lowest());

  void add(Lanes4 p) {
    low = min(low, p);
    high = max(high, p);
  }
};

Bounds bounds_of(std::span<const Lanes4> positions) {
  Bounds bounds;
  for (const Lanes4 p : positions) bounds.add(p);
  return bounds;
}

// ---- build: moments, axes, split ----

Lanes4 cross(Lanes4 a, Lanes4 b) {
  const Lanes4 t = a * __builtin_shufflevector(b, b, 1, 2, 0, 3) - __builtin_shufflevector(a, a, 1, 2, 0, 3) * b;
  return __builtin_shufflevector(t, t, 1, 2, 0, 3);
}

// Moments of the uniform triangle: area / 12 * (9 m m' + p p' + q q' + r r'), m its centroid.
FaceMoments moments_of(Lanes4 p, Lanes4 q, Lanes4 r, float least_weight, std::uint32_t face) {
  const auto mixed = [](Lanes4 v) {
    return __builtin_shufflevector(v, v, 0, 0, 1, 3) * __builtin_shufflevector(v, v, 1, 2, 2, 3);
  };
  const Lanes4 normal = cross(q - p, r - p), s = p + q + r;
  const float weight = 0.5f * std::sqrt(sum(normal * normal)) + least_weight;
  const Lanes4 twelfth = lanes(weight / 12.f);
  FaceMoments m;
  const Lanes4 first = s * lanes(weight / 3.f);
  m.first = Lanes4{weight, first[0], first[1], first[2]};
  m.square = twelfth * (s * s + p * p + q * q + r * r);
  m.mixed = twelfth * (mixed(s) + mixed(p) + mixed(q) + mixed(r));
  m.mixed[3] = std::bit_cast<float>(face);
  return m;
}

void gather_moments(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces,
                    std::vector<FaceMoments>& moments) {
  const Bounds bounds = bounds_of(positions);
  const Lanes4 size = bounds.high - bounds.low, middle = 0.5f * (bounds.low + bounds.high);
  const float share = kLeastWeight * sum(size * size) / static_cast<float>(faces.size());
  const float least_weight = share > 0.f ? share : 1.f;
  moments.resize(faces.size());
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    const glm::uvec3& v = faces[f];
    moments[f] = moments_of(positions[v.x] - middle, positions[v.y] - middle, positions[v.z] - middle, least_weight, f);
  }
}

struct Moments {
  Lanes4 first, square, mixed;
};

Moments sum_moments(std::span<const FaceMoments> faces) {
  Moments sum{};
  for (const FaceMoments& face : faces) {
    sum.first += face.first;
    sum.square += face.square;
    sum.mixed += first_three(face.mixed);  // a face number read as a float may be denormal, and slow
  }
  return sum;
}

SymmetricMatrix3 covariance(const Moments& m) {
  const float unit = 1.f / m.first[0];
  const glm::vec3 mean = glm::vec3(m.first[1], m.first[2], m.first[3]) * unit;
  return {m.square[0] * unit - mean.x * mean.x, m.square[1] * unit - mean.y * mean.y,
          m.square[2] * unit - mean.z * mean.z, m.mixed[0] * unit - mean.x * mean.y,
          m.mixed[1] * unit - mean.x * mean.z,  m.mixed[2] * unit - mean.y * mean.z};
}

// Faces whose centroid lies on the low side of the mean along the axis come first. Returns how many. Every face is
// written to both sides and counted on one: no branch to mispredict.
std::uint32_t partition_at_mean(std::span<FaceMoments> faces, std::span<FaceMoments> aside, const Moments& total,
                                const glm::vec3& axis) {
  const Lanes4 direction{0.f, axis.x, axis.y, axis.z};
  const float mean = sum(direction * total.first) / total.first[0];
  const Lanes4 key{-mean, axis.x, axis.y, axis.z};
  std::uint32_t low = 0, high = 0;
  for (std::uint32_t i = 0; i < faces.size(); ++i) {
    const FaceMoments face = faces[i];
    const std::uint32_t is_high = sum(key * face.first) > 0.f;
    faces[low] = face;
    aside[high] = face;
    low += 1 - is_high;
    high += is_high;
  }
  std::copy_n(aside.begin(), high, faces.begin() + low);
  return low;
}

struct Pending {
  IndexRange slots;
  int depth;
};

// Splits until leaves remain, left subtree first: nodes come out in preorder.
void split_faces(ObbScratch& scratch, ObbTree& tree) {
  std::array<Pending, kDeepestMeanSplit + 40> stack;
  int waiting = 0;
  stack[waiting++] = {{0, static_cast<std::uint32_t>(scratch.moments.size())}, 0};
  while (waiting > 0) {
    const auto [slots, depth] = stack[--waiting];
    const std::span<FaceMoments> faces = std::span(scratch.moments).subspan(slots.first, slots.count);
    const Moments total = sum_moments(faces);
    const PrincipalAxes axes = principal_axes(covariance(total));
    tree.nodes.push_back(with_axes(axes.axis[0], axes.axis[1], axes.axis[2]));
    tree.slots.push_back(slots);
    if (slots.count <= kLeafFaces) continue;
    std::uint32_t low = depth < kDeepestMeanSplit ? partition_at_mean(faces, scratch.aside, total, axes.axis[0]) : 0;
    if (low == 0 || low == slots.count) low = slots.count / 2;
    stack[waiting++] = {{slots.first + low, slots.count - low}, depth + 1};
    stack[waiting++] = {{slots.first, low}, depth + 1};
  }
}

void link_nodes(ObbTree& tree) {
  const std::uint32_t count = static_cast<std::uint32_t>(tree.nodes.size());
  tree.skip.resize(count);
  for (std::uint32_t i = count; i-- > 0;) {
    tree.skip[i] = tree.slots[i].count <= kLeafFaces ? i + 1 : tree.skip[tree.skip[i + 1]];
  }
}

void list_vertices(std::span<const glm::uvec3> faces, bool share, ObbTree& tree) {
  tree.vertices.clear();
  tree.leaf_vertices.assign(tree.nodes.size(), {});
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    if (!tree.is_leaf(i)) continue;
    const std::uint32_t first = static_cast<std::uint32_t>(tree.vertices.size());
    for (std::uint32_t slot = tree.slots[i].first; slot < tree.slots[i].first + tree.slots[i].count; ++slot) {
      const glm::uvec3& face = faces[tree.face_of_slot[slot]];
      for (int k = 0; k < 3; ++k) {
        if (share && std::find(tree.vertices.begin() + first, tree.vertices.end(), face[k]) != tree.vertices.end())
          continue;
        tree.vertices.push_back(face[k]);
      }
    }
    tree.leaf_vertices[i] = {first, static_cast<std::uint32_t>(tree.vertices.size()) - first};
  }
}

// ---- fit ----

// Half shadow of a box on each axis of `frame`, by lane.
Lanes4 half_shadow(const ObbNode& frame, const ObbNode& box) {
  const Lanes4 x = box.axis_x * box.extent, y = box.axis_y * box.extent, z = box.axis_z * box.extent;
  const Lanes4 a = frame.axis_x * splat<0>(x) + frame.axis_y * splat<0>(y) + frame.axis_z * splat<0>(z);
  const Lanes4 b = frame.axis_x * splat<1>(x) + frame.axis_y * splat<1>(y) + frame.axis_z * splat<1>(z);
  const Lanes4 c = frame.axis_x * splat<2>(x) + frame.axis_y * splat<2>(y) + frame.axis_z * splat<2>(z);
  return abs(a) + abs(b) + abs(c);
}

Lanes4 along_axes(const ObbNode& frame, Lanes4 point) {
  return dot_rows(frame.axis_x, frame.axis_y, frame.axis_z, point);
}

void set_box(ObbNode& node, const Bounds& shadow, Lanes4 rounding) {
  const Lanes4 middle = 0.5f * (shadow.low + shadow.high);
  node.extent = first_three(0.5f * (shadow.high - shadow.low) + rounding);
  node.centre = Lanes4{sum(middle * node.axis_x), sum(middle * node.axis_y), sum(middle * node.axis_z), 0.f};
}

}  // namespace

void build_obb_tree(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, bool share_vertices,
                    ObbScratch& scratch, ObbTree& tree) {
  tree.nodes.clear();
  tree.slots.clear();
  if (!faces.empty()) {
    gather_moments(positions, faces, scratch.moments);
    scratch.aside.resize(faces.size());
    split_faces(scratch, tree);
  }
  link_nodes(tree);
  tree.face_of_slot.resize(faces.size());
  for (std::uint32_t slot = 0; slot < faces.size(); ++slot) {
    tree.face_of_slot[slot] = std::bit_cast<std::uint32_t>(scratch.moments[slot].mixed[3]);
  }
  list_vertices(faces, share_vertices, tree);
}

void fit_obb_tree(std::span<const Lanes4> positions, ObbTree& tree) {
  const Bounds all = bounds_of(positions);
  const Lanes4 reach = max(abs(all.low), abs(all.high));
  const Lanes4 rounding = lanes(kBoxRounding * std::max({reach[0], reach[1], reach[2]}));
  for (std::uint32_t i = static_cast<std::uint32_t>(tree.nodes.size()); i-- > 0;) {
    ObbNode& node = tree.nodes[i];
    Bounds shadow;
    if (tree.is_leaf(i)) {
      const IndexRange range = tree.leaf_vertices[i];
      for (std::uint32_t k = range.first; k < range.first + range.count; ++k) {
        shadow.add(along_axes(node, positions[tree.vertices[k]]));
      }
    } else {
      for (const std::uint32_t child : {i + 1, tree.skip[i + 1]}) {
        const Lanes4 middle = along_axes(node, tree.nodes[child].centre), half = half_shadow(node, tree.nodes[child]);
        shadow.add(middle - half);
        shadow.add(middle + half);
      }
    }
    set_box(node, shadow, rounding);
  }
}

}  // namespace trocar
