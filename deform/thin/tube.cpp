#include "deform/thin/tube.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/frame.hpp"

namespace trocar {
namespace {

using glm::cross;
using glm::dmat3;
using glm::dot;
using glm::dvec3;

// Nodes of a rod lie about this far apart.
constexpr double kSpacing = 1.0;  // radii
// A rod has no edge shorter than this, and is no shorter than two of them.
constexpr double kShortest = 0.3;  // of the spacing
// What is left of a section counts as at least this much, and a node weighs at least this much of a whole one.
constexpr double kLeastWhole = 0.05;  // 1
// Stiffness of a fixed node, relative to that of an edge along itself.
constexpr double kFixing = 100.0;  // 1
// What presses more along the axis than this does not press a cross-section flat.
constexpr double kAcross = 0.1;  // 1, sine of the angle to the axis
// A cross-section does not become flatter.
constexpr double kFlattest = 0.1;  // 1

std::vector<double> lengths_along(std::span<const dvec3> line) {
  std::vector<double> along{0.0};
  for (std::size_t k = 1; k < line.size(); ++k) along.push_back(along.back() + glm::distance(line[k - 1], line[k]));
  return along;
}

dvec3 on_line(std::span<const dvec3> line, std::span<const double> along, double s) {
  const auto next = std::upper_bound(along.begin() + 1, along.end() - 1, s) - along.begin();
  const auto k = static_cast<std::size_t>(next);
  return glm::mix(line[k - 1], line[k], (s - along[k - 1]) / (along[k] - along[k - 1]));
}

// The edge of ascending positions that contains s, or the nearest one.
std::uint32_t edge_at(std::span<const double> along, double s) {
  const auto next = std::upper_bound(along.begin() + 1, along.end() - 1, s) - along.begin();
  return static_cast<std::uint32_t>(next - 1);
}

double along_line_of(std::span<const dvec3> line, std::span<const double> along, const dvec3& p) {
  double best = 0.0, least = INFINITY;
  for (std::size_t k = 0; k + 1 < line.size(); ++k) {
    const dvec3 edge = line[k + 1] - line[k];
    const double t = std::clamp(dot(p - line[k], edge) / dot(edge, edge), 0.0, 1.0);
    const dvec3 gap = p - line[k] - t * edge;
    if (dot(gap, gap) < least) least = dot(gap, gap), best = glm::mix(along[k], along[k + 1], t);
  }
  return best;
}

struct Axes {
  dvec3 tangent, first;  // unit
};

Axes axes_of(const RodState& s, std::size_t edge) {
  const dvec3 tangent = glm::normalize(s.x[edge + 1] - s.x[edge]);
  const double c = elementary::cos(s.angle[edge]), sine = elementary::sin(s.angle[edge]);
  return {tangent, c * s.axis[edge] + sine * cross(tangent, s.axis[edge])};
}

// The frame of a cross-section: between those of the edges beside it.
dmat3 frame_between(const Axes& before, const Axes& after) {
  const dvec3 tangent = glm::normalize(before.tangent + after.tangent);
  const dvec3 sum = before.first + after.first, first = glm::normalize(sum - dot(sum, tangent) * tangent);
  return {first, cross(tangent, first), tangent};
}

dmat3 frame_at(const RodState& s, std::size_t node) {
  const std::size_t last = s.axis.size() - 1;
  return frame_between(axes_of(s, node == 0 ? 0 : node - 1), axes_of(s, std::min(node, last)));
}

// rad/s
dvec3 turning_of(const RodState& s, std::size_t edge) {
  const dvec3 along = s.x[edge + 1] - s.x[edge];
  return cross(along, s.v[edge + 1] - s.v[edge]) / dot(along, along) + s.spin[edge] * glm::normalize(along);
}

// Presses the two axes of a cross-section flat.
dmat3 pressed(const TubeSection& section, const dmat3& frame) {
  if (section.flatness >= 1.0) return frame;
  const glm::dvec2 u = section.across, w(-u.y, u.x);
  const double f = section.flatness, g = std::sqrt(2.0 - f * f);
  const dvec3 narrow = f * (u.x * frame[0] + u.y * frame[1]), wide = g * (w.x * frame[0] + w.y * frame[1]);
  return {u.x * narrow + w.x * wide, u.y * narrow + w.y * wide, frame[2]};
}

RodParams rod_params(const TubeParams& p) {
  return {.outer_radius = p.radius,
          .inner_radius = std::max(p.radius - p.wall, 0.0),
          .youngs_modulus = p.youngs_modulus,
          .poisson = p.poisson,
          .density = p.density,
          .filling = p.density,
          .damping_time = p.damping_time,
          .drag = p.drag};
}

// One part of the lattice, as far as the centre line is concerned.
struct Part {
  std::uint32_t label;
  double first = INFINITY, last = -INFINITY;  // m
};

std::vector<Part> parts_of(const TubeLattice& lattice, std::span<const TubeNode> nodes) {
  std::vector<Part> parts;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!(lattice.mass[n] > 0.f)) continue;
    const std::uint32_t label = lattice.part.empty() ? 0 : lattice.part[n];
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.label == label; });
    if (part == parts.end()) part = parts.insert(parts.end(), {label});
    const auto along = static_cast<double>(nodes[n].along);
    part->first = std::min(part->first, along), part->last = std::max(part->last, along);
  }
  std::ranges::sort(parts, {}, &Part::label);
  return parts;
}

