// The elastic forces compiled for AVX2. Nothing in this file may be called on machines without it.
#include "deform/elastic_kernel.hpp"

namespace trocar {

void add_elastic_forces_avx2(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  add_all(model, x, force);
}

}  // namespace trocar
