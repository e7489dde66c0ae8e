// Holds the clips of a recording and the state of its ducts and vessels: when each clip closed and came off, and when
// each state changed.
// Units: metres.   Layout: docs/file-formats.md.   Tested in tests/sim/recorded_tissue_test.cpp
#pragma once

#include <span>
#include <string>
#include <vector>

#include "deform/clip.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/hdf5/surface_history.hpp"

namespace trocar {

// Each list of frames is ascending and holds the first frame in which the row takes effect.
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

// Reads the tables of clips, [ClipTable], without what happened after the first `frames` frames. `surfaces`: of the
// organs. Throws InputError when they are damaged. `file`: for messages.
ClipHistory read_clips(const std::vector<H5Table>& tables, std::uint64_t frames,
                       std::span<const SurfaceHistory* const> surfaces, const std::string& file);

// Checks that the history is consistent. Returns the first fault, or an empty text.
std::string fault_of(const ClipHistory& history, std::span<const SurfaceHistory* const> surfaces);

}  // namespace trocar
