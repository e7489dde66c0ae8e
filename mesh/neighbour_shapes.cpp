// Models the neighbours of an operation on the gallbladder as signed distances: they fill the field behind and around
// the organs that instruments touch. Sizes from H. Gray, Anatomy of the Human Body, 20th edition, 1918: a kidney is
// 11.25 cm long, 5 to 7.5 cm wide and rather more than 2.5 cm thick, its upper pole nearer to the midline; the colon
// has three taeniae of 12 mm, with sacs between them; the right dome of the diaphragm lies upon the liver. That the
// transverse colon is 5 cm wide, between 7.5 cm of the caecum and 2.5 cm of the sigmoid colon, and the forms are ours;
// no scans were used. Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#include <array>

#include "mesh/fat_shape.hpp"
#include "mesh/organ_shapes.hpp"

namespace trocar {
namespace {

using glm::dvec3;

constexpr double kLiverGap = 4.0;  // mm  room for the liver to breathe

double clear_of_liver(double d, const dvec3& p) {
  constexpr double kFar = 20.0;  // mm
  return d > kFar ? d : smooth_cut(d, liver_distance(p) - kLiverGap, 6.0);
}

// The colon: ascending to the right flexure below the liver, then across the abdomen in front of the duodenum.
constexpr std::array<Bead, 11> kColonAxis = {{{{-128, -190, 20}, 25},  // sinks behind the peritoneum of the back wall
                                              {{-129, -140, 46}, 25},
                                              {{-130, -82, 82}, 25},
                                              {{-126, -34, 102}, 25},  // right flexure
                                              {{-108, -8, 110}, 25},
                                              {{-82, -8, 114}, 25},
                                              {{-54, -20, 116}, 24},  // transverse
                                              {{-22, -38, 116}, 24},
                                              {{20, -66, 116}, 23},
                                              {{64, -98, 104}, 23},
                                              {{112, -116, 80}, 23}}};  // below the omentum
constexpr double kHaustrum = 32.0;                                      // mm  length of a sac
constexpr double kFold = 0.32, kFoldWidth = 5.0;  // 1, mm  of the radius; half-width of the fold between two sacs
constexpr double kTaenia = 0.84;                  // 1  radius at a taenia over that of a sac
constexpr double kTaeniaFrom = 0.62,
                 kTaeniaTo = 0.95;  // 1  cosines of the angle from its middle: where it begins, is full

// A point of the axis, and a direction across it that turns as little as it can.
struct Station {
  dvec3 centre, forward, aside;
  double radius, along;  // mm
};

std::vector<Station> stations_of(std::span<const Bead> control) {
  const std::vector<Bead> beads = fine_axis(control, 1.0);
  std::vector<Station> stations;
  for (std::size_t k = 0; k < beads.size(); ++k) {
    const dvec3& before = beads[k > 0 ? k - 1 : 0].centre;
    const dvec3 forward = glm::normalize(beads[std::min(k + 1, beads.size() - 1)].centre - before);
    const dvec3 aside = stations.empty() ? dvec3(-0.1, 0.0, 0.99) : stations.back().aside;
    const double along = stations.empty() ? 0.0 : stations.back().along + glm::distance(before, beads[k].centre);
    stations.push_back(
        {beads[k].centre, forward, glm::normalize(aside - glm::dot(aside, forward) * forward), beads[k].radius, along});
  }
  return stations;
}

// The nearest place of the axis.
struct AxisPlace {
  double away, radius, along;  // mm
  dvec3 forward, aside, out;   // unit
};

AxisPlace nearest_place(const dvec3& p, std::span<const Station> stations) {
  AxisPlace best{INFINITY, 0.0, 0.0, {}, {}, {}};
  for (std::size_t k = 1; k < stations.size(); ++k) {
    const Station &a = stations[k - 1], &b = stations[k];
    const dvec3 axis = b.centre - a.centre;
    const double t = std::clamp(glm::dot(p - a.centre, axis) / glm::dot(axis, axis), 0.0, 1.0);
    const dvec3 from = p - glm::mix(a.centre, b.centre, t);
    const double away = glm::length(from);
    if (away < best.away)
      best = {away,
              glm::mix(a.radius, b.radius, t),
              glm::mix(a.along, b.along, t),
              glm::mix(a.forward, b.forward, t),
              glm::mix(a.aside, b.aside, t),
              from / std::max(away, 1e-9)};
  }
  return best;
}

const std::vector<Station>& colon_stations() {
  static const std::vector<Station> stations = stations_of(kColonAxis);
  return stations;
}

// Returns the radius of the wall there: sacs in three rows between the taeniae, each row a third of a sac behind the
// one before.
double colon_radius(const AxisPlace& at) {
  constexpr double kSine = 0.8660254037844386;  // of 120 degrees
  const dvec3 across = glm::cross(at.forward, at.aside);
  const double c = glm::dot(at.out, at.aside), s = glm::dot(at.out, across);
  const std::array<double, 3> facing = {c, -0.5 * c + kSine * s, -0.5 * c - kSine * s};
  const auto row = static_cast<double>(std::min_element(facing.begin(), facing.end()) - facing.begin());
  const double taenia = glm::smoothstep(kTaeniaFrom, kTaeniaTo, *std::max_element(facing.begin(), facing.end()));
  const double sac = at.along / kHaustrum + row / 3.0, share = sac - std::floor(sac);
  const double fold = kFold * bump(kHaustrum * std::min(share, 1.0 - share) / kFoldWidth);
  return at.radius * glm::mix(1.0 - fold, kTaenia, taenia);
}

}  // namespace

double colon_distance(const dvec3& p) {
  constexpr double kLean = 0.6;  // 1  the folds are steep
  const AxisPlace at = nearest_place(p, colon_stations());
  return kLean * (at.away - colon_radius(at));
}

FieldBox colon_box() { return {{-175, -235, -16}, {160, 30, 164}}; }

// The greater omentum hangs from the stomach over the transverse colon and lies on the bowel below it, in folds of
// lobules; the right part of the colon is bare.
double omentum_distance(const dvec3& p) {
  constexpr double kThickness = 4.0, kFolds = 27.0, kFoldHeight = 13.0, kLobule = 10.0, kLobuleHeight = 5.0;  // mm
  const AxisPlace at = nearest_place(p, colon_stations());
  const double ragged = 28.0 * (std::min(from_lobule(p, 30.0), 1.0) - 0.5);
  const double bare = 34.0 * (1.0 - glm::smoothstep(-46.0, -16.0, p.x - ragged));
  const double over_colon = 0.8 * (at.away - at.radius) - kThickness + bare;
  const double on_bowel = ellipsoid(p, {44, -118, 62}, {136, 112, 60});
  double d = smooth_union(over_colon, on_bowel, 30.0);
  d = smooth_intersection(d, std::max({40.0 - p.z, p.x - 140.0, -140.0 - p.y}), 20.0);
  if (std::abs(d) > 30.0) return d;
  d += kFoldHeight * (std::min(from_lobule(p + dvec3(17.0, 5.0, 0.0), kFolds), 1.0) - 0.5);
  const double lobule = from_lobule(p, kLobule);
  d += kLobuleHeight * (std::min(lobule * lobule, 0.45) - 0.3);
  return 0.7 * d;
}

FieldBox omentum_box() { return {{-120, -200, 14}, {200, 30, 180}}; }

// The lesser omentum, from the fissure of the liver's venous ligament to the lesser curvature of the stomach, which has
// fallen away from the liver: a sheet of folds side by side.

namespace {

constexpr dvec3 kStomachFalls(65, -25, -45);  // mm
constexpr std::array<dvec3, 6> kFissure = {
    {{-4, 110, 106}, {8, 115, 104}, {22, 124, 104}, {40, 132, 105}, {62, 142, 106}, {86, 152, 106}}};
constexpr std::array<dvec3, 6> kCurvature = {
    {{-10, 36, 76}, {22, 30, 80}, {44, 14, 94}, {76, 2, 94}, {102, 44, 64}, {100, 112, 40}}};

dvec3 on_line(std::span<const dvec3> line, double share) {
  const double at = share * static_cast<double>(line.size() - 1);
  const auto k = std::min(static_cast<std::size_t>(at), line.size() - 2);
  return glm::mix(line[k], line[k + 1], at - static_cast<double>(k));
}

}  // namespace

double lesser_omentum_distance(const dvec3& p) {
  constexpr int kFolds = 28;
  constexpr double kRadius = 4.5, kBlend = 10.0;  // mm
  double d = INFINITY;
  for (int k = 0; k <= kFolds; ++k) {
    const double share = static_cast<double>(k) / kFolds;
    const double fold = round_cone(p, {on_line(kFissure, share), kRadius}, {on_line(kCurvature, share), kRadius});
    d = k == 0 ? fold : smooth_union(d, fold, kBlend);
  }
  return clear_of_liver(smooth_cut(d, stomach_distance(p - kStomachFalls) - 1.2, 4.0), p);
}

FieldBox lesser_omentum_box() { return {{-20, -30, 20}, {136, 164, 126}}; }

// The back wall: peritoneum over the spine's muscles, vena cava and aorta, and over the right kidney in its fat.

namespace {

constexpr dvec3 kKidneyRadii(29.0, 56.0, 16.0);  // mm
constexpr double kKidneyFat = 12.0;              // mm

double kidney_distance(const dvec3& p) {
  constexpr dvec3 kCentre(-86, 30, 64);
  const dvec3 along = glm::normalize(dvec3(0.25, 0.95, -0.12));
  const dvec3 front = glm::normalize(dvec3(-0.30, 0.20, 1.0));
  const dvec3 thin = glm::normalize(front - glm::dot(front, along) * along);
  const glm::dmat3 axes(glm::cross(along, thin), along, thin);
  return ellipsoid(glm::transpose(axes) * (p - kCentre), dvec3(0.0), kKidneyRadii);
}

}  // namespace

double retroperitoneum_distance(const dvec3& p) {
  const double spine = 24.0 * bump((p.x - 10.0) / 30.0), side = std::max(-p.x - 130.0, p.x - 130.0);
  const double flank = side > 0.0 ? std::min(0.02 * side * side, 60.0) : 0.0;
  const double ripple = 5.0 * std::min(from_lobule(p, 30.0), 1.0);
  const double wall = 0.75 * (p.z - (40.0 + spine + flank - ripple));
  double d = smooth_union(wall, kidney_distance(p) - kKidneyFat, 56.0);
  d = smooth_intersection(d, 4.0 - p.z, 24.0);
  d = smooth_intersection(d, std::max(std::abs(p.x) - 205.0, std::abs(p.y - 16.0) - 190.0), 24.0);
  return clear_of_liver(d, p);
}

FieldBox retroperitoneum_box() { return {{-220, -240, -16}, {260, 240, 150}, 3.0}; }

// The diaphragm and the front wall below it, lifted by the gas, as a shell around an open space; towards the feet it
// rises beyond the trocars.
double diaphragm_distance(const dvec3& p) {
  constexpr double kThickness = 40.0, kSlip = 34.0, kUneven = 5.0;  // mm  slips of muscle, and how high they are
  constexpr double kRise = 0.02;                                    // 1/mm
  constexpr dvec3 kCentre(-20, 15, 96);
  const double right = glm::mix(170.0, 260.0, glm::smoothstep(96.0, 220.0, p.z));
  const double rises = glm::mix(90.0, 10.0, glm::smoothstep(-120.0, 10.0, p.x));
  const double feet = std::max(rises - p.y, 0.0);
  const dvec3 radii(p.x < kCentre.x ? right : 300.0, 204.0, 136.0 + kRise * feet * feet);
  const double slope = 2.0 * kRise * feet * (p.z - kCentre.z) / radii.z;
  const double inside =
      ellipsoid({p.x, std::max(p.y, kCentre.y), p.z}, kCentre, radii) / std::sqrt(1.0 + slope * slope);
  const double uneven = kUneven * (std::min(from_lobule(p, kSlip), 1.0) - 0.5);
  const double shell = std::abs(inside + uneven - 0.5 * kThickness) - 0.5 * kThickness;
  double ends = smooth_intersection(10.0 - p.z, -46.0 - p.y, 40.0);
  ends = smooth_intersection(ends, p.x - 190.0, 40.0);
  ends = smooth_intersection(ends, p.z - 330.0, 40.0);
  return smooth_intersection(shell, ends, 30.0);
}

FieldBox diaphragm_box() { return {{-390, -100, -40}, {300, 330, 390}, 4.0}; }

}  // namespace trocar
