#include "sim/device/tool_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/gtc/matrix_transform.hpp>
#include <numbers>
#include <span>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/elementary.hpp"
#include "geometry/frame.hpp"
#include "geometry/part.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kDrawnRadius = 2.5;  // mm, shaft radius for which the sizes below hold

// A cross section: a polygon, scaled about its origin and shifted. All in mm until sized().
struct Section {
  double z, scale;
  glm::dvec2 shift{0.0};
};

using Outline = std::vector<glm::dvec2>;  // mm, counter-clockwise seen from +z

// Joins sections of one outline by quads and closes both ends; ring k + 1 lies towards +z of ring k. Neighbouring
// sections are scaled copies, so the quads are flat; the result is convex if the scale is concave in z and the shift
// linear.
TriangleMesh surface_through(const Outline& outline, std::span<const Section> sections) {
  TriangleMesh mesh;
  const auto n = static_cast<std::uint32_t>(outline.size());
  for (const Section& section : sections) {
    for (const glm::dvec2& corner : outline)
      mesh.positions.emplace_back(glm::dvec3(section.scale * corner + section.shift, section.z));
  }
  const auto last = static_cast<std::uint32_t>(sections.size() - 1) * n;
  for (std::uint32_t ring = 0; ring < last; ring += n) {
    for (std::uint32_t side = 0; side < n; ++side) {
      const std::uint32_t a = ring + side, b = ring + (side + 1) % n;
      mesh.faces.emplace_back(a, b, b + n);
      mesh.faces.emplace_back(a, b + n, a + n);
    }
  }
  for (std::uint32_t side = 1; side + 1 < n; ++side) {
    mesh.faces.emplace_back(0, side + 1, side);
    mesh.faces.emplace_back(last, last + side, last + side + 1);
  }
  return mesh;
}

Outline circle(int sides, double radius) {
  Outline outline;
  for (int side = 0; side < sides; ++side) {
    const double angle = kFullTurn * side / sides;
    outline.emplace_back(radius * elementary::cos(angle), radius * elementary::sin(angle));
  }
  return outline;
}

// Returns the sections of a ball, from `low` to `high` of its height (-1 .. 1).
std::vector<Section> ball(double centre_z, double radius, double low, double high, int rings) {
  std::vector<Section> sections;
  for (int ring = 0; ring <= rings; ++ring) {
    const double from = elementary::asin(low), angle = from + (elementary::asin(high) - from) * ring / rings;
    sections.push_back({centre_z + radius * elementary::sin(angle), elementary::cos(angle)});
  }
  return sections;
}

// Adds the other jaw: this one, rotated about the shaft by half a turn.
std::vector<ToolPart> both_jaws(ToolPart jaw) {
  ToolPart other = jaw;
  for (glm::vec3& p : other.mesh.positions) p = {-p.x, -p.y, p.z};
  other.side = -1.0;
  return {std::move(jaw), std::move(other)};
}

// Half-round jaws with the flat side inward, narrowing towards a blunt end; the two meet at y = 0.
std::vector<ToolPart> grasper_jaws(double hinge) {
  constexpr double kHalfGap = 0.06, kWidth = 1.9, kHeight = 2.0;
  Outline outline;
  for (int k = 0; k <= 8; ++k)
    outline.emplace_back(kWidth * elementary::cos(kPi * k / 8), kHeight * elementary::sin(kPi * k / 8));
  std::vector<Section> sections = {{0.0, 0.28}, {0.3, 0.44}, {0.9, 0.57}, {2.0, 0.66}};
  for (double z = 4.0; z < hinge + 1.1; z += 2.0) sections.push_back({z, 0.66 + 0.34 * (z - 2.0) / (hinge - 1.0)});
  for (Section& section : sections) section.shift = {0.0, kHalfGap};
  return both_jaws({surface_through(outline, sections), hinge, 1.0, ToolSurface::Jaw});
}

