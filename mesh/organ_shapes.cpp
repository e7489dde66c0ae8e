// Models the liver as a smooth body shaped by the diaphragm, cut from below by a concave visceral surface that meets
// the front in a sharp edge. Neighbouring organs leave impressions in that surface. Sizes from anatomy textbooks.
// Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#include "mesh/organ_shapes.hpp"

#include <vtkFloatArray.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <array>

#include "mesh/vtk_surface.hpp"

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

// Models the stomach as a tube along a smooth J-shaped axis from the dome of the fundus to the duodenal bulb, and the
// oesophagus that enters beside the fundus. Sizes are from anatomy textbooks: moderately filled, about 25 cm long.

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

}  // namespace

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

namespace {

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

// Models the gallbladder as a pear. The fundus hangs out below the liver's edge, the body lies in the liver's fossa,
// the neck bends towards the porta. Liver and stomach displace it; it stays 1.2 mm from either. Sizes from anatomy
// textbooks: 7 to 10 cm long, 3 to 4 cm wide.

namespace {

constexpr std::array<Bead, 6> kGallbladderAxis = {{{{-70, 33, 181}, 14.5},  // fundus
                                                   {{-63, 42, 166}, 15},    // body
                                                   {{-56, 53, 150}, 11.5},
                                                   {{-48, 66, 137}, 7},  // neck
                                                   {{-43, 75, 130}, 5},
                                                   {{-39, 80, 123}, 4}}};  // cystic duct

constexpr double kGap = 1.2;  // mm

}  // namespace

namespace {

double beside_its_neighbours(double d, const glm::dvec3& p) {
  d = smooth_cut(d, liver_distance(p) - kGap, 3.0);
  return smooth_cut(d, stomach_distance(p) - kGap, 3.0);
}

}  // namespace

double gallbladder_distance(const glm::dvec3& p) { return beside_its_neighbours(limb(p, kGallbladderAxis, 6.0), p); }

double gallbladder_with_stone_distance(const glm::dvec3& p) {
  constexpr double kStone = 8.0, kWall = 1.5;  // mm
  const double neck = sphere(p, {-47, 66.5, 136}, kStone + kWall);
  return beside_its_neighbours(smooth_union(limb(p, kGallbladderAxis, 6.0), neck, 4.0), p);
}

FieldBox gallbladder_box() { return {{-96, 8, 104}, {-24, 98, 206}}; }

// Models the cystic lymph node as a bean, 8 mm long and 4.5 mm thick, whose hollow side looks at the cystic artery.

namespace {

constexpr std::array<Bead, 3> kNodeAxis = {
    {{{-20.65, 83.8, 116.1}, 1.9}, {{-18.65, 84.1, 115.0}, 2.25}, {{-16.65, 85.3, 115.0}, 1.9}}};

}  // namespace

double lymph_node_distance(const glm::dvec3& p) { return limb(p, kNodeAxis, 1.0); }

FieldBox lymph_node_box() { return {{-25, 78, 108}, {-12, 90, 120}, 0.3}; }

namespace {

constexpr int kBlock = 4;  // nodes per side of a block; blocks are sampled in full only near the surface

// Samples farther from the surface than half a block's diagonal and a long edge's sag are never used.
constexpr double kBand = 20.0;  // mm

struct Weights {
  std::array<double, 4> value, slope;
};

// Returns the weights of the uniform cubic B-spline at offset t in [0,1) from the second of four nodes.
Weights spline_weights(double t) {
  const double s = 1.0 - t;
  return {{s * s * s / 6.0, (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0, (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0,
           t * t * t / 6.0},
          {-s * s / 2.0, (-4.0 * t + 3.0 * t * t) / 2.0, (4.0 * s - 3.0 * s * s) / 2.0, t * t / 2.0}};
}

}  // namespace

SampledField::SampledField(const FieldBox& box, const std::function<double(const glm::dvec3&)>& distance)
    : origin_(box.low), spacing_(box.spacing), size_(glm::ivec3(glm::ceil((box.high - box.low) / box.spacing)) + 1) {
  samples_.resize(static_cast<std::size_t>(size_.x) * size_.y * size_.z);
  for (int z = 0; z < size_.z; z += kBlock)
    for (int y = 0; y < size_.y; y += kBlock)
      for (int x = 0; x < size_.x; x += kBlock) sample_block({x, y, z}, distance);
}

void SampledField::sample_block(const glm::ivec3& first, const std::function<double(const glm::dvec3&)>& distance) {
  const double middle = distance(origin_ + spacing_ * (glm::dvec3(first) + 0.5 * (kBlock - 1)));
  const glm::ivec3 end = glm::min(first + kBlock, size_);
  for (int z = first.z; z < end.z; ++z)
    for (int y = first.y; y < end.y; ++y)
      for (int x = first.x; x < end.x; ++x) {
        const bool near = std::abs(middle) < kBand;
        samples_[node(x, y, z)] =
            static_cast<float>(near ? distance(origin_ + spacing_ * glm::dvec3(x, y, z)) : middle);
      }
}

FieldSample SampledField::at(const glm::dvec3& p) const {
  const glm::dvec3 q = (p - origin_) / spacing_;
  const glm::ivec3 cell = glm::clamp(glm::ivec3(glm::floor(q)), glm::ivec3(1), size_ - 3);
  const glm::dvec3 t = glm::clamp(q - glm::dvec3(cell), 0.0, 1.0);
  const Weights wx = spline_weights(t.x), wy = spline_weights(t.y), wz = spline_weights(t.z);
  FieldSample sum{0.0, glm::dvec3(0.0)};
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 4; ++j) {
      const float* row = &samples_[node(cell.x - 1, cell.y + j - 1, cell.z + k - 1)];
      double value = 0.0, slope = 0.0;
      for (int i = 0; i < 4; ++i) {
        value += wx.value[i] * row[i];
        slope += wx.slope[i] * row[i];
      }
      sum.value += wy.value[j] * wz.value[k] * value;
      sum.gradient += glm::dvec3(wy.value[j] * wz.value[k] * slope, wy.slope[j] * wz.value[k] * value,
                                 wy.value[j] * wz.slope[k] * value);
    }
  sum.gradient /= spacing_;
  return sum;
}

glm::dvec3 SampledField::project(glm::dvec3 p) const {
  constexpr int kMostSteps = 8;
  constexpr double kCloseEnough = 1e-5;  // mm, well below the four decimals in a file
  for (int step = 0; step < kMostSteps; ++step) {
    const FieldSample s = at(p);
    const double steepness = std::max(glm::length(s.gradient), 0.2);
    const double stride = std::clamp(s.value / steepness, -2.0 * spacing_, 2.0 * spacing_);
    p -= stride / steepness * s.gradient;
    if (std::abs(stride) < kCloseEnough) break;
  }
  return p;
}

std::vector<float> SampledField::node_values() const {
  std::vector<float> values(samples_.size());
  for (int z = 0; z < size_.z; ++z)
    for (int y = 0; y < size_.y; ++y)
      for (int x = 0; x < size_.x; ++x)
        values[node(x, y, z)] = static_cast<float>(at(origin_ + spacing_ * glm::dvec3(x, y, z)).value);
  return values;
}

namespace {

// A node exactly on the surface would give triangles of zero area, so it is moved off by this.
constexpr float kOffSurface = 1e-3f;  // mm

void fill_image(const SampledField& field, vtkImageData* image) {
  std::vector<float> values = field.node_values();
  const glm::ivec3 size = field.size();
  image->SetDimensions(size.x, size.y, size.z);
  image->SetOrigin(&field.origin()[0]);
  image->SetSpacing(field.spacing(), field.spacing(), field.spacing());
  vtkNew<vtkFloatArray> scalars;
  scalars->SetNumberOfTuples(static_cast<vtkIdType>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    scalars->SetValue(static_cast<vtkIdType>(i), std::abs(values[i]) < kOffSurface ? kOffSurface : values[i]);
  image->GetPointData()->SetScalars(scalars);
}

// Returns six times the enclosed volume; its sign gives the orientation of the faces.
double volume6(const RawSurface& surface) {
  double sum = 0.0;
  for (const glm::uvec3& f : surface.faces)
    sum += glm::dot(surface.positions[f.x], glm::cross(surface.positions[f.y], surface.positions[f.z]));
  return sum;
}

}  // namespace

RawSurface iso_surface(const SampledField& field) {
  vtkNew<vtkImageData> image;
  fill_image(field, image);
  vtkNew<vtkFlyingEdges3D> filter;
  filter->SetInputData(image);
  filter->SetValue(0, 0.0);
  filter->ComputeNormalsOff();
  filter->ComputeScalarsOff();
  filter->Update();

  RawSurface surface;
  copy_from_vtk(*filter->GetOutput(), surface.positions, surface.faces);
  if (volume6(surface) < 0.0)
    for (glm::uvec3& f : surface.faces) std::swap(f.y, f.z);
  return surface;
}

}  // namespace trocar
