#include "cpu_collision/scan_layout.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "geometry/face_numbers.hpp"

namespace trocar {
namespace {

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

constexpr unsigned kPatchBits = 21;  // of a key: 134 million vertices
constexpr std::uint64_t kCrosses = std::uint64_t{1} << 3 * kPatchBits;
constexpr std::uint32_t kPatchMask = (1u << kPatchBits) - 1;

KeyedFace keyed_face(const MeshView& mesh, std::uint32_t number, std::span<const std::uint32_t> slot_of) {
  const glm::uvec3& corner = mesh.faces[number];
  KeyedFace keyed{0, {{slot_of[corner.x], slot_of[corner.y], slot_of[corner.z]}, number}};
  std::uint64_t low = keyed.face.corner[0] / kPatchVertices, middle = keyed.face.corner[1] / kPatchVertices,
                high = keyed.face.corner[2] / kPatchVertices;
  if (low > middle) std::swap(low, middle);
  if (middle > high) std::swap(middle, high);
  if (low > middle) std::swap(low, middle);
  keyed.key = (low << 2 * kPatchBits) | (middle << kPatchBits) | high | (low == high ? 0 : kCrosses);
  return keyed;
}

// Of a face that does not cross.
std::uint32_t patch_of(const KeyedFace& face) { return static_cast<std::uint32_t>(face.key) & kPatchMask; }

// The patches that a seam reaches so far.
struct Reached {
  std::array<std::uint32_t, std::size(Seam{}.patch)> patch;
  std::size_t count = 0;

  // Adds the patches of a face. Returns false, and changes nothing, when there are too many.
  bool add(const KeyedFace& face) {
    std::array<std::uint32_t, 3> more;
    std::size_t added = 0;
    for (int k = 2; k >= 0; --k) {
      const auto p = static_cast<std::uint32_t>(face.key >> k * kPatchBits) & kPatchMask;
      if (std::find(patch.begin(), patch.begin() + count, p) != patch.begin() + count) continue;
      if (std::find(more.begin(), more.begin() + added, p) == more.begin() + added) more[added++] = p;
    }
    if (count + added > patch.size()) return false;
    std::copy_n(more.begin(), added, patch.begin() + count);
    count += added;
    return true;
  }
};

// A crossing face joins the previous seam as long as that seam spans at most five patches. `first`: index of the first
// one in layout.faces.
void add_seams(ScanLayout& layout, std::span<const KeyedFace> crossing, std::uint32_t first) {
  Reached reached;
  for (const KeyedFace& face : crossing) {
    if (reached.count == 0 || !reached.add(face)) {
      layout.seams.push_back({{}, {first, first}});
      reached = {};
      reached.add(face);
    }
    Seam& seam = layout.seams.back();
    for (std::size_t p = 0; p < reached.patch.size(); ++p)
      seam.patch[p] = reached.patch[std::min(p, reached.count - 1)];
    seam.faces.last = ++first;
  }
}

}  // namespace

void place_vertices(std::span<const std::uint32_t> order, std::span<const std::uint32_t> patches, ScanLayout& layout) {
  layout.used_vertices += static_cast<std::uint32_t>(order.size());
  for (std::size_t run = 0; run * kPatchVertices < order.size(); ++run) {
    const std::uint32_t first_slot = patches[run] * kPatchVertices;
    layout.filled[patches[run]] =
        static_cast<std::uint8_t>(std::min<std::size_t>(kPatchVertices, order.size() - run * kPatchVertices));
    for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
      const std::size_t k = run * kPatchVertices + i;
      layout.source[first_slot + i] = 3 * order[std::min(k, order.size() - 1)];
      if (k < order.size()) layout.slot_of[order[k]] = first_slot + i;
    }
  }
}

void append_faces(const MeshView& mesh, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> patches,
                  std::vector<KeyedFace>& scratch, ScanLayout& layout) {
  scratch.clear();
  for (const std::uint32_t number : numbers) scratch.push_back(keyed_face(mesh, number, layout.slot_of));
  std::sort(scratch.begin(), scratch.end(), [](const KeyedFace& a, const KeyedFace& b) {
    return std::pair(a.key, a.face.face) < std::pair(b.key, b.face.face);
  });
  const auto first = static_cast<std::uint32_t>(layout.faces.size());
  for (const KeyedFace& keyed : scratch) {
    layout.index_of[keyed.face.face] = static_cast<std::uint32_t>(layout.faces.size());
    layout.faces.push_back(keyed.face);
  }
  std::uint32_t f = 0;
  for (const std::uint32_t patch : patches) {
    const std::uint32_t begin = f;
    while (f < scratch.size() && scratch[f].key < kCrosses && patch_of(scratch[f]) == patch) ++f;
    layout.within[patch] = {first + begin, first + f};
  }
  add_seams(layout, std::span(scratch).subspan(f), first + f);
}

void find_last_vertex(ScanLayout& layout) {
  const bool used = !layout.slot_of.empty() && layout.slot_of.back() != kNoSlot;
  layout.last_vertex_patch = used ? layout.slot_of.back() / kPatchVertices : 0;
}

ScanLayout make_scan_layout(const MeshView& mesh) {
  ScanLayout layout;
  layout.vertex_count = static_cast<std::uint32_t>(mesh.positions.size());
  layout.slot_of.assign(mesh.positions.size(), kNoSlot);
  layout.index_of.resize(mesh.faces.size());
  std::vector<std::uint32_t> order = vertices_with_a_face(mesh);
  if (order.empty()) return layout;
  order_in_runs(order, mesh.positions, kPatchVertices);
  sort_patches_by_file_order(order);

  layout.patch_count = static_cast<std::uint32_t>((order.size() + kPatchVertices - 1) / kPatchVertices);
  layout.source.resize(std::size_t{layout.patch_count} * kPatchVertices);
  layout.within.resize(layout.patch_count);
  layout.filled.resize(layout.patch_count);
  std::vector<std::uint32_t> patches(layout.patch_count), numbers(mesh.faces.size());
  std::iota(patches.begin(), patches.end(), 0u);
  std::iota(numbers.begin(), numbers.end(), 0u);
  place_vertices(order, patches, layout);
  find_last_vertex(layout);
  std::vector<KeyedFace> scratch;
  scratch.reserve(numbers.size());
  layout.faces.reserve(numbers.size());
  append_faces(mesh, numbers, patches, scratch, layout);
  return layout;
}

std::size_t memory_bytes(const ScanLayout& layout) {
  return held_bytes(layout.source, layout.faces, layout.within, layout.seams, layout.index_of, layout.slot_of,
                    layout.filled);
}

}  // namespace trocar
