#include "sim/session/cutting.hpp"

#include <algorithm>
#include <cmath>

#include "deform/cut/sculpt.hpp"
#include "geometry/closest.hpp"
#include "geometry/elementary.hpp"
#include "sim/device/tool_shape.hpp"

namespace trocar {
namespace {

// Straight pieces of the sector's round side.
constexpr int kPieces = 4;

}  // namespace

BladeCut blade_cut(const Instrument& instrument) {
  const RigidFrame frame = tool_frame(instrument.pose, glm::radians(instrument.roll_deg));
  const double hinge = tip_length(instrument.kind, instrument.radius);
  BladeCut cut;
  cut.origin = glm::vec3(frame.to_world({0.0, 0.0, hinge}));
  cut.along = glm::vec3(-frame.axes[2]);
  cut.across = glm::vec3(frame.axes[1]);
  const double half = glm::radians(0.5 * instrument.limits.widest_grip_deg * instrument.opened);
  const double cosine = elementary::cos(half), sine = elementary::sin(half), reach = instrument.blades.reach;
  const double first = std::max(hinge - instrument.blades.length, 0.0);
  const auto add = [&](double along, double across) { cut.outline[cut.corners++] = glm::vec2(along, across); };
  // The sides of the sector lie `reach` beside the blades, its round side `reach` beyond their tips.
  const auto add_beside = [&](double radius, double side) {
    add(radius * cosine - reach * sine, side * (radius * sine + reach * cosine));
  };
  add_beside(first, -1.0);
  add_beside(hinge, -1.0);
  for (int k = 0; k <= kPieces; ++k) {
    const double angle = half * (2.0 * k / kPieces - 1.0);
    add((hinge + reach) * elementary::cos(angle), (hinge + reach) * elementary::sin(angle));
  }
  add_beside(hinge, 1.0);
  add_beside(first, 1.0);
  return cut;
}

namespace {

// Distance between two poses of the wire in a frame: half the radius of a cut, so that its sides are even to 0.1 mm.
constexpr double kStride = 7e-4;  // m
// At 2 m/s and 60 frames per second the wire moves 33 mm.
constexpr int kMostPoses = 48;
constexpr float kBoxRounding = 1e-6f;  // m, of boxes

// The hot segments of a hook, in its frame: the axes of its wire and its foot. Their parts are capsules; the collar is
// not, and insulates the wire inside it.
void find_bare_metal(const Instrument& instrument, const std::vector<PartShape>& shapes,
                     std::vector<MetalPart>& metal) {
  const double bare = std::min(instrument.hook.length, bare_wire(instrument.radius));
  metal.clear();
  for (const PartShape& shape : shapes) {
    if (shape.corners.size() != 2) continue;
    MetalPart part{shape.corners[0], shape.corners[1], shape.radius};
    for (glm::dvec3* end : {&part.from, &part.to}) end->z = std::min(end->z, std::max(bare, shape.radius));
    metal.push_back(part);
  }
}

double farthest_motion(std::span<const MetalPart> metal, const RigidFrame& before, const RigidFrame& after) {
  double farthest = 0.0;
  for (const MetalPart& part : metal)
    for (const glm::dvec3& end : {part.from, part.to})
      farthest = std::max(farthest, glm::distance(before.to_world(end), after.to_world(end)));
  return farthest;
}

}  // namespace

CoagulationParams coagulation_params(const HookParams& hook) { return {hook.spread, hook.deepest, hook.char_dose}; }

void show_coagulation(Organ& organ, const CoagulationBox& box) {
  if (box.empty()) return;
  for (std::size_t v = 0; v < organ.charred.size(); ++v) {
    const glm::vec3& p = organ.mesh.positions[v];
    if (glm::any(glm::lessThan(p, box.low)) || glm::any(glm::greaterThan(p, box.high))) continue;
    organ.charred[v] = std::max(organ.charred[v], look_at(*organ.sculpture, organ.tissue.lattice, p));
  }
}

void show_coagulation_of_new(Organ& organ) {
  for (std::size_t v = organ.sculpture->change.first_vertex; v < organ.charred.size(); ++v)
    organ.charred[v] =
        std::max(organ.charred[v], look_at(*organ.sculpture, organ.tissue.lattice, organ.mesh.positions[v]));
}

void HotWire::move(const Instrument& instrument, const std::vector<PartShape>& shapes, const InstrumentMotion& motion) {
  metal_.clear();
  cut_.clear();
  box_ = {};
  spark_ = instrument.hook.spark;
  find_bare_metal(instrument, shapes, parts_);
  const double farthest = farthest_motion(parts_, frame_at(motion, 0.0), frame_at(motion, 1.0));
  if (!std::isfinite(farthest)) return;
  // The pose at time 0 is the last one of the frame before.
  const int poses = std::clamp(static_cast<int>(std::ceil(farthest / kStride)), 1, kMostPoses);
  for (int pose = 1; pose <= poses; ++pose) {
    const RigidFrame frame = frame_at(motion, static_cast<double>(pose) / poses);
    for (const MetalPart& part : parts_) add(part, frame, instrument.hook.reach);
  }
}

void HotWire::add(const MetalPart& part, const RigidFrame& frame, double reach) {
  HotSegment hot{glm::vec3(frame.to_world(part.from)), glm::vec3(frame.to_world(part.to)),
                 static_cast<float>(part.radius)};
  metal_.push_back(hot);
  const float margin = hot.radius + static_cast<float>(spark_);
  box_.low = glm::min(box_.low, glm::min(hot.from, hot.to) - margin);
  box_.high = glm::max(box_.high, glm::max(hot.from, hot.to) + margin);
  hot.radius = static_cast<float>(part.radius + reach);
  cut_.push_back(hot);
}

void HotWire::shift(const glm::vec3& by) {
  for (std::vector<HotSegment>* segments : {&metal_, &cut_})
    for (HotSegment& segment : *segments) segment.from += by, segment.to += by;
  box_.low += by, box_.high += by;
}

bool HotWire::acts_on(Organ& organ) const {
  const glm::vec3 low(organ.box.low), high(organ.box.high);
  if (glm::any(glm::lessThan(box_.high, low)) || glm::any(glm::greaterThan(box_.low, high))) return false;
  return touches(organ) || in_tissue(*organ.sculpture, organ.tissue.lattice, organ.state.x, metal_);
}

bool HotWire::touches(const Organ& organ) const {
  for (const glm::uvec3& corners : organ.mesh.faces) {
    const glm::vec3 &a = organ.skin[corners.x], &b = organ.skin[corners.y], &c = organ.skin[corners.z];
    const glm::vec3 low = glm::min(a, glm::min(b, c)), high = glm::max(a, glm::max(b, c));
    if (glm::any(glm::lessThan(high, box_.low)) || glm::any(glm::greaterThan(low, box_.high))) continue;
    const closest::Face face = closest::face({a, b, c});
    for (const HotSegment& metal : metal_) {
      const float around = metal.radius + static_cast<float>(spark_) + kBoxRounding;
      if (glm::any(glm::lessThan(high + around, glm::min(metal.from, metal.to))) ||
          glm::any(glm::greaterThan(low - around, glm::max(metal.from, metal.to))))
        continue;
      const closest::Segment axis = closest::segment(glm::dvec3(metal.from), glm::dvec3(metal.to));
      const double reach = static_cast<double>(metal.radius) + spark_;
      if (closest::closest_axis_face(axis, face).squared <= reach * reach) return true;
    }
  }
  return false;
}

}  // namespace trocar
