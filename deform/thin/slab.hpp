// A sheet as an organ: the sheet (sheet.hpp) moves it, and a thin closed slab around it carries its surface, so that
// contacts, holds, bonds, damage and pictures find nodes, weights and faces as in every organ. Each node of the sheet
// has two lattice nodes, 2 k on its back and 2 k + 1 on its front, half the slab's thickness off it along the mean
// normal of its faces; they are also the vertices of the surface. There is room for more nodes, which cuts take.
// The slab may be thicker than the sheet: tools need some 0.1 mm to tell its sides apart.
// What pushes and pulls a sheet in a step: deform/sheet_step.hpp. Units: metres, kilograms, seconds, newtons.
// Tested in tests/deform/sheet_organ_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/thin/sheet.hpp"
#include "deform/thin/sheet_cut.hpp"

namespace trocar {

// A node that is fixed; it moves with the diaphragm, or not at all.
struct SlabFixed {
  std::uint32_t node;
  bool diaphragm;
};

struct SlabModel {
  SheetModel sheet;
  double half = 0.0;                         // m  of the slab's thickness
  std::uint32_t room = 0;                    // nodes of the sheet that there is room for
  std::vector<glm::dvec3> rest;              // [node] m
  std::vector<SlabFixed> fixed;              // by node
  std::vector<std::uint32_t> first, around;  // faces around node k: around[first[k]] .. around[first[k + 1] - 1]
  std::vector<glm::dvec3> planned;           // [node] m, from which the order of elimination was found

  bool empty() const { return room == 0; }  // no sheet
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(rest.size()); }
};

// Everything that the next step depends on.
struct SlabMotion {
  SheetState sheet;
  // With what a vertex leans on an organ, so that a lasting load leaves no overlap, and on which. [lattice node]
  std::vector<float> lean;             // N
  std::vector<std::uint32_t> lean_on;  // organ
};

// Makes the slab. `half`: m, > 0. `room`: at least the number of points. Throws InputError as make_sheet().
SlabModel make_slab(const SheetParams& params, std::span<const glm::dvec3> points,
                    std::span<const std::array<std::uint32_t, 3>> triangles, double half, std::uint32_t room);
SlabMotion rest_motion(const SlabModel& model);

// Returns the faces of the slab: fronts, then backs, then two for each edge of the border. [face] lattice nodes,
// counter-clockwise seen from outside
std::vector<glm::uvec3> slab_faces(const SlabModel& model);

// Calls set(lattice node, position m, velocity m/s) for every lattice node; those that cuts may take later are where
// node 0 is. `normal`: storage.
template <class Set>
void carry_nodes(const SlabModel& model, const SheetState& state, std::vector<glm::dvec3>& normal, Set set);

// Returns the point of the sheet that lattice nodes carry. Its face is kNoPoint when they share none.
SheetPoint point_on(const SlabModel& model, std::span<const std::uint32_t> node, std::span<const float> weight);

// Changes the surface by `change`, one of the functions of sheet_cut.hpp, and finds what follows from it. Returns
// whether there was room for the new nodes; otherwise everything is as before. Allocates.
using SheetSurgery = std::function<SheetChange(SheetModel&, SheetState&)>;
bool change_slab(SlabModel& model, SlabMotion& motion, const SheetSurgery& surgery, SheetChange& change);

// Finds the faces around each node, and again the order of elimination for a sheet whose faces are known, as of a saved
// session. Allocates.
void restore_slab(SlabModel& model);

// Sets normal[node] to the mean normal of the faces around it, unit; 0 without faces.
void find_normals(const SlabModel& model, std::span<const glm::dvec3> x, std::vector<glm::dvec3>& normal);

template <class Set>
void carry_nodes(const SlabModel& model, const SheetState& state, std::vector<glm::dvec3>& normal, Set set) {
  find_normals(model, state.x, normal);
  for (std::uint32_t k = 0; k < model.room; ++k) {
    const std::uint32_t node = k < model.nodes() ? k : 0;
    const glm::dvec3 off = model.half * normal[node];
    set(2 * k, state.x[node] - off, state.v[node]);
    set(2 * k + 1, state.x[node] + off, state.v[node]);
  }
}

}  // namespace trocar
