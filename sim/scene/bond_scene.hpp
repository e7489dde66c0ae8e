// Defines the connective tissue of a scene: layers between organs, and bands from an organ to another one or to the
// abdominal wall. Model and parameters: deform/join/bonds.hpp.   Tested in tests/sim/scene_bonds_test.cpp
#pragma once

#include <string>

#include "deform/join/bonds.hpp"

namespace trocar {

// A layer between the surface of `organ` and the organ `to`.
struct LayerScene {
  std::string name;  // unique among the layers
  std::string organ, to;
  LayerParams params;
};

// Strands from `organ` to the organ `to`, or to the abdominal wall when `to` is empty.
struct BandScene {
  std::string name;  // unique among the bands
  std::string organ, to;
  BandParams params;
};

}  // namespace trocar
