// Virtual sculpture: an energised hook burns away the tissue it touches. Voxels of the rest shape go (voxels.hpp); the
// skin over them is cut along the border of the heat (skin.hpp), the opened tissue gets a wall (cavity_wall.hpp),
// strips join the two (loft.hpp), the lattice's cells lose what their voxels lost, and pieces that nothing holds any
// more fall (loose_parts.hpp). Source: Lombardo, Cani, Neyret, "Real-time collision detection for virtual surgery",
// 1999, who name the application; the method here is ours. The surface is closed after every call: skin and wall are
// sets of oriented triangles, so what they leave open comes apart into loops, and every loop is closed. Several walls
// may meet at one edge; none has a hole. Same calls, same bits. Units: metres, seconds.   Tested in
// tests/deform/sculpt_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/boundary_loops.hpp"
#include "deform/live_faces.hpp"
#include "deform/tissue.hpp"
#include "deform/voxels.hpp"

namespace trocar {

struct SculptParams {
  int voxels_per_cell = 3;           // 1      voxels along a lattice cell, 1..8
  int smallest_piece = 20;           // voxels pieces of fewer burn away with what divided them, >= 0
  glm::vec3 fall{0.f, 0.f, -9.81f};  // m/s^2  gravity of loose parts; the patient lies on the back
};

// The hot end of an instrument: every point within `radius` of the segment. To open a way for the tool it belongs to,
// it must reach some 2 mm beyond the tool's own radius; below 0.9 voxels it can pass between the centres of voxels.
struct HotSegment {
  glm::vec3 from{0.f}, to{0.f};  // m, world
  float radius = 0.004f;         // m, > 0
};

// What a call changed. The arrays keep their memory.
struct SculptChange {
  FaceChanges faces;
  std::uint32_t first_vertex = 0, new_vertices = 0;  // appended to TissueModel::embedding and Sculpture::rest
  std::vector<std::uint32_t> carried;                // older vertices whose embedding changed: their cell has gone
  std::vector<std::uint32_t> cells;                  // whose fullness changed, ascending; the model follows already
  std::vector<float> fullness;                       // [cell of `cells`] what it is now
  std::vector<std::uint32_t> loose;                  // cells that came loose and fall from now on, ascending
  std::uint32_t burnt_voxels = 0;                    // may be 0 while the surface follows the heat within voxels
  bool nothing() const { return faces.gone.empty() && faces.new_faces == 0 && cells.empty(); }
};

// How a cell holds tissue.
struct SculptCell {
  float whole = 0.f;              // 1 its fullness before anything was burnt
  std::uint16_t at_first = 0;     // tissue voxels then
  std::uint16_t left = 0;         // tissue voxels now
  std::uint32_t host = kNoVoxel;  // a cell that never had any goes when this voxel of a neighbour does
  bool dead = false;              // has no tissue left
  bool loose = false;             // falls
  bool held = false;              // one of its nodes is fixed or tethered
};

// Where a vertex belongs.
struct SculptVertex {
  std::uint32_t anchor = kNoVoxel;  // of the skin: the tissue voxel it lies on
  float reach = 0.f;                // m, farthest voxel it can lie on: without tissue so near it goes
  std::uint32_t cell = 0;           // embedded in this cell
  bool wall = false;                // of the cavity wall, not of the skin
  bool gone = false;                // of no face any more
};

// Room to work in, kept between calls. Holds nothing a call needs from the one before.
struct SculptScratch {
  std::vector<std::uint8_t> sides;   // [node] faces of the hot box it lies outside of
  std::vector<std::uint32_t> burnt;  // voxels burnt in this call
  std::vector<std::uint32_t> cold;   // those of them that no heat had reached
  std::vector<std::uint32_t> moved;  // voxels of tissue at the wall that got hotter, then the burnt ones too
  std::vector<char> changed;         // [cell] its fullness changes in this call
  bool cell_died = false;            // in this call
  std::vector<RimEdge> edges;
};

struct Sculpture {
  SculptParams params;
  Voxels voxels;
  std::vector<SculptCell> cells;             // [cell]
  std::vector<SculptVertex> vertices;        // [vertex]
  std::vector<glm::vec3> rest;               // [vertex] m
  LiveFaces faces;                           // the surface
  std::vector<RimEdge> rim;                  // where skin and wall end
  std::vector<std::uint32_t> corner_vertex;  // [voxel corner] its vertex of the wall, kNoVoxel: none
  std::vector<float> shown;                  // [voxel] its heat when the surface around it was last made
  std::vector<glm::uvec2> hosted;            // voxel, cell that goes with it; ascending
  std::vector<std::int32_t> first_piece;     // [voxel] which piece of tissue it was at first, -1: none
  bool any_held = false;                     // the organ was attached to something
  SculptChange change;                       // of the latest call
  SculptScratch scratch;
};

// `organ`: the rest shape `model` was made of; its vertices are model.embedding's. Faces get the ids 0, 1, ... and name
// of the vertices at one position the first: across a seam the surface is one, and is refined and cut as one. Error:
// InputError when a parameter is out of range.
Sculpture make_sculpture(const MeshView& organ, const TissueModel& model, const SculptParams& params = {});

// Burns the tissue that `hot` touches while the organ is in `state`. Allocates only when something goes. Input that is
// not finite burns nothing. The result lives in `sculpture` until the next call.
const SculptChange& burn(Sculpture& sculpture, TissueModel& model, const TissueState& state, const HotSegment& hot);
// Takes away all tissue of these lattice cells, as when it is torn out.
const SculptChange& remove_cells(Sculpture& sculpture, TissueModel& model, std::span<const std::uint32_t> cells);

inline std::span<const glm::uvec3> faces(const Sculpture& sculpture) { return sculpture.faces.corners; }  // [slot]
inline std::span<const FaceId> face_ids(const Sculpture& sculpture) { return sculpture.faces.id; }        // [slot]
// The slot of a living face; the number of faces when it is gone.
std::size_t slot_of(const Sculpture& sculpture, FaceId face);

}  // namespace trocar
