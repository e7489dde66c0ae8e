// Measures a block of tissue, for tests and benchmarks: the force on its ends and the strain at its middle. Units:
// metres, newtons.   The measures are checked in tests/deform/elasticity_test.cpp
#pragma once

#include <cmath>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/reference/energy.hpp"
#include "deform/reference/implicit_reference.hpp"
#include "deform/solid/tissue.hpp"
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

}  // namespace trocar::test
