// Makes the OpenHELP liver fixed at its back, pressed by a tool, pulled and twisted by holds. Tests and benchmarks use
// the same scene for the real-time step and the implicit reference solver. Units: metres, newtons, seconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <vector>

#include "deform/reference/implicit_reference.hpp"
#include "deform/solid/tissue.hpp"
#include "mesh/mesh_io.hpp"

namespace trocar::test {

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
    d.most = std::max(d.most, glm::length(off));
    d.moved = std::max(d.moved, glm::length(moved));
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
