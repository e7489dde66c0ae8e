// Peels the gallbladder of a scene off its bed in the liver, from the fundus to the neck, at constant speed.
// Units: metres, newtons, joules, seconds.
#pragma once

#include <vector>

#include "sim/scene/scene.hpp"

namespace trocar::bench {

struct PeelPoint {
  double peeled;  // m  length of the bed that has come loose, by area
  double force;   // N
};

struct GallbladderPeel {
  double length = 0.0, area = 0.0;  // m, m^2  of the bed
  double fracture_energy = 0.0;     // J/m^2   of its layer
  double work = 0.0;                // J       done on the gallbladder until the whole bed is loose
  std::vector<PeelPoint> measured;  // means of six frames
  // The steady force of peeling at a right angle: fracture energy times the width of the bed at the front, by the
  // theory of Rivlin (The effective work of adhesion, Paint Technology 9, 1944) for 1 - cos 90 degrees = 1.
  std::vector<PeelPoint> theory;
};

// `scene`: has the organs liver and gallbladder and the layer bed. `speed`: m/s of the fundus, as far back as up.
GallbladderPeel peel_gallbladder(const Scene& scene, double speed);

}  // namespace trocar::bench
