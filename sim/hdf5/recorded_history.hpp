// What a recording holds as a history: changes that take effect in a frame and last. Surfaces, connective tissue, clips
// with the state of ducts and vessels, and bleeding. Each list of frames is ascending and holds the first frame in
// which a row takes effect.   Units: metres, m^3, m^3/s, seconds.   Layout: docs/file-formats.md. Tested in
// tests/sim/recording/damaged_recording_test.cpp and tests/sim/recorded_*_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "deform/fluid/bleeding.hpp"
#include "deform/join/clip.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/mesh_view.hpp"
#include "sim/hdf5/complete_rows.hpp"

namespace trocar {

// Keeps the history of an organ's surface in a session: all faces and vertices, and the frames in which they exist.
// Faces keep their ids, vertices are only added, and some vertices get a new embedding. Units: metres.

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

// Reads the columns of an organ's surface, without the changes after the first `frames` frames.
SurfaceHistory read_surface(const OpenColumns& columns, std::uint64_t frames);

// Checks that the history is consistent on a lattice of `nodes` nodes. Returns the first fault, or an empty text.
std::string fault_of(const SurfaceHistory& history, std::size_t nodes);

// Holds the connective tissue of a recording: where the ends of its fibres are embedded, and in which frame each fibre
// broke. The ends follow from the nodes of the organs.
// Units: metres.

struct FibreHistory {
  std::vector<RecordedFibre> fibres;
  std::vector<std::uint32_t> broken;        // fibres that broke or were cut, each once
  std::vector<FibreBreak> broken_how;       // [broken]
  std::vector<std::uint32_t> broken_frame;  // [broken] the first frame without it, ascending; 0: before the first
};

// Return the fibres that are broken at the touch query of a frame, and those that broke or were cut in a frame.
std::span<const std::uint32_t> broken_before(const FibreHistory& history, std::size_t frame);
std::span<const std::uint32_t> broken_in(const FibreHistory& history, std::size_t frame);
// Returns how they broke, [broken_in].
std::span<const FibreBreak> how_broken_in(const FibreHistory& history, std::size_t frame);

// Reads the columns of connective tissue without the fibres that broke after the first `frames` frames.
// `nodes`: [organ] number of nodes of its lattice. Throws InputError when they are damaged, or exceed kMostFibres.
// `file`: for messages.
FibreHistory read_fibres(const OpenColumns& columns, std::uint64_t frames, const std::vector<std::size_t>& nodes,
                         const std::string& file);

// Checks that the history is consistent. Returns the first fault, or an empty text.
std::string fault_of(const FibreHistory& history, const std::vector<std::size_t>& nodes);

// Holds the clips of a recording and the state of its ducts and vessels: when each clip closed and came off, and when
// each state changed.
// Units: metres.

struct ClipHistory {
  std::vector<PlacedClip> clips;  // in the order of closing
  std::vector<std::uint32_t> clip_frame, lost, lost_frame;
  std::vector<RecordedTube> tubes;
  std::vector<std::uint32_t> tube_frame;
};

// The clips and the ducts and vessels in one frame.
struct ClipsNow {
  std::vector<PlacedClip> clips;  // in the order of closing; those that came off have no struts
  std::vector<TubeState> tubes;   // [organ]
};

// Overwrites `now` with the state before the touch query of a frame. `organs`: their number.
void clips_before(const ClipHistory& history, std::size_t frame, std::size_t organs, ClipsNow& now);

// Reads the columns of clips without what happened after the first `frames` frames. `surfaces`: of the
// organs. Throws InputError when they are damaged. `file`: for messages.
ClipHistory read_clips(const OpenColumns& columns, std::uint64_t frames,
                       std::span<const SurfaceHistory* const> surfaces, const std::string& file);

// Checks that the history is consistent. Returns the first fault, or an empty text.
std::string fault_of(const ClipHistory& history, std::span<const SurfaceHistory* const> surfaces);

// Holds the bleeding of a recording: what each organ had lost at the end of each frame, when each source opened, and
// when its state changed.
// Units: m^3, m^3/s, seconds.

struct BleedingHistory {
  std::vector<FluidLoss> lost;       // [frame][organ] at the end of the frame
  std::vector<FluidAmounts> fluids;  // [frame] at the end of the frame
  std::vector<BleedSource> sources;  // in the order of opening, as they opened
  std::vector<std::uint32_t> source_frame;
  std::vector<RecordedBleedChange> changes;
  std::vector<std::uint32_t> change_frame;
};

// Overwrites `now` with the sources before the touch query of a frame: state and vertex are those of this moment, the
// rate is that at first.
void sources_before(const BleedingHistory& history, std::size_t frame, std::vector<BleedSource>& now);

// Reads the columns of bleeding without what happened after the first `frames` frames. `surfaces`: of the
// organs. Throws InputError when they are damaged. `file`: for messages.
BleedingHistory read_bleeding(const OpenColumns& columns, std::uint64_t frames,
                              std::span<const SurfaceHistory* const> surfaces, const std::string& file);

// Checks that the history is consistent. Returns the first fault, or an empty text.
std::string fault_of(const BleedingHistory& history, std::span<const SurfaceHistory* const> surfaces);

}  // namespace trocar
