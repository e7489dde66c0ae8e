// Finds where fluid that drips off a surface lands: the nearest surface below. Same calls, same bits.
// Units: metres.   Tested in tests/deform/fluid_film_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>

#include "deform/fluid/fluid_film.hpp"

namespace trocar {

// Returns the lowest of the vertices with the thickest film, from which drops fall. `film`: not empty.
std::uint32_t drip_vertex(const FluidFilm& film, std::span<const glm::vec3> positions, const glm::vec3& down);

// A vertex on which a drop lands.
struct DropLanding {
  std::size_t surface = 0;
  std::uint32_t vertex = 0;
  float height = 0.f;  // m, of the fall
  bool found = false;
};
// Looks for a better landing on another surface: a vertex in use that is nearer below `from`, at least `clearance` (m)
// below it. `unused`: [vertex] 1: no face uses it; empty: all are used.
void find_landing(const glm::vec3& from, const glm::vec3& down, float clearance, std::size_t surface,
                  std::span<const glm::vec3> positions, std::span<const char> unused, DropLanding& best);

}  // namespace trocar
