#include "cpu_collision/scan.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

#include "cpu_collision/queries.hpp"
#include "geometry/face_numbers.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"

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

namespace {

// A change of more than this part of the faces costs as much as a new layout.
constexpr std::size_t kSmallPart = 4;  // 1 / part
// Unused entries of ScanLayout::faces are removed when they are more than this part of the faces.
constexpr std::size_t kUnusedPart = 2;  // 1 / part
constexpr std::size_t kFew = 64;        // patches, seams, faces: below this, looseness costs nothing

constexpr std::uint32_t kListed = kNoSlot - 1;  // as a slot: the vertex is listed and gets its slot later

std::uint32_t patch_of(std::uint32_t slot) { return slot / kPatchVertices; }

bool reaches(const Seam& seam, std::span<const char> marked) {
  return std::any_of(std::begin(seam.patch), std::end(seam.patch), [&](std::uint32_t p) { return marked[p] != 0; });
}

// Gives patch `from` the number `to`, of an empty patch.
void move_patch(ScanLayout& layout, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t old_slot = from * kPatchVertices, new_slot = to * kPatchVertices;
  for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
    const std::uint32_t vertex = layout.source[old_slot + i] / 3;
    layout.source[new_slot + i] = layout.source[old_slot + i];
    if (layout.slot_of[vertex] == old_slot + i) layout.slot_of[vertex] = new_slot + i;
  }
  const auto move_corners = [&](const FaceRange& range) {
    for (std::uint32_t f = range.first; f < range.last; ++f)
      for (std::uint32_t& corner : layout.faces[f].corner)
        if (patch_of(corner) == from) corner = corner - old_slot + new_slot;
  };
  layout.within[to] = layout.within[from];
  layout.filled[to] = layout.filled[from];
  move_corners(layout.within[to]);
  for (Seam& seam : layout.seams) {
    bool found = false;
    for (std::uint32_t& patch : seam.patch)
      if (patch == from) patch = to, found = true;
    if (found) move_corners(seam.faces);
  }
}

// Removes the unused entries of layout.faces.
void close_gaps(ScanLayout& layout) {
  std::vector<ScanFace> faces;
  faces.reserve(layout.index_of.size() + layout.index_of.size() / kUnusedPart);
  const auto move = [&](FaceRange& range) {
    const auto first = static_cast<std::uint32_t>(faces.size());
    for (std::uint32_t f = range.first; f < range.last; ++f) {
      layout.index_of[layout.faces[f].face] = static_cast<std::uint32_t>(faces.size());
      faces.push_back(layout.faces[f]);
    }
    range = {first, static_cast<std::uint32_t>(faces.size())};
  };
  for (FaceRange& range : layout.within) move(range);
  for (Seam& seam : layout.seams) move(seam.faces);
  layout.faces = std::move(faces);
}

void set_patch_count(ScanLayout& layout, std::uint32_t count) {
  layout.patch_count = count;
  layout.source.resize(std::size_t{count} * kPatchVertices);
  layout.within.resize(count);
  layout.filled.resize(count);
}

}  // namespace

void ScanChange::begin(const ScanLayout& layout) {
  patches_at_first_ = layout.patch_count;
  seams_at_first_ = layout.seams.size();
}

void ScanChange::mark(std::uint32_t slot) {
  const std::uint32_t patch = patch_of(slot);
  if (marked_[patch]) return;
  marked_[patch] = 1;
  patches_.push_back(patch);
}

bool ScanChange::apply(const MeshView& mesh, std::span<const FaceId> removed, ScanLayout& layout) {
  const std::size_t kept = layout.index_of.size() - removed.size();
  if ((mesh.faces.size() - kept + removed.size()) * kSmallPart > layout.index_of.size()) return false;
  marked_.assign(layout.patch_count, 0);
  patches_.clear();
  faces_.clear();
  layout.vertex_count = static_cast<std::uint32_t>(mesh.positions.size());
  layout.slot_of.resize(mesh.positions.size(), kNoSlot);
  renumber_faces(removed, layout);
  layout.index_of.resize(mesh.faces.size());
  gather(mesh, static_cast<std::uint32_t>(kept), layout);
  place(mesh, layout);
  find_last_vertex(layout);
  if (layout.faces.size() > layout.index_of.size() + layout.index_of.size() / kUnusedPart + kFew) close_gaps(layout);
  return !loose(layout);
}

