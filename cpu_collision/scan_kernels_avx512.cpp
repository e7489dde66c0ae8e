// AVX-512 versions of the scan's inner loops where they gain over AVX2: sixteen vertices per copy, eight double planes
// per register. Tested against the plain ones in tests/cpu_collision/scan_kernels_test.cpp
#include "cpu_collision/scan_kernels.hpp"

#if defined(__x86_64__)

// GCC 12 warns of its own header's deliberately undefined registers (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#define TROCAR_AVX512 __attribute__((target("avx512f,avx512dq")))

namespace trocar {
namespace {

TROCAR_AVX512 inline __m256 two_vertices(const float* positions, const std::uint32_t* source) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(positions + source[0])),
                              _mm_loadu_ps(positions + source[1]), 1);
}

TROCAR_AVX512 inline __m128 lowest(__m512 v) {
  const __m256 half = _mm256_min_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  return _mm_min_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

TROCAR_AVX512 inline __m128 highest(__m512 v) {
  const __m256 half = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  return _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

// x y z _ of four vertices, the fourth number of each being the next float in the caller's positions.
TROCAR_AVX512 inline __m512 four_vertices(const float* positions, const std::uint32_t* source) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(two_vertices(positions, source)),
                            two_vertices(positions, source + 2), 1);
}

// Sixteen vertices at a time: four registers of x y z _ become three without the gaps.
TROCAR_AVX512 void take_patches(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                                PatchBox* boxes, PatchBox& all) {
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20);
  const __m512i second = _mm512_setr_epi32(5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25);
  const __m512i third = _mm512_setr_epi32(10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 28, 29, 30);
  __m128 all_low = _mm_load_ps(all.low), all_high = _mm_load_ps(all.high);
  for (std::uint32_t patch = 0; patch < patches; ++patch, source += kPatchVertices, xyz += 3 * kPatchVertices) {
    __m512 low = _mm512_broadcast_f32x4(_mm_loadu_ps(positions + source[0])), high = low;
    for (std::uint32_t i = 0; i < kPatchVertices; i += 16) {
      const __m512 a = four_vertices(positions, source + i), b = four_vertices(positions, source + i + 4);
      const __m512 c = four_vertices(positions, source + i + 8), d = four_vertices(positions, source + i + 12);
      low = _mm512_min_ps(_mm512_min_ps(low, _mm512_min_ps(a, b)), _mm512_min_ps(c, d));
      high = _mm512_max_ps(_mm512_max_ps(high, _mm512_max_ps(a, b)), _mm512_max_ps(c, d));
      _mm512_store_ps(xyz + 3 * i, _mm512_permutex2var_ps(a, first, b));
      _mm512_store_ps(xyz + 3 * i + 16, _mm512_permutex2var_ps(b, second, c));
      _mm512_store_ps(xyz + 3 * i + 32, _mm512_permutex2var_ps(c, third, d));
    }
    const __m128 box_low = lowest(low), box_high = highest(high);
    _mm_store_ps(boxes[patch].low, box_low);
    _mm_store_ps(boxes[patch].high, box_high);
    all_low = _mm_min_ps(all_low, box_low);
    all_high = _mm_max_ps(all_high, box_high);
  }
  _mm_store_ps(all.low, all_low);
  _mm_store_ps(all.high, all_high);
}

struct WidePlanes {
  __m512d x, y, z, d;
};

// A float from memory to all eight lanes.
TROCAR_AVX512 inline __m512d spread(const float* value) { return _mm512_cvtps_pd(_mm256_broadcast_ss(value)); }

TROCAR_AVX512 inline unsigned point_code(const WidePlanes& planes, const float* point) {
  const __m512d in_xy =
      _mm512_add_pd(_mm512_mul_pd(planes.x, spread(point)), _mm512_mul_pd(planes.y, spread(point + 1)));
  const __m512d in_xyz = _mm512_add_pd(in_xy, _mm512_mul_pd(planes.z, spread(point + 2)));
  return _mm512_cmp_pd_mask(_mm512_add_pd(in_xyz, planes.d), _mm512_setzero_pd(), _CMP_LT_OQ);
}

TROCAR_AVX512 void judge_faces(const PlaneLanes<double>& lanes, const float* xyz, const ScanFace* faces,
                               std::span<const std::uint32_t> listed, FaceVerdict* verdicts) {
  const WidePlanes planes{_mm512_load_pd(lanes.x), _mm512_load_pd(lanes.y), _mm512_load_pd(lanes.z),
                          _mm512_load_pd(lanes.d)};
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const ScanFace& face = faces[listed[i]];
    const unsigned a = point_code(planes, xyz + std::size_t{3} * face.corner[0]);
    const unsigned b = point_code(planes, xyz + std::size_t{3} * face.corner[1]);
    const unsigned c = point_code(planes, xyz + std::size_t{3} * face.corner[2]);
    const FaceVerdict inside = a == 0 || b == 0 || c == 0 ? FaceVerdict::In : FaceVerdict::Clip;
    verdicts[i] = a & b & c ? FaceVerdict::Out : inside;
  }
}

}  // namespace

const ScanKernels* avx512_scan_kernels() {
  const ScanKernels* avx2 = avx2_scan_kernels();
  if (!avx2 || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq")) return nullptr;
  static const ScanKernels kernels{"avx512", take_patches, avx2->box_codes, avx2->vertex_codes, judge_faces};
  return &kernels;
}

}  // namespace trocar

#else

const trocar::ScanKernels* trocar::avx512_scan_kernels() { return nullptr; }

#endif
