// Measures a block of tissue, for tests and benchmarks: the force on its ends and the strain at its middle. Units:
// metres, newtons.   The measures are checked in tests/deform/elasticity_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <glm/glm.hpp>
#include <numbers>
#include <span>
#include <vector>

#include "deform/reference/energy.hpp"
#include "deform/reference/implicit_reference.hpp"
#include "deform/solid/tissue.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::test {

using Positions = std::vector<glm::dvec3>;

// A bar around the origin, `size` along its own axes, rotated about z by `turn` radians.
struct Bar {
  glm::dvec3 size;
  double turn = 0.0;

  glm::dvec3 axis() const { return {std::cos(turn), std::sin(turn), 0.0}; }
  double area() const { return size.y * size.z; }
  double along(const glm::vec3& p) const { return glm::dot(glm::dvec3(p), axis()); }
  TriangleMesh mesh() const {
    TriangleMesh mesh = shapes::cube(1.f);
    for (glm::vec3& p : mesh.positions) {
      const glm::dvec3 q = glm::dvec3(p) * size;
      p = glm::vec3(axis() * q.x + glm::dvec3(-axis().y, axis().x, 0.0) * q.y + glm::dvec3(0.0, 0.0, q.z));
    }
    return mesh;
  }
};

inline void fix(TissueModel& model, std::size_t node) { model.inverse_mass[node] = 0.f; }

// Fixes the nodes in the last half cell of the bar on the side of `sign`.
inline void fix_end(TissueModel& model, const Bar& bar, double sign) {
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (sign * bar.along(model.rest[i]) > 0.5 * (bar.size.x - model.lattice.spacing)) fix(model, i);
}

inline Positions positions_of(const SteppedTissue& state) { return Positions(state.x.begin(), state.x.end()); }

// Returns the force on the fixed nodes on the side of `sign`: minus the force with which the bar pulls at them.
inline glm::dvec3 end_force(const TissueModel& model, const Bar& bar, double sign, const Positions& x) {
  Expansion e;
  e.slope.assign(x.size(), glm::dvec3(0.0));
  add_springs(model, x, Curvature::None, e);
  add_volumes(model, x, Curvature::None, e);
  glm::dvec3 force(0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (model.inverse_mass[i] == 0.f && sign * bar.along(model.rest[i]) > 0.0) force += e.slope[i];
  return force;
}

// Returns the best-fit affine map of the nodes whose rest position along the bar is within `reach` of the middle.
inline glm::dmat3 middle_deformation(const TissueModel& model, const Bar& bar, double reach, const Positions& x) {
  glm::dvec3 before(0.0), after(0.0);
  double count = 0.0;
  const auto within = [&](std::size_t i) { return std::abs(bar.along(model.rest[i])) <= reach; };
  for (std::size_t i = 0; i < x.size(); ++i)
    if (within(i)) before += glm::dvec3(model.rest[i]), after += x[i], count += 1.0;
  glm::dmat3 spread(0.0), image(0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!within(i)) continue;
    const glm::dvec3 r = glm::dvec3(model.rest[i]) - before / count;
    spread += glm::outerProduct(r, r);
    image += glm::outerProduct(x[i] - after / count, r);
  }
  return image * glm::inverse(spread);
}

struct Pulled {
  double strain, modulus, poisson, volume;  // 1, Pa, 1, 1: at the middle; modulus: secant, over the area at rest
};

inline Pulled measure(const TissueModel& model, const Bar& bar, const Positions& x) {
  const glm::dmat3 f = middle_deformation(model, bar, 0.25 * bar.size.x, x);
  const glm::dvec3 axis = bar.axis(), side(-axis.y, axis.x, 0.0);
  const double strain = glm::dot(axis, f * axis) - 1.0;
  const double across = 0.5 * (glm::dot(side, f * side) + f[2][2]) - 1.0;
  const double pull = glm::dot(axis, end_force(model, bar, 1.0, x));
  return {strain, pull / bar.area() / strain, -across / strain, glm::determinant(f)};
}