// Marks the removed faces and their patches, and gives all others their new numbers.
void ScanChange::renumber_faces(std::span<const FaceId> removed, ScanLayout& layout) {
  if (removed.empty()) return;
  for (const FaceId number : removed) {
    ScanFace& face = layout.faces[layout.index_of[index(number)]];
    for (const std::uint32_t slot : face.corner) mark(slot);
    face.face = kRemovedFace;
  }
  std::uint32_t kept = index(removed.front());
  for (std::uint32_t number = kept; number < layout.index_of.size(); ++number) {
    ScanFace& face = layout.faces[layout.index_of[number]];
    if (face.face == kRemovedFace) continue;
    layout.index_of[kept] = layout.index_of[number];
    face.face = kept++;
  }
  layout.index_of.resize(kept);
}

void ScanChange::gather_faces(const FaceRange& range, const ScanLayout& layout) {
  for (std::uint32_t f = range.first; f < range.last; ++f)
    if (layout.faces[f].face != kRemovedFace) faces_.push_back(layout.faces[f].face);
}

// Marks patches that share a seam with a marked one and are less than half full, so that short patches do not add up.
void ScanChange::mark_short_neighbours(const ScanLayout& layout) {
  const std::size_t marked = patches_.size();
  for (const Seam& seam : layout.seams) {
    if (!reaches(seam, marked_)) continue;
    for (const std::uint32_t patch : seam.patch)
      if (2 * layout.filled[patch] < kPatchVertices && !marked_[patch]) patches_.push_back(patch);
  }
  for (std::size_t k = marked; k < patches_.size(); ++k) marked_[patches_[k]] = 1;
  std::sort(patches_.begin(), patches_.end());
  patches_.erase(std::unique(patches_.begin(), patches_.end()), patches_.end());
}

// Collects the faces to lay out again, and the vertices of marked patches that still have a face.
void ScanChange::gather(const MeshView& mesh, std::uint32_t first_new, ScanLayout& layout) {
  for (std::uint32_t face = first_new; face < mesh.faces.size(); ++face) {
    faces_.push_back(face);
    for (int k = 0; k < 3; ++k)
      if (const std::uint32_t slot = layout.slot_of[mesh.faces[face][k]]; slot != kNoSlot) mark(slot);
  }
  mark_short_neighbours(layout);
  for (const std::uint32_t patch : patches_) gather_faces(layout.within[patch], layout);
  for (std::size_t s = 0; s < layout.seams.size();) {
    if (!reaches(layout.seams[s], marked_)) {
      ++s;
      continue;
    }
    gather_faces(layout.seams[s].faces, layout);
    layout.seams[s] = layout.seams.back();
    layout.seams.pop_back();
  }
  for (const std::uint32_t patch : patches_)
    for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
      std::uint32_t& slot = layout.slot_of[layout.source[patch * kPatchVertices + i] / 3];
      layout.used_vertices -= slot != kNoSlot;
      slot = kNoSlot;
    }
  vertices_.clear();
  for (const std::uint32_t face : faces_)
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t vertex = mesh.faces[face][k];
      if (layout.slot_of[vertex] != kNoSlot) continue;
      layout.slot_of[vertex] = kListed;
      vertices_.push_back(vertex);
    }
}

// Gives the vertices to the marked patches and, if necessary, in new ones; patches without vertices are removed.
void ScanChange::place(const MeshView& mesh, ScanLayout& layout) {
  if (!vertices_.empty()) order_in_runs(vertices_, mesh.positions, kPatchVertices);
  const std::size_t needed = (vertices_.size() + kPatchVertices - 1) / kPatchVertices;
  std::uint32_t count = layout.patch_count;
  while (patches_.size() < needed) patches_.push_back(count++);
  set_patch_count(layout, count);
  place_vertices(vertices_, patches_, layout);
  append_faces(mesh, faces_, std::span(patches_).first(needed), keyed_, layout);
  // From the highest number down, so that the last patch is never one of the empty ones still to be removed.
  for (std::size_t k = patches_.size(); k-- > needed;) {
    const std::uint32_t last = layout.patch_count - 1;
    if (patches_[k] != last) move_patch(layout, last, patches_[k]);
    set_patch_count(layout, last);
  }
}

