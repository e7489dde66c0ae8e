// Models the liver as a smooth body shaped by the diaphragm, cut from below by a concave visceral surface that meets
// the front in a sharp edge. Neighbouring organs leave impressions in that surface. Sizes from anatomy textbooks.
// Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#include <array>

#include "mesh/organ_shapes.hpp"
#include "mesh/smooth_shapes.hpp"

namespace trocar {
namespace {

using glm::dvec2;
using glm::dvec3;

// An impression in the visceral surface, drawn from above as a stroke of a soft brush; a bump has a negative depth.
struct Stroke {
  dvec2 from, to;               // mm   (x, z)
  double width_from, width_to;  // mm   half-width at which the depth has fallen to a third
  double depth_from, depth_to;  // mm
};

// Returns a soft bump: 1 at the middle, 0 beyond two half-widths. Plain arithmetic, so that every machine makes the
// same organ.
double bump(double half_widths) {
  const double h = std::max(1.0 - 0.25 * half_widths * half_widths, 0.0);
  return h * h * h * h;
}

double depth_of(const Stroke& stroke, const dvec2& at) {
  const dvec2 axis = stroke.to - stroke.from;
  const double t = std::clamp(glm::dot(at - stroke.from, axis) / glm::dot(axis, axis), 0.0, 1.0);
  const double off = glm::length(at - stroke.from - t * axis) / glm::mix(stroke.width_from, stroke.width_to, t);
  return glm::mix(stroke.depth_from, stroke.depth_to, t) * bump(off);
}

// The H of the visceral surface, and the impressions of neighbouring organs.
constexpr std::array<Stroke, 5> kGrooves = {{{{-68, 178}, {-40, 126}, 15, 10, 8, 10},       // gallbladder
                                             {{12, 196}, {2, 126}, 8, 7.5, 11, 11},         // round ligament
                                             {{-40, 125}, {2, 127}, 8, 7, 10, 10},          // porta
                                             {{2, 127}, {8, 96}, 7, 6, 10, 8},              // venous ligament
                                             {{-52, 112}, {-44, 122}, 14, 12, 4, 5}}};      // duodenum
constexpr std::array<Stroke, 5> kImpressions = {{{{-90, 84}, {-84, 100}, 25, 25, 17, 15},   // right kidney
                                                 {{-122, 132}, {-94, 146}, 22, 22, 5, 5},   // colic flexure
                                                 {{-22, 146}, {-20, 160}, 16, 16, -4, -3},  // quadrate lobe
                                                 {{24, 124}, {34, 126}, 13, 13, -5, -4},    // omental tuber
                                                 {{56, 136}, {76, 142}, 26, 24, 5, 4}}};    // stomach

// Returns the height of the visceral surface over x and z; it rises to the left and to the back.
double visceral_height(double x, double z) {
  const double back = (170.0 - z) / 100.0;  // 0 at the front edge, 1 at the back
  const double side = glm::smoothstep(-130.0, -40.0, x);
  double height = 57.0 + 0.46 * (x + 10.0) + glm::mix(0.8, 1.0, side) * (105.0 * back - 52.0 * back * back);
  double groove = 0.0;
  for (const Stroke& stroke : kGrooves) groove = -smooth_union(-groove, -depth_of(stroke, {x, z}), 4.0);
  height += groove;
  for (const Stroke& stroke : kImpressions) height += depth_of(stroke, {x, z});
  return height;
}

double tilted_ellipsoid(const dvec3& p, const dvec3& centre, const glm::dmat3& axes, const dvec3& radii) {
  return ellipsoid(glm::transpose(axes) * (p - centre), dvec3(0.0), radii);
}

// Returns the body under the diaphragm: right dome, bridge over the spine, and flat left lobe with the impression of
// the heart.
double diaphragm_body(const dvec3& p) {
  const double right = ellipsoid(p, {-82, 79, 120}, {88, 99, 52});
  const double middle = ellipsoid(p, {-20, 104, 136}, {86, 59, 42});
  const dvec3 along = glm::normalize(dvec3(1.0, 0.08, -0.10)), thin = glm::normalize(dvec3(-0.06, 0.62, 0.78));
  const dvec3 thin_axis = glm::normalize(thin - along * glm::dot(thin, along));
  const glm::dmat3 axes(along, glm::cross(thin_axis, along), thin_axis);
  const double left = tilted_ellipsoid(p, {50, 122, 143}, axes, {122, 45, 25});
  const double body = smooth_union(smooth_union(right, middle, 40.0), left, 30.0);
  return smooth_cut(body, sphere(p, {18, 222, 138}, 70.0), 30.0);
}

// Returns the back: the hollow for spine and crura, the caudate lobe, and beside it the groove of the vena cava.
double back_of(double d, const dvec3& p) {
  d = smooth_cut(d, round_cone(p, {{14, 0, 46}, 39}, {{14, 240, 46}, 39}), 24.0);
  d = smooth_union(d, ellipsoid(p, {-10, 124, 101}, {17, 27, 15}), 10.0);
  return smooth_cut(d, round_cone(p, {{-34, 60, 76}, 13}, {{-26, 190, 84}, 13}), 9.0);
}

}  // namespace

double liver_distance(const dvec3& p) {
  constexpr double kLean = 0.75;  // 1   converts a height over an inclined surface to a distance from it
  const double edge =
      glm::mix(18.0, 32.0, glm::smoothstep(10.0, 80.0, p.x));  // keeps the left lobe's edge from thinning
  double d = smooth_cut(diaphragm_body(p), kLean * (p.y - visceral_height(p.x, p.z)), edge);
  d = back_of(d, p);
  // This term makes the faint line of the falciform ligament over the front.
  d += 0.7 * bump((p.x - 8.0) / 4.0) * glm::smoothstep(135.0, 165.0, p.z);
  return smooth_cut(d, stomach_distance(p) - 1.2, 4.0);
}

FieldBox liver_box() { return {{-185, -28, 40}, {140, 200, 210}}; }

}  // namespace trocar
