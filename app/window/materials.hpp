// Defines the tissue presets of the scene editor. The liver's values come from elastography, as in TissueParams. The
// other values are not measured: they are softer or stiffer as the organs feel in the operating theatre. Units:
// pascals, kg/m^3.
#pragma once

#include <array>

#include "deform/solid/tissue.hpp"

namespace trocar {

struct Material {
  const char* name;
  float youngs_modulus;  // Pa
  float poisson_ratio;   // 1
  float density;         // kg/m^3
  float friction;        // 1
};

constexpr std::array<Material, 4> kMaterials = {{{"liver", 6.0e3f, 0.46f, 1060.f, 0.2f},
                                                 {"stomach", 4.0e3f, 0.46f, 1050.f, 0.2f},
                                                 {"gallbladder", 3.0e3f, 0.46f, 1030.f, 0.15f},
                                                 {"stiff", 2.0e4f, 0.46f, 1080.f, 0.3f}}};

inline void use(const Material& material, TissueParams& tissue) {
  tissue.youngs_modulus = material.youngs_modulus;
  tissue.poisson_ratio = material.poisson_ratio;
  tissue.density = material.density;
  tissue.friction = material.friction;
}

}  // namespace trocar
