// Restores cells that are pressed flat or inside out: springs depend on lengths only, so a mirror image is also an
// equilibrium for them. Each corner of a cell spans a volume with its three edges. When the smallest falls below half
// its rest volume, the cell is drawn to its rotated rest shape. Sound tissue under small strain is never affected.
// Source: Mueller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching", SIGGRAPH 2005;
// rotation: Mueller, Bender, Chentanez, Macklin, "A robust method to extract the rotational part", MIG 2016.
// Units: metres, newtons.   Tested in tests/deform/unfold_test.cpp
#pragma once

#include <span>

#include "deform/solid/tissue.hpp"

namespace trocar {

constexpr float kSqueezed = 0.5f;  // fraction of its rest volume below which a corner is restored
constexpr float kWatched = 0.75f;  // fraction below which it may fall under kSqueezed before the step ends

// Computes flatness[index of a cell in TissueModel::bulk]: the smallest of the cell's eight corner volumes, relative to
// that at rest; negative: inside out. `x` needs space for kLanes nodes more than the model has.
void measure_flatness(const TissueModel& model, const NodeColumns& x, std::span<float> flatness);

// Adds the forces that draw one cell towards its rest shape and damp the relative motion of its corners. They sum to
// zero. `x` and `v`: positions and velocities of the nodes, m and m/s.
void add_unfolding_forces(const TissueModel& model, const CrushedCell& cell, const NodeColumns& x, const NodeColumns& v,
                          NodeColumns& force);

// Returns the rotation nearest to `f`, never a reflection; an arbitrary rotation where f has none.
glm::mat3 nearest_rotation(const glm::mat3& f);

}  // namespace trocar