// Positions of a rod's nodes along the line: those of a whole tube, as far as the part goes, and its ends.
std::vector<double> stations_of(Part part, double whole, double spacing) {
  const double shortest = kShortest * spacing;
  if (part.last - part.first < 2.0 * shortest) {
    const double middle = std::clamp(0.5 * (part.first + part.last), shortest, whole - shortest);
    part.first = middle - shortest, part.last = middle + shortest;
  }
  const auto edges = std::max(2.0, std::floor(whole / spacing + 0.5));
  std::vector<double> stations{part.first};
  for (double k = 1.0; k < edges; k += 1.0) {
    const double s = whole * k / edges;
    if (s > part.first + shortest && s < part.last - shortest) stations.push_back(s);
  }
  stations.push_back(part.last);
  return stations;
}

TubeRod rod_along(const TubeModel& model, std::span<const double> line_along, std::vector<double> stations) {
  TubeRod rod;
  rod.along = std::move(stations);
  for (const double s : rod.along) rod.rest.push_back(on_line(model.line, line_along, s));
  rod.model = make_rod(rod_params(model.params), rod.rest);
  const RodState rest = rest_state(rod.model, rod.rest);
  for (std::size_t k = 0; k < rod.rest.size(); ++k) rod.frame.push_back(frame_at(rest, k));
  return rod;
}

// Places a lattice node on its rod, so that the rest shape is exact.
void place(const TubeRod& rod, const dvec3& rest, TubeNode& node) {
  node.edge = edge_at(rod.along, static_cast<double>(node.along));
  const double before = rod.along[node.edge], after = rod.along[node.edge + 1];
  const double t = std::clamp((static_cast<double>(node.along) - before) / (after - before), 0.0, 1.0);
  const dmat3 frame = (1.0 - t) * rod.frame[node.edge] + t * rod.frame[node.edge + 1];
  const dvec3 away = rest - glm::mix(rod.rest[node.edge], rod.rest[node.edge + 1], t);
  node.share = static_cast<float>(t);
  node.local = glm::vec3(glm::inverse(frame) * away);
}

// Masses of the rods' nodes and what is left of their sections follow from the lattice.
void weigh(const TubeLattice& lattice, TubeModel& model) {
  for (std::size_t r = 0; r < model.rods.size(); ++r) {
    TubeRod& rod = model.rods[r];
    const std::size_t count = rod.rest.size();
    const std::vector<double> whole_mass = rod.model.mass;
    std::vector<double> mass(count), left(count - 1), full(count - 1);
    for (std::size_t n = 0; n < model.nodes.size(); ++n) {
      const TubeNode& node = model.nodes[n];
      if (node.rod != r) continue;
      const auto share = static_cast<double>(node.share), m = static_cast<double>(lattice.mass[n]);
      left[node.edge] += m, full[node.edge] += static_cast<double>(model.full_mass[n]);
      mass[node.edge] += (1.0 - share) * m, mass[node.edge + 1] += share * m;
    }
    for (std::size_t k = 0; k < count; ++k) rod.model.mass[k] = std::max(mass[k], kLeastWhole * whole_mass[k]);
    for (std::size_t e = 0; e + 1 < count; ++e) {
      rod.model.whole[e] = full[e] > 0.0 ? std::clamp(left[e] / full[e], kLeastWhole, 1.0) : 1.0;
    }
  }
}

