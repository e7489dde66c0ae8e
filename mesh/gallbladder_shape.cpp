// Models the gallbladder as a pear. The fundus hangs out below the liver's edge, the body lies in the liver's fossa,
// the neck bends towards the porta. Liver and stomach displace it; it stays 1.2 mm from either. Sizes from anatomy
// textbooks:
// 7 to 10 cm long, 3 to 4 cm wide. Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#include <array>

#include "mesh/organ_shapes.hpp"
#include "mesh/smooth_shapes.hpp"

namespace trocar {
namespace {

constexpr std::array<Bead, 6> kGallbladderAxis = {{{{-70, 33, 181}, 14.5},  // fundus
                                                   {{-63, 42, 166}, 15},    // body
                                                   {{-56, 53, 150}, 11.5},
                                                   {{-48, 66, 137}, 7},  // neck
                                                   {{-43, 75, 130}, 5},
                                                   {{-39, 80, 123}, 4}}};  // cystic duct

constexpr double kGap = 1.2;  // mm

}  // namespace

double gallbladder_distance(const glm::dvec3& p) {
  double d = limb(p, kGallbladderAxis, 6.0);
  d = smooth_cut(d, liver_distance(p) - kGap, 3.0);
  return smooth_cut(d, stomach_distance(p) - kGap, 3.0);
}

FieldBox gallbladder_box() { return {{-96, 8, 104}, {-24, 98, 206}}; }

}  // namespace trocar