// Narrow jaws with flat inner sides and blunt ends. Closed, they leave room for the legs of a clip.
std::vector<ToolPart> applier_jaws(double hinge) {
  constexpr double kHalfGap = 0.3, kWidth = 1.3, kHeight = 1.5;
  const Outline outline = {{-kWidth, 0.0},           {kWidth, 0.0},
                           {kWidth, 0.6 * kHeight},  {0.6 * kWidth, kHeight},
                           {-0.6 * kWidth, kHeight}, {-kWidth, 0.6 * kHeight}};
  const double end = hinge + 1.1;
  const Section sections[] = {{0.0, 0.55, {0.0, kHalfGap}},
                              {0.6, 0.7, {0.0, kHalfGap}},
                              {0.5 * end, 0.85, {0.0, kHalfGap}},
                              {end, 1.0, {0.0, kHalfGap}}};
  return both_jaws({surface_through(outline, sections), hinge, 1.0, ToolSurface::Steel});
}

// Makes two thin blades, bowed sideways; each consists of four straight pieces.
std::vector<ToolPart> scissor_blades(double hinge) {
  constexpr double kBow = 0.7;  // mm
  constexpr int kPieces = 4;
  const Outline outline = {{0.03, -0.55}, {0.45, -0.3}, {0.75, 0.4}, {0.75, 1.0}, {0.5, 1.5}, {0.03, 1.6}};
  const double length = hinge + 1.5;
  const auto section = [&](int k) {
    const double u = static_cast<double>(k) / kPieces;
    return Section{u * length, 0.16 + 0.84 * std::sqrt(u), {-4.0 * kBow * u * (1.0 - u), 0.0}};
  };
  std::vector<ToolPart> blades;
  for (const double side : {1.0, -1.0}) {
    for (int k = 0; k < kPieces; ++k) {
      const Section from = section(k), to = section(k + 1);
      const Section middle{0.5 * (from.z + to.z), 0.5 * (from.scale + to.scale), 0.5 * (from.shift + to.shift)};
      ToolPart part{surface_through(outline, std::array{from, middle, to}), hinge, side, ToolSurface::Steel};
      // The other blade is this one, rotated about its centre line: bowed in the same direction.
      if (side < 0.0) {
        for (glm::vec3& p : part.mesh.positions) {
          const double straight = std::lerp(from.shift.x, to.shift.x, (p.z - from.z) / (to.z - from.z));
          p = {2.0 * straight - p.x, -p.y, p.z};
        }
      }
      blades.push_back(std::move(part));
    }
  }
  return blades;
}

// Sizes of a hook: radius of the wire, length of the foot with the round end of the wire, length of the bare wire.
constexpr double kWire = 0.45, kFoot = 3.2, kBareWire = 7.5;  // mm

// A ceramic collar, a wire and a foot that points to +y.
std::vector<ToolPart> hook(double collar_end) {
  std::vector<Section> rod = ball(kWire, kWire, -0.95, 0.0, 4);
  for (double z = 2.0; z < collar_end; z += 2.0) rod.push_back({z, 1.0});
  for (Section& section : rod) section.scale *= kWire;
  std::vector<Section> toe = ball(kWire, kWire, -0.95, 0.0, 3);
  toe.push_back({2.0, 0.95});
  toe.push_back({kFoot - 0.3, 0.8});
  toe.push_back({kFoot, 0.45});
  for (Section& section : toe) section.scale *= kWire;
  ToolPart wire{surface_through(circle(12, 1.0), rod), 0.0, 0.0, ToolSurface::Wire};
  ToolPart foot{surface_through(circle(12, 1.0), toe), 0.0, 0.0, ToolSurface::Wire};
  for (glm::vec3& p : foot.mesh.positions) p = {-p.x, p.z - kWire, p.y + kWire};
  const Section collar[] = {
      {kBareWire, 0.45}, {kBareWire + 0.3, 0.55}, {collar_end - 0.2, 0.9}, {collar_end + 0.5, 0.95}};
  return {wire, foot, {surface_through(circle(16, kDrawnRadius), collar), 0.0, 0.0, ToolSurface::Ceramic}};
}

