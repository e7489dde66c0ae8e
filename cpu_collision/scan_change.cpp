#include "cpu_collision/scan_change.hpp"

#include <algorithm>
#include <iterator>

#include "geometry/face_numbers.hpp"

namespace trocar {
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

}  // namespace trocar
