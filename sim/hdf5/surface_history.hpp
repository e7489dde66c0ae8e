// Keeps the history of an organ's surface in a session: all faces and vertices, and the frames in which they exist.
// Faces keep their ids, vertices are only added, and some vertices get a new embedding. Units: metres.
// Tested in tests/sim/surface_history_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <string>
#include <vector>

#include "deform/solid/tissue.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// Each list of frames is ascending and holds the first frame in which the row takes effect.
struct SurfaceHistory {
  std::vector<glm::uvec3> faces;             // [id] vertices
  std::vector<std::uint32_t> face_born;      // [id]
  std::vector<glm::vec3> rest;               // [vertex] m
  std::vector<Embedding> embedding;          // [vertex] when the vertex was added
  std::vector<std::uint32_t> vertex_born;    // [vertex]
  std::vector<FaceId> removed;               // [row] removed faces, not part of queries any more
  std::vector<std::uint32_t> removed_frame;  // [row]
  std::vector<std::uint32_t> carried;        // [row] vertices that get a new embedding
  std::vector<Embedding> carried_embedding;  // [row]
  std::vector<std::uint32_t> carried_frame;  // [row]
};

// The surface in one frame.
struct OrganSurface {
  std::vector<glm::uvec3> faces;  // [slot] vertices
  std::vector<FaceId> ids;        // [slot] ascending
  std::vector<glm::vec3> rest;    // [vertex] m
  TissueModel tissue;             // only its embedding is used, [vertex]
  std::uint64_t frames = 0;       // number of frames whose changes have been applied; 0: none yet

  MeshView at_rest() const { return {rest, faces}; }
};

// Moves `surface` to a frame: forward by applying the changes since its frame, backward by starting again from frame 0.
// Returns true when the faces or the number of vertices have changed; queries must then be rebuilt.
bool go_to_frame(const SurfaceHistory& history, std::uint64_t frame, OrganSurface& surface);

// Checks that the history is consistent on a lattice of `nodes` nodes. Returns the first fault, or an empty text.
std::string fault_of(const SurfaceHistory& history, std::size_t nodes);

}  // namespace trocar
