// Trees of oriented boxes: principal axes, build, queries.
#include "cpu_collision/trees/obb.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "cpu_collision/trees/tree_query.hpp"
#include "geometry/face_numbers.hpp"

namespace trocar {
namespace {

// Below this part of the trace the matrix is a multiple of the identity, within float precision.
constexpr float kRound = 1e-7f;

Lanes4 select(Mask4 condition, Lanes4 yes, Lanes4 no) { return condition ? yes : no; }

Vectors select(Mask4 condition, const Vectors& yes, const Vectors& no) {
  return {select(condition, yes.x, no.x), select(condition, yes.y, no.y), select(condition, yes.z, no.z)};
}

Lanes4 dot(const Vectors& u, const Vectors& v) { return u.x * v.x + u.y * v.y + u.z * v.z; }

Vectors cross(const Vectors& u, const Vectors& v) {
  return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}

Vectors operator*(Lanes4 scale, const Vectors& v) { return {scale * v.x, scale * v.y, scale * v.z}; }
Vectors operator+(const Vectors& u, const Vectors& v) { return {u.x + v.x, u.y + v.y, u.z + v.z}; }

Vectors times(const SymmetricMatrices& m, const Vectors& v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}

SymmetricMatrices scaled(const SymmetricMatrices& m, Lanes4 scale) {
  return {m.xx * scale, m.yy * scale, m.zz * scale, m.xy * scale, m.xz * scale, m.yz * scale};
}

SymmetricMatrices shifted(const SymmetricMatrices& m, Lanes4 shift) {
  return {m.xx - shift, m.yy - shift, m.zz - shift, m.xy, m.xz, m.yz};
}

Lanes4 largest_element(const SymmetricMatrices& m) {
  return max(max(max(abs(m.xx), abs(m.yy)), max(abs(m.zz), abs(m.xy))), max(abs(m.xz), abs(m.yz)));
}

Lanes4 determinant(const SymmetricMatrices& m) {
  return m.xx * (m.yy * m.zz - m.yz * m.yz) - m.xy * (m.xy * m.zz - m.yz * m.xz) + m.xz * (m.xy * m.yz - m.yy * m.xz);
}

// Returns cos(acos(r) / 3) for r in [0, 1]: the largest root of 4 c^3 - 3 c = r, by two Newton steps from its chord.
Lanes4 third_of_angle(Lanes4 r) {
  Lanes4 c = 0.8660254f + 0.1339746f * r;
  for (int step = 0; step < 2; ++step) c -= (c * (4.f * c * c - 3.f) - r) / (12.f * c * c - 3.f);
  return c;
}

// Returns the null direction of a rank-2 matrix: the cross product of two of its rows, from the best-conditioned pair.
Vectors null_direction(const SymmetricMatrices& m) {
  const Vectors x{m.xx, m.xy, m.xz}, y{m.xy, m.yy, m.yz}, z{m.xz, m.yz, m.zz};
  Vectors best = cross(x, y);
  for (const Vectors& other : {cross(y, z), cross(z, x)})
    best = select(dot(other, other) > dot(best, best), other, best);
  return lanes(1.f) / sqrt(dot(best, best)) * best;
}

// Returns a unit vector perpendicular to a unit vector. Source: Duff et al., "Building an Orthonormal Basis,
// Revisited", JCGT 2017.
Vectors across(const Vectors& n) {
  const Lanes4 sign = with_sign_of(lanes(1.f), n.z), a = -1.f / (sign + n.z);
  return {1.f + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x};
}

// Returns the direction of the larger eigenvalue within the plane of u and v.
Vectors larger_in_plane(const SymmetricMatrices& m, const Vectors& u, const Vectors& v) {
  const Vectors mu = times(m, u), mv = times(m, v);
  const Lanes4 d = dot(u, mu) - dot(v, mv), b = 2.f * dot(u, mv), h = sqrt(d * d + b * b);
  const Lanes4 large = sqrt(0.5f + 0.5f * abs(d) / h), small = 0.5f * b / (h * large);
  const Lanes4 on_u = select(d >= 0.f, large, abs(small)), on_v = select(d >= 0.f, small, with_sign_of(large, b));
  // For two equal eigenvalues any direction is valid, and the squared residuals may be denormal.
  return select(h > kRound, on_u * u + on_v * v, u);
}

}  // namespace

PrincipalAxes principal_axes(const SymmetricMatrices& matrices) {
  // The matrices are scaled so that their eigenvalues are 2 cos(angle), 2 cos(angle +- 120 degrees): their sum is 0,
  // the sum of their squares 6.
  const Lanes4 mean = (matrices.xx + matrices.yy + matrices.zz) / 3.f;
  SymmetricMatrices m = shifted(matrices, mean);
  // The mean is rounded, so the trace of the remainder is not exactly 0. For three nearly equal values the remainder
  // may consist of rounding errors only; its trace is therefore made 0 as well.
  m = shifted(m, (m.xx + m.yy + m.zz) / 3.f);
  const Lanes4 largest = largest_element(m);
  const Mask4 has_axes = largest > kRound * abs(mean);
  m = scaled(m, 1.f / largest);
  const Lanes4 squares = m.xx * m.xx + m.yy * m.yy + m.zz * m.zz + 2.f * (m.xy * m.xy + m.xz * m.xz + m.yz * m.yz);
  m = scaled(m, sqrt(6.f / squares));

  // The code starts with the eigenvalue farthest from the other two: the largest when the determinant is positive, else
  // the smallest.
  const Lanes4 r = 0.5f * determinant(m);
  const Lanes4 apart = with_sign_of(2.f * third_of_angle(min(lanes(1.f), abs(r))), r);
  const Vectors alone = null_direction(shifted(m, apart)), u = across(alone);
  const Vectors larger = larger_in_plane(m, u, cross(alone, u)), other = cross(alone, larger);
  const Mask4 alone_first = apart > 0.f;
  const Lanes4 one = lanes(1.f), zero = lanes(0.f);
  return {select(has_axes, select(alone_first, alone, larger), {one, zero, zero}),
          select(has_axes, select(alone_first, larger, other), {zero, one, zero}),
          select(has_axes, select(alone_first, other, alone), {zero, zero, one})};
}

namespace {

// From this depth on faces are halved by index: no mesh, however uneven, makes a tree deeper than this + 32.
constexpr int kDeepestMeanSplit = 48;
// Every face has a minimum weight, so that a patch of degenerate faces still has a mean.
constexpr float kLeastWeight = 1e-6f;  // of the squared size of the mesh, shared by all faces

Lanes4 cross(Lanes4 a, Lanes4 b) {
  const Lanes4 t = a * __builtin_shufflevector(b, b, 1, 2, 0, 3) - __builtin_shufflevector(a, a, 1, 2, 0, 3) * b;
  return __builtin_shufflevector(t, t, 1, 2, 0, 3);
}

// Returns the moments of the uniform triangle: area / 12 * (9 m m' + p p' + q q' + r r'), m its centroid.
FaceMoments moments_of(Lanes4 p, Lanes4 q, Lanes4 r, float least_weight, std::uint32_t face) {
  const auto mixed = [](Lanes4 v) {
    return __builtin_shufflevector(v, v, 0, 0, 1, 3) * __builtin_shufflevector(v, v, 1, 2, 2, 3);
  };
  const Lanes4 normal = cross(q - p, r - p), s = p + q + r;
  const float weight = 0.5f * std::sqrt(sum(normal * normal)) + least_weight;
  const Lanes4 twelfth = lanes(weight / 12.f);
  const Lanes4 first = s * lanes(weight / 3.f);  // lane 3 is 0
  FaceMoments m;
  m.first = __builtin_shufflevector(first, first, 3, 0, 1, 2) + Lanes4{weight, 0.f, 0.f, 0.f};
  m.square = twelfth * (s * s + p * p + q * q + r * r);
  m.mixed = twelfth * (mixed(s) + mixed(p) + mixed(q) + mixed(r));
  m.mixed[3] = std::bit_cast<float>(face);
  return m;
}

void gather_moments(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces,
                    std::vector<FaceMoments>& moments) {
  Lanes4 low = positions[0], high = low;
  for (const Lanes4 p : positions) low = min(low, p), high = max(high, p);
  const Lanes4 size = high - low, middle = 0.5f * (low + high);
  const float share = kLeastWeight * sum(size * size) / static_cast<float>(faces.size());
  const float least_weight = share > 0.f ? share : 1.f;
  moments.resize(faces.size());
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    const glm::uvec3& v = faces[f];
    moments[f] = moments_of(positions[v.x] - middle, positions[v.y] - middle, positions[v.z] - middle, least_weight, f);
  }
}

// ---- split ----

struct Moments {
  Lanes4 first, square, mixed;  // as in FaceMoments
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

// Covariances of four sets of faces about their means.
SymmetricMatrices covariances(std::array<Moments, 4> m) {
  transpose(m[0].first, m[1].first, m[2].first, m[3].first);
  transpose(m[0].square, m[1].square, m[2].square, m[3].square);
  transpose(m[0].mixed, m[1].mixed, m[2].mixed, m[3].mixed);
  const Lanes4 unit = 1.f / m[0].first;
  const Lanes4 x = m[1].first * unit, y = m[2].first * unit, z = m[3].first * unit;
  return {m[0].square * unit - x * x, m[1].square * unit - y * y, m[2].square * unit - z * z,
          m[0].mixed * unit - x * y,  m[1].mixed * unit - x * z,  m[2].mixed * unit - y * z};
}

// Four boxes' axes, by coordinate: axes[coordinate][box], lane k its axis k.
using AxesOfFour = std::array<std::array<Lanes4, 4>, 3>;

AxesOfFour by_box(const PrincipalAxes& axes) {
  const Lanes4 zero{};
  AxesOfFour rows{{{axes.a.x, axes.b.x, axes.c.x, zero},
                   {axes.a.y, axes.b.y, axes.c.y, zero},
                   {axes.a.z, axes.b.z, axes.c.z, zero}}};
  for (auto& [a, b, c, d] : rows) transpose(a, b, c, d);
  return rows;
}

// Faces whose centroid lies on the low side of the mean along the axis come first. Returns their number. Every face is
// written to both sides and counted on one: no branch to mispredict.
std::uint32_t partition_at_mean(std::span<FaceMoments> faces, std::span<FaceMoments> aside, const Moments& total,
                                const SplitNode& node) {
  const Lanes4 direction{0.f, node.axis_x[0], node.axis_y[0], node.axis_z[0]};
  const float mean = sum(direction * total.first) / total.first[0];
  const Lanes4 key{-mean, direction[1], direction[2], direction[3]};
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

// Creates two children for a node with too many faces.
void split_node(std::uint32_t index, int depth, const Moments& total, std::uint32_t leaf_faces, ObbScratch& scratch) {
  SplitNode& node = scratch.split[index];
  const IndexRange slots = node.slots;
  if (slots.count <= leaf_faces) return;
  const std::span<FaceMoments> faces = std::span(scratch.moments).subspan(slots.first, slots.count);
  std::uint32_t low = depth < kDeepestMeanSplit ? partition_at_mean(faces, scratch.aside, total, node) : 0;
  if (low == 0 || low == slots.count) low = slots.count / 2;
  const std::uint32_t left = static_cast<std::uint32_t>(scratch.split.size());
  node.left = left;
  scratch.split.push_back({.slots = {slots.first, low}});
  scratch.split.push_back({.slots = {slots.first + low, slots.count - low}});
  scratch.waiting.push_back({left + 1, depth + 1});
  scratch.waiting.push_back({left, depth + 1});
}

// Splits down to the leaves, depth first, four nodes at a time: four sets of axes cost little more than one.
void split_faces(std::uint32_t leaf_faces, ObbScratch& scratch) {
  scratch.split.clear();
  scratch.split.push_back({.slots = {0, static_cast<std::uint32_t>(scratch.moments.size())}});
  scratch.waiting.assign(1, {.node = 0});
  while (!scratch.waiting.empty()) {
    const std::size_t count = std::min<std::size_t>(4, scratch.waiting.size());
    std::array<WaitingNode, 4> group{};
    std::array<Moments, 4> totals{};
    for (std::size_t k = 0; k < count; ++k) {
      group[k] = scratch.waiting.back();
      scratch.waiting.pop_back();
      const IndexRange slots = scratch.split[group[k].node].slots;
      totals[k] = sum_moments(std::span(scratch.moments).subspan(slots.first, slots.count));
    }
    const AxesOfFour axes = by_box(principal_axes(covariances(totals)));
    for (std::size_t k = 0; k < count; ++k) {
      SplitNode& node = scratch.split[group[k].node];
      node.axis_x = axes[0][k], node.axis_y = axes[1][k], node.axis_z = axes[2][k];
      split_node(group[k].node, group[k].depth, totals[k], leaf_faces, scratch);
    }
  }
}

// ---- the finished tree ----

void number_nodes(ObbScratch& scratch, ObbTree& tree) {
  scratch.waiting.assign(1, {.node = 0});
  while (!scratch.waiting.empty()) {
    const SplitNode& node = scratch.split[scratch.waiting.back().node];
    scratch.waiting.pop_back();
    tree.nodes.push_back({node.axis_x, node.axis_y, node.axis_z, Lanes4{}, Lanes4{}});
    tree.slots.push_back(node.slots);
    tree.own.push_back(node.left == 0 ? node.slots.count : 0);
    if (node.left == 0) continue;
    scratch.waiting.push_back({.node = node.left + 1});
    scratch.waiting.push_back({.node = node.left});
  }
}

}  // namespace

std::size_t memory_bytes(const ObbScratch& scratch) {
  return held_bytes(scratch.moments, scratch.aside, scratch.split, scratch.waiting);
}

void build_obb_tree(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
                    ObbScratch& scratch, ObbTree& tree) {
  tree.nodes.clear();
  tree.slots.clear();
  tree.own.clear();
  if (!faces.empty()) {
    gather_moments(positions, faces, scratch.moments);
    scratch.aside.resize(faces.size());
    split_faces(params.leaf_faces, scratch);
    number_nodes(scratch, tree);
  }
  link_nodes(tree);
  tree.face_of_slot.resize(faces.size());
  for (std::uint32_t slot = 0; slot < faces.size(); ++slot) {
    tree.face_of_slot[slot] = std::bit_cast<std::uint32_t>(scratch.moments[slot].mixed[3]);
  }
  list_vertices(faces, params.share_vertices, tree);
}

template <>
struct TreeBuilder<ObbNode> {
  ObbScratch scratch;

  void build(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
             ObbTree& tree) {
    build_obb_tree(positions, faces, params, scratch, tree);
  }
  void release() { scratch = {}; }
  std::size_t memory_bytes() const { return trocar::memory_bytes(scratch); }
};

std::unique_ptr<SurfaceTree> make_obb_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<ObbNode>>(std::move(name), plan);
}

}  // namespace trocar