std::vector<ToolPart> probe(double neck_end) {
  const Section neck[] = {{kDrawnRadius, 0.55}, {0.5 * (kDrawnRadius + neck_end), 0.6}, {neck_end + 0.5, 0.65}};
  return {{surface_through(circle(16, kDrawnRadius), ball(kDrawnRadius, kDrawnRadius, -0.985, 0.985, 8))},
          {surface_through(circle(16, kDrawnRadius), neck)}};
}

// A tube with a round rim; the hole is a dark disc.
std::vector<ToolPart> suction(double neck_end) {
  const Section tube[] = {{0.05, 0.70}, {0.25, 0.84}, {0.7, 0.92}, {1.6, 0.95}, {neck_end + 0.5, 0.95}};
  const Section hole[] = {{0.0, 0.60}, {0.1, 0.60}};
  return {{surface_through(circle(24, kDrawnRadius), tube)},
          {surface_through(circle(24, kDrawnRadius), hole), 0.0, 0.0, ToolSurface::Insulation}};
}

double drawn_length(InstrumentKind kind) {
  switch (kind) {
    case InstrumentKind::Grasper:
      return 16.0;
    case InstrumentKind::Scissors:
      return 14.0;
    case InstrumentKind::Hook:
      return 12.0;
    case InstrumentKind::ClipApplier:
      return kApplierJaws * kDrawnRadius;
    default:
      return 8.0;
  }
}

// Scales from millimetres at kDrawnRadius to metres at `radius`.
std::vector<ToolPart> sized(std::vector<ToolPart> parts, double radius) {
  const double scale = radius / kDrawnRadius;
  for (ToolPart& part : parts) {
    part.hinge_z *= scale;
    for (glm::vec3& p : part.mesh.positions) p *= static_cast<float>(scale);
  }
  return parts;
}

}  // namespace

std::vector<ToolPart> tip_parts(InstrumentKind kind, double radius) {
  const double length = drawn_length(kind);
  switch (kind) {
    case InstrumentKind::Grasper:
      return sized(grasper_jaws(length), radius);
    case InstrumentKind::Scissors:
      return sized(scissor_blades(length), radius);
    case InstrumentKind::Hook:
      return sized(hook(length), radius);
    case InstrumentKind::ClipApplier:
      return sized(applier_jaws(length), radius);
    case InstrumentKind::Suction:
      return sized(suction(length), radius);
    default:
      return sized(probe(length), radius);
  }
}

double bare_wire(double radius) { return kBareWire * radius / kDrawnRadius; }

double tip_length(InstrumentKind kind, double radius) { return drawn_length(kind) * radius / kDrawnRadius; }

std::vector<ToolPart> shaft_parts(InstrumentKind kind, double radius, double length) {
  const double start = drawn_length(kind), end = length / radius * kDrawnRadius;
  const double steel = kind == InstrumentKind::Hook ? 0.5 : 6.0;  // mm: a hook is insulated to its collar
  const Section ferrule[] = {{start - 0.4, 0.80}, {start, 0.94}, {start + 0.4, 1.0}, {start + steel, 1.0}};
  std::vector<Section> tube = {{start + steel, 1.01}};
  // The pieces are short in the scope's view and longer near the trocar.
  while (tube.back().z < end) {
    const double z = tube.back().z;
    tube.push_back({std::min(end, z + (z < 200.0 ? 5.0 : 15.0)), 1.01});
  }
  const Outline round = circle(24, kDrawnRadius);
  return sized({{surface_through(round, ferrule)}, {surface_through(round, tube), 0.0, 0.0, ToolSurface::Insulation}},
               radius);
}

glm::dmat4 part_pose(const ToolPose& pose, double roll_deg, double grip, const ToolPart& part,
                     const JointLimits& limits) {
  const RigidFrame tool = tool_frame(pose, glm::radians(roll_deg));
  glm::dmat4 frame(tool.axes);
  frame[3] = glm::dvec4(tool.origin, 1.0);
  if (part.side == 0.0) return frame;
  const glm::dvec3 hinge(0, 0, part.hinge_z);
  const double angle = glm::radians(0.5 * part.side * limits.widest_grip_deg * grip);
  const glm::dmat4 turn = glm::mat4_cast(turn_about(glm::dvec3(1, 0, 0), angle));
  return glm::translate(glm::translate(frame, hinge) * turn, -hinge);
}

