#include "cpu_collision/scan_layout.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

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

int longest_axis(std::span<const std::uint32_t> vertices, std::span<const glm::vec3> positions) {
  glm::vec3 low = positions[vertices[0]], high = low;
  for (const std::uint32_t v : vertices) {
    low = glm::min(low, positions[v]);
    high = glm::max(high, positions[v]);
  }
  const glm::vec3 size = high - low;
  if (size.x >= size.y && size.x >= size.z) return 0;
  return size.y >= size.z ? 1 : 2;
}

// Halves the set along its longest axis, in whole patches, until one patch is left; in a patch the file's order is
// kept, so that reading the file's positions patch by patch runs forward through memory.
void order_in_patches(std::span<std::uint32_t> vertices, std::span<const glm::vec3> positions) {
  if (vertices.size() <= kPatchVertices) {
    std::sort(vertices.begin(), vertices.end());
    return;
  }
  const std::size_t patches = (vertices.size() + kPatchVertices - 1) / kPatchVertices;
  const std::size_t half = patches / 2 * kPatchVertices;
  const int axis = longest_axis(vertices, positions);
  std::nth_element(vertices.begin(), vertices.begin() + half, vertices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::make_tuple(positions[a][axis], a) < std::make_tuple(positions[b][axis], b);
  });
  order_in_patches(vertices.first(half), positions);
  order_in_patches(vertices.subspan(half), positions);
}

struct KeyedFace {
  std::array<std::uint32_t, 3> patches;  // ascending
  ScanFace face;
};

std::vector<KeyedFace> faces_by_patches(const MeshView& mesh, std::span<const std::uint32_t> slot_of) {
  std::vector<KeyedFace> keyed(mesh.faces.size());
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const glm::uvec3& corner = mesh.faces[f];
    keyed[f].face = {{slot_of[corner.x], slot_of[corner.y], slot_of[corner.z]}, f};
    for (int i = 0; i < 3; ++i) keyed[f].patches[i] = keyed[f].face.corner[i] / kPatchVertices;
    std::sort(keyed[f].patches.begin(), keyed[f].patches.end());
  }
  std::sort(keyed.begin(), keyed.end(), [](const KeyedFace& a, const KeyedFace& b) {
    return std::tie(a.patches, a.face.face) < std::tie(b.patches, b.face.face);
  });
  return keyed;
}

void fill_groups(ScanLayout& layout, std::span<const KeyedFace> keyed) {
  for (const KeyedFace& entry : keyed) {
    const auto& patches = entry.patches;
    const std::uint32_t f = static_cast<std::uint32_t>(layout.faces.size());
    if (layout.groups.empty() || !std::equal(patches.begin(), patches.end(), layout.groups.back().patch))
      layout.groups.push_back({{patches[0], patches[1], patches[2]}, f, f});
    layout.groups.back().last = f + 1;
    layout.faces.push_back(entry.face);
  }
}

void fill_owners(ScanLayout& layout) {
  std::uint32_t group = 0;
  for (std::uint32_t patch = 0; patch < layout.patch_count; ++patch) {
    PatchOwner owner{group, group, static_cast<std::uint32_t>(layout.neighbours.size()), 0};
    std::vector<std::uint32_t> reached;
    for (; group < layout.groups.size() && layout.groups[group].patch[0] == patch; ++group)
      reached.insert(reached.end(), layout.groups[group].patch, layout.groups[group].patch + 3);
    std::sort(reached.begin(), reached.end());
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    std::erase(reached, patch);
    layout.neighbours.insert(layout.neighbours.end(), reached.begin(), reached.end());
    owner.last_group = group;
    owner.last_neighbour = static_cast<std::uint32_t>(layout.neighbours.size());
    layout.owners.push_back(owner);
  }
}

}  // namespace

ScanLayout make_scan_layout(const MeshView& mesh) {
  ScanLayout layout;
  layout.vertex_count = static_cast<std::uint32_t>(mesh.positions.size());
  std::vector<std::uint32_t> order = vertices_with_a_face(mesh);
  if (order.empty()) return layout;
  order_in_patches(order, mesh.positions);

  layout.patch_count = static_cast<std::uint32_t>((order.size() + kPatchVertices - 1) / kPatchVertices);
  std::vector<std::uint32_t> slot_of(mesh.positions.size(), kNoSlot);
  for (std::uint32_t slot = 0; slot < order.size(); ++slot) slot_of[order[slot]] = slot;
  if (slot_of.back() != kNoSlot) layout.last_vertex_patch = slot_of.back() / kPatchVertices;
  order.resize(std::size_t{layout.patch_count} * kPatchVertices, order.back());
  for (const std::uint32_t vertex : order) layout.source.push_back(3 * vertex);

  layout.faces.reserve(mesh.faces.size());
  fill_groups(layout, faces_by_patches(mesh, slot_of));
  fill_owners(layout);
  return layout;
}

std::size_t memory_bytes(const ScanLayout& layout) {
  return layout.source.capacity() * sizeof(std::uint32_t) + layout.faces.capacity() * sizeof(ScanFace) +
         layout.groups.capacity() * sizeof(FaceGroup) + layout.owners.capacity() * sizeof(PatchOwner) +
         layout.neighbours.capacity() * sizeof(std::uint32_t);
}

}  // namespace trocar
