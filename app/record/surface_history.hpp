// What a session did to an organ's surface: every face and vertex there ever was, and in which frames. Faces have their
// number for life, vertices are only added, some are embedded anew. Units: metres.
// Tested in tests/app/surface_history_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <string>
#include <vector>

#include "deform/tissue.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// Every list of frames is ascending: the first frame in which its row counts.
struct SurfaceHistory {
  std::vector<glm::uvec3> faces;             // [id] vertices
  std::vector<std::uint32_t> face_born;      // [id]
  std::vector<glm::vec3> rest;               // [vertex] m
  std::vector<Embedding> embedding;          // [vertex] as it was when the vertex came
  std::vector<std::uint32_t> vertex_born;    // [vertex]
  std::vector<FaceId> gone;                  // [row] faces that tools are no longer asked about
  std::vector<std::uint32_t> gone_frame;     // [row]
  std::vector<std::uint32_t> carried;        // [row] vertices that are embedded anew
  std::vector<Embedding> carried_embedding;  // [row]
  std::vector<std::uint32_t> carried_frame;  // [row]
};

// The surface as of one frame.
struct OrganSurface {
  std::vector<glm::uvec3> faces;  // [slot] vertices
  std::vector<FaceId> ids;        // [slot] ascending
  std::vector<glm::vec3> rest;    // [vertex] m
  TissueModel tissue;             // of a model only the embedding, [vertex]
  std::uint64_t frames = 0;       // what happened before this frame is in; 0: nothing yet

  MeshView at_rest() const { return {rest, faces}; }
};

// Brings `surface` to a frame: forward by what happened since, backward from the start. True when faces or the number
// of vertices are not what they were: a query about them must be rebuilt.
bool go_to_frame(const SurfaceHistory& history, std::uint64_t frame, OrganSurface& surface);

// What makes no surface of this history over a lattice of `nodes`; empty when nothing does.
std::string fault_of(const SurfaceHistory& history, std::size_t nodes);

}  // namespace trocar
