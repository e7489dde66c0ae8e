// The elastic forces for machines with AVX2. Compiled for them: nothing here may be called elsewhere.
#include "deform/elastic_kernel.hpp"

namespace trocar {

void add_elastic_forces_avx2(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  add_all(model, x, force);
}

}  // namespace trocar
