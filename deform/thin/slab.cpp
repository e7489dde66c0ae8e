#include "deform/thin/slab.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

using glm::dvec3;
using FaceCorners = std::array<dvec3, 3>;

void find_around(SlabModel& model) {
  model.first.assign(model.nodes() + 1, 0);
  for (const SheetFace& face : model.sheet.faces)
    for (const std::uint32_t node : face.node) ++model.first[node + 1];
  for (std::uint32_t k = 0; k < model.nodes(); ++k) model.first[k + 1] += model.first[k];
  model.around.resize(model.first.back());
  std::vector<std::uint32_t> next(model.first.begin(), model.first.end() - 1);
  for (std::uint32_t f = 0; f < model.sheet.faces.size(); ++f)
    for (const std::uint32_t node : model.sheet.faces[f].node) model.around[next[node]++] = f;
}

// Where the corners of the faces are at rest, after faces were divided and removed.
std::vector<FaceCorners> corners_after(const SheetChange& change, std::vector<FaceCorners> corners) {
  for (const SheetSplit& split : change.splits) {
    const FaceCorners whole = corners[split.face];
    for (std::size_t p = 0; p < 3 && split.part[p] != kNoPoint; ++p) {
      if (split.part[p] >= corners.size()) corners.resize(split.part[p] + std::size_t{1});
      for (int i = 0; i < 3; ++i) {
        const dvec3& w = split.corners[p][static_cast<std::size_t>(i)];
        corners[split.part[p]][static_cast<std::size_t>(i)] = w[0] * whole[0] + w[1] * whole[1] + w[2] * whole[2];
      }
    }
  }
  if (change.face_now.empty()) return corners;
  std::vector<FaceCorners> left;
  for (std::size_t f = 0; f < corners.size(); ++f) {
    const std::uint32_t now = change.face_now[f];
    if (now == kNoPoint) continue;
    if (now >= left.size()) left.resize(now + std::size_t{1});
    left[now] = corners[f];
  }
  return left;
}

// New nodes of a fixed edge move as the fixed node nearest to them.
void follow_fixed(SlabModel& model) {
  for (std::uint32_t node = 0; node < model.nodes(); ++node) {
    const auto at = std::lower_bound(model.fixed.begin(), model.fixed.end(), node,
                                     [](const SlabFixed& fixed, std::uint32_t n) { return fixed.node < n; });
    if (!model.sheet.fixed[node] || (at != model.fixed.end() && at->node == node)) continue;
    const auto nearest = std::min_element(model.fixed.begin(), model.fixed.end(), [&](const auto& a, const auto& b) {
      return glm::distance(model.rest[a.node], model.rest[node]) < glm::distance(model.rest[b.node], model.rest[node]);
    });
    model.fixed.insert(at, {node, nearest != model.fixed.end() && nearest->diaphragm});
  }
}

}  // namespace

SlabModel make_slab(const SheetParams& params, std::span<const dvec3> points,
                    std::span<const std::array<std::uint32_t, 3>> triangles, double half, std::uint32_t room) {
  SlabModel model;
  model.sheet = make_sheet(params, points, triangles);
  model.half = half;
  model.room = std::max(room, static_cast<std::uint32_t>(points.size()));
  model.rest.assign(points.begin(), points.end());
  model.planned = model.rest;
  find_around(model);
  return model;
}

SlabMotion rest_motion(const SlabModel& model) {
  if (model.empty()) return {};
  return {rest_state(model.sheet, model.rest), std::vector<float>(2 * std::size_t{model.room}, 0.f),
          std::vector<std::uint32_t>(2 * std::size_t{model.room}, 0)};
}

