// Connects organs by connective tissue: elastic fibres between points of two lattices, or between a lattice and the
// fixed abdominal wall. A fibre pulls when it is longer than its free length and never pushes:
// F = k max(l - L, 0) d / l        d: from one end to the other, l = |d|, L: free length
// strain = (l - L) / reference     a fibre breaks for good when its strain exceeds the limit
// A layer joins two surfaces that lie on each other. Its fibres have free length 0: both ends are the
// same point at rest, embedded in both organs, so organs that overlap at rest are not pulled apart. The reference is
// the layer's thickness. A band is a row of strands between two lines; its reference is its free length.
// Ends are embedded in cells at least half as full as the fullest one of their organ, because an explicit step is slow
// when a stiff fibre holds a node almost without mass. Forces act at x + beta v, like all elastic forces here, where
// beta is the smaller damping_time of the two organs, and are equal and opposite on one line, so they keep momentum and
// angular momentum. Derivation and limits: docs/tissue.md, "Connective tissue".
// Units: metres, kilograms, seconds, newtons, pascals.
// Tested in tests/deform/bonds_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

struct BladeCut;
struct HotSegment;
struct Sculpture;

// In place of an organ: the abdominal wall, which does not move.
constexpr std::uint32_t kWall = 0xffffffffu;

// A layer between the surface of one organ and another organ, where they are within `reach` of each other at rest.
struct LayerParams {
  float reach = 2e-3f;        // m    faces of the first organ nearer than this to the other, or inside it, are joined
  glm::vec3 centre{0.f};      // m    only faces within `radius` of this point are joined
  float radius = 1.f;         // m    > 0
  float modulus = 3e3f;       // Pa   of the layer in tension and shear, > 0
  float thickness = 1.5e-3f;  // m    of the layer at rest, > 0
  float break_strain = 1.5f;  // 1    > 0
};

// Strands between a line on one organ and a line on another organ, or on the wall.
struct BandParams {
  glm::vec3 from_start{0.f}, from_end{0.f};  // m     ends of the first line, at rest
  glm::vec3 to_start{0.f}, to_end{0.f};      // m     of the second line
  int strands = 8;                           // 1     evenly along the lines, >= 1
  float modulus = 1e5f;                      // Pa    > 0
  float section_mm2 = 10.f;                  // mm^2  cross-section of the whole band, > 0
  float rest_strain = 0.f;                   // 1     strain at rest; negative: slack, > -1
  float break_strain = 0.6f;                 // 1     > 0
};

// A point of a cell, or of the wall.
struct BondEnd {
  std::uint32_t organ = kWall, cell = 0;
  std::array<float, 8> weight{};  // 1, of the cell's nodes; some are negative when the point lies outside the cell
  glm::vec3 point{0.f};           // m, at rest
  float full = 0.f;               // 1, volume fraction of the cell when the end was made
};

// Is the end in a tube, in a sheet, or in either? Rods and sheets take their end of a fibre implicitly.
inline bool is_thin(const TissueModel& model) { return !model.tube.empty() || !model.slab.empty(); }
inline bool on_tube(const BondEnd& end, std::span<const TissueModel* const> models) {
  return end.organ != kWall && !models[end.organ]->tube.empty();
}
inline bool on_sheet(const BondEnd& end, std::span<const TissueModel* const> models) {
  return end.organ != kWall && !models[end.organ]->slab.empty();
}
inline bool on_thin(const BondEnd& end, std::span<const TissueModel* const> models) {
  return end.organ != kWall && is_thin(*models[end.organ]);
}

struct Fibre {
  BondEnd a, b;
  float free_length, reference;  // m
  float stiffness;               // N/m
  float break_strain;            // 1
};

// How a fibre broke: stretched too far, cut by blades, burnt by hot metal, or an end has lost its tissue. NotKnown: of
// a recording that does not say it.
enum class FibreBreak : std::uint8_t { Torn, Cut, Burnt, Lost, NotKnown };

struct Bonds {
  std::vector<Fibre> fibres;
  std::vector<std::uint8_t> intact;  // [fibre] the only state
  // Fibres that broke since the owner last cleared the lists, and how. [broken]
  std::vector<std::uint32_t> broken;
  std::vector<FibreBreak> broken_how;
  // [organ] 1: the substeps of a bonded organ are shorter by this factor, >= 1 (deform/join/bonds.hpp)
  std::vector<float> slowdown;
  // Of clips (deform/join/clip.hpp): they do not break, and their owner rebuilds the list when clips change.
  std::vector<Fibre> struts;
  // Of a step. An end: 2 * fibre, for `b` 1 more.
  std::vector<TubePlace> place;                              // [end] on the rods of tubes
  std::vector<std::vector<std::uint32_t>> ends_of, torn_of;  // [organ] ends whose forces it adds; fibres to break
  std::vector<std::uint32_t> between_tubes, torn;            // fibres

  bool empty() const { return fibres.empty() && struts.empty(); }
};

// An organ at rest, as bonds are made from it.
struct BondedOrgan {
  const TissueModel* model;
  MeshView mesh;
  const RestDistance* distance;
};

