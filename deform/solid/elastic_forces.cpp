#include "deform/solid/elastic_forces.hpp"

#include "deform/solid/elastic_kernel.hpp"
#include "geometry/machine.hpp"

namespace trocar {
namespace {

bool has_avx2() {
  static const bool avx2 = instructions() >= Instructions::Avx2;
  return avx2;
}

}  // namespace

void add_elastic_forces(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  has_avx2() ? add_elastic_forces_avx2(model, x, force) : add_elastic_forces_sse2(model, x, force);
}

void add_elastic_forces_sse2(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  add_all(model, x, force);
}

const char* force_instructions() { return has_avx2() ? "avx2" : "sse2"; }

}  // namespace trocar