// A layout is loose when it has twice the patches that its vertices need, or twice the seams per patch that it had when
// it was made.
bool ScanChange::loose(const ScanLayout& layout) const {
  const std::size_t needed = (layout.used_vertices + kPatchVertices - 1) / kPatchVertices;
  if (layout.patch_count > 2 * needed + kFew) return true;
  return layout.seams.size() * patches_at_first_ > 2 * seams_at_first_ * layout.patch_count + kFew * patches_at_first_;
}

std::size_t ScanChange::memory_bytes() const { return held_bytes(marked_, patches_, faces_, vertices_, keyed_); }

namespace {

// Touches of a usual frame. A frame with more allocates, but only when it exceeds all frames before.
constexpr std::size_t kUsualScanTouches = 4096;

// Masks for the codes of a patch's vertices: kClosed drops them.
constexpr PlaneCode kOpen = 0xff, kClosed = 0;

class ScanQuery final : public TouchQuery {
 public:
  explicit ScanQuery(const ScanKernels& kernels) : kernels_(kernels) {}

  std::string_view name() const override { return "scan"; }
  void rebuild(const MeshView& mesh) override;
  void change_faces(const MeshView& mesh, std::span<const FaceId> removed) override;
  void update(std::span<const glm::vec3> positions) override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override;
  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }
  std::size_t memory_bytes() const override;

 private:
  float* xyz() { return reinterpret_cast<float*>(positions_.data()); }
  const float* xyz() const { return reinterpret_cast<const float*>(positions_.data()); }
  void fit_buffers();
  void take(const float* positions, std::uint32_t first, std::uint32_t last, PatchBox& all);
  void take_last_vertex(const float* positions, PatchBox& all);
  void search_patches(const PlaneLanes<float>& planes);
  void search_seams();
  template <typename CodeOf>
  void collect(const FaceRange& range, CodeOf code_of);
  void decide_survivors(const ToolVolume& tool, const ScanPlanes& planes, TouchSet set);
  void report(const ToolVolume& tool, TouchSet set);
  Triangle corners_of(const ScanFace& face) const;

  const ScanKernels& kernels_;
  ScanLayout layout_;
  ScanChange change_;
  std::vector<PatchPositions> positions_;  // [patch] m
  std::vector<PatchBox> boxes_;            // [patch]
  std::vector<PlaneCode> patch_codes_;     // [patch] bits common to all vertices of the patch
  std::vector<PlaneCode> open_;            // [patch] kOpen where vertex_codes_ holds the codes of its vertices
  std::vector<PlaneCode> vertex_codes_;    // [slot]
  std::vector<std::uint32_t> seams_;       // [seam + 1] seams that may hold survivors
  std::vector<std::uint32_t> survivors_;   // [face + 1] indices into layout_.faces, the first survivor_count_ of them
  std::vector<FaceVerdict> verdicts_;      // [face]
  FaceSet touched_;
  std::vector<FaceId> found_;      // touched by one tool, sorted
  std::vector<Triangle> corners_;  // of found_
  TouchCollector collector_;
  std::size_t survivor_count_ = 0;
  float largest_ = 0.f;  // m, largest absolute coordinate
  StageTimes times_;
  CostCounters counters_;
};

void ScanQuery::rebuild(const MeshView& mesh) {
  layout_ = make_scan_layout(mesh);
  change_.begin(layout_);
  fit_buffers();
  update(mesh.positions);
}

void ScanQuery::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  if (!change_.apply(mesh, removed, layout_)) return rebuild(mesh);
  fit_buffers();
  update(mesh.positions);
}

void ScanQuery::fit_buffers() {
  const std::size_t faces = layout_.index_of.size();
  positions_.resize(layout_.patch_count);
  boxes_.resize(layout_.patch_count);
  patch_codes_.resize(layout_.patch_count);
  open_.resize(layout_.patch_count);
  seams_.resize(layout_.seams.size() + 1);
  vertex_codes_.resize(layout_.source.size());
  survivors_.resize(faces + 1);
  verdicts_.resize(faces);
  touched_.resize(faces);
  const std::size_t usual = std::min(faces, kUsualScanTouches);
  found_.reserve(usual);
  corners_.reserve(usual);
  collector_.reserve(usual);
}

