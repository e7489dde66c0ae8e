// Examines the health of a mesh: is the surface closed, manifold, consistently oriented, outward and free of crossing
// faces, and how large is it? `trocar mesh check` prints this report, and every organ for simulation must pass it.
// Units: metres.   Checked on known organs, sound and broken, in tests/mesh/mesh_report_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_io.hpp"

namespace trocar {

// Decides whether a surface bounds a solid, because tissue can fill only a closed surface. It is the first part of the
// verdict on a mesh file, MeshReport::fault, which `trocar mesh check`, `trocar mesh lattice` and every scene give;
// surfaces made otherwise (tubes, recordings) need only this part. Vertices at exactly the same position count as one
// (triangle_mesh.hpp), so seams of a file are not holes; faces that then use a vertex twice are ignored.
struct SolidCheck {
  std::size_t open_edges = 0;          // with one face: the boundaries of holes
  std::size_t non_manifold_edges = 0;  // with three faces or more
  std::size_t unbalanced_edges = 0;    // non-manifold, with unequal numbers of faces per direction: not a solid's edge
  std::size_t inconsistent_edges = 0;  // with two faces that disagree about the outside
  double volume = 0.0;                 // m^3  signed; approximate for an open surface
  std::string fault;                   // one sentence: what is wrong, where, what to do; empty: tissue can fill it
};

// Checks any faces with valid vertex indices.
SolidCheck check_solid(const MeshView& organ);
// Does the same with vertices already joined: `adjacency` is that of `welded`.
SolidCheck check_solid(const MeshView& welded, const HalfEdges& adjacency);

// Returns the volume enclosed by `organ`, m^3. Throws InputError with one sentence: SolidCheck::fault, or a vertex
// number out of range, or a coordinate that is not finite.
double closed_volume(const MeshView& organ);

// The boundary of one hole.
struct Hole {
  std::size_t edges = 0;
  double length = 0.0;       // m     of the boundary
  glm::dvec3 position{0.0};  // m     middle of the boundary
};

struct Topology {
  std::size_t used_vertices = 0;  // used by at least one face
  std::size_t edges = 0;
  std::size_t boundary_edges = 0, inconsistent_edges = 0, non_manifold_edges = 0;
  std::size_t non_manifold_vertices = 0;
  std::size_t components = 0;
  std::int64_t euler_characteristic = 0;  // vertices - edges + faces; 2 per closed component without handles
  std::vector<Hole> holes;                // longest boundary first

  bool closed() const { return boundary_edges == 0; }  // edges with three faces or more count in manifold(), not here
  bool manifold() const { return non_manifold_edges == 0 && non_manifold_vertices == 0; }  // holes are allowed
  bool oriented() const { return inconsistent_edges == 0; }                                // neighbouring faces agree
};

// The unit that gives the file's numbers a plausible size for an organ or an instrument.
enum class SizeUnit { Micrometre, Millimetre, Centimetre, Metre, Unclear };

// Longest sides of organs and instruments, from a gallbladder (5 cm) to an abdominal wall or a shaft (50 cm).
constexpr double kSmallestOrgan = 0.03, kLargestOrgan = 0.7;  // m

struct MeshReport {
  std::size_t vertices = 0, faces = 0;
  std::size_t repeated_positions = 0;  // vertices at the position of an earlier one: seams
  Topology topology;                   // by the faces' vertex indices
  Topology welded;   // with vertices at the same position joined, so without seams; the checks use this one
  SolidCheck solid;  // of the welded surface: can it be filled with tissue?

  std::size_t repeated_corner_faces = 0;  // faces that use a vertex or position twice
  std::size_t zero_area_faces = 0;        // other faces without has_area() (exact_sign.hpp)
  std::size_t duplicate_faces = 0;        // faces with the same three corners as an earlier face, in any order
  std::size_t first_degenerate = 0, first_duplicate = 0;  // face; of no meaning when there is none
  std::size_t crossing_pairs = 0;                         // pairs of crossing faces without a common corner
  std::size_t folded_pairs = 0;                           // pairs of faces with a common corner that overlap beyond it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> listed_pairs;  // the first of both kinds

  double area = 0.0;               // m^2
  double volume = 0.0;             // m^3   signed: negative when the faces look inward; approximate for an open mesh
  std::size_t inward_pieces = 0;   // components of negative volume, welded
  glm::dvec3 low{0.0}, high{0.0};  // m     extent of the used vertices
  double median_edge = 0.0;        // m
  double metres_per_unit = 1e-3;   // m     the unit used for loading
  SizeUnit suggested = SizeUnit::Unclear;
  // One sentence: why the mesh is not sound, with where and what to do; empty: it is sound. Every scene refuses an
  // organ with this sentence.
  std::string fault;

  glm::dvec3 size() const { return high - low; }                                            // m
  double longest_side() const { return std::max({size().x, size().y, size().z}); }          // m
  bool outward() const { return inward_pieces == 0; }                                       // every component
  std::size_t degenerate_faces() const { return repeated_corner_faces + zero_area_faces; }  // of both kinds
  // Returns true when the surface has no fault; seams are allowed.
  bool sound() const {
    return welded.closed() && welded.manifold() && welded.oriented() && outward() && degenerate_faces() == 0 &&
           duplicate_faces == 0 && crossing_pairs == 0 && folded_pairs == 0;
  }
  // Returns whether the mesh is sound and of plausible size for an organ. Any other size means that the file was read
  // with the wrong unit.
  bool fit_for_simulation() const;
};

struct ReportOptions {
  double metres_per_unit = 1e-3;  // m    the unit the file was read with, for the suggestion
  bool find_crossings = true;     //      the only slow check: seconds for a million faces; without, `fault` skips it
  std::size_t listed_pairs = 20;  //      how many crossing pairs to list
};

// Examines any mesh whose face corners are valid vertex indices. An empty mesh gives zeros.
MeshReport mesh_report(const MeshView& mesh, const ReportOptions& options = {});

// Returns whether this length, in metres, is a plausible longest side of an organ or an instrument.
bool credible_size(double longest_side);

// Returns the unit that the longest side of the box suggests; the length is in file units.
SizeUnit suggested_unit(double longest_side);

// The unit of a mesh file: the one that a comment states, else the one that its size suggests.
struct FileUnit {
  std::string name;          // "metres", "unclear"
  double mm_per_unit = 0.0;  // mm   the number to read the file with; 0: unclear
  bool stated = false;       //      by the file
};
// `longest_side`: m, read with this number of millimetres per unit.
FileUnit unit_of_file(double longest_side, double mm_per_unit, const MeshFacts& facts);

// Returns one sentence when the longest side is not that of an organ: its size, and the value of `setting` (--scale,
// mm_per_unit) that fits. Empty when the size is credible.
std::string size_fault(double longest_side, double mm_per_unit, const MeshFacts& facts, const std::string& setting);

}  // namespace trocar