// Returns every node at its position in a uniformly stretched bar with lateral contraction.
inline Positions stretched(const TissueModel& model, const Bar& bar, double strain) {
  Positions x(model.rest.begin(), model.rest.end());
  for (glm::dvec3& p : x) {
    const double along = glm::dot(p, bar.axis());
    const double in = 1.0 - model.params.poisson_ratio * strain;
    p = (1.0 + strain) * along * bar.axis() + in * (p - along * bar.axis());
  }
  return x;
}

// Does the same, but fixed nodes keep their distance from the axis.
inline Positions clamped_and_stretched(const TissueModel& model, const Bar& bar, double strain) {
  Positions x = stretched(model, bar, strain);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (model.inverse_mass[i] == 0.f) x[i] = glm::dvec3(model.rest[i]) + strain * bar.along(model.rest[i]) * bar.axis();
  return x;
}

// Returns the model of a bar whose ends are fixed at a strain of `strain`, and the initial positions of its nodes.
inline TissueModel clamped_bar(const Bar& bar, const TissueParams& params) {
  TissueModel model = make_tissue(bar.mesh().view(), params, {});
  fix_end(model, bar, 1.0);
  fix_end(model, bar, -1.0);
  return model;
}

// At rest, by the implicit reference solver.
inline Positions at_rest_by_reference(const TissueModel& model, const Positions& from) {
  ImplicitState state = implicit_rest(model);
  state.x = from;
  implicit_equilibrium(model, state, {});
  return state.x;
}

// At rest, by the real-time step.
inline Positions stepped(const TissueModel& model, const Positions& from, double seconds, float dt = 1.f / 60.f) {
  SteppedTissue state = rest_state(model);
  for (std::size_t i = 0; i < from.size(); ++i) state.x[i] = glm::vec3(from[i]);
  for (int i = 0; i < std::lround(seconds / dt); ++i) step(model, state, {}, dt);
  return positions_of(state);
}

// Makes beams of tissue and computes their results in beam theory, for tests and benchmarks.
// Source: Timoshenko, "Strength of materials", 1930; Cowper, "The shear coefficient in Timoshenko's beam theory", 1966.
// Units: metres, newtons, seconds.   Tested in tests/deform/elasticity_test.cpp

// Returns the end deflection of a cantilever of square section under its own weight, by bending and shear.
inline double beam_deflection(const TissueParams& p, double length, double side) {
  const double nu = p.poisson_ratio, shear = p.youngs_modulus / (2.0 * (1.0 + nu));
  const double coefficient = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  const double load = p.density * glm::length(p.gravity);  // per length and area
  return load * std::pow(length, 4) / (8.0 * p.youngs_modulus * side * side / 12.0) +
         load * length * length / (2.0 * coefficient * shear);
}

// Returns the period of the first mode, from those of a thin beam and of a pure shear beam in series (Dunkerley).
inline double beam_period(const TissueParams& p, double length, double side) {
  const double nu = p.poisson_ratio, shear = p.youngs_modulus / (2.0 * (1.0 + nu));
  const double coefficient = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  const double bending =
      1.8751 * 1.8751 * std::sqrt(p.youngs_modulus * side * side / (12.0 * p.density)) / (length * length);
  const double shearing = std::numbers::pi / (2.0 * length) * std::sqrt(coefficient * shear / p.density);
  return 2.0 * std::numbers::pi * std::sqrt(1.0 / (bending * bending) + 1.0 / (shearing * shearing));
}

inline double column_sag(const TissueParams& p, double length) {
  return p.density * glm::length(p.gravity) * length * length / (2.0 * p.youngs_modulus);
}

inline TissueModel cantilever(const Bar& bar, const TissueParams& params) {
  TissueModel model = make_tissue(bar.mesh().view(), params, {});
  fix_end(model, bar, -1.0);
  return model;
}

