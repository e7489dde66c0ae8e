// Implements the scan's copy loop with AVX-512VL. Only this loop is faster than with AVX2: permutes of two registers
// close the gaps in half the steps. Registers stay at 256 bits: the 512-bit units power down between frames when
// nothing else uses them, and the copy then takes longer than AVX2's. Tested against the plain version in
// tests/cpu_collision/scan_kernels_test.cpp
#include "cpu_collision/scan_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#define TROCAR_AVX512 __attribute__((target("avx512f,avx512vl")))

namespace trocar {
namespace {

// Loads x y z _ of two vertices; the fourth number of each is the next float in the caller's positions. One load
// fetches both offsets, because the copy is limited by loads.
TROCAR_AVX512 inline __m256 two_vertices(const float* positions, const std::uint32_t* source) {
  std::uint64_t offsets;
  std::memcpy(&offsets, source, sizeof(offsets));
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(positions + static_cast<std::uint32_t>(offsets))),
                              _mm_loadu_ps(positions + (offsets >> 32)), 1);
}

// Copies eight vertices at a time: four registers of x y z _ x y z _ become three without the gaps.
TROCAR_AVX512 void take_patches(const float* positions, const std::uint32_t* source, std::uint32_t patches, float* xyz,
                                PatchBox* boxes, PatchBox& all) {
  const __m256i first = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9), second = _mm256_setr_epi32(2, 4, 5, 6, 8, 9, 10, 12);
  const __m256i third = _mm256_setr_epi32(5, 6, 8, 9, 10, 12, 13, 14);
  __m128 all_low = _mm_load_ps(all.low), all_high = _mm_load_ps(all.high);
  for (std::uint32_t patch = 0; patch < patches; ++patch, source += kPatchVertices, xyz += 3 * kPatchVertices) {
    __m256 low = two_vertices(positions, source), high = low;
    for (std::uint32_t i = 0; i < kPatchVertices; i += 8) {
      const __m256 a = two_vertices(positions, source + i), b = two_vertices(positions, source + i + 2);
      const __m256 c = two_vertices(positions, source + i + 4), d = two_vertices(positions, source + i + 6);
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

}  // namespace

const ScanKernels* avx512_scan_kernels() {
  const ScanKernels* avx2 = avx2_scan_kernels();
  if (!avx2 || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl")) return nullptr;
  static const ScanKernels kernels{"avx512", take_patches, avx2->box_codes, avx2->vertex_codes, avx2->classify_faces};
  return &kernels;
}

}  // namespace trocar

#else

const trocar::ScanKernels* trocar::avx512_scan_kernels() { return nullptr; }

#endif
