// Compiles the loops of elastic_kernel.hpp for AVX2. Only machines with AVX2 may call the functions of this file.
#include "deform/solid/elastic_kernel.hpp"

namespace trocar {

void add_elastic_forces_avx2(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  add_all(model, x, force);
}

}  // namespace trocar
