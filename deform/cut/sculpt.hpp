// Burns the tissue around hot metal (virtual sculpture). Voxels of the rest shape are removed. The skin over them is
// cut along the boundary of the heat (skin.cpp), the opened tissue gets a wall, strips join the two
// (boundary_loops.hpp), the lattice's cells lose the volume fraction of their burnt voxels, and pieces that nothing
// holds fall. Source: Lombardo, Cani, Neyret, "Real-time collision detection for virtual surgery", 1999, who name the
// application; the method is ours. The surface is closed after every call: skin and wall are sets of oriented
// triangles, so their boundary decomposes into loops, and every loop is closed. Several walls may meet at one edge;
// none has a hole. Same calls, same bits. Units: metres, seconds.   Tested in tests/deform/sculpt_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/cut/boundary_loops.hpp"
#include "deform/cut/voxels.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// Skin: the organ's own surface and the remaining parts of cut faces. Wall: sides of voxels between tissue and burnt.
// Strip: connects the two.
enum class FaceKind : std::uint8_t { Skin, Wall, Strip };

struct LiveFaces {
  std::vector<glm::uvec3> corners;  // [slot] vertices, counter-clockwise seen from outside
  std::vector<FaceId> id;           // [slot] ascending
  std::vector<FaceKind> kind;       // [slot]
  std::vector<std::uint32_t> side;  // [slot] of wall: 6 * tissue voxel + side
  std::vector<char> removed;        // [slot] removed by the next renumber_faces()
  std::uint32_t next_id = 0;

  std::size_t size() const { return corners.size(); }
  void add(FaceKind face_kind, const glm::uvec3& face, std::uint32_t wall_side = 0);
};

// The changes made by renumber_faces(). The arrays keep their memory.
struct FaceChanges {
  std::vector<FaceId> removed;  // ascending
  FaceId first_new{0};          // new faces: first_new, first_new + 1, ...
  std::uint32_t new_faces = 0;
};

// Numbers the faces added since the last call and drops the removed ones. A face both added and removed gets no id.
void renumber_faces(LiveFaces& faces, FaceChanges& changes);

// Coagulation: heats tissue around hot metal without removing it. Each voxel near the metal collects a dose: in contact
// for a time t, at the distance s from the metal, it is t (spread / s)^2. Where the dose reaches 1 the tissue is
// coagulated and pale, so the depth of that zone is spread sqrt(t): the law of heat conduction, with spread = sqrt(4 k)
// = 0.75 mm/sqrt(s) for the thermal diffusivity k = 1.4e-7 m^2/s of soft tissue (Duck, "Physical properties of tissue",
// 1990). Blood flow carries the heat away over sqrt(conductivity / (perfusion c)), about 3 mm in the liver (Pennes,
// "Analysis of tissue and arterial blood temperatures", 1948): the zone ends at `deepest`. At higher doses the tissue
// chars.

struct CoagulationParams {
  double spread = 7.5e-4;  // m/sqrt(s)  depth of the coagulated zone after one second, > 0
  double deepest = 0.003;  // m          limit of that depth, >= 0
  double char_dose = 8.0;  // 1          dose at which tissue is black, > 1
};

// The doses of an organ. Cells without any dose have no memory.
struct CoagulationField {
  std::vector<std::uint32_t> block;  // [cell] its doses begin here; kNoDose: none; empty: no cell has any
  std::vector<float> dose;           // [block + voxel of the cell] 1
  float char_dose = 8.f;             // 1, of the latest hook
};
inline constexpr std::uint32_t kNoDose = 0xffffffffu;

// The box, at rest, of the voxels whose dose changed; low > high when none did.
struct CoagulationBox {
  glm::vec3 low{INFINITY}, high{-INFINITY};  // m
  bool empty() const { return low.x > high.x; }
};
constexpr float kNoFloor = 100.f;  // m

