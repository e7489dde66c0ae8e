// The inner loops of `scan`, each in a plain version (the definition) and in vector versions that answer bit for bit
// alike: same operations in the same order, no fused multiply-add. Chosen once per query by what the processor has.
// Units: metres.   Equivalence tested in tests/cpu_collision/scan_kernels_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cpu_collision/scan_layout.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// A code holds one bit per plane: set = wholly outside that plane. One byte, as a volume has at most eight planes.
using PlaneCode = std::uint8_t;
static_assert(kMaxPlanes == 8);

// A patch's vertices: x y z, x y z, ... Patches lie one behind the other, so that they may be read as one array of
// floats.
struct alignas(64) PatchPositions {
  float xyz[3 * kPatchVertices];  // m
};

// Bounds of a patch; the fourth numbers are filling without meaning.
struct alignas(32) PatchBox {
  float low[4], high[4];  // m
};

// The planes of a volume side by side, so that one vector instruction tests a point against all of them. Unused lanes
// hold a plane that nothing is outside of.
template <typename Real>
struct alignas(64) PlaneLanes {
  Real x[kMaxPlanes], y[kMaxPlanes], z[kMaxPlanes], d[kMaxPlanes];
};

// The planes of one tool volume, as the scan asks them. Float arithmetic on coordinates up to `reach` errs by less than
// the planes are moved: what is outside a moved-out plane in float is outside the exact one, what is inside a moved-in
// one is inside.
struct ScanPlanes {
  PlaneLanes<float> out;               // moved outward
  alignas(32) float in_d[kMaxPlanes];  // m, `d` of the planes moved inward
  PlaneLanes<double> exact;
};

// `reach`: m, the largest absolute coordinate.
ScanPlanes scan_planes(const ToolVolume& volume, float reach);

// What the planes say of one face: outside one of them, a corner inside all of them, or neither: clip it.
enum class FaceVerdict : std::uint8_t { Out, In, Clip };

struct ScanKernels {
  std::string_view name;
  // Copies patches of vertices from the caller's positions to xyz [slot * 3], fills their boxes and widens `all` to
  // hold them. Vector versions read one float past a vertex and write four floats past the end of xyz.
  void (*take_patches)(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                       PatchBox* boxes, PatchBox& all);
  // Bits of the planes that each box is wholly outside of.
  void (*box_codes)(const PlaneLanes<float>& planes, const PatchBox* boxes, std::uint32_t count, PlaneCode* codes);
  // Bits of the planes that each vertex of one patch is outside of; returns their AND.
  PlaneCode (*vertex_codes)(const PlaneLanes<float>& planes, const float* xyz, PlaneCode* codes);
  // Verdict of each listed face by the exact planes in double.
  void (*judge_faces)(const ScanPlanes& planes, const float* xyz, const ScanFace* faces,
                      std::span<const std::uint32_t> listed, FaceVerdict* verdicts);
};

const ScanKernels& plain_scan_kernels();
// nullptr where the compiler or this processor lacks the instructions.
const ScanKernels* avx2_scan_kernels();
const ScanKernels* avx512_scan_kernels();
// The fastest this processor has.
const ScanKernels& best_scan_kernels();

}  // namespace trocar
