// Bullet was not found: its methods are omitted.
#include <cstdio>

#include "bench/soft_body.hpp"

namespace trocar::bench {

std::vector<SoftBodyWay> bullet_soft_bodies(const TissueModel&) {
  std::fprintf(stderr, "left out: Bullet (libbullet-dev is not installed)\n");
  return {};
}

std::vector<Sag> bullet_sags(const TissueModel&, std::span<const int>) { return {}; }

}  // namespace trocar::bench