TriangleMesh make_cavity(const glm::vec3& centre, const glm::vec3& half_size) {
  constexpr int kSides = 128, kRings = 80;
  std::vector<Section> sections;
  for (int ring = 0; ring <= kRings; ++ring) {
    const double angle = kPi * ring / kRings;
    sections.push_back({-elementary::cos(angle), elementary::sin(angle)});
  }
  TriangleMesh mesh = surface_through(circle(kSides, 1.0), sections);
  for (glm::vec3& position : mesh.positions) position = centre + half_size * position;
  return mesh;
}

namespace {

// Radius of the ball of a part, relative to the radius of the shaft. A wire is a capsule: its ball is as thick as it.
double ball_radius(ToolSurface surface) {
  switch (surface) {
    case ToolSurface::Jaw:
      return 0.1;
    case ToolSurface::Steel:
      return 0.05;
    case ToolSurface::Ceramic:
      return 0.16;
    default:
      return 1.0;
  }
}

// A backend may report a face that touches only within rounding error; the box must include it.
constexpr double kRounding = 1e-6;  // m
// A shaft that leaves the body keeps this share of its length between trocar and tip.
constexpr double kShortestShaftShare = 0.5;

}  // namespace

std::vector<PartShape> part_shapes(InstrumentKind kind, double radius) {
  std::vector<PartShape> shapes;
  if (is_blunt(kind)) return shapes;
  for (const ToolPart& part : tip_parts(kind, radius)) {
    shapes.push_back(solids::part_hull(part.mesh.positions, radius * ball_radius(part.surface)));
    shapes.back().hinge_z = part.hinge_z;
    shapes.back().side = part.side;
  }
  return shapes;
}

InstrumentBody::InstrumentBody(InstrumentKind kind, double radius, const JointLimits& limits)
    : shapes_(part_shapes(kind, radius)),
      widest_(glm::radians(limits.widest_grip_deg)),
      shaft_end_(is_blunt(kind) ? radius : tip_length(kind, radius) + radius),
      motion_(std::make_unique<InstrumentMotion>()),
      steps_(1 + shapes_.size()) {}

// The tip of a pose lies a radius above the end of the instrument.
ToolPose InstrumentBody::shaft_of(const ToolPose& pose) const {
  const double back = shaft_end_ - pose.radius;
  if (back == 0.0) return pose;
  const glm::dvec3 arm = pose.pivot - pose.tip;
  const double length = glm::length(arm);
  return {pose.pivot, pose.tip + std::min(back, (1.0 - kShortestShaftShare) * length) / length * arm, pose.radius};
}

InstrumentPose InstrumentBody::posed(const InstrumentStance& stance) const {
  return {stance.pose, glm::radians(stance.roll_deg), widest_ * stance.grip};
}

void InstrumentBody::move(const InstrumentStance* before, const InstrumentStance& now, ToolMode mode) {
  const bool moves = before != nullptr && mode == ToolMode::Swept;
  *motion_ = moves ? instrument_motion(posed(*before), posed(now)) : instrument_at_rest(posed(now));
  volumes_.clear();
  part_of_volume_.clear();
  const ToolPose shaft = shaft_of(now.pose);
  volumes_.push_back(capsule_volume(moves ? step_between(shaft_of(before->pose), shaft) : step_at_rest(shaft)));
  part_of_volume_.push_back(kShaftPart);
  steps_[kShaftPart] = volumes_.back().step;
  const ToolStep& step = steps_[kShaftPart];
  const double margin = step.radius + kRounding;
  box_ = broad::box_around(glm::min(step.pivot, glm::min(step.tip_before, step.tip_after)) - margin,
                           glm::max(step.pivot, glm::max(step.tip_before, step.tip_after)) + margin);
  for (std::uint32_t part = 1; part < parts(); ++part) add_part(part);
}

