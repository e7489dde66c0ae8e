// Stores the signed distance to an organ's surface on a grid in rest space. It is sampled at the rest position of a
// point in the deformed organ.
// Based on: Fisher, Lin, "Deformed distance fields for simulation of non-penetrating flexible bodies", EGCAS 2001.
// We differ: the grid is regular and made once, for the lattice's cells and a margin around them. Distances are exact
// at its nodes, and the winding number gives their sign, so small self-crossings of the surface do no harm. Units:
// metres, rest space.   Tested against brute force in tests/deform/rest_distance_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/solid/lattice.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// Grid steps per lattice cell. Distances between nodes are interpolated, which rounds sharper features.
constexpr int kDistanceSteps = 3;
// Margin of the grid around the lattice, in lattice cells.
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

// Makes the distance field. `organ` must be closed and `lattice` made from it. Nodes more than a cell away from every
// lattice cell hold no exact distance, only a value far outside.
RestDistance make_rest_distance(const MeshView& organ, const Lattice& lattice);

// Samples the field at `p`, or at the nearest point of the grid. Value and gradient are continuous: the gradient
// interpolates central differences.
DistanceSample sample(const RestDistance& field, const glm::vec3& p);

// Removes lattice cells from the solid, as exact boxes, and updates the distances as far as their neighbours need.
void carve(RestDistance& field, const Lattice& lattice, std::span<const std::uint32_t> cells);

}  // namespace trocar