struct SculptParams {
  int voxels_per_cell = 6;           // 1      voxels along a lattice cell, 1..8
  int smallest_piece = 20;           // voxels smaller separated pieces are burnt too, >= 0
  glm::vec3 fall{0.f, 0.f, -9.81f};  // m/s^2  gravity of loose parts; the patient lies on the back
  float floor = kNoFloor;            // m      along `fall`, from the origin: loose parts come to rest there
  float melt = 0.f;                  // m      hot metal that cuts removes this much more around it: fat melts, >= 0
  float tears_at = 0.f;  // 1  tissue stretched to this many times its length, or crushed so far, comes apart; 0: never
  float out_of_sight = 0.4f;  // m      loose parts stop at this distance from where they were at rest, > 0
};

// Returns the plane on which loose parts come to rest; none from kNoFloor on.
Floor floor_of(const SculptParams& params);

// Hot metal: every point within `radius` of the segment burns. The boundary of the heat is located between the centres
// of voxels. Below 0.9 voxels a segment can pass between the centres.
struct HotSegment {
  glm::vec3 from{0.f}, to{0.f};  // m, world
  float radius = 0.004f;         // m, > 0
};

// The changes made by a call. The arrays keep their memory.
struct SculptChange {
  FaceChanges faces;
  std::uint32_t first_vertex = 0, new_vertices = 0;  // appended to TissueModel::embedding and Sculpture::rest
  std::vector<std::uint32_t> carried;                // older vertices with a new embedding: their cell was removed
  std::vector<std::uint32_t> cells;    // whose volume fraction changed, ascending; the model is already updated
  std::vector<float> volume_fraction;  // [cell of `cells`] new volume fraction
  std::vector<std::uint32_t> loose;    // cells that came loose and fall from now on, ascending
  std::uint32_t slit_walls = 0;        // of a slit: this many of the new faces, the last, are its walls
  std::uint32_t burnt_voxels = 0;      // may be 0 while the surface follows the heat within voxels
  bool nothing() const { return faces.removed.empty() && faces.new_faces == 0 && cells.empty(); }
};

// The tissue of one cell.
struct SculptCell {
  float whole = 0.f;              // 1 its volume fraction before any burning
  std::uint16_t at_first = 0;     // tissue voxels before any burning
  std::uint16_t left = 0;         // tissue voxels now
  std::uint32_t host = kNoVoxel;  // a cell without voxels at first is removed with this voxel of a neighbour
  bool dead = false;              // has no tissue
  bool loose = false;             // falls
};

// The attachment of a surface vertex.
struct SculptVertex {
  std::uint32_t anchor = kNoVoxel;  // of the skin: the tissue voxel it lies on
  float reach = 0.f;                // m, largest distance to its tissue voxel; without tissue that near it is removed
  std::uint32_t cell = 0;           // embedded in this cell
  bool wall = false;                // of the cavity wall, not of the skin
  bool removed = false;             // without faces
};

struct HeatBox {
  glm::vec3 low{INFINITY}, high{-INFINITY};  // m
};

// A hot segment, prepared for many points.
struct HeatAxis {
  glm::vec3 from, along;  // m
  float squared_length;   // m^2
  float radius;           // m
  HeatBox box;            // of the points whose heat matters

  float distance(const glm::vec3& p) const {
    const glm::vec3 gap = p - from;
    const float t = squared_length > 0.f ? std::clamp(glm::dot(gap, along) / squared_length, 0.f, 1.f) : 0.f;
    return glm::length(gap - t * along);
  }
  // Returns the depth of `p` under the surface of the heat, m.
  float depth(const glm::vec3& p) const { return radius - distance(p); }
};

// A cell near hot segments: its corners now, and these segments.
struct CellHeat {
  std::array<glm::vec3, 8> x{};  // m
  std::vector<HeatAxis> near;
};

// Scratch buffers, kept between calls. A call needs nothing from the previous one.
struct SculptScratch {
  std::vector<std::uint8_t> sides;  // [node] faces of the hot box beyond which it lies
  std::vector<HeatAxis> axes;       // the hot segments of this call
  CellHeat cell;
  std::vector<std::uint32_t> burnt;  // voxels burnt in this call
  std::vector<std::uint32_t> cold;   // those burnt voxels that had no heat
  std::vector<std::uint32_t> moved;  // tissue voxels at the wall whose heat increased, then also the burnt ones
  std::vector<char> changed;         // [cell] its volume fraction changes in this call
  bool cell_died = false;            // a cell lost its last tissue in this call
  std::vector<RimEdge> edges;
};

