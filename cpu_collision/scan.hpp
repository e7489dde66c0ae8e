// Defines `scan`, the touch query without OpenGL and without a tree. For each tool volume:
//   1. each vertex gets a code with a bit for every plane it is outside of;
//   2. a face survives when the AND of its three codes is 0;
// 3. a surviving face with a corner of code 0 is touched; any other is clipped exactly against the volume.
// scan_volume() does exactly this. The query gives the same answer faster: it does steps 1 and 2 in float with widened
// planes, only in patches of the organ that no plane excludes, and step 3 in double on the few surviving faces.
// Lombardo, Cani, Neyret 1999 do this with the graphics card's clipping; the codes are Cohen and Sutherland's. Units:
// metres. Arrays of a mesh: positions [vertex], faces [face]. Tested in tests/cpu_collision/scan_test.cpp
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// Computes the memory layout of an organ in `scan`: vertices in patches of 64 neighbours, faces by patch or by the seam
// they cross. A patch wholly outside one plane of the tool volume removes 64 vertices from the query at once. There is
// no tree; new positions only change the patches' boxes. The layout is made once per rebuild(); ScanChange changes
// it locally.

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

ScanLayout make_scan_layout(const MeshView& mesh);  // patches by its positions; allocates

// ---- steps of a layout, also of a local change ----

// Gives the vertices of `order`, [vertex to place] its number, in runs of kPatchVertices, to `patches`, [run], in this
// order; there must be enough.
void place_vertices(std::span<const std::uint32_t> order, std::span<const std::uint32_t> patches, ScanLayout& layout);

struct KeyedFace {
  std::uint64_t key;  // the patches of its corners, ascending; faces that cross come last
  ScanFace face;
};
// Appends faces, `numbers` [face to append], whose vertices have slots. Sets the ranges within `patches` (ascending),
// which must include every patch that holds one of these faces wholly, and adds seams for the other faces.
void append_faces(const MeshView& mesh, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> patches,
                  std::vector<KeyedFace>& scratch, ScanLayout& layout);
// Finds the patch of the caller's last vertex.
void find_last_vertex(ScanLayout& layout);

std::size_t memory_bytes(const ScanLayout& layout);  // of its arrays

// Changes the layout of `scan` where faces change: the patches with a corner of a removed or new face are laid out
// again, together with their neighbours that are less than half full, the faces in them and their seams. Everything
// else stays, except for the face numbers. A layout that has become loose (too many patches or seams for its vertices)
// must be made again.
class ScanChange {
 public:
  // Call after make_scan_layout().
  void begin(const ScanLayout& layout);
  // Applies a change as TouchQuery::change_faces() defines it; `removed`: [removed face]. Returns false when the layout
  // must be made again instead: when the change is large or the layout has become loose.
  bool apply(const MeshView& mesh, std::span<const FaceId> removed, ScanLayout& layout);
  std::size_t memory_bytes() const;  // of its scratch buffers

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

// Declares the inner loops of `scan`. Each has a plain version (the definition) and vector versions with bit-identical
// results: the same operations in the same order, no fused multiply-add. A query chooses once, by the processor's
// instructions. Units: metres. Equivalence tested in tests/cpu_collision/scan_test.cpp

// A code holds one bit per plane: set = wholly outside that plane. One byte: a volume has at most eight planes.
using PlaneCode = std::uint8_t;
static_assert(kMaxPlanes == 8);

// A patch's vertices: x y z, x y z, ... Patches are contiguous, so that they can be read as one array of floats.
struct alignas(64) PatchPositions {
  float xyz[3 * kPatchVertices];  // m
};

// Bounds of a patch; the fourth numbers are padding.
struct alignas(32) PatchBox {
  float low[4], high[4];  // m
};

// The planes of a volume in structure-of-arrays order, so that one vector instruction tests a point against all of
// them. Unused lanes hold a plane that nothing is outside of.
template <typename Real>
struct alignas(64) PlaneLanes {
  Real x[kMaxPlanes], y[kMaxPlanes], z[kMaxPlanes], d[kMaxPlanes];
};

// The planes of one tool volume for the scan. The planes are moved by more than the float rounding error at coordinates
// up to `largest_coordinate`: a point outside an outward-moved plane in float is outside the exact plane, a point
// inside an inward-moved plane is inside the exact one.
struct ScanPlanes {
  PlaneLanes<float> out;               // moved outward
  alignas(32) float in_d[kMaxPlanes];  // m, `d` of the planes moved inward
  PlaneLanes<double> exact;
};

// Prepares the planes. `largest_coordinate`: m, the largest absolute coordinate.
ScanPlanes scan_planes(const ToolVolume& volume, float largest_coordinate);

// Result of the plane tests of one face: outside one plane; a corner inside all planes; or neither, so it must be
// clipped.
enum class FaceVerdict : std::uint8_t { Out, In, Clip };

struct ScanKernels {
  std::string_view name;
  // Copies patches of vertices from the caller's positions to xyz [slot * 3], computes their boxes and widens `all` to
  // contain them. Vector versions read one float past each vertex and need xyz aligned to 32 bytes; all versions write
  // exactly 3 * kPatchVertices floats per patch.
  void (*take_patches)(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                       PatchBox* boxes, PatchBox& all);
  // Computes, for each box, the bits of the planes that it lies wholly outside.
  void (*box_codes)(const PlaneLanes<float>& planes, const PatchBox* boxes, std::uint32_t count, PlaneCode* codes);
  // Computes, for each vertex of one patch, the bits of the planes that it lies outside. Returns the AND of all.
  PlaneCode (*vertex_codes)(const PlaneLanes<float>& planes, const float* xyz, PlaneCode* codes);
  // Computes the verdict of each listed face by the exact planes in double.
  void (*classify_faces)(const ScanPlanes& planes, const float* xyz, const ScanFace* faces,
                         std::span<const std::uint32_t> listed, FaceVerdict* verdicts);
};

const ScanKernels& plain_scan_kernels();  // the definition; on every processor
// Returns nullptr when not built for x86-64 or when this processor lacks the instructions.
const ScanKernels* avx2_scan_kernels();
const ScanKernels* avx512_scan_kernels();  // the same for AVX-512 F and VL
// Returns the fastest kernels that this processor and TROCAR_INSTRUCTIONS allow.
const ScanKernels& best_scan_kernels();

// Applies the definition, in double, to every face: the slow baseline of the query. The answer is sorted. Allocates.
std::vector<FaceId> scan_volume(const MeshView& mesh, const ToolVolume& tool);

// Does the same as make_scan_query() with given inner loops.
std::unique_ptr<TouchQuery> make_scan_query(const ScanKernels& kernels);

}  // namespace trocar
