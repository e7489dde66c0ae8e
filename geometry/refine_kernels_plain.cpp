// Compiles the kernels of refine_touches for any processor.
#include "geometry/machine.hpp"
#include "geometry/refine_four.hpp"

namespace trocar {

const RefineKernels& plain_refine_kernels() {
  static const RefineKernels kernels{[](const Sweep& sweep, FourFaces& four) { lanes::at_start(sweep, four); },
                                     [](const Sweep& sweep, FourFaces& four) { lanes::during(sweep, four); }};
  return kernels;
}

const RefineKernels& best_refine_kernels() {
  static const RefineKernels& best =
      instructions() >= Instructions::Avx2 && avx2_refine_kernels() ? *avx2_refine_kernels() : plain_refine_kernels();
  return best;
}

}  // namespace trocar