void ScanQuery::take(const float* positions, std::uint32_t first, std::uint32_t last, PatchBox& all) {
  if (first == last) return;
  kernels_.take_patches(positions, layout_.source.data() + std::size_t{first} * kPatchVertices, last - first,
                        positions_[first].xyz, boxes_.data() + first, all);
}

// Takes the patch of the caller's last vertex from a padded copy: vector loads read one float past a vertex.
void ScanQuery::take_last_vertex(const float* positions, PatchBox& all) {
  const std::uint32_t patch = layout_.last_vertex_patch;
  const std::uint32_t* source = layout_.source.data() + std::size_t{patch} * kPatchVertices;
  std::array<float, 3 * kPatchVertices + 1> copy;
  std::array<std::uint32_t, kPatchVertices> offset;
  for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
    std::memcpy(copy.data() + 3 * i, positions + source[i], 3 * sizeof(float));
    offset[i] = 3 * i;
  }
  copy.back() = 0.f;
  kernels_.take_patches(copy.data(), offset.data(), 1, positions_[patch].xyz, boxes_.data() + patch, all);
}

void ScanQuery::update(std::span<const glm::vec3> positions) {
  assert(positions.size() == layout_.vertex_count);
  const Clock::time_point start = Clock::now();
  times_ = {};
  if (layout_.patch_count > 0) {
    constexpr float kMax = std::numeric_limits<float>::max();
    PatchBox all{{kMax, kMax, kMax, kMax}, {-kMax, -kMax, -kMax, -kMax}};
    const float* floats = &positions[0].x;
    const std::uint32_t careful = layout_.last_vertex_patch;
    take(floats, 0, careful, all);
    take_last_vertex(floats, all);
    take(floats, careful + 1, layout_.patch_count, all);
    largest_ = 0.f;
    for (int axis = 0; axis < 3; ++axis)
      largest_ = std::max({largest_, std::abs(all.low[axis]), std::abs(all.high[axis])});
  }
  counters_.updated_nodes = layout_.patch_count;
  times_.update_ms = milliseconds_since(start);
}

TouchList ScanQuery::touched(std::span<const ToolVolume> tools, TouchSet set) {
  times_ = {.update_ms = times_.update_ms};
  counters_ = {.updated_nodes = counters_.updated_nodes};
  collector_.open();
  for (const ToolVolume& tool : tools) {
    const Clock::time_point start = Clock::now();
    const ScanPlanes planes = scan_planes(tool, largest_);
    search_patches(planes.out);
    search_seams();
    times_.search_ms += milliseconds_since(start);
    const Clock::time_point searched = Clock::now();
    decide_survivors(tool, planes, set);
    report(tool, set);
    times_.refine_ms += milliseconds_since(searched);
  }
  return collector_.list();
}

// Computes the patch codes; for patches outside no plane, also the vertex codes and the survivors among the inner
// faces.
void ScanQuery::search_patches(const PlaneLanes<float>& planes) {
  kernels_.box_codes(planes, boxes_.data(), layout_.patch_count, patch_codes_.data());
  std::fill(open_.begin(), open_.end(), kClosed);
  counters_.volume_tests += layout_.patch_count;
  survivor_count_ = 0;
  for (std::uint32_t patch = 0; patch < layout_.patch_count; ++patch) {
    if (patch_codes_[patch]) continue;
    const std::size_t first = std::size_t{patch} * kPatchVertices;
    patch_codes_[patch] = kernels_.vertex_codes(planes, xyz() + 3 * first, vertex_codes_.data() + first);
    open_[patch] = kOpen;
    if (patch_codes_[patch]) continue;
    const PlaneCode* codes = vertex_codes_.data();
    collect(layout_.within[patch], [codes](std::uint32_t slot) { return codes[slot]; });
  }
}

// Survivors among the faces that cross from patch to patch. For an unopened patch, its code stands for its vertices.
void ScanQuery::search_seams() {
  const PlaneCode* codes = patch_codes_.data();
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < layout_.seams.size(); ++s) {
    const std::uint32_t* patch = layout_.seams[s].patch;
    seams_[count] = s;
    count += (codes[patch[0]] & codes[patch[1]] & codes[patch[2]] & codes[patch[3]] & codes[patch[4]]) == 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    collect(layout_.seams[seams_[i]].faces, [this](std::uint32_t slot) {
      const std::uint32_t patch = slot / kPatchVertices;
      return patch_codes_[patch] | (vertex_codes_[slot] & open_[patch]);
    });
  }
}

