// Changes a sheet's surface: cuts it along the path of a blade, tears it where it is pulled too hard, burns holes, and
// finds its pieces. Only faces that the path meets are split. Nodes keep their numbers; new ones come after them.
// A cut's work is its rest length times thickness times toughness. A tear opens edge after edge, and each edge goes on
// holding with a traction that falls with its opening (A. Hillerborg and others 1976, see tear_law): its work is that
// of the toughness as far as the edges resolve the zone that tears. Toughness, J/m^2: blades in liver 187 to 225, in
// aorta 290; tears of amnion 960 to 1830, of skin 17,000 to 20,000 (table 2 of "Recent advances in soft biological
// tissue manipulating technologies", Chinese J. Mechanical Engineering 35, 2022). Strength of peritoneum, mesentery and
// fascia of pigs: 0.3 to 6.5 MPa, modulus 0.09 to 6.9 MPa (E. J. White and others, "Mechanical characterisation of
// porcine non-intestinal colorectal tissues for innovation in surgical instrument design"). Units: metres, joules.
// Tested in tests/deform/sheet_test.cpp
#pragma once

#include <optional>

#include "deform/thin/sheet.hpp"

namespace trocar {

// A straight cutting edge that has moved from one position to another.
struct SheetBlade {
  glm::dvec3 from, to;            // m, ends of the edge before
  glm::dvec3 next_from, next_to;  // m, after
  std::uint32_t tip = kNoPoint;   // node at which the cut of the last sweep ended; the sweep is moved to start there
};

// A new point of a cut keeps this far from nodes and edges; nearer, the cut goes through the node or edge.
struct CutLimits {
  double least_edge = 3e-4;    // m  > 0
  double least_share = 0.15;   // 1  0 .. 0.5, of the edge or height on which the point lies
  double least_height = 1e-4;  // m  >= 0; a face that is lower gets no lower parts
};

// A face that was divided. Its parts come in order; the first has its number.
struct SheetSplit {
  std::uint32_t face;
  std::array<std::uint32_t, 3> part;                 // kNoPoint: two parts
  std::array<std::array<glm::dvec3, 3>, 3> corners;  // [part][corner] weights of the corners of the face
};

struct SheetChange {
  std::vector<SheetSplit> splits;       // in order
  std::vector<std::uint32_t> face_now;  // [face after the splits] its number now; kNoPoint: burnt. Empty: as before
  std::uint32_t edges = 0;              // opened
  double length = 0.0, area = 0.0;      // m, m^2 opened and burnt, at rest
  std::uint32_t tip = kNoPoint;         // node at which a cut ends inside the sheet
  bool waits = false;                   // the sweep is too short to cut: the next one starts where this one started
  double energy = 0.0;                  // J that a cut takes; a tear takes its energy while it opens (torn_energy)
  bool changed() const { return !splits.empty() || !face_now.empty() || edges > 0; }
};

// All three rebuild the sheet when something changes, which allocates and takes some milliseconds. Then the owner
// empties its SheetContacts, gives SheetLoads::force its new length, and follows its points. Faces keep their rest
// shape: areas and masses add up as before.

// Cuts along the surface that the blade sweeps. A cut may start and end inside a face. It goes on in the next sweep,
// which starts where this one ended and gets its `tip`, unless this one `waits`: a path that stays inside one face
// waits until it is as long as half of its shortest edge. A single edge inside the sheet opens with its next neighbour.
SheetChange cut(SheetModel& model, SheetState& state, const SheetBlade& blade, const CutLimits& limits = {});

// Opens edges where a node is pulled apart beyond the strength of the section beside it: one edge at the boundary or at
// the end of a cut, two inside. The most loaded first; what opens in one call has no node in common. A side of a tear
// that still holds branches at twice the strength. Call after each step.
SheetChange tear(SheetModel& model, SheetState& state);

// Burns along a hot segment: what is nearer than `radius` is removed, faces being divided first as far as `limits`
// allow; up to twice as far the stiffness falls, and stays so.
SheetChange burn(SheetModel& model, SheetState& state, const glm::dvec3& from, const glm::dvec3& to, double radius,
                 const CutLimits& limits = {});

// Where a point of the sheet is after a change; none: its face was burnt.
std::optional<SheetPoint> follow(const SheetChange& change, SheetPoint point);

// Piece of each face, numbered in the order of their first faces. [face]
std::vector<std::uint32_t> pieces_of(const SheetModel& model);

}  // namespace trocar
