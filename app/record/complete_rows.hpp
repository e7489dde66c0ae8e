// Which rows of a recording belong to whole frames: all of them after a clean end, some of them after a kill.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "app/record/recording_layout.hpp"

namespace trocar {

using OrganTables = std::vector<H5Table>;  // [OrganTable]

struct RowCounts {
  std::array<std::uint64_t, static_cast<std::size_t>(RowOf::kCount)> of{};
  std::uint64_t& operator[](RowOf rows) { return of[static_cast<std::size_t>(rows)]; }
  std::uint64_t operator[](RowOf rows) const { return of[static_cast<std::size_t>(rows)]; }
};

// Opens the tables of these kinds. A row shape of 0 may be any. Error: InputError when one is not as it should be.
std::vector<H5Table> open_tables(const H5File& file, const std::vector<GrowingTable>& kinds);

// Touches that are there in every table.
std::uint64_t touch_rows(const OrganTables& organ);

// Frames that are there in every table, with their touches and with what had happened to the surfaces.
std::uint64_t complete_frames(const std::vector<H5Table>& session, const std::vector<OrganTables>& organs);

// The first of these frames that have all the faces that tips touch in them.
std::uint64_t frames_with_tips(const std::vector<H5Table>& tips, std::uint64_t frames);

// Where each tool's rows begin, a table of tools + 1 columns: ascending in every frame, and never past `rows`.
bool starts_fit(const H5Table& starts, std::uint64_t frames, std::uint64_t rows);

// Rows written with the first `frames` frames, > 0.
RowCounts rows_of(const OrganTables& organ, std::uint64_t frames);

}  // namespace trocar