struct Sculpture {
  SculptParams params;
  Voxels voxels;
  std::vector<SculptCell> cells;             // [cell]
  std::vector<SculptVertex> vertices;        // [vertex]
  std::vector<glm::vec3> rest;               // [vertex] m
  LiveFaces faces;                           // the surface
  std::vector<RimEdge> rim;                  // the boundary of skin and wall
  std::vector<std::uint32_t> corner_vertex;  // [voxel corner] its vertex of the wall, kNoVoxel: none
  std::vector<float> shown;                  // [voxel] its heat when the surface around it was last updated
  CoagulationField coagulated;               // doses of coagulation
  std::vector<glm::uvec2> hosted;            // voxel, cell that is removed with it; ascending
  TissuePieces pieces;
  bool any_held = false;                   // the organ was attached to something
  std::vector<glm::uvec2> severed;         // nodes whose spring a slit cuts, lower first; ascending
  std::vector<glm::uvec2> carried_voxels;  // voxel of a divided cell, the whole cell that it follows; ascending
  std::vector<std::uint32_t> slit_sides;   // sides of the wall (LiveFaces::side) that a slit splits; ascending
  SculptChange change;                     // of the latest call
  SculptScratch scratch;
};

// Prepares an organ for burning. `organ`: the rest shape from which `model` was made; its vertices are those of
// model.embedding. Faces get the ids 0, 1, ... Vertices at one position are merged into the first of them, so the
// surface is refined and cut across seams.
// Throws InputError when a parameter is out of range.
Sculpture make_sculpture(const MeshView& organ, const TissueModel& model, const SculptParams& params = {});

// Burns the tissue within the radius of the segment while the organ is in `state`. Allocates only when tissue is
// removed. A segment that is not finite burns nothing. The result is part of `sculpture` and valid until the next call.
const SculptChange& burn(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const HotSegment& hot);

// Hot metal that acts on tissue for a time.
struct HotMetal {
  std::span<const HotSegment> metal;     // itself: the radius is that of the wire
  std::span<const HotSegment> cut = {};  // what it removes around itself; empty: it only coagulates
  CoagulationParams coagulation = {};
  float time = 0.f;  // s
};
// Cuts, and coagulates the remaining tissue around the metal (deform/cut/sculpt.hpp). Refines the skin where it is
// coagulated. The metal must touch the organ: if its cut contains no centre of a voxel, the nearest voxel burns.
// `box`: of the points whose dose has changed. The result as for burn().
const SculptChange& cauterise(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const HotMetal& hot,
                              CoagulationBox& box);
// Returns the dose at a point of the rest shape: trilinear between voxels in cells of the lattice.
float dose_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p);

// Returns the look of tissue at a point of the rest shape: 0 intact .. 0.5 pale (dose 1) .. 1 charred (char_dose).
float look_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p);

// Lists the cells with tissue that are stretched to `tears_at` times their length or more (the mean of the edges along
// an axis, or a diagonal), or crushed along an axis to 1/tears_at^2, at which tissue that keeps its volume would be so
// stretched to both sides, or to a tenth of their volume. `nodes`: m. [cell], ascending
void overstretched_cells(const Lattice& lattice, std::span<const glm::vec3> nodes, float tears_at,
                         std::vector<std::uint32_t>& cells);

// Removes all tissue of these lattice cells, for example when it is torn out.
const SculptChange& remove_cells(Sculpture& sculpture, TissueModel& model, std::span<const std::uint32_t> cells);

inline std::span<const glm::uvec3> faces(const Sculpture& sculpture) { return sculpture.faces.corners; }  // [slot]
inline std::span<const FaceId> face_ids(const Sculpture& sculpture) { return sculpture.faces.id; }        // [slot]

// Returns whether the metal contains the centre of a tissue voxel: it is inside the tissue, perhaps far from any face.
// Uses the sculpture's scratch buffers.
bool in_tissue(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
               std::span<const HotSegment> metal);

}  // namespace trocar
