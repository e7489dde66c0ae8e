// Defines the shapes of our organs as signed distances, modelled after anatomy textbooks; no scans were used.
// Common frame: -x the patient's right, +y towards the head, +z to the front; x = 0 is the midline, y = 0
// about the height of the pylorus in a standing patient, z = 0 the skin of the back. Units: millimetres.   Checked in
// tests/mesh/organ_maker_test.cpp
#pragma once

#include "mesh/sampled_field.hpp"

namespace trocar {

double liver_distance(const glm::dvec3& p);
FieldBox liver_box();

double stomach_distance(const glm::dvec3& p);
FieldBox stomach_box();

double gallbladder_distance(const glm::dvec3& p);
FieldBox gallbladder_box();

}  // namespace trocar
