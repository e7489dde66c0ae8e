// Declares the keys of an organ's tissue, its contacts, its cuts and its attachments, like scene_keys.hpp.   Tested in
// tests/house/scene_keys_test.cpp
#pragma once

#include <type_traits>

#include "deform/contact/contact.hpp"
#include "deform/cut/sculpt.hpp"
#include "deform/solid/elasticity.hpp"
#include "deform/solid/tissue.hpp"
#include "sim/scene/scene_key.hpp"

namespace trocar {

template <typename Keys>
void declare(Keys& keys, std::type_identity<TissueParams>) {
  keys.choice({"law", "", "`rising`: it stiffens with strain, see [tissue.md](tissue.md)"}, &TissueParams::law,
              kTissueLaws);
  keys.number({"youngs_modulus", "Pa", "Young's modulus at small strain"}, &TissueParams::youngs_modulus, {1.0, 1e9});
  keys.number({"poisson_ratio", "", "0.25: springs only, 0.49: nearly incompressible"}, &TissueParams::poisson_ratio,
              {0.25, 0.49});
  keys.number({"stiffening", "", "of the law `rising`, from the start; below 0 it softens"}, &TissueParams::stiffening,
              {kLeastStiffening, kMostStiffening});
  keys.number({"late_stiffening", "", "of the law `rising`, at large strain"}, &TissueParams::late_stiffening,
              {0.0, kMostLateStiffening});
  keys.number({"density", "kg/m^3", "of the tissue"}, &TissueParams::density, {1.0, 1e5});
  keys.scaled({"damping_ms", "ms", "Rayleigh's beta, losses in the tissue"}, &TissueParams::damping_time, {0.0, 100.0});
  keys.number({"drag", "1/s", "Rayleigh's alpha, losses to fat, fluid and neighbours"}, &TissueParams::drag,
              {0.0, 1e4});
  keys.number({"friction", "", "Coulomb friction of a tool on wet tissue"}, &TissueParams::friction, {0.0, 10.0});
  keys.scaled({"node_spacing_mm", "mm", "spacing of the lattice, at most the organ's longest side"},
              &TissueParams::node_spacing, {0.1, 1000.0});
  keys.number({"substeps", "", "smallest number of substeps of a step; stability may require more"},
              &TissueParams::substeps, {1, 1000});
  keys.number({"fastest_tool", "m/s", "contacts push tissue away no faster than this"}, &TissueParams::fastest_tool,
              {0.01, 100.0});
  keys.number({"unfolding", "", "stiffness of a crushed cell, relative to Young's modulus times spacing"},
              &TissueParams::unfolding, {0.0, 10.0});
  keys.number({"crush_damping", "1/s", "damping rate of the corners of a crushed cell"}, &TissueParams::crush_damping,
              {0.0, 1e4});
  keys.vector({"gravity", "m/s^2", "without gravity the mesh is the shape at rest", Need::Optional, true},
              &TissueParams::gravity, {-100.0, 100.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<ContactParams>) {
  keys.scaled({"reach_mm", "mm", "points within this distance of a tool get a contact"}, &ContactParams::reach,
              {0.01, 100.0});
  keys.scaled({"candidate_reach_mm", "mm",
               "faces within this distance of a tool's path are tested in every contact substep; at least `reach_mm`"},
              &ContactParams::candidate_reach, {0.01, 100.0});
  keys.number({"least_substeps", "", "contact substeps of a frame with contact"}, &ContactParams::least_substeps,
              {1, 100});
  keys.number({"most_substeps", "", "at least `least_substeps`"}, &ContactParams::most_substeps, {1, 100});
  keys.number({"smallest_area_m2", "m^2", "pressure is a mean over a patch of this area"}, &ContactParams::patch_area,
              {1e-9, 1.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<SculptParams>) {
  keys.number({"voxels_per_cell", "", "voxels along a lattice cell; cuts remove whole voxels"},
              &SculptParams::voxels_per_cell, {1, 8});
  keys.number({"smallest_piece", "voxels", "smaller separated pieces are removed too"}, &SculptParams::smallest_piece,
              {0, 1e6});
  keys.vector({"fall", "m/s^2", "gravity of loose parts of tissue without gravity"}, &SculptParams::fall,
              {-100.0, 100.0});
  keys.scaled({"floor_mm", "mm",
               "loose parts come to rest at this distance along `fall` from the origin, as on bowel; nothing is drawn "
               "there; 100000: they do not"},
              &SculptParams::floor, {-1e5, 1e5});
  keys.scaled({"out_of_sight_mm", "mm", "loose parts stop at this distance from where they were at rest"},
              &SculptParams::out_of_sight, {1.0, 1e5});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<Attachment>) {
  keys.position({"centre_mm", "mm", "centre of a ball; the tissue in it is attached", Need::Required, true},
                &Attachment::centre);
  keys.scaled({"radius_mm", "mm", "radius of the ball", Need::Required}, &Attachment::radius, {0.1, 1000.0});
  keys.number({"stiffness", "N/m", "0: rigid; otherwise a ligament, all its fibres together"}, &Attachment::stiffness,
              {0.0, 1e6});
  keys.flag({"diaphragm", "", "true: it moves with the diaphragm"}, &Attachment::diaphragm);
}

}  // namespace trocar
