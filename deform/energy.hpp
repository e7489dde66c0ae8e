// Computes the energy of organs that connective tissue joins, in double: the terms of tissue.hpp, the fibres and struts
// of bonds.hpp, motion, and the weight of the nodes. The step does not use it; it serves to check that nothing gains
// energy. Contacts and the treatment of crushed cells (unfold.hpp) have no energy here.
// Units: metres, kilograms, seconds, joules.   Its gradient is compared with the forces of the step and with finite
// differences in tests/deform/energy_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/join/bonds.hpp"

namespace trocar {

struct OrgansEnergy {
  double kinetic = 0.0;  // J
  double elastic = 0.0;  // J  of springs, volumes and tethers
  double fibres = 0.0;   // J  of intact fibres and of struts
  double weight = 0.0;   // J  of the nodes that are not fixed, 0 at rest
  // [organ][node] N, gradient of the energy of position: minus the force. 0 on fixed nodes.
  std::vector<std::vector<glm::dvec3>> slope;

  double total() const { return kinetic + elastic + fibres + weight; }
};

// Returns the elastic energy of a fibre, J.
double energy_of(const Fibre& fibre, const FibreEnds& ends);

// `models`, `states`: the organs that the bonds join, in their order.
OrgansEnergy energy_of(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                       const Bonds& bonds);

// Returns total() - dt / 2 sum v . slope, the energy that substeps of `dt` seconds of symplectic Euler conserve for a
// linear system without damping (Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006, IX.3). total() itself
// ripples by the last term within every oscillation.
double stepped_energy(const OrgansEnergy& energy, std::span<SteppedTissue* const> states, double dt);

}  // namespace trocar
