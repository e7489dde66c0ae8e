// Provides what tests of jaws on the liver of the demonstration scene share. Units: metres, world frame.
#pragma once

#include <glm/glm.hpp>

#include "sim/session/session.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::test {

inline Scene liver_alone() {
  Scene scene = load_scene(repository_file("data/scenes/liver_and_stomach.toml"));
  scene.organs.resize(1);
  scene.instruments.resize(1);
  scene.breathing.amplitude = 0.f;
  return scene;
}

// A vertex of the surface and the mean normal of its faces.
struct Place {
  glm::dvec3 point{0.0}, normal{0.0};
};

inline Place place_near(const Organ& organ, const glm::dvec3& near) {
  std::uint32_t vertex = 0;
  for (std::uint32_t v = 0; v < organ.positions.size(); ++v)
    if (glm::distance(glm::dvec3(organ.positions[v]), near) < glm::distance(glm::dvec3(organ.positions[vertex]), near))
      vertex = v;
  Place place{glm::dvec3(organ.positions[vertex])};
  for (const glm::uvec3& face : organ.mesh.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    if (glm::distance(t.a, place.point) < 0.01) place.normal += glm::cross(t.b - t.a, t.c - t.a);
  }
  place.normal = glm::normalize(place.normal);
  return place;
}

}  // namespace trocar::test