void InstrumentBody::add_part(std::uint32_t part) {
  const PartShape& shape = shapes_[part - 1];
  const int pieces = volume_count(shape, *motion_);
  for (int piece = 0; piece < pieces; ++piece) {
    volumes_.push_back(
        part_volume(shape, *motion_, static_cast<double>(piece) / pieces, static_cast<double>(piece + 1) / pieces));
    part_of_volume_.push_back(part);
  }
  steps_[part] = volumes_.back().step;
  steps_[part].part = {&shape, motion_.get()};
  const PartBounds bounds = part_bounds(shape, *motion_);
  box_ = united(box_, broad::box_around(bounds.low - kRounding, bounds.high + kRounding));
}

namespace {

// Appends the touches of one part, `first` .. `last` of the answer.
void add_part(const TouchList& answer, std::uint32_t first, std::uint32_t last, std::uint8_t part, PartTouches& out) {
  const auto begin = static_cast<std::ptrdiff_t>(out.touches.size());
  const auto given = answer.touches.subspan(first, last - first);
  out.touches.insert(out.touches.end(), given.begin(), given.end());
  const auto of_part = out.touches.begin() + begin;
  const auto before = [](const Touch& a, const Touch& b) {
    return a.face != b.face ? a.face < b.face : a.time < b.time;
  };
  if (!std::is_sorted(of_part, out.touches.end(), before)) std::sort(of_part, out.touches.end(), before);
  const auto same = [](const Touch& a, const Touch& b) { return a.face == b.face; };
  out.touches.erase(std::unique(of_part, out.touches.end(), same), out.touches.end());
  out.part.resize(out.touches.size(), part);
}

}  // namespace

void add_tool(std::size_t parts, PartTable& table) {
  if (table.first.empty()) table.first.push_back(0);
  table.tool.insert(table.tool.end(), parts, static_cast<std::uint32_t>(table.first.size() - 1));
  table.first.push_back(static_cast<std::uint32_t>(table.tool.size()));
}

void PartTouches::clear() {
  touches.clear();
  part.clear();
  part_first.clear();
  tool_first.clear();
}

void collect(const TouchList& answer, const FrameVolumes& frame, PartTouches& out) {
  out.clear();
  out.part_first.push_back(0);
  std::size_t volume = 0;
  for (std::uint32_t part = 0; part < frame.parts.size(); ++part) {
    const std::uint32_t first = answer.first[volume];
    while (volume < frame.volumes.size() && frame.part_of_volume[volume] == part) ++volume;
    const std::uint32_t first_of_tool = frame.parts.first[frame.parts.tool[part]];
    add_part(answer, first, answer.first[volume], static_cast<std::uint8_t>(part - first_of_tool), out);
    out.part_first.push_back(static_cast<std::uint32_t>(out.touches.size()));
  }
  for (const std::uint32_t part : frame.parts.first) out.tool_first.push_back(out.part_first[part]);
}

void find_tip_faces(const PartTouches& touches, const PartTable& parts, std::vector<FaceId>& faces,
                    std::vector<std::uint32_t>& first) {
  faces.clear();
  first.assign(1, 0);
  for (std::size_t tool = 0; tool + 1 < parts.first.size(); ++tool) {
    const auto begin = static_cast<std::ptrdiff_t>(faces.size());
    const bool only_shaft = parts.first[tool + 1] == parts.first[tool] + 1;
    const std::uint32_t from = touches.part_first[parts.first[tool] + (only_shaft ? 0 : 1)];
    for (std::uint32_t i = from; i < touches.tool_first[tool + 1]; ++i) faces.push_back(touches.touches[i].face);
    std::sort(faces.begin() + begin, faces.end());
    faces.erase(std::unique(faces.begin() + begin, faces.end()), faces.end());
    first.push_back(static_cast<std::uint32_t>(faces.size()));
  }
}

}  // namespace trocar