// Position, velocity and axes of a rod where another one was.
struct Before {
  const TubeRod& rod;
  const RodState& state;
  const std::vector<TubeSection>& sections;

  std::uint32_t edge(double s) const { return edge_at(rod.along, s); }
  double share(double s) const {
    const std::uint32_t e = edge(s);
    return (s - rod.along[e]) / (rod.along[e + 1] - rod.along[e]);
  }
  dvec3 mixed(const std::vector<dvec3>& of, double s) const { return glm::mix(of[edge(s)], of[edge(s) + 1], share(s)); }
};

dvec3 turned(const dvec3& a, const dvec3& axis, double angle) {
  return elementary::cos(angle) * a + elementary::sin(angle) * cross(axis, a);
}

RodState state_of(const TubeRod& rod, const Before& before) {
  RodState now = rest_state(rod.model, rod.rest);
  const RodState rest = now, rest_before = rest_state(before.rod.model, before.rod.rest);
  const std::size_t nodes = now.x.size();
  for (std::size_t k = 0; k < nodes; ++k) {
    now.x[k] = before.mixed(before.state.x, rod.along[k]);
    now.v[k] = before.mixed(before.state.v, rod.along[k]);
  }
  for (std::size_t e = 0; e + 1 < nodes; ++e) {
    const std::uint32_t old = before.edge(0.5 * (rod.along[e] + rod.along[e + 1]));
    // The material axes of both rods differ by the same angle as at rest.
    const Axes a = axes_of(rest_before, old), b = axes_of(rest, e), was = axes_of(before.state, old);
    const double off = elementary::atan2(dot(cross(a.first, b.first), a.tangent), dot(a.first, b.first));
    const dvec3 tangent = glm::normalize(now.x[e + 1] - now.x[e]);
    const dvec3 axis = turned(was.first, was.tangent, off);
    now.axis[e] = glm::normalize(axis - dot(axis, tangent) * tangent);
    now.spin[e] = before.state.spin[old];
  }
  follow_nodes(now.x, now);  // measures the twist from edge to edge
  return now;
}

std::vector<TubeSection> sections_of(const TubeRod& rod, const Before& before) {
  std::vector<TubeSection> sections(rod.rest.size());
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const double s = rod.along[k];
    const std::size_t old = before.edge(s) + (before.share(s) > 0.5 ? 1 : 0);
    sections[k] = before.sections[old];
    const dmat3 turn = glm::transpose(rod.frame[k]) * before.rod.frame[old];
    const glm::dvec2 across(turn * dvec3(sections[k].across, 0.0));
    sections[k].across = glm::length(across) > 0.1 ? glm::normalize(across) : glm::dvec2(1.0, 0.0);
  }
  return sections;
}

}  // namespace

double ring_modulus(const TubeParams& p) {
  constexpr double kLineLoad = 0.149;  // of a ring under two opposite forces
  const double thin = std::min(p.wall, p.radius) / p.radius;
  // Force and narrowing, both per length: E' I / (0.149 r^3), I = t^3 / 12. A layer of the tube's width has the same
  // stiffness when its modulus is that. A solid tube is no ring.
  const double plate = p.youngs_modulus / (1.0 - p.poisson * p.poisson);
  return std::min(plate * thin * thin * thin / (12.0 * kLineLoad), p.youngs_modulus);
}

double closed_width(const TubeParams& p) { return std::min(p.wall, p.radius); }

TubeModel make_tube(const TubeParams& params, std::span<const dvec3> line, const TubeLattice& lattice) {
  if (!(params.wall > 0.0) || !(params.opening_time > 0.0))
    throw InputError("a tube needs a wall and an opening time above 0");
  TubeModel model;
  model.params = params;
  model.line.assign(line.begin(), line.end());
  model.full_mass.assign(lattice.mass.begin(), lattice.mass.end());
  make_rods(model, lattice);
  return model;
}

