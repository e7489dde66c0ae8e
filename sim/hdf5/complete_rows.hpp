// Finds the rows of a recording that belong to complete frames: all rows after a clean end, some of them after a kill.
// Tested in tests/sim/recorder_test.cpp and tests/sim/recording_faults_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/hdf5/recorded_history.hpp"
#include "sim/hdf5/recording_layout.hpp"

namespace trocar {

using OrganTables = std::vector<H5Table>;  // [OrganTable], of the recording's form

struct RowCounts {
  std::array<std::uint64_t, static_cast<std::size_t>(RowOf::kCount)> of{};
  std::uint64_t& operator[](RowOf rows) { return of[static_cast<std::size_t>(rows)]; }
  std::uint64_t operator[](RowOf rows) const { return of[static_cast<std::size_t>(rows)]; }
};

// Opens these tables. A 0 in a row shape accepts any size. Throws InputError when a table is missing or has another
// shape.
std::vector<H5Table> open_tables(const H5File& file, const std::vector<GrowingTable>& kinds);

// Returns the number of rows that have taken effect in this frame. frames: ascending, the first frame of each row.
std::size_t rows_until(const std::vector<std::uint32_t>& frames, std::size_t frame);

// Returns the number of touches that every touch table contains.
std::uint64_t touch_rows(const OrganTables& organ);

// Returns the number of frames that every table contains, with their touches and their surface changes.
std::uint64_t complete_frames(const std::vector<H5Table>& session, const std::vector<OrganTables>& organs,
                              RecordingForm form);

// Returns how many of the first `frames` frames have all their tip touches.
std::uint64_t frames_with_tips(const std::vector<H5Table>& tips, std::uint64_t frames);
// Returns the number of frames, at most `frames`, with the part of every touch; `frames` for older recordings.
std::uint64_t frames_with_parts(const OrganTables& organ, const std::vector<H5Table>& later, std::uint64_t frames);

// Returns the number of frames, at most `frames`, before the first one that needs a missing row of broken fibres.
std::uint64_t frames_with_broken(const std::vector<H5Table>& fibres, std::uint64_t frames);

// Returns the number of frames, at most `frames`, before the first one that needs a missing row about clips.
std::uint64_t frames_with_clips(const std::vector<H5Table>& clips, std::uint64_t frames);

// Returns the number of frames, at most `frames`, before the first one that needs a missing row about bleeding.
std::uint64_t frames_with_bleeding(const std::vector<H5Table>& bleeding, std::uint64_t frames);

// Checks `starts`, the table of tools + 1 columns with the first row of each tool. Returns true when the numbers ascend
// within every frame and do not exceed `rows`.
bool starts_fit(const H5Table& starts, std::uint64_t frames, std::uint64_t rows);

// Returns the numbers of rows written with the first `frames` (> 0) frames.
RowCounts rows_of(const OrganTables& organ, std::uint64_t frames);
// Returns the number of broken fibres written with the first `frames` frames.
std::uint64_t broken_rows(const std::vector<H5Table>& fibres, std::uint64_t frames);
// Returns the numbers of rows about clips written with the first `frames` frames.
struct ClipRows {
  std::uint64_t clips = 0, lost = 0, tubes = 0;
};
ClipRows clip_rows(const std::vector<H5Table>& tables, std::uint64_t frames);
// Returns the numbers of rows about sources of bleeding written with the first `frames` frames.
struct BleedRows {
  std::uint64_t sources = 0, changes = 0;
};
BleedRows bleed_rows(const std::vector<H5Table>& tables, std::uint64_t frames);

// Reads the history of an organ's surface from the tables of a recording.

// `tables`: [OrganTable]. `rows`: of the complete frames.
SurfaceHistory read_surface(const std::vector<H5Table>& tables, const RowCounts& rows);

}  // namespace trocar
