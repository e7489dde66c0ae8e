// AVX2 versions of the scan's inner loops: all eight planes in one register of floats or two of doubles.
// Tested against the plain ones in tests/cpu_collision/scan_kernels_test.cpp
#include "cpu_collision/scan_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#define TROCAR_AVX2 __attribute__((target("avx2")))

namespace trocar {
namespace {

// x y z _ of two vertices, the fourth number of each being the next float in the caller's positions.
TROCAR_AVX2 inline __m256 two_vertices(const float* positions, const std::uint32_t* source) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(positions + source[0])),
                              _mm_loadu_ps(positions + source[1]), 1);
}

// Eight vertices at a time: four registers of x y z _ x y z _ become three without the gaps.
TROCAR_AVX2 void take_patches(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                              PatchBox* boxes, PatchBox& all) {
  // Each pair with its gaps moved to the end, to the middle, or to the front of the register.
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
      low = _mm256_min_ps(_mm256_min_ps(low, _mm256_min_ps(a, b)), _mm256_min_ps(c, d));
      high = _mm256_max_ps(_mm256_max_ps(high, _mm256_max_ps(a, b)), _mm256_max_ps(c, d));
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

// Bits of four planes, `first` being 0 or 4.
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

TROCAR_AVX2 void judge_faces(const PlaneLanes<double>& planes, const float* xyz, const ScanFace* faces,
                             std::span<const std::uint32_t> listed, FaceVerdict* verdicts) {
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const ScanFace& face = faces[listed[i]];
    const int a = point_code(planes, xyz + std::size_t{3} * face.corner[0]);
    const int b = point_code(planes, xyz + std::size_t{3} * face.corner[1]);
    const int c = point_code(planes, xyz + std::size_t{3} * face.corner[2]);
    const FaceVerdict inside = a == 0 || b == 0 || c == 0 ? FaceVerdict::In : FaceVerdict::Clip;
    verdicts[i] = a & b & c ? FaceVerdict::Out : inside;
  }
}

}  // namespace

const ScanKernels* avx2_scan_kernels() {
  static constexpr ScanKernels kernels{"avx2", take_patches, box_codes, vertex_codes, judge_faces};
  return __builtin_cpu_supports("avx2") ? &kernels : nullptr;
}

}  // namespace trocar

#else

const trocar::ScanKernels* trocar::avx2_scan_kernels() { return nullptr; }

#endif