TubeMotion rest_motion(const TubeModel& model) {
  TubeMotion motion;
  for (const TubeRod& rod : model.rods) {
    motion.rods.push_back(rest_state(rod.model, rod.rest));
    motion.sections.emplace_back(rod.rest.size());
  }
  return motion;
}

void make_rods(TubeModel& model, const TubeLattice& lattice) {
  const std::vector<double> along = lengths_along(model.line);
  model.nodes.assign(lattice.rest.size(), {});
  for (std::size_t n = 0; n < model.nodes.size(); ++n)
    model.nodes[n].along = static_cast<float>(along_line_of(model.line, along, dvec3(lattice.rest[n])));
  std::vector<Part> parts = parts_of(lattice, model.nodes);
  if (parts.empty()) parts.push_back({0, 0.0, along.back()});  // without any tissue, a rod that nothing touches
  model.rods.clear();
  for (const Part& part : parts)
    model.rods.push_back(rod_along(model, along, stations_of(part, along.back(), kSpacing * model.params.radius)));
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const std::uint32_t label = lattice.part.empty() ? 0 : lattice.part[n];
    const auto part = std::ranges::find(parts, label, &Part::label);
    // Nodes without tissue stay with the first rod.
    model.nodes[n].rod = part == parts.end() ? 0 : static_cast<std::uint32_t>(part - parts.begin());
    if (!model.rods.empty()) place(model.rods[model.nodes[n].rod], dvec3(lattice.rest[n]), model.nodes[n]);
  }
  std::vector<std::uint32_t> first{0};  // [rod] its first cross-section among those of all rods
  for (const TubeRod& rod : model.rods) first.push_back(first.back() + static_cast<std::uint32_t>(rod.rest.size()));
  for (TubeNode& node : model.nodes) node.carrier = first[node.rod] + node.edge;
  weigh(lattice, model);
  model.fixed.clear();
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n)
    if (lattice.fixed[n] > 0) model.fixed.push_back({n, lattice.fixed[n] == 2});
  const double spacing = kSpacing * model.params.radius;
  model.fixing = kFixing * section_of(rod_params(model.params)).area * model.params.youngs_modulus / spacing;
}

void rebuild_rods(TubeModel& model, const TubeLattice& lattice, TubeMotion& motion) {
  const TubeModel before = model;
  const TubeMotion moved = motion;
  make_rods(model, lattice);
  motion = rest_motion(model);
  for (std::uint32_t r = 0; r < model.rods.size(); ++r) {
    // A node without tissue does not tell where its rod was.
    std::size_t node = 0;
    for (std::size_t n = model.nodes.size(); n-- > 0;)
      if (model.nodes[n].rod == r && lattice.mass[n] > 0.f) node = n;
    const std::uint32_t old = before.nodes[node].rod;
    const Before was{before.rods[old], moved.rods[old], moved.sections[old]};
    motion.rods[r] = state_of(model.rods[r], was);
    motion.sections[r] = sections_of(model.rods[r], was);
  }
}

void carry_nodes(const TubeModel& model, const TubeMotion& motion, std::vector<TubeCarrier>& carriers,
                 const TubeColumns& x, const TubeColumns& v) {
  carriers.clear();
  for (std::size_t r = 0; r < motion.rods.size(); ++r) {
    const RodState& s = motion.rods[r];
    Axes before = axes_of(s, 0);
    dvec3 turning = turning_of(s, 0);
    for (std::size_t k = 0; k < s.x.size(); ++k) {
      const bool inner = k > 0 && k < s.axis.size();
      const Axes after = inner ? axes_of(s, k) : before;
      const dvec3 turning_after = inner ? turning_of(s, k) : turning;
      const dmat3 frame = frame_between(before, after);
      carriers.push_back({s.x[k], glm::vec3(s.v[k]), glm::vec3(0.5 * (turning + turning_after)),
                          glm::mat3(pressed(motion.sections[r][k], frame))});
      before = after, turning = turning_after;
    }
  }
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const TubeNode& node = model.nodes[n];
    const TubeCarrier &a = carriers[node.carrier], &b = carriers[node.carrier + 1];
    const float t = node.share;
    // The arms are short; in single precision they are exact to a tenth of a nanometre.
    const glm::vec3 arm_a = a.frame * node.local, arm_b = b.frame * node.local;
    const dvec3 axis = a.x + static_cast<double>(t) * (b.x - a.x);
    const glm::vec3 p(axis + dvec3((1.f - t) * arm_a + t * arm_b));
    const glm::vec3 speed = (1.f - t) * (a.v + glm::cross(a.turning, arm_a)) + t * (b.v + glm::cross(b.turning, arm_b));
    x.x[n] = p.x, x.y[n] = p.y, x.z[n] = p.z;
    v.x[n] = speed.x, v.y[n] = speed.y, v.z[n] = speed.z;
  }
}