// Add the fibres between organs `a` and `b`; `b` may be kWall for a band. Return their number: 0 for a layer when the
// surfaces are nowhere within reach of each other; less than `strands` for a band when an end is further than 1.75
// cells from the centre of a cell that is full enough.
std::size_t add_layer(const LayerParams& params, std::uint32_t a, std::uint32_t b, std::span<const BondedOrgan> organs,
                      Bonds& bonds);
std::size_t add_band(const BandParams& params, std::uint32_t a, std::uint32_t b, std::span<const BondedOrgan> organs,
                     Bonds& bonds);

// The forces of a step, organ by organ, so that several threads can share them. Before the substeps place_fibres; in
// each one, after begin_step and before `advance`, add_common_forces, then for every organ add_bond_forces, then
// break_torn_fibres.

// Finds where the ends of fibres lie. Allocates when there are more fibres than ever before.
void place_fibres(std::span<const TissueModel* const> models, Bonds& bonds);

// Adds the forces of struts, and of the fibres between two tubes. `dt`: of the substep, s.
void add_common_forces(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                       Bonds& bonds);

// Adds the forces of an organ's other intact fibres to those of its next substep, and lists those that are stretched
// too far. Reads what the fibres lead to. For different organs it may run on several threads.
void add_bond_forces(std::uint32_t organ, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states, float dt, Bonds& bonds);

// Breaks the fibres that are stretched too far. Allocates only until `broken` and `broken_how` have had room for every
// fibre.
void break_torn_fibres(Bonds& bonds);

// Adds what the springs of tubes pulled with to the other ends of their fibres. Call when the tubes have moved, before
// the other organs do: a light rod follows its organ within the substep, and the force before it would throw the organ.
// `scale`: [organ] 1, of its forces.
void return_tube_forces(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                        std::span<const float> scale, const Bonds& bonds);

// Breaks the fibres of which an end has lost its tissue. Call after a cut.
void break_loose_fibres(std::span<const TissueModel* const> models, Bonds& bonds);
// Breaks a fibre, if it is intact.
void break_fibre(std::uint32_t fibre, FibreBreak how, Bonds& bonds);

// Positions of a fibre's ends, m.
struct FibreEnds {
  glm::vec3 a, b;
};
FibreEnds ends_of(const Fibre& fibre, std::span<const TissueModel* const> models,
                  std::span<const SteppedTissue* const> states);
// `nodes`: [organ][node] m
FibreEnds ends_of(const Fibre& fibre, std::span<const TissueModel* const> models,
                  std::span<const std::vector<glm::vec3>> nodes);

// Returns the force of a fibre on its end at `a`, N.
glm::vec3 pull_on_a(const Fibre& fibre, const FibreEnds& ends);
// Returns the strain of a fibre; negative when it is slack.
float strain_of(const Fibre& fibre, const FibreEnds& ends);

// Cuts fibres with hot metal and with blades. A fibre of a layer stands for the patch of the layer around it, so blades
// cut it when they come within half the layer's thickness of it.

// Breaks the intact fibres that pass within the radius of a segment, or through the region of the blades. A region that
// is not finite or without area cuts nothing.
void burn_fibres(std::span<const HotSegment> metal, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds);
void snip_fibres(const BladeCut& cut, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds);

// Bounds the frequencies of bonded organs, for the longest stable substep (deform/join/bond_limit.cpp). Fibres make the
// lattices stiffer only around their ends, so the squares of the frequencies are the eigenvalues of the lattices there
// with the fibres, k (g . u)^2 for each, where u are displacements scaled by the square roots of the masses and g has
// the weights of a fibre's ends over these roots. Directions are left out: a fibre is taken to be as stiff across as
// along.
// Tested against the eigenvalues of the whole system in tests/deform/bonds_test.cpp

// Returns the largest eigenvalue of the fibres and struts with the tissue around their ends, with a small margin,
// 1/s^2; 0 without bonds. Broken fibres do not count.
double bond_square(std::span<const TissueModel* const> models, const Bonds& bonds);

// Computes the slowdown. Call when all bonds are added, after a cut, because the nodes around it are lighter, and at
// the end of a frame in which fibres have broken.
void measure_slowdown(std::span<const TissueModel* const> models, Bonds& bonds);

// Returns a bound of the squares of all frequencies of an organ without bonds, 1/s^2.
double own_square(const TissueModel& model);

// What still holds organs that hang together. A part of an organ is held when it is fixed or tethered, or when intact
// fibres lead from it, over other parts if need be, to a part that is held or to the abdominal wall. A part that
// nothing holds falls: it gets the gravity of loose parts.

// `sculpture` may be null: an organ that no instrument can cut is one part, and it does not fall.
struct HangingOrgan {
  Sculpture* sculpture;
  TissueModel* model;
};

// Marks the nodes that intact fibres hold (TissueModel::bonded). Call before a cut, which lets parts without a held
// node fall, and when fibres have broken.
void mark_bonded(std::span<const HangingOrgan> organs, const Bonds& bonds);

// Says of every organ that fibres hold that something has held it: it falls once nothing does. Call once, with all
// fibres intact; an organ that was never held stays where its largest part is.
void expect_to_hang(std::span<const HangingOrgan> organs);

// Lets the parts fall that nothing holds any more. Call after mark_bonded when fibres have broken or tissue has parted.
void release_unheld(std::span<const HangingOrgan> organs, const Bonds& bonds);

}  // namespace trocar
