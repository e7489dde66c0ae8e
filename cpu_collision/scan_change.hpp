// Changes the layout of `scan` where faces change: the patches with a corner of a removed or new face are laid out
// again, together with their neighbours that are less than half full, the faces in them and their seams. Everything
// else stays, except for the face numbers. A layout that has become loose (too many patches or seams for its vertices)
// must be made again.   Tested in tests/cpu_collision/change_faces_test.cpp
#pragma once

#include <vector>

#include "cpu_collision/scan_layout.hpp"

namespace trocar {

class ScanChange {
 public:
  // Call after make_scan_layout().
  void begin(const ScanLayout& layout);
  // Applies a change as TouchQuery::change_faces() defines it. Returns false when the layout must be made again
  // instead: when the change is large or the layout has become loose.
  bool apply(const MeshView& mesh, std::span<const FaceId> removed, ScanLayout& layout);
  std::size_t memory_bytes() const;

 private:
  void mark(std::uint32_t slot);
  void renumber_faces(std::span<const FaceId> removed, ScanLayout& layout);
  void mark_short_neighbours(const ScanLayout& layout);
  void gather(const MeshView& mesh, std::uint32_t first_new, ScanLayout& layout);
  void gather_faces(const FaceRange& range, const ScanLayout& layout);
  void place(const MeshView& mesh, ScanLayout& layout);
  bool loose(const ScanLayout& layout) const;

  std::size_t patches_at_first_ = 0, seams_at_first_ = 0;  // of the layout when it was made
  // Scratch buffers.
  std::vector<char> marked_;             // [patch] it is laid out again
  std::vector<std::uint32_t> patches_;   // the marked ones
  std::vector<std::uint32_t> faces_;     // numbers of the faces that are laid out again
  std::vector<std::uint32_t> vertices_;  // of marked patches, and new ones
  std::vector<KeyedFace> keyed_;
};

}  // namespace trocar
