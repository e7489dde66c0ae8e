// Defines the connective tissue of a scene: layers between organs, and bands from an organ to another one or to the
// abdominal wall. Model: deform/bonds.hpp.
// Units: metres, pascals unless a name says otherwise.   Tested in tests/sim/scene_bonds_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <string>

namespace trocar {

// A layer between the surface of `organ` and another organ.
struct LayerScene {
  std::string name;           // unique among the layers
  std::string organ, to;      // names of two organs
  float reach = 2e-3f;        // m    faces of `organ` nearer than this to the other, or inside it, are joined
  glm::vec3 centre{0.f};      // m    only within `radius` of this point
  float radius = 1.f;         // m
  float modulus = 3e3f;       // Pa   of the layer in tension
  float thickness = 1.5e-3f;  // m
  float break_strain = 1.5f;  // 1
};

// Strands between two lines.
struct BandScene {
  std::string name;                          // unique among the bands
  std::string organ, to;                     // `to` empty: the abdominal wall
  glm::vec3 from_start{0.f}, from_end{0.f};  // m    line on `organ`, at rest
  glm::vec3 to_start{0.f}, to_end{0.f};      // m    line on the other one
  int strands = 8;
  float modulus = 1e5f;       // Pa
  float section_mm2 = 10.f;   // mm^2
  float rest_strain = 0.f;    // 1    negative: slack
  float break_strain = 0.6f;  // 1
};

}  // namespace trocar
