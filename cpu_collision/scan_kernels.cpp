// The inner loops of `scan`: plain, with AVX2 (all eight planes lie in one register of floats or two of doubles) and
// with AVX-512VL. Functions carry their instructions as an attribute, so that the file is compiled for every x86-64.
// Tested against each other in tests/cpu_collision/scan_test.cpp
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cpu_collision/scan.hpp"
#include "geometry/machine.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define TROCAR_AVX2 __attribute__((target("avx2")))
#define TROCAR_AVX512 __attribute__((target("avx512f,avx512vl")))
#endif

namespace trocar {
namespace {
namespace plain {

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

}  // namespace plain

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

#if defined(__x86_64__)

namespace avx2 {

// Loads x y z _ of two vertices; the fourth number of each is the next float in the caller's positions. One load
// fetches both offsets, because the copy is limited by loads.
TROCAR_AVX2 inline __m256 two_vertices(const float* positions, const std::uint32_t* source) {
  std::uint64_t offsets;
  std::memcpy(&offsets, source, sizeof(offsets));
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(positions + static_cast<std::uint32_t>(offsets))),
                              _mm_loadu_ps(positions + (offsets >> 32)), 1);
}

// Copies eight vertices at a time: four registers of x y z _ x y z _ become three without the gaps.
TROCAR_AVX2 void take_patches(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                              PatchBox* boxes, PatchBox& all) {
  // These permutations move the gaps of a pair to the end, to the middle, or to the front of the register.
  const __m256i at_front = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 0, 0),
                at_end = _mm256_setr_epi32(0, 0, 0, 1, 2, 4, 5, 6);
  const __m256i split_b = _mm256_setr_epi32(2, 4, 5, 6, 0, 0, 0, 1),
                split_c = _mm256_setr_epi32(5, 6, 0, 0, 0, 1, 2, 4);
  __m128 all_low = _mm_load_ps(all.low), all_high = _mm_load_ps(all.high);
  for (std::uint32_t patch = 0; patch < patches; ++patch, source += kPatchVertices, xyz += 3 * kPatchVertices) {
    __m256 low = _mm256_broadcast_ps(reinterpret_cast<const __m128*>(positions + source[0])), high = low;
    for (std::uint32_t i = 0; i < kPatchVertices; i += 8) {
      const __m256 a = two_vertices(positions, source + i), b = two_vertices(positions, source + i + 2);
      const __m256 c = two_vertices(positions, source + i + 4), d = two_vertices(positions, source + i + 6);
      low = _mm256_min_ps(low, _mm256_min_ps(_mm256_min_ps(a, b), _mm256_min_ps(c, d)));
      high = _mm256_max_ps(high, _mm256_max_ps(_mm256_max_ps(a, b), _mm256_max_ps(c, d)));
      const __m256 b_split = _mm256_permutevar8x32_ps(b, split_b), c_split = _mm256_permutevar8x32_ps(c, split_c);
      _mm256_store_ps(xyz + 3 * i, _mm256_blend_ps(_mm256_permutevar8x32_ps(a, at_front), b_split, 0b11000000));
      _mm256_store_ps(xyz + 3 * i + 8, _mm256_blend_ps(b_split, c_split, 0b11110000));
      _mm256_store_ps(xyz + 3 * i + 16, _mm256_blend_ps(c_split, _mm256_permutevar8x32_ps(d, at_end), 0b11111100));
    }
    const __m128 box_low = _mm_min_ps(_mm256_castps256_ps128(low), _mm256_extractf128_ps(low, 1));
    const __m128 box_high = _mm_max_ps(_mm256_castps256_ps128(high), _mm256_extractf128_ps(high, 1));
    _mm_store_ps(boxes[patch].low, box_low);
    _mm_store_ps(boxes[patch].high, box_high);
    all_low = _mm_min_ps(all_low, box_low);
    all_high = _mm_max_ps(all_high, box_high);
  }
  _mm_store_ps(all.low, all_low);
  _mm_store_ps(all.high, all_high);
}

TROCAR_AVX2 void box_codes(const PlaneLanes<float>& planes, const PatchBox* boxes, std::uint32_t count,
                           PlaneCode* codes) {
  const __m256 zero = _mm256_setzero_ps(), d = _mm256_load_ps(planes.d);
  const __m256 x = _mm256_load_ps(planes.x), y = _mm256_load_ps(planes.y), z = _mm256_load_ps(planes.z);
  const __m256 x_high = _mm256_max_ps(x, zero), y_high = _mm256_max_ps(y, zero), z_high = _mm256_max_ps(z, zero);
  const __m256 x_low = _mm256_min_ps(x, zero), y_low = _mm256_min_ps(y, zero), z_low = _mm256_min_ps(z, zero);
  for (std::uint32_t b = 0; b < count; ++b) {
    const PatchBox& box = boxes[b];
    const __m256 along_x = _mm256_add_ps(_mm256_mul_ps(x_high, _mm256_broadcast_ss(box.high + 0)),
                                         _mm256_mul_ps(x_low, _mm256_broadcast_ss(box.low + 0)));
    const __m256 along_y = _mm256_add_ps(_mm256_mul_ps(y_high, _mm256_broadcast_ss(box.high + 1)),
                                         _mm256_mul_ps(y_low, _mm256_broadcast_ss(box.low + 1)));
    const __m256 along_z = _mm256_add_ps(_mm256_mul_ps(z_high, _mm256_broadcast_ss(box.high + 2)),
                                         _mm256_mul_ps(z_low, _mm256_broadcast_ss(box.low + 2)));
    const __m256 height = _mm256_add_ps(_mm256_add_ps(_mm256_add_ps(along_x, along_y), along_z), d);
    codes[b] = static_cast<PlaneCode>(_mm256_movemask_ps(height));
  }
}

