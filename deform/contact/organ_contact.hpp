// Finds contacts between organs. Surface vertices of one organ are located in the deformed lattice of the other; a
// distance field at the corresponding rest position gives depth and outward direction. Organs that overlap at rest keep
// that overlap, vertex by vertex: it is the zero of their gap. Both directions are tested, vertices of each organ
// against the solid of the other. Contacts of edges and faces between vertices are not detected, so a surface should be
// sampled about as finely as the lattice.
//   gap     = d(X) / |F^-T g| - zero        d, g: distance and unit gradient at rest position X, F = dx/dX
//   normal  = F^-T g / |F^-T g|             within a step:  gap = normal . (p_a - p_b) + offset
// Based on: Fisher, Lin, "Deformed distance fields for simulation of non-penetrating flexible bodies", EGCAS 2001;
// McAdams et al., "Efficient elasticity for character skinning with contact and collisions", SIGGRAPH 2011. We differ:
// the overlap at rest is allowed; the response moves positions, equally and oppositely, in every substep; deep overlaps
// are resolved at a bounded speed. The grid of the field is regular and made once, for the lattice's cells and a margin
// around them; distances are exact at its nodes, and the winding number gives their sign, so small self-crossings of
// the surface do no harm.
// Units: metres, kilograms, seconds, newtons. Tested in tests/deform/organ_contact_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/solid/lattice.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/team.hpp"

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

struct OrganContactParams {
  float friction = 0.05f;       // 1    Coulomb, of wet serous surfaces on each other, >= 0
  float settling_time = 0.02f;  // s    an overlap deeper than at rest decreases by its own size in this time, > 0
  float fastest = 0.1f;         // m/s  but not faster than this, > 0
};

// The current state of an organ. `surface`: embed_surface of the nodes. `unused`: vertices without faces.
struct OrganBody {
  const TissueModel* model;
  const SteppedTissue* state;
  std::span<const glm::vec3> surface;  // [vertex] m
  std::span<const char> unused = {};   // [vertex] or empty: all are used
};

struct OrganPair {
  std::uint32_t a, b;  // a < b
};

// A vertex of organ `a` that is inside organ `b`, or may enter it within the step.
struct PairContact {
  std::uint32_t a, b;    // organs
  std::uint32_t vertex;  // of a
  Embedding on_a, on_b;  // the vertex, and the material point of b at it or nearest to it
  glm::vec3 normal;      // unit, from b to a
  float offset;          // m
  float gap;             // m    at the end of the latest substep, or when found; negative: deeper than at rest
  float admittance;      // 1/kg change of the gap per unit push
  float pressed;         // kg m push along the normal in this substep, >= 0
  glm::vec3 impulse;     // N s  on a, over the step; -impulse on b
};

// Keep the object between frames. `field`, `zero` describe the organs at rest; the other members are scratch buffers.
struct OrganContacts {
  OrganContactParams params;
  std::vector<PairContact> contacts;     // by a, b, vertex
  std::vector<RestDistance> field;       // [organ]
  std::vector<std::vector<float>> zero;  // [a * organs + b][vertex of a] m, < 0: distance at which the gap is 0

  struct Box {
    glm::vec3 low, high;  // m
  };
  struct Near {
    std::uint32_t vertex;
    std::int32_t cell;   // of b that contains the vertex or is nearest, -1: none
    float beyond;        // 1    distance outside that cell in units of its side; <= 0: inside
    glm::vec3 location;  // 1    coordinates in that cell
  };
  struct Active {
    std::uint32_t contact;
    float wanted;  // m    target gap at the end of the substep
  };
  std::vector<Active> active;                  // contacts that push in this substep
  std::vector<std::vector<char>> rim;          // [organ][cell] has a side without neighbour
  std::vector<Box> box;                        // [organ] box of its nodes, which contains its surface
  std::vector<std::vector<Box>> cell_box;      // [organ][cell] box of its corners; only of organs that are searched
  std::vector<float> fastest;                  // [organ] m/s, largest speed of a node
  std::vector<OrganPair> all_pairs, searches;  // a search: vertices of a in the solid of b; ascending
  std::vector<std::uint32_t> searched;         // organs that are b in a search, each once
  struct Binned {
    glm::vec3 p, v;      // m; m/s of a nearby node
    std::uint32_t near;  // index into `near`
  };
  // Of one search.
  struct Found {
    std::vector<Near> near;      // vertices of a in the common region
    std::vector<Binned> binned;  // the same vertices, bin by bin
    std::vector<std::uint32_t> bin_first, rim_cells;
    std::vector<float> bin_speed;  // [bin] m/s, largest speed
    std::vector<PairContact> contacts;
  };
  std::vector<Found> found;  // [a * organs + b]
};

// Prepares the contacts. `meshes`: closed, at rest, each with its model. A single organ costs nothing.
OrganContacts make_organ_contacts(std::span<const MeshView> meshes, std::span<const TissueModel* const> models,
                                  const OrganContactParams& params = {});

// Measures positions and speeds of the organs. Call before find_organ_contacts, and again when either has changed. A
// single organ is not measured.
void measure_organs(std::span<const OrganBody> organs, OrganContacts& contacts);
// Returns the box of a measured organ: two organs whose boxes do not overlap have no contacts within the next `dt`
// seconds. Empty (low > high) for a single organ.
OrganContacts::Box contact_box(const OrganContacts& contacts, std::uint32_t organ, float dt);

// Call once a frame: finds the contacts within the next `dt` seconds among `pairs`. Organs at rest have none. Allocates
// only when there are more contacts than ever before. `team`: threads that share the searches.
void find_organ_contacts(std::span<const OrganBody> organs, std::span<const OrganPair> pairs, float dt, Team& team,
                         OrganContacts& contacts);
// Measures the organs, then tests every pair: slower, for tests.
void find_organ_contacts(std::span<const OrganBody> organs, float dt, OrganContacts& contacts);

// Call once in every substep of `dt` seconds, after all organs have moved: pushes organs apart along the normal where
// they overlap more than at rest, with friction, equally and oppositely. Never pulls them together.
void solve_organ_contacts(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                          OrganContacts& contacts);

// The contacts of tubes with organs are solved with the tubes' rods: press_tubes_together and, for every tube,
// press_tube before a substep of `dt` seconds, after it take_back_from_tubes, which gives the other organs their share.
// One contact an edge and organ, the deepest one.

// Of tubes with each other.
void press_tubes_together(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                          OrganContacts& contacts);
// Of a tube with other organs, which it reads. For different tubes it may run on several threads.
void press_tube(std::uint32_t tube, std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                float dt, OrganContacts& contacts);
void take_back_from_tubes(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                          OrganContacts& contacts);

// Obstacles of a tube's contacts: the numbers of tools, and from here on those of organs.
constexpr std::uint32_t kOrganObstacles = 0x10000u;
// Adds a contact, or the deeper of two with the same obstacle at the same edge. `source`: its number.
void add_deepest(const RodContact& contact, std::uint32_t source, std::vector<RodContact>& contacts,
                 std::vector<std::uint32_t>& sources);

// Returns the force on organ `a` from all others, N, averaged over the step of `dt` seconds that the contacts were
// found for.
glm::vec3 organ_force(const OrganContacts& contacts, std::uint32_t a, float dt);

// Updates the distance field after tissue was removed: `cells` of `organ` whose volume fraction has changed, after
// set_volume_fractions. Empty cells then count as outside.
void tissue_removed(std::span<const TissueModel* const> models, std::uint32_t organ,
                    std::span<const std::uint32_t> cells, OrganContacts& contacts);

}  // namespace trocar