TubePlace place_on(const TubeModel& model, std::span<const std::uint32_t> node, std::span<const float> weight) {
  const auto heaviest = static_cast<std::size_t>(std::ranges::max_element(weight) - weight.begin());
  TubePlace place;
  place.rod = model.nodes[node[heaviest]].rod;
  double along = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const TubeNode& at = model.nodes[node[i]];
    if (at.rod != place.rod) continue;
    along += static_cast<double>(weight[i] * at.along), sum += static_cast<double>(weight[i]);
  }
  const std::vector<double>& stations = model.rods[place.rod].along;
  const double s = std::abs(sum) > 0.1 ? along / sum : static_cast<double>(model.nodes[node[heaviest]].along);
  place.edge = edge_at(stations, s);
  const double before = stations[place.edge], after = stations[place.edge + 1];
  place.share = std::clamp((s - before) / (after - before), 0.0, 1.0);
  return place;
}

TubePoint point_at(const TubePlace& place, const TubeMotion& motion, const dvec3& p) {
  const RodState& state = motion.rods[place.rod];
  const dvec3 on_axis = glm::mix(state.x[place.edge], state.x[place.edge + 1], place.share);
  return {place.rod, {place.edge, place.share, p - on_axis}};
}

TubePoint point_on(const TubeModel& model, const TubeMotion& motion, std::span<const std::uint32_t> node,
                   std::span<const float> weight, const dvec3& p) {
  return point_at(place_on(model, node, weight), motion, p);
}

glm::dvec2 direction_at_rest(const TubeModel& model, const TubeEnd& from, const TubeEnd& to) {
  const auto place = [&](const TubeEnd& end) {
    glm::dvec2 sum(0.0);
    for (std::size_t i = 0; i < end.node.size(); ++i)
      sum += static_cast<double>(end.weight[i]) * glm::dvec2(model.nodes[end.node[i]].local);
    return sum;
  };
  const glm::dvec2 way = place(to) - place(from);
  const double length = glm::length(way);
  return length > 0.0 ? way / length : glm::dvec2(0.0);
}

namespace {

// Presses the cross-sections at both ends of an edge flat when it is wider than the room at this place.
void press(const TubeModel& model, const TubeSqueeze& squeeze, TubeMotion& motion) {
  const double wanted = std::clamp(squeeze.width / (2.0 * model.params.radius), kFlattest, 1.0);
  TubeSection* const ends = &motion.sections[squeeze.rod][squeeze.edge];
  if (wanted > glm::mix(ends[0].flatness, ends[1].flatness, squeeze.share)) return;
  for (std::size_t end : {0, 1}) {
    TubeSection& section = ends[end];
    const glm::dvec2 across =
        squeeze.jaws()
            ? glm::dvec2(glm::transpose(frame_at(motion.rods[squeeze.rod], squeeze.edge + end)) * squeeze.direction)
            : squeeze.across;
    if (!(glm::length(across) > kAcross)) continue;
    section.across = glm::normalize(across);
    section.flatness = std::min(section.flatness, wanted);
  }
}

}  // namespace

void flatten(const TubeModel& model, std::span<const TubeSqueeze> squeezes, double dt, TubeMotion& motion) {
  const double opening = dt / (dt + model.params.opening_time);
  for (std::vector<TubeSection>& sections : motion.sections)
    for (TubeSection& section : sections) section.flatness += opening * (1.0 - section.flatness);
  for (const TubeSqueeze& squeeze : squeezes) press(model, squeeze, motion);
}

}  // namespace trocar