// Appends the faces whose three codes share no bit. Branch-free, because the outcome is unpredictable.
template <typename CodeOf>
void ScanQuery::collect(const FaceRange& range, CodeOf code_of) {
  std::uint32_t* survivors = survivors_.data();
  std::size_t count = survivor_count_;
  for (std::uint32_t f = range.first; f < range.last; ++f) {
    const ScanFace& face = layout_.faces[f];
    survivors[count] = f;
    count += (code_of(face.corner[0]) & code_of(face.corner[1]) & code_of(face.corner[2])) == 0;
  }
  survivor_count_ = count;
}

// For the exact set every survivor is a candidate. The volume's float planes may cut off a part of the sweep (30
// micrometres deep, 300 m from the origin); the planes of the survivor test lie farther out than that.
void ScanQuery::decide_survivors(const ToolVolume& tool, const ScanPlanes& planes, TouchSet set) {
  const std::span<const std::uint32_t> survivors = std::span(survivors_).first(survivor_count_);
  counters_.face_tests += survivors.size();
  if (set == TouchSet::Exact) {
    for (const std::uint32_t i : survivors) touched_.insert_if(true, layout_.faces[i].face);
    return;
  }
  kernels_.classify_faces(planes, xyz(), layout_.faces.data(), survivors, verdicts_.data());
  for (std::size_t i = 0; i < survivors.size(); ++i) {
    const ScanFace& face = layout_.faces[survivors[i]];
    bool in = verdicts_[i] == FaceVerdict::In;
    if (verdicts_[i] == FaceVerdict::Clip) in = face_touches_volume(corners_of(face), tool);
    touched_.insert_if(in, face.face);
  }
}

void ScanQuery::report(const ToolVolume& tool, TouchSet set) {
  found_.clear();
  touched_.drain([&](std::uint32_t face) { found_.push_back(FaceId{face}); });
  corners_.clear();
  if (set == TouchSet::Exact)
    for (const FaceId face : found_) corners_.push_back(corners_of(layout_.faces[layout_.index_of[index(face)]]));
  collector_.add_tool(tool, set, std::span<const Triangle>(corners_), found_);
}

Triangle ScanQuery::corners_of(const ScanFace& face) const {
  const auto corner = [&](int i) {
    const float* point = xyz() + std::size_t{3} * face.corner[i];
    return glm::dvec3(point[0], point[1], point[2]);
  };
  return {corner(0), corner(1), corner(2)};
}

std::size_t ScanQuery::memory_bytes() const {
  return sizeof(*this) + trocar::memory_bytes(layout_) + change_.memory_bytes() + touched_.memory_bytes() +
         collector_.memory_bytes() +
         held_bytes(positions_, boxes_, patch_codes_, open_, seams_, vertex_codes_, survivors_, verdicts_, found_,
                    corners_);
}

}  // namespace

std::vector<FaceId> scan_volume(const MeshView& mesh, const ToolVolume& tool) {
  std::vector<float> xyz;
  for (const glm::vec3& position : mesh.positions) xyz.insert(xyz.end(), {position.x, position.y, position.z});
  const ScanPlanes planes = scan_planes(tool, 0.f);
  std::vector<FaceId> in;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const ScanFace face{{mesh.faces[f].x, mesh.faces[f].y, mesh.faces[f].z}, f};
    const std::array<std::uint32_t, 1> listed{0};
    FaceVerdict verdict;
    plain_scan_kernels().classify_faces(planes, xyz.data(), &face, listed, &verdict);
    if (verdict == FaceVerdict::Clip)
      verdict =
          face_touches_volume(triangle_of(mesh.positions, mesh.faces[f]), tool) ? FaceVerdict::In : FaceVerdict::Out;
    if (verdict == FaceVerdict::In) in.push_back(FaceId{f});
  }
  return in;
}

std::unique_ptr<TouchQuery> make_scan_query(const ScanKernels& kernels) { return std::make_unique<ScanQuery>(kernels); }
std::unique_ptr<TouchQuery> make_scan_query() { return make_scan_query(best_scan_kernels()); }

}  // namespace trocar