TROCAR_AVX2 PlaneCode vertex_codes(const PlaneLanes<float>& planes, const float* xyz, PlaneCode* codes) {
  const __m256 x = _mm256_load_ps(planes.x), y = _mm256_load_ps(planes.y), z = _mm256_load_ps(planes.z);
  const __m256 d = _mm256_load_ps(planes.d);
  int all = 0xff;
  for (std::uint32_t i = 0; i < kPatchVertices; ++i, xyz += 3) {
    const __m256 in_xy =
        _mm256_add_ps(_mm256_mul_ps(x, _mm256_broadcast_ss(xyz + 0)), _mm256_mul_ps(y, _mm256_broadcast_ss(xyz + 1)));
    const __m256 height = _mm256_add_ps(_mm256_add_ps(in_xy, _mm256_mul_ps(z, _mm256_broadcast_ss(xyz + 2))), d);
    const int code = _mm256_movemask_ps(height);
    codes[i] = static_cast<PlaneCode>(code);
    all &= code;
  }
  return static_cast<PlaneCode>(all);
}

// Returns the bits of four planes, `first` being 0 or 4.
TROCAR_AVX2 inline int four_plane_bits(const PlaneLanes<double>& planes, int first, __m256d x, __m256d y, __m256d z) {
  const __m256d in_xy = _mm256_add_pd(_mm256_mul_pd(_mm256_load_pd(planes.x + first), x),
                                      _mm256_mul_pd(_mm256_load_pd(planes.y + first), y));
  const __m256d in_xyz = _mm256_add_pd(in_xy, _mm256_mul_pd(_mm256_load_pd(planes.z + first), z));
  const __m256d height = _mm256_add_pd(in_xyz, _mm256_load_pd(planes.d + first));
  return _mm256_movemask_pd(_mm256_cmp_pd(height, _mm256_setzero_pd(), _CMP_LT_OQ)) << first;
}

TROCAR_AVX2 inline int point_code(const PlaneLanes<double>& planes, const float* point) {
  const __m256d x = _mm256_set1_pd(point[0]), y = _mm256_set1_pd(point[1]), z = _mm256_set1_pd(point[2]);
  return four_plane_bits(planes, 0, x, y, z) | four_plane_bits(planes, 4, x, y, z);
}

TROCAR_AVX2 FaceVerdict exact_verdict(const PlaneLanes<double>& planes, const float* a, const float* b,
                                      const float* c) {
  const int code_a = point_code(planes, a), code_b = point_code(planes, b), code_c = point_code(planes, c);
  if (code_a & code_b & code_c) return FaceVerdict::Out;
  return code_a == 0 || code_b == 0 || code_c == 0 ? FaceVerdict::In : FaceVerdict::Clip;
}

// Codes of one point by the planes moved outward and by those moved inward.
struct FloatCodes {
  int out, in;
};

struct FloatPlanes {
  __m256 x, y, z, out_d, in_d;
};

TROCAR_AVX2 inline FloatCodes float_codes(const FloatPlanes& planes, const float* point) {
  const __m256 in_xy = _mm256_add_ps(_mm256_mul_ps(planes.x, _mm256_broadcast_ss(point + 0)),
                                     _mm256_mul_ps(planes.y, _mm256_broadcast_ss(point + 1)));
  const __m256 in_xyz = _mm256_add_ps(in_xy, _mm256_mul_ps(planes.z, _mm256_broadcast_ss(point + 2)));
  return {_mm256_movemask_ps(_mm256_add_ps(in_xyz, planes.out_d)),
          _mm256_movemask_ps(_mm256_add_ps(in_xyz, planes.in_d))};
}

