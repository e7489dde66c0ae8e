// Replaces soft_body_bullet.cpp when Bullet was not found: the bench omits Bullet's methods.
#include <cstdio>

#include "bench/soft_body.hpp"

namespace trocar::bench {

std::vector<SoftBodyWay> bullet_soft_bodies(const TissueModel&) {
  std::fprintf(stderr, "left out: Bullet (libbullet-dev is not installed)\n");
  return {};
}

std::vector<Sag> bullet_sags(const TissueModel&, std::span<const int>) { return {}; }

}  // namespace trocar::bench
