// Signed distance to an organ's surface on a grid in rest space: what a deformed organ is asked with once a point's
// place in the rest shape is known.
// Based on: Fisher, Lin, "Deformed distance fields for simulation of non-penetrating flexible bodies", EGCAS 2001.
// We differ: the grid is regular and made once, for the lattice's cells and a rim around them; distances are exact at
// its nodes, their sign is that of the winding number, so small self-crossings of the surface do no harm.
// Units: metres, rest space.   Tested against brute force in tests/deform/rest_distance_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/lattice.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// Grid steps to a lattice cell: the distance between nodes is read from the nodes, and rounds what is sharper.
constexpr int kDistanceSteps = 3;
// Lattice cells around the lattice that the grid still covers.
constexpr int kDistanceRim = 2;

struct RestDistance {
  glm::dvec3 origin{0.0};    // m, of node (0, 0, 0)
  double spacing = 0.0;      // m
  glm::ivec3 size{0};        // nodes along x, y, z
  std::vector<float> value;  // [node] m, by layer, row, column; negative inside

  std::size_t flat(const glm::ivec3& at) const {
    return (static_cast<std::size_t>(at.z) * size.y + at.y) * size.x + at.x;
  }
};

struct DistanceSample {
  float distance;      // m, negative inside
  glm::vec3 gradient;  // 1, outward; shorter than 1 where two sides of the surface are equally near
};

// `organ` must be closed, `lattice` its own. Nodes more than a cell away from every cell of the lattice hold no
// distance but that they are far outside.
RestDistance make_rest_distance(const MeshView& organ, const Lattice& lattice);

// At `p`, or the grid's point nearest to it. Continuous, the gradient too: central differences, interpolated.
DistanceSample sample(const RestDistance& field, const glm::vec3& p);

// Takes cells of the lattice away from the solid, exactly as boxes, as far as their neighbours notice.
void carve(RestDistance& field, const Lattice& lattice, std::span<const std::uint32_t> cells);

}  // namespace trocar
