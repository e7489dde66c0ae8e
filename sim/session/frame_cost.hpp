// Estimates what a frame of a scene costs, before it runs, from the numbers of the tissue model: substeps and springs.
// It reads no clock. Scenes within all limits can be so stiff, light or fine that a frame takes seconds. It also says
// what sets the substeps of each organ.
// Units: seconds.   Tested in tests/app/files_test.cpp and tests/sim/trial/scene_trial_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/scene/scene.hpp"
#include "sim/session/session.hpp"

namespace trocar {

// Returns one sentence when a frame of `longest_frame` seconds takes much longer to compute than a frame may last; it
// names the organ, the substeps, the key that is the cause, and a remedy. Otherwise an empty text.
std::string slow_scene_text(const Scene& scene, const Session& session, double longest_frame);

// Prints that sentence on stderr.
void tell_slow_scene(const Scene& scene, const Session& session, double longest_frame);

// What sets the substeps of an organ: its stiffness over its mass at its spacing; a ligament of an attachment; the
// fibres of layers and bands; another organ that it is joined to or touches; the longest step of a duct or sheet; the
// key `substeps`.
enum class SubstepCause { Elastic, Ligament, Fibres, Neighbour, Duct, Sheet, Setting };

struct OrganSubsteps {
  int count = 1;  // of a frame
  SubstepCause cause = SubstepCause::Elastic;
  std::size_t neighbour = 0;  // with SubstepCause::Neighbour: the organ that needs them
  double seconds = 0.0;       // s  estimate for all of them on one core, of an organ that a lattice moves
};

// Returns the substeps of each organ in a frame of `dt` seconds that is divided into `pieces` contact substeps, as long
// as no tissue is crushed. Organs are joined as they were in the last frame. [organ]
std::vector<OrganSubsteps> substeps_of(const Session& session, double dt, int pieces);

}  // namespace trocar
