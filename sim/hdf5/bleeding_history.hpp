// Holds the bleeding of a recording: what each organ had lost at the end of each frame, when each source opened, and
// when its state changed.
// Units: m^3, m^3/s, seconds.   Layout: docs/file-formats.md.   Tested in tests/sim/recorded_tissue_test.cpp
#pragma once

#include <span>
#include <string>
#include <vector>

#include "deform/bleeding.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/hdf5/surface_history.hpp"

namespace trocar {

// Each list of frames is ascending and holds the first frame in which the row takes effect.
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

// Reads the tables of bleeding, [BleedTable], without what happened after the first `frames` frames. `surfaces`: of the
// organs. Throws InputError when they are damaged. `file`: for messages.
BleedingHistory read_bleeding(const std::vector<H5Table>& tables, std::uint64_t frames,
                              std::span<const SurfaceHistory* const> surfaces, const std::string& file);

// Checks that the history is consistent. Returns the first fault, or an empty text.
std::string fault_of(const BleedingHistory& history, std::span<const SurfaceHistory* const> surfaces);

}  // namespace trocar