std::vector<glm::uvec3> slab_faces(const SlabModel& model) {
  std::vector<glm::uvec3> faces;
  for (const SheetFace& face : model.sheet.faces)
    faces.emplace_back(2 * face.node[0] + 1, 2 * face.node[1] + 1, 2 * face.node[2] + 1);
  for (const SheetFace& face : model.sheet.faces)
    faces.emplace_back(2 * face.node[0], 2 * face.node[2], 2 * face.node[1]);
  std::vector<std::uint8_t> sides(model.sheet.edges.size(), 0);
  for (const SheetFace& face : model.sheet.faces)
    for (const std::uint32_t edge : face.edge) ++sides[edge];
  for (std::size_t e = 0; e < sides.size(); ++e) {
    if (sides[e] != 1) continue;
    const auto [a, b] = model.sheet.edges[e];
    faces.emplace_back(2 * b + 1, 2 * a + 1, 2 * a);
    faces.emplace_back(2 * b + 1, 2 * a, 2 * b);
  }
  return faces;
}

void find_normals(const SlabModel& model, std::span<const dvec3> x, std::vector<dvec3>& normal) {
  normal.assign(model.nodes(), dvec3(0.0));
  for (const SheetFace& face : model.sheet.faces) {
    const dvec3 &a = x[face.node[0]], &b = x[face.node[1]], &c = x[face.node[2]];
    const dvec3 area = glm::cross(b - a, c - a);
    for (const std::uint32_t node : face.node) normal[node] += area;
  }
  for (dvec3& n : normal) {
    const double length = glm::length(n);
    n = length > 0.0 ? n / length : dvec3(0.0);
  }
}

SheetPoint point_on(const SlabModel& model, std::span<const std::uint32_t> node, std::span<const float> weight) {
  std::array<std::uint32_t, 3> nodes{kNoPoint, kNoPoint, kNoPoint};
  std::array<double, 3> sum{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (weight[i] == 0.f) continue;
    const std::uint32_t n = node[i] / 2;
    std::size_t k = 0;
    while (k < count && nodes[k] != n) ++k;
    if (k == 3) continue;
    if (k == count) nodes[count++] = n;
    sum[k] += static_cast<double>(weight[i]);
  }
  SheetPoint point{kNoPoint, dvec3(0.0)};
  if (count == 0 || nodes[0] >= model.nodes()) return point;
  for (std::uint32_t i = model.first[nodes[0]]; i < model.first[nodes[0] + 1]; ++i) {
    const std::uint32_t f = model.around[i];
    const auto& corner = model.sheet.faces[f].node;
    point.weight = dvec3(0.0);
    std::size_t found = 0;
    for (std::size_t k = 0; k < count; ++k)
      for (int c = 0; c < 3; ++c)
        if (corner[static_cast<std::size_t>(c)] == nodes[k]) point.weight[c] = sum[k], ++found;
    if (found == count) {
      point.face = f;
      return point;
    }
  }
  return point;
}

bool change_slab(SlabModel& model, SlabMotion& motion, const SheetSurgery& surgery, SheetChange& change) {
  std::vector<FaceCorners> corners;
  for (const SheetFace& face : model.sheet.faces)
    corners.push_back({model.rest[face.node[0]], model.rest[face.node[1]], model.rest[face.node[2]]});
  const SheetModel sheet = model.sheet;
  const SheetState state = motion.sheet;
  change = surgery(model.sheet, motion.sheet);
  if (model.sheet.mass.size() > model.room) {
    model.sheet = sheet, motion.sheet = state;
    change = {};
    return false;
  }
  if (!change.changed()) return true;
  corners = corners_after(change, std::move(corners));
  model.rest.resize(model.sheet.mass.size(), dvec3(0.0));
  for (std::size_t f = 0; f < model.sheet.faces.size(); ++f)
    for (std::size_t k = 0; k < 3; ++k) model.rest[model.sheet.faces[f].node[k]] = corners[f][k];
  model.planned = motion.sheet.x;
  find_around(model);
  follow_fixed(model);
  return true;
}

void restore_slab(SlabModel& model) {
  find_around(model);
  restore_plan(model.sheet, model.planned);
}

}  // namespace trocar