// Returns the length from the last fixed node to the end. Where no nodes lie in the end's plane, this is shorter than
// the bar.
inline double free_length(const TissueModel& model, const Bar& bar) {
  double root = -0.5 * bar.size.x;
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (model.inverse_mass[i] == 0.f) root = std::max(root, bar.along(model.rest[i]));
  return 0.5 * bar.size.x - root;
}

// Returns the mean displacement of the free end's nodes.
inline glm::dvec3 end_movement(const TissueModel& model, const Bar& bar, const Positions& x) {
  glm::dvec3 sum(0.0);
  double count = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (bar.along(model.rest[i]) > 0.5 * (bar.size.x - model.lattice.spacing))
      sum += x[i] - glm::dvec3(model.rest[i]), count += 1.0;
  return sum / count;
}

// Makes the OpenHELP liver fixed at its back, pressed by a tool, pulled and twisted by holds. Tests and benchmarks use
// the same scene for the real-time step and the implicit reference solver. Units: metres, newtons, seconds.

// The point of the dome at which tools press; the surface is even for 25 mm around it. The dome faces +z.
constexpr glm::vec3 kDome{-0.0238f, 0.1133f, 0.2117f};

struct LiverScene {
  TriangleMesh mesh;
  TissueModel model;
};

inline LiverScene liver_scene(const std::filesystem::path& file, const TissueParams& params) {
  LiverScene scene{load_mesh(file), {}};
  const Attachment back{{-0.035f, 0.09f, 0.07f}, 0.06f};
  scene.model = make_tissue(scene.mesh.view(), params, {&back, 1});
  return scene;
}

// Surface points that a tool may touch: corners, edge middles and centres of all faces within `reach` of the dome. Each
// contact needs the side of the tool's axis on which it lies.
inline std::vector<TissueContact> points_near_dome(const TriangleMesh& mesh, float reach) {
  std::vector<TissueContact> points;
  std::vector<char> seen(mesh.positions.size(), 0);
  for (const glm::uvec3& face : mesh.faces) {
    if (glm::distance(mesh.positions[face.x], kDome) > reach) continue;
    points.push_back({0, face.x, {}, face.y, face.z, 1.f / 3.f, 1.f / 3.f});
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t a = face[i], b = face[(i + 1) % 3];
      if (a < b) points.push_back({0, a, {}, b, b, 0.5f, 0.f});
      if (!seen[a]) points.push_back({0, a, {}});
      seen[a] = 1;
    }
  }
  return points;
}

// Sets the normal of each contact for the tool's present pose.
inline void face_tool(const ToolStep& tool, std::span<const glm::vec3> surface, std::vector<TissueContact>& points) {
  for (TissueContact& c : points) {
    const glm::dvec3 p((1.f - c.u - c.v) * surface[c.vertex] + c.u * surface[c.second] + c.v * surface[c.third]);
    const glm::dvec3 shaft = tool.tip_before - tool.pivot;
    const double along = glm::clamp(glm::dot(p - tool.pivot, shaft) / glm::dot(shaft, shaft), 0.0, 1.0);
    c.normal = glm::vec3(glm::normalize(tool.pivot + along * shaft - p));
  }
}

// Returns a tool above the dome, `depth` below the first touch; a step moves it from one depth to another.
inline ToolStep tool_on_dome(double radius, double from, double to) {
  const glm::dvec3 touch = glm::dvec3(kDome) + glm::dvec3(0.0, 0.0, radius);
  const glm::dvec3 down(0.0, 0.0, -1.0);
  return {touch + glm::dvec3(0.0, 0.0, 0.25), touch + from * down, touch + to * down, radius};
}

// The tool's depth at `time`: down at 20 mm/s, reversed within a tenth of a second, and back.
struct PressAndRelease {
  double depth = 0.01;        // m
  double speed = 0.02;        // m/s
  double acceleration = 0.4;  // m/s^2

