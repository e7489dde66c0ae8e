// Compiles the kernels of refine_touches for processors with AVX2. Shared headers are included before the target
// changes, so that no AVX2 copy of their inline functions can be linked into code for other processors.
#include <glm/glm.hpp>

#include "geometry/closest.hpp"
#include "geometry/refine.hpp"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#include "geometry/refine_four.hpp"

namespace trocar {
namespace {

void at_start(const Sweep& sweep, FourFaces& four) { lanes::at_start(sweep, four); }
void during(const Sweep& sweep, FourFaces& four) { lanes::during(sweep, four); }

}  // namespace
}  // namespace trocar
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const trocar::RefineKernels* trocar::avx2_refine_kernels() {
  static const RefineKernels kernels{at_start, during};
  return __builtin_cpu_supports("avx2") ? &kernels : nullptr;
}
#else
const trocar::RefineKernels* trocar::avx2_refine_kernels() { return nullptr; }
#endif
