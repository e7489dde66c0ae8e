// The liver: a smooth body as the diaphragm moulds it, cut from below by a concave visceral surface that meets the
// front in a sharp edge; into that surface go the marks of what touches it. Sizes after anatomy textbooks.
// Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#include <array>

#include "mesh/organ_shapes.hpp"
#include "mesh/smooth_shapes.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Height of the visceral surface over the patient's back (z) and side (x); organs below press against it.
double visceral_height(double x, double z) {
  const double back = (170.0 - z) / 100.0;  // 0 at the front edge, 1 at the back
  const double side = glm::smoothstep(-130.0, -40.0, x);
  return 64.0 + 0.47 * (x + 10.0) + glm::mix(0.8, 1.0, side) * (105.0 * back - 52.0 * back * back);
}

// A point of the visceral surface, `drop` below it.
dvec3 under(double x, double z, double drop) { return {x, visceral_height(x, z) - drop, z}; }

double tilted_ellipsoid(const dvec3& p, const dvec3& centre, const glm::dmat3& axes, const dvec3& radii) {
  return ellipsoid(glm::transpose(axes) * (p - centre), dvec3(0.0), radii);
}

// The body under the diaphragm: right dome, the bridge over the spine, and the flat left lobe.
double diaphragm_body(const dvec3& p) {
  const double right = ellipsoid(p, {-82, 78, 121}, {86, 96, 55});
  const double middle = ellipsoid(p, {-20, 104, 136}, {86, 58, 42});
  const dvec3 along = glm::normalize(dvec3(1.0, 0.08, -0.10)), thin = glm::normalize(dvec3(-0.06, 0.62, 0.78));
  const dvec3 thin_axis = glm::normalize(thin - along * glm::dot(thin, along));
  const glm::dmat3 axes(along, glm::cross(thin_axis, along), thin_axis);
  const double left = tilted_ellipsoid(p, {42, 122, 144}, axes, {98, 44, 24});
  return smooth_union(smooth_union(right, middle, 40.0), left, 30.0);
}

// What lies against the liver from outside: heart above, spine behind, kidney and colon below.
double impressions(double d, const dvec3& p) {
  d = smooth_cut(d, sphere(p, {18, 222, 138}, 70.0), 30.0);                        // heart
  d = smooth_cut(d, round_cone(p, {{14, 0, 46}, 39}, {{14, 240, 46}, 39}), 24.0);  // spine, crura
  d = smooth_cut(d, ellipsoid(p, {-90, 36, 90}, {30, 48, 26}), 14.0);              // right kidney
  d = smooth_cut(d, sphere(p, under(-98, 126, 50), 52.0), 14.0);                   // colic flexure
  return d;
}

// The H of the visceral surface: gallbladder and vena cava on one side, the round and venous ligaments on the other,
// the porta between; in front of the bar the quadrate lobe, behind it the caudate.
double hilum(double d, const dvec3& p) {
  d = smooth_union(d, ellipsoid(p, under(-22, 148, -7), {20, 10, 22}), 18.0);  // quadrate lobe
  d = smooth_union(d, ellipsoid(p, under(26, 128, -6), {16, 10, 16}), 18.0);   // omental tuber
  d = smooth_union(d, ellipsoid(p, {-10, 128, 97}, {15, 26, 15}), 10.0);       // caudate lobe
  const std::array<Bead, 3> gallbladder{
      {{under(-64, 174, 15), 17}, {under(-50, 150, 10), 15}, {under(-38, 124, 4), 9}}};
  d = smooth_cut(d, limb(p, gallbladder, 8.0), 8.0);
  const std::array<Bead, 3> round_ligament{{{under(8, 186, 0), 7}, {under(4, 156, 0), 7}, {under(0, 124, 0), 7}}};
  d = smooth_cut(d, limb(p, round_ligament, 8.0), 6.0);
  d = smooth_cut(d, round_cone(p, {under(-38, 121, 1), 8}, {under(0, 124, 1), 7}), 6.0);  // porta
  d = smooth_cut(d, round_cone(p, {under(0, 124, 0), 7}, {{8, 128, 104}, 4}), 6.0);       // venous ligament
  d = smooth_cut(d, round_cone(p, {{-34, 60, 76}, 13}, {{-26, 190, 84}, 13}), 8.0);       // vena cava
  return d;
}

}  // namespace

double liver_distance(const dvec3& p) {
  double d = smooth_cut(diaphragm_body(p), 0.75 * (p.y - visceral_height(p.x, p.z)), 12.0);
  d = hilum(impressions(d, p), p);
  // The falciform ligament's line over the front, faint.
  const double off_line = (p.x - 6.0) / 4.0;
  d += 0.8 * std::exp(-off_line * off_line) * glm::smoothstep(135.0, 165.0, p.z);
  return smooth_cut(d, stomach_distance(p) - 1.2, 3.0);
}

FieldBox liver_box() { return {{-185, -20, 40}, {140, 195, 210}}; }

}  // namespace trocar
