#include "cpu_collision/scan_layout.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "geometry/held_bytes.hpp"
#include "geometry/spatial_order.hpp"

namespace trocar {
namespace {

constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint32_t> vertices_with_a_face(const MeshView& mesh) {
  std::vector<char> used(mesh.positions.size(), 0);
  for (const glm::uvec3& face : mesh.faces) used[face.x] = used[face.y] = used[face.z] = 1;
  std::vector<std::uint32_t> vertices;
  for (std::uint32_t v = 0; v < used.size(); ++v)
    if (used[v]) vertices.push_back(v);
  return vertices;
}

// Sorts the patches as their vertices lie in the file: reading the positions patch by patch then finds most cache lines
// already loaded by earlier patches. The last patch, which may be short, stays last.
void sort_patches_by_file_order(std::vector<std::uint32_t>& order) {
  const std::size_t whole = order.size() / kPatchVertices;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> patches;  // sum of vertex numbers, patch
  for (std::uint32_t patch = 0; patch < whole; ++patch) {
    const auto first = order.begin() + std::size_t{patch} * kPatchVertices;
    patches.emplace_back(std::accumulate(first, first + kPatchVertices, std::uint64_t{0}), patch);
  }
  std::sort(patches.begin(), patches.end());
  std::vector<std::uint32_t> sorted;
  sorted.reserve(order.size());
  for (const auto& [sum, patch] : patches) {
    const auto first = order.begin() + std::size_t{patch} * kPatchVertices;
    sorted.insert(sorted.end(), first, first + kPatchVertices);
  }
  sorted.insert(sorted.end(), order.begin() + whole * kPatchVertices, order.end());
  order = std::move(sorted);
}

struct KeyedFace {
  std::array<std::uint32_t, 3> patches;  // ascending
  ScanFace face;

  bool crosses() const { return patches.front() != patches.back(); }
};

// Faces within a patch first, then faces that cross; each group by patches, then by face number.
std::vector<KeyedFace> faces_by_patches(const MeshView& mesh, std::span<const std::uint32_t> slot_of) {
  std::vector<KeyedFace> keyed(mesh.faces.size());
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const glm::uvec3& corner = mesh.faces[f];
    keyed[f].face = {{slot_of[corner.x], slot_of[corner.y], slot_of[corner.z]}, f};
    for (int i = 0; i < 3; ++i) keyed[f].patches[i] = keyed[f].face.corner[i] / kPatchVertices;
    std::sort(keyed[f].patches.begin(), keyed[f].patches.end());
  }
  std::sort(keyed.begin(), keyed.end(), [](const KeyedFace& a, const KeyedFace& b) {
    return std::make_tuple(a.crosses(), a.patches, a.face.face) < std::make_tuple(b.crosses(), b.patches, b.face.face);
  });
  return keyed;
}

// Returns the number of faces within a patch.
std::uint32_t fill_within(ScanLayout& layout, std::span<const KeyedFace> keyed) {
  std::uint32_t f = 0;
  for (std::uint32_t patch = 0; patch < layout.patch_count; ++patch) {
    const std::uint32_t first = f;
    while (f < keyed.size() && !keyed[f].crosses() && keyed[f].patches[0] == patch) ++f;
    layout.within.push_back({first, f});
  }
  return f;
}

// A crossing face joins the previous seam as long as that seam spans at most five patches.
void fill_seams(ScanLayout& layout, std::span<const KeyedFace> keyed, std::uint32_t first_crossing) {
  constexpr std::size_t kMost = std::size(Seam{}.patch);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t f = first_crossing; f < keyed.size(); ++f) {
    std::vector<std::uint32_t> wider = reached;
    for (const std::uint32_t patch : keyed[f].patches)
      if (std::find(wider.begin(), wider.end(), patch) == wider.end()) wider.push_back(patch);
    if (layout.seams.empty() || wider.size() > kMost) {
      layout.seams.push_back({{}, {f, f}});
      wider.assign(keyed[f].patches.begin(), keyed[f].patches.end());
    }
    Seam& seam = layout.seams.back();
    for (std::size_t p = 0; p < kMost; ++p) seam.patch[p] = wider[std::min(p, wider.size() - 1)];
    seam.faces.last = f + 1;
    reached = std::move(wider);
  }
}

}  // namespace

ScanLayout make_scan_layout(const MeshView& mesh) {
  ScanLayout layout;
  layout.vertex_count = static_cast<std::uint32_t>(mesh.positions.size());
  std::vector<std::uint32_t> order = vertices_with_a_face(mesh);
  if (order.empty()) return layout;
  order_in_runs(order, mesh.positions, kPatchVertices);
  sort_patches_by_file_order(order);

  layout.patch_count = static_cast<std::uint32_t>((order.size() + kPatchVertices - 1) / kPatchVertices);
  std::vector<std::uint32_t> slot_of(mesh.positions.size(), kNoSlot);
  for (std::uint32_t slot = 0; slot < order.size(); ++slot) slot_of[order[slot]] = slot;
  if (slot_of.back() != kNoSlot) layout.last_vertex_patch = slot_of.back() / kPatchVertices;
  order.resize(std::size_t{layout.patch_count} * kPatchVertices, order.back());
  for (const std::uint32_t vertex : order) layout.source.push_back(3 * vertex);

  const std::vector<KeyedFace> keyed = faces_by_patches(mesh, slot_of);
  layout.faces.reserve(keyed.size());
  for (const KeyedFace& entry : keyed) layout.faces.push_back(entry.face);
  fill_seams(layout, keyed, fill_within(layout, keyed));
  return layout;
}

std::size_t memory_bytes(const ScanLayout& layout) {
  return held_bytes(layout.source, layout.faces, layout.within, layout.seams);
}

}  // namespace trocar
