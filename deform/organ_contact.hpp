// Organ against organ: surface vertices of one are looked up in the deformed lattice of the other; their place in its
// rest shape says how deep they are and which way is out. Organs that overlap at rest keep that overlap as the zero,
// vertex by vertex. Vertices of either organ against the solid of the other; a surface should be sampled about as
// finely as the lattice, for edges and faces between vertices are not seen.
//   gap     = d(X) / |F^-T g| - zero        d, g: distance and unit gradient at the rest place X, F = dx/dX
//   normal  = F^-T g / |F^-T g|             within a step:  gap = normal . (p_a - p_b) + offset
// Based on: Fisher, Lin, "Deformed distance fields for simulation of non-penetrating flexible bodies", EGCAS 2001;
// McAdams et al., "Efficient elasticity for character skinning with contact and collisions", SIGGRAPH 2011. We differ:
// zeros at rest; the pushes are positions, equal and opposite, in every substep, deep ones at a bounded speed.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/organ_contact_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/rest_distance.hpp"
#include "deform/tissue.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

struct OrganContactParams {
  float friction = 0.05f;       // 1    Coulomb, of wet serous surfaces on each other, >= 0
  float settling_time = 0.02f;  // s    an overlap deeper than its zero shrinks by its own size in this time, > 0
  float fastest = 0.1f;         // m/s  but no faster than this, > 0
};

// An organ as it is now. `surface`: embed_surface of the nodes. `unused`: vertices that no face uses any more.
struct OrganBody {
  const TissueModel* model;
  const TissueState* state;
  std::span<const glm::vec3> surface;  // [vertex] m
  std::span<const char> unused = {};   // [vertex] or empty: all are used
};

struct OrganPair {
  std::uint32_t a, b;  // a < b
};

// A vertex of organ `a` that is in, or may within the step come into, organ `b`.
struct PairContact {
  std::uint32_t a, b;    // organs
  std::uint32_t vertex;  // of a
  Embedding on_a, on_b;  // the vertex, and the material of b where it is, or nearest to it
  glm::vec3 normal;      // unit, from b to a
  float offset;          // m
  float gap;             // m    at the end of the latest substep, or when found; negative: deeper than its zero
  float admittance;      // 1/kg what a unit push opens the gap by
  float pressed;         // kg m this substep's push along the normal, >= 0
  glm::vec3 impulse;     // N s  on a, over the step; -impulse on b
};

// Keep one between frames. `field`, `zero` hold what was found out at rest; the rest is room to work in.
struct OrganContacts {
  OrganContactParams params;
  std::vector<PairContact> contacts;     // by a, b, vertex
  std::vector<RestDistance> field;       // [organ]
  std::vector<std::vector<float>> zero;  // [a * organs + b][vertex of a] m, < 0: where its gap counts as none

  struct Box {
    glm::vec3 low, high;  // m
  };
  struct Near {
    std::uint32_t vertex;
    std::int32_t cell;  // of b that holds it or comes nearest, -1: none
    float beyond;       // 1    how far outside that cell, of its side; <= 0: inside
    glm::vec3 place;    // 1    in that cell
  };
  struct Active {
    std::uint32_t contact;
    float wanted;  // m    gap at the end of the substep
  };
  std::vector<Active> active;                  // contacts that push in this substep
  std::vector<std::vector<char>> rim;          // [organ][cell] has a side without neighbour
  std::vector<Box> box;                        // [organ] of its nodes, and so of its surface
  std::vector<float> fastest;                  // [organ] m/s
  std::vector<OrganPair> all_pairs, searches;  // a search: vertices of a in the solid of b; ascending
  std::vector<Near> near;                      // vertices of a in the region both share
  struct Binned {
    glm::vec3 p, v;      // m, m/s of a node beside it
    std::uint32_t near;  // which
  };
  std::vector<Binned> binned;  // the same, bin by bin
  std::vector<std::uint32_t> bin_first, rim_cells;
  std::vector<float> bin_speed;  // [bin] m/s, of its fastest
};

// `meshes` at rest, closed; each with its model. An organ alone costs nothing.
OrganContacts make_organ_contacts(std::span<const MeshView> meshes, std::span<const TissueModel* const> models,
                                  const OrganContactParams& params = {});

// Where the organs and their speeds are: before find_organ_contacts, and again when either has changed. An organ alone
// is not measured.
void measure_organs(std::span<const OrganBody> organs, OrganContacts& contacts);
// Of an organ as measured: two organs whose boxes do not overlap have no contacts within the next `dt` seconds. Empty
// (low above high) for an organ alone.
OrganContacts::Box contact_box(const OrganContacts& contacts, std::uint32_t organ, float dt);

// Once a frame: who touches whom within the next `dt` seconds, among `pairs`. Organs at rest touch nobody. Allocates
// only while it has not yet seen so many.
void find_organ_contacts(std::span<const OrganBody> organs, std::span<const OrganPair> pairs, float dt,
                         OrganContacts& contacts);
// Measures, then looks at every pair: the slow twin.
void find_organ_contacts(std::span<const OrganBody> organs, float dt, OrganContacts& contacts);

// Once in every substep of `dt` seconds, after all organs have moved: pushes apart what is deeper than its zero, along
// the normal, with friction, equal and opposite. Never pulls.
void solve_organ_contacts(std::span<const TissueModel* const> models, std::span<TissueState* const> states, float dt,
                          OrganContacts& contacts);

// Force on organ `a` from all others, N, averaged over the step of `dt` seconds that the contacts were found for.
glm::vec3 organ_force(const OrganContacts& contacts, std::uint32_t a, float dt);

// Tells that tissue has gone: `cells` of `organ` whose fullness has changed, after set_fullness. Cells that are empty
// now count as outside.
void tissue_gone(std::span<const TissueModel* const> models, std::uint32_t organ, std::span<const std::uint32_t> cells,
                 OrganContacts& contacts);

}  // namespace trocar
