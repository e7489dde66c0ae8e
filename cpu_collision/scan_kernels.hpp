// Declares the inner loops of `scan`. Each has a plain version (the definition) and vector versions with bit-identical
// results: the same operations in the same order, no fused multiply-add. A query chooses once, by the processor's
// instructions.
// Units: metres.   Equivalence tested in tests/cpu_collision/scan_kernels_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cpu_collision/scan_layout.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

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

const ScanKernels& plain_scan_kernels();
// Returns nullptr when not built for x86-64 or when this processor lacks the instructions.
const ScanKernels* avx2_scan_kernels();
const ScanKernels* avx512_scan_kernels();
// Returns the fastest kernels that this processor and TROCAR_INSTRUCTIONS allow.
const ScanKernels& best_scan_kernels();

}  // namespace trocar
