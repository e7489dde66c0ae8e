// Models the stomach as a tube along a smooth J-shaped axis from the dome of the fundus to the duodenal bulb, and the
// oesophagus that enters beside the fundus. Sizes are from anatomy textbooks: moderately filled, about 25 cm long.
// Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#include <array>
#include <vector>

#include "mesh/organ_shapes.hpp"
#include "mesh/smooth_shapes.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// The stomach lies between the liver and the back: it is flatter from front to back than from side to side.
constexpr double kFlatness = 0.84;  // 1

// Control beads of the axis. The B-spline passes near them, not through them: radii and bends become softer.
constexpr std::array<Bead, 15> kStomachAxis = {{{{82, 136, 83}, 33},  // fundus
                                                {{82, 128, 85}, 43},
                                                {{80, 108, 91}, 47},
                                                {{79, 78, 102}, 42},  // body
                                                {{74, 46, 115}, 36},
                                                {{62, 10, 130}, 32},
                                                {{34, -18, 142}, 30},  // sinus, below the angular notch
                                                {{2, -14, 147}, 26},
                                                {{-16, 8, 145}, 24},  // antrum
                                                {{-26, 26, 139}, 17},
                                                {{-32, 37, 134}, 8},   // pylorus
                                                {{-39, 47, 127}, 19},  // duodenal bulb
                                                {{-50, 56, 115}, 16},
                                                {{-59, 58, 101}, 12},
                                                {{-64, 50, 88}, 12}}};

constexpr std::array<Bead, 6> kOesophagus = {{{{14, 210, 76}, 9},
                                              {{15, 185, 78}, 9},
                                              {{18, 160, 80}, 9},
                                              {{26, 138, 83}, 10},
                                              {{44, 120, 87}, 14},
                                              {{66, 110, 90}, 18}}};

// Returns a uniform cubic B-spline along the control beads, as fine round cones in a space stretched front to back.
std::vector<Bead> fine_axis(std::span<const Bead> control, double stretch) {
  constexpr int kSteps = 10;
  std::vector<Bead> beads;
  for (std::size_t i = 0; i + 3 < control.size(); ++i)
    for (int step = 0; step < kSteps; ++step) {
      const double t = double(step) / kSteps, s = 1.0 - t;
      const double w[4] = {s * s * s / 6, (4 - 6 * t * t + 3 * t * t * t) / 6, (4 - 6 * s * s + 3 * s * s * s) / 6,
                           t * t * t / 6};
      Bead bead{dvec3(0.0), 0.0};
      for (std::size_t k = 0; k < 4; ++k) {
        bead.centre += w[k] * control[i + k].centre;
        bead.radius += w[k] * control[i + k].radius;
      }
      bead.centre.z *= stretch;
      beads.push_back(bead);
    }
  return beads;
}

double nearest_cone(const dvec3& p, std::span<const Bead> beads) {
  double d = round_cone(p, beads[0], beads[1]);
  for (std::size_t i = 2; i < beads.size(); ++i) d = std::min(d, round_cone(p, beads[i - 1], beads[i]));
  return d;
}

// Cuts off everything beyond a plane: the stubs end flat, as after a surgical stapler.
double ended(double solid, const dvec3& p, const dvec3& on_plane, const dvec3& outward) {
  return smooth_intersection(solid, glm::dot(p - on_plane, glm::normalize(outward)), 4.0);
}

// Returns the trunk from fundus to duodenum; only its last beads meet the plane that ends the duodenum.
double trunk(const dvec3& p) {
  constexpr std::size_t kTail = 30;
  static const std::vector<Bead> beads = fine_axis(kStomachAxis, 1.0 / kFlatness);
  const std::span<const Bead> all(beads), tail = all.last(kTail);
  const dvec3 stretched(p.x, p.y, p.z / kFlatness);
  const double scale = 0.5 * (1.0 + kFlatness);
  const double duodenum = ended(scale * nearest_cone(stretched, tail), p, {-58, 57, 102}, {-0.5, 0.0, -0.87});
  return std::min(scale * nearest_cone(stretched, all.first(beads.size() - kTail + 1)), duodenum);
}

double oesophagus(const dvec3& p) {
  static const std::vector<Bead> beads = fine_axis(kOesophagus, 1.0);
  return nearest_cone(p, beads);
}

}  // namespace

double stomach_distance(const dvec3& p) {
  const double stub = ended(oesophagus(p), p, {15, 182, 79}, {-0.05, 1.0, -0.05});
  return smooth_union(trunk(p), stub, 14.0);
}

FieldBox stomach_box() { return {{-90, -76, 20}, {150, 204, 196}}; }

}  // namespace trocar
