// Holds the connective tissue of a recording: where the ends of its fibres are embedded, and in which frame each fibre
// broke. The ends follow from the nodes of the organs.
// Units: metres.   Layout: docs/file-formats.md.   Tested in tests/sim/recorded_tissue_test.cpp
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/hdf5/recording_layout.hpp"

namespace trocar {

struct FibreHistory {
  std::vector<RecordedFibre> fibres;        // before format 2.6 their groups are 0
  std::vector<std::uint32_t> broken;        // fibres that broke or were cut, each once
  std::vector<FibreBreak> broken_how;       // [broken]; before format 2.6: empty
  std::vector<std::uint32_t> broken_frame;  // [broken] the first frame without it, ascending; 0: before the first
};

// Return the fibres that are broken at the touch query of a frame, and those that broke or were cut in a frame.
std::span<const std::uint32_t> broken_before(const FibreHistory& history, std::size_t frame);
std::span<const std::uint32_t> broken_in(const FibreHistory& history, std::size_t frame);
// Returns how they broke, [broken_in]; empty before format 2.6.
std::span<const FibreBreak> how_broken_in(const FibreHistory& history, std::size_t frame);

// Reads the tables of connective tissue, [FibreTable], without the fibres that broke after the first `frames` frames.
// `nodes`: [organ] number of nodes of its lattice. Throws InputError when they are damaged, or exceed kMostFibres.
// `file`: for messages.
FibreHistory read_fibres(const std::vector<H5Table>& tables, std::uint64_t frames,
                         const std::vector<std::size_t>& nodes, const std::string& file);

// Checks that the history is consistent. Returns the first fault, or an empty text.
std::string fault_of(const FibreHistory& history, const std::vector<std::size_t>& nodes);

}  // namespace trocar