  double straight() const { return depth / speed - 0.5 * speed / acceleration; }
  double duration() const { return 2.0 * (straight() + speed / acceleration); }
  double at(double time) const {
    const double t = std::min(time, duration() - time), s = std::max(t - straight(), 0.0);
    return speed * t - 0.5 * acceleration * s * s;
  }
  ToolStep tool(double radius, double from, double to) const { return tool_on_dome(radius, at(from), at(to)); }
};

// The real-time step and the reference solver with the same interface.
struct Stepped {
  const LiverScene& scene;
  SteppedTissue state = rest_state(scene.model);
  std::vector<glm::vec3> surface = scene.mesh.positions;

  glm::dvec3 press(const ToolStep& tool, std::vector<TissueContact> points, double dt) {
    face_tool(tool, surface, points);
    const glm::vec3 force = step(scene.model, state, {{&tool, 1}, points, {}}, static_cast<float>(dt));
    embed_surface(scene.model, state.x, surface);
    return glm::dvec3(force);
  }
  glm::dvec3 x(std::size_t node) const { return glm::dvec3(state.x[node]); }
};

struct ReferenceSolved {
  const LiverScene& scene;
  ImplicitState state = implicit_rest(scene.model);
  std::vector<glm::vec3> surface = scene.mesh.positions;
  ImplicitResult answer = {};

  // dt 0: at rest.
  glm::dvec3 press(const ToolStep& tool, std::vector<TissueContact> points, double dt) {
    face_tool(tool, surface, points);
    const TissueLoads loads{{&tool, 1}, points, {}};
    answer = dt > 0.0 ? implicit_step(scene.model, state, loads, dt) : implicit_equilibrium(scene.model, state, loads);
    const std::vector<glm::vec3> nodes(state.x.begin(), state.x.end());
    embed_surface(scene.model, nodes, surface);
    return answer.tool_force[0];
  }
  glm::dvec3 x(std::size_t node) const { return state.x[node]; }
};

struct Difference {
  double relative, most, moved;  // 1 over all moved nodes; m, largest difference; m, largest displacement
};

template <class A, class B>
Difference difference(const TissueModel& model, const A& a, const B& b) {
  double apart = 0.0, whole = 0.0;
  Difference d{};
  for (std::size_t i = 0; i < model.rest.size(); ++i) {
    const glm::dvec3 moved = b.x(i) - glm::dvec3(model.rest[i]), off = a.x(i) - b.x(i);
    apart += glm::dot(off, off), whole += glm::dot(moved, moved);
    d.most = std::max(d.most, glm::length(off)), d.moved = std::max(d.moved, glm::length(moved));
  }
  d.relative = std::sqrt(apart / whole);
  return d;
}

// Tissue points in a ring of `radius` around the dome, `below` the surface, held at their positions.
inline std::vector<TissueHold> ring_of_holds(const TissueModel& model, int count, float radius, float below) {
  std::vector<TissueHold> holds;
  for (int i = 0; i < count; ++i) {
    const float angle = 6.2831853f * static_cast<float>(i) / static_cast<float>(count);
    const glm::vec3 p = kDome + glm::vec3(radius * std::cos(angle), radius * std::sin(angle), -below);
    holds.push_back({embed(model.lattice, p), p, p, 50.f});
  }
  return holds;
}

// Moves the targets of the holds: lifted by `lift` and turned by `turn` radians about the dome's axis.
inline void move_holds(std::vector<TissueHold>& holds, std::span<const TissueHold> begin, float lift, float turn) {
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const glm::vec3 r = begin[i].to - kDome;
    holds[i].from = holds[i].to;
    holds[i].to = kDome + glm::vec3(std::cos(turn) * r.x - std::sin(turn) * r.y,
                                    std::sin(turn) * r.x + std::cos(turn) * r.y, r.z + lift);
  }
}

}  // namespace trocar::test
