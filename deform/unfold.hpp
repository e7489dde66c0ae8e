// Cells pressed flat or turned inside out: springs know lengths only, and are as content in a mirror image. Each corner
// of a cell spans a volume with its three edges; once the smallest falls below half its rest volume, the cell is drawn
// to its rest shape, turned as the cell is turned. Sound tissue under small strain never meets this.
// Source: Mueller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching", SIGGRAPH 2005;
// rotation: Mueller, Bender, Chentanez, Macklin, "A robust method to extract the rotational part", MIG 2016.
// Units: metres, newtons.   Tested in tests/deform/unfold_test.cpp
#pragma once

#include <span>

#include "deform/tissue.hpp"

namespace trocar {

constexpr float kSqueezed = 0.5f;  // share of its rest volume below which a corner calls for help
constexpr float kWatched = 0.75f;  // and below which it may do so before the step ends

// flatness[place of a cell in TissueModel::bulk]: smallest of its eight corner volumes, over that at rest; negative:
// turned inside out. `x` has room for kLanes nodes more than the model has.
void measure_flatness(const TissueModel& model, const NodeColumns& x, std::span<float> flatness);

// Adds the forces that draw one cell towards its rest shape and take its corners' motion against each other away. They
// sum to zero. `x` and `v`: where the nodes are and how fast they move, m and m/s.
void add_unfolding_forces(const TissueModel& model, const CrushedCell& cell, const NodeColumns& x, const NodeColumns& v,
                          NodeColumns& force);

// The rotation nearest to `f`, never a reflection; some rotation where f has none.
glm::mat3 nearest_rotation(const glm::mat3& f);

}  // namespace trocar
