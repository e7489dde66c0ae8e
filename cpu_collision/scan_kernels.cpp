#include "cpu_collision/scan_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/machine.hpp"

namespace trocar {
namespace {

void take_patches(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                  PatchBox* boxes, PatchBox& all) {
  for (std::uint32_t patch = 0; patch < patches; ++patch, source += kPatchVertices) {
    glm::vec3 low(positions[source[0]], positions[source[0] + 1], positions[source[0] + 2]), high = low;
    for (std::uint32_t i = 0; i < kPatchVertices; ++i, xyz += 3) {
      const glm::vec3 point(positions[source[i]], positions[source[i] + 1], positions[source[i] + 2]);
      low = glm::min(low, point);
      high = glm::max(high, point);
      xyz[0] = point.x;
      xyz[1] = point.y;
      xyz[2] = point.z;
    }
    for (int axis = 0; axis < 3; ++axis) {
      boxes[patch].low[axis] = low[axis];
      boxes[patch].high[axis] = high[axis];
      all.low[axis] = std::min(all.low[axis], low[axis]);
      all.high[axis] = std::max(all.high[axis], high[axis]);
    }
  }
}

// A box is outside a plane when its farthest corner along the plane's normal is. On each axis this corner has the
// coordinate `high` where the normal is positive and `low` where it is negative.
void box_codes(const PlaneLanes<float>& planes, const PatchBox* boxes, std::uint32_t count, PlaneCode* codes) {
  for (std::uint32_t b = 0; b < count; ++b) {
    const PatchBox& box = boxes[b];
    unsigned code = 0;
    for (int p = 0; p < kMaxPlanes; ++p) {
      const float x = std::max(planes.x[p], 0.f) * box.high[0] + std::min(planes.x[p], 0.f) * box.low[0];
      const float y = std::max(planes.y[p], 0.f) * box.high[1] + std::min(planes.y[p], 0.f) * box.low[1];
      const float z = std::max(planes.z[p], 0.f) * box.high[2] + std::min(planes.z[p], 0.f) * box.low[2];
      code |= unsigned{((x + y) + z) + planes.d[p] < 0.f} << p;
    }
    codes[b] = static_cast<PlaneCode>(code);
  }
}

template <typename Real>
unsigned point_code(const PlaneLanes<Real>& planes, const float* point) {
  const Real x = point[0], y = point[1], z = point[2];
  unsigned code = 0;
  for (int p = 0; p < kMaxPlanes; ++p) {
    const Real height = ((planes.x[p] * x + planes.y[p] * y) + planes.z[p] * z) + planes.d[p];
    code |= unsigned{height < 0} << p;
  }
  return code;
}

PlaneCode vertex_codes(const PlaneLanes<float>& planes, const float* xyz, PlaneCode* codes) {
  unsigned all = 0xff;
  for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
    const unsigned code = point_code(planes, xyz + 3 * i);
    codes[i] = static_cast<PlaneCode>(code);
    all &= code;
  }
  return static_cast<PlaneCode>(all);
}

void classify_faces(const ScanPlanes& planes, const float* xyz, const ScanFace* faces,
                    std::span<const std::uint32_t> listed, FaceVerdict* verdicts) {
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const ScanFace& face = faces[listed[i]];
    const unsigned a = point_code(planes.exact, xyz + std::size_t{3} * face.corner[0]);
    const unsigned b = point_code(planes.exact, xyz + std::size_t{3} * face.corner[1]);
    const unsigned c = point_code(planes.exact, xyz + std::size_t{3} * face.corner[2]);
    if (a & b & c)
      verdicts[i] = FaceVerdict::Out;
    else
      verdicts[i] = a == 0 || b == 0 || c == 0 ? FaceVerdict::In : FaceVerdict::Clip;
  }
}

template <typename Real>
PlaneLanes<Real> lanes_of(const ToolVolume& volume) {
  PlaneLanes<Real> lanes{};
  std::fill(std::begin(lanes.d), std::end(lanes.d), Real{1});
  for (int p = 0; p < volume.plane_count; ++p) {
    lanes.x[p] = volume.planes[p].x;
    lanes.y[p] = volume.planes[p].y;
    lanes.z[p] = volume.planes[p].z;
    lanes.d[p] = volume.planes[p].w;
  }
  return lanes;
}

}  // namespace

ScanPlanes scan_planes(const ToolVolume& volume, float largest_coordinate) {
  // At most eight roundings (three products, the sums, the moved plane) err by half an epsilon of 3 largest_coordinate
  // + |d| each; the rounding of the plane's four numbers to float errs by as much again. The margin holds both, so the
  // planes moved outwards contain the true volume too. No height is then -0, so the sign bit means "less than zero".
  constexpr float kRoundings = 8.f * std::numeric_limits<float>::epsilon();
  ScanPlanes planes{lanes_of<float>(volume), {}, lanes_of<double>(volume)};
  for (int p = 0; p < kMaxPlanes; ++p) {
    const float d = planes.out.d[p], margin = kRoundings * (3.f * largest_coordinate + std::abs(d));
    planes.out.d[p] = d + margin;
    planes.in_d[p] = d - margin;
  }
  return planes;
}

const ScanKernels& plain_scan_kernels() {
  static constexpr ScanKernels kernels{"plain", take_patches, box_codes, vertex_codes, classify_faces};
  return kernels;
}

const ScanKernels& best_scan_kernels() {
  const Instructions most = instructions();
  if (const ScanKernels* kernels = avx512_scan_kernels(); kernels && most >= Instructions::Avx512) return *kernels;
  if (const ScanKernels* kernels = avx2_scan_kernels(); kernels && most >= Instructions::Avx2) return *kernels;
  return plain_scan_kernels();
}

}  // namespace trocar
