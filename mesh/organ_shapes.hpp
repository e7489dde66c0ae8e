// The shapes of our organs as signed distances, modelled after anatomy: no scan went into them.
// Frame: -x the patient's right, +y towards the head, +z to the front; the origin lies in the midline, in front of the
// first lumbar vertebra. Both organs share it and lie in it as in a lying patient.
// Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#pragma once

#include "mesh/sampled_field.hpp"

namespace trocar {

double liver_distance(const glm::dvec3& p);
FieldBox liver_box();

double stomach_distance(const glm::dvec3& p);
FieldBox stomach_box();

}  // namespace trocar
