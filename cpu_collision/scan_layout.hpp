// Computes the memory layout of an organ in `scan`: vertices in patches of 64 neighbours, faces by patch or by the seam
// they cross. A patch wholly outside one plane of the tool volume removes 64 vertices from the query at once. There is
// no tree; new positions only change the patches' boxes. The layout is made once per rebuild(); scan_change.hpp changes
// it locally.   Tested in tests/cpu_collision/scan_layout_test.cpp
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// 8 x 8 vertices. Measured on a liver of 31k faces: 48 to 128 cost the same, 32 gives too many patches and seams.
constexpr std::uint32_t kPatchVertices = 64;

// One face in the scan's order. `corner` holds slots: positions in the patched vertex order.
struct ScanFace {
  std::uint32_t corner[3];
  std::uint32_t face;  // the file's face number
};

struct FaceRange {
  std::uint32_t first, last;  // faces[first .. last)
};

// Faces that cross between these patches; with fewer than five, the last is repeated. Five cost least: with three there
// are four times the seams, with eight each needed seam adds twice the faces.
struct Seam {
  std::uint32_t patch[5];
  FaceRange faces;
};

constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

struct ScanLayout {
  // First float of each slot's vertex in the caller's positions, 3 * vertex. Unused slots of the last patch repeat a
  // vertex.
  std::vector<std::uint32_t> source;  // [slot]
  // Faces within a patch, by patch; then crossing faces, by seam. After a local change, the order of the ranges differs
  // and there are unused entries between them.
  std::vector<ScanFace> faces;
  std::vector<FaceRange> within;        // [patch] faces with all corners in it
  std::vector<Seam> seams;              // [seam]
  std::vector<std::uint32_t> index_of;  // [face number] its index in `faces`
  std::vector<std::uint32_t> slot_of;   // [vertex] kNoSlot: it has no face
  std::vector<std::uint8_t> filled;     // [patch] number of its vertices
  std::uint32_t used_vertices = 0;      // with a face
  std::uint32_t patch_count = 0;
  std::uint32_t vertex_count = 0;  // of the caller's mesh, including vertices without a face
  // The patch with the caller's last vertex: a vector load of that vertex would read past the end.
  std::uint32_t last_vertex_patch = 0;
};

ScanLayout make_scan_layout(const MeshView& mesh);

// ---- steps of a layout, also of a local change ----

// Gives the vertices of `order`, in runs of kPatchVertices, to `patches`, in this order; there must be enough.
void place_vertices(std::span<const std::uint32_t> order, std::span<const std::uint32_t> patches, ScanLayout& layout);

struct KeyedFace {
  std::uint64_t key;  // the patches of its corners, ascending; faces that cross come last
  ScanFace face;
};
// Appends faces, by number, whose vertices have slots. Sets the ranges within `patches` (ascending), which must include
// every patch that holds one of these faces wholly, and adds seams for the other faces.
void append_faces(const MeshView& mesh, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> patches,
                  std::vector<KeyedFace>& scratch, ScanLayout& layout);
// Finds the patch of the caller's last vertex.
void find_last_vertex(ScanLayout& layout);

std::size_t memory_bytes(const ScanLayout& layout);

}  // namespace trocar