// Float decides nearly every face; the few faces within its error of a plane are decided in double.
TROCAR_AVX2 void classify_faces(const ScanPlanes& lanes, const float* xyz, const ScanFace* faces,
                                std::span<const std::uint32_t> listed, FaceVerdict* verdicts) {
  const FloatPlanes planes{_mm256_load_ps(lanes.out.x), _mm256_load_ps(lanes.out.y), _mm256_load_ps(lanes.out.z),
                           _mm256_load_ps(lanes.out.d), _mm256_load_ps(lanes.in_d)};
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const ScanFace& face = faces[listed[i]];
    const float* a = xyz + std::size_t{3} * face.corner[0];
    const float* b = xyz + std::size_t{3} * face.corner[1];
    const float* c = xyz + std::size_t{3} * face.corner[2];
    const FloatCodes code_a = float_codes(planes, a), code_b = float_codes(planes, b), code_c = float_codes(planes, c);
    const bool out = (code_a.out & code_b.out & code_c.out) != 0;
    const bool in = (code_a.in == 0) | (code_b.in == 0) | (code_c.in == 0);
    verdicts[i] = out ? FaceVerdict::Out : FaceVerdict::In;
    if (!(out | in)) verdicts[i] = exact_verdict(lanes.exact, a, b, c);
  }
}

}  // namespace avx2

// Only the copy is faster with AVX-512VL than with AVX2: permutes of two registers close the gaps in half the steps.
// Registers stay at 256 bits: the 512-bit units power down between frames when nothing else uses them, and the copy
// then takes longer than AVX2's.
namespace avx512 {

// Copies eight vertices at a time: four registers of x y z _ x y z _ become three without the gaps.
TROCAR_AVX512 void take_patches(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                                PatchBox* boxes, PatchBox& all) {
  const __m256i first = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9), second = _mm256_setr_epi32(2, 4, 5, 6, 8, 9, 10, 12);
  const __m256i third = _mm256_setr_epi32(5, 6, 8, 9, 10, 12, 13, 14);
  __m128 all_low = _mm_load_ps(all.low), all_high = _mm_load_ps(all.high);
  for (std::uint32_t patch = 0; patch < patches; ++patch, source += kPatchVertices, xyz += 3 * kPatchVertices) {
    __m256 low = avx2::two_vertices(positions, source), high = low;
    for (std::uint32_t i = 0; i < kPatchVertices; i += 8) {
      const __m256 a = avx2::two_vertices(positions, source + i), b = avx2::two_vertices(positions, source + i + 2);
      const __m256 c = avx2::two_vertices(positions, source + i + 4), d = avx2::two_vertices(positions, source + i + 6);
      low = _mm256_min_ps(low, _mm256_min_ps(_mm256_min_ps(a, b), _mm256_min_ps(c, d)));
      high = _mm256_max_ps(high, _mm256_max_ps(_mm256_max_ps(a, b), _mm256_max_ps(c, d)));
      _mm256_store_ps(xyz + 3 * i, _mm256_permutex2var_ps(a, first, b));
      _mm256_store_ps(xyz + 3 * i + 8, _mm256_permutex2var_ps(b, second, c));
      _mm256_store_ps(xyz + 3 * i + 16, _mm256_permutex2var_ps(c, third, d));
    }
    const __m128 box_low = _mm_min_ps(_mm256_castps256_ps128(low), _mm256_extractf128_ps(low, 1));
    const __m128 box_high = _mm_max_ps(_mm256_castps256_ps128(high), _mm256_extractf128_ps(high, 1));
    _mm_store_ps(boxes[patch].low, box_low);
    _mm_store_ps(boxes[patch].high, box_high);
    all_low = _mm_min_ps(all_low, box_low);
    all_high = _mm_max_ps(all_high, box_high);
  }
  _mm_store_ps(all.low, all_low);
  _mm_store_ps(all.high, all_high);
}

}  // namespace avx512

#endif

}  // namespace

#if defined(__x86_64__)

const ScanKernels* avx2_scan_kernels() {
  static constexpr ScanKernels kernels{"avx2", avx2::take_patches, avx2::box_codes, avx2::vertex_codes,
                                       avx2::classify_faces};
  return __builtin_cpu_supports("avx2") ? &kernels : nullptr;
}

const ScanKernels* avx512_scan_kernels() {
  const ScanKernels* with_avx2 = avx2_scan_kernels();
  if (!with_avx2 || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl")) return nullptr;
  static const ScanKernels kernels{"avx512", avx512::take_patches, with_avx2->box_codes, with_avx2->vertex_codes,
                                   with_avx2->classify_faces};
  return &kernels;
}

#else

const ScanKernels* avx2_scan_kernels() { return nullptr; }
const ScanKernels* avx512_scan_kernels() { return nullptr; }

#endif

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
  static constexpr ScanKernels kernels{"plain", plain::take_patches, plain::box_codes, plain::vertex_codes,
                                       plain::classify_faces};
  return kernels;
}

const ScanKernels& best_scan_kernels() {
  const Instructions most = instructions();
  if (const ScanKernels* kernels = avx512_scan_kernels(); kernels && most >= Instructions::Avx512) return *kernels;
  if (const ScanKernels* kernels = avx2_scan_kernels(); kernels && most >= Instructions::Avx2) return *kernels;
  return plain_scan_kernels();
}

}  // namespace trocar
