// A recording as a time series that ParaView opens: DIR/recording.pvd names, for each frame, a polydata file of every
// organ and one of the tools.
// Organs: points as they were when the tools were asked about; for each face `face_id`, `touched_by` and
// `touched_by_tip` (1 for the first tool, 2 for the second, 4 ..., summed), `pressure_pa` and `depth_mm` (the largest
// of all tools). Tools: a line from trocar to tip each, with `tool`, `energy`, `grip`, `roll_deg`, `force_n`; at its
// ends the vector `force` of the tissue on it, which is zero at the trocar. Units: millimetres, newtons, pascals,
// seconds.   Tested in tests/app/pvd_test.cpp
#pragma once

#include <filesystem>
#include <functional>

namespace trocar {

class Recording;

struct PvdSummary {
  std::size_t frames = 0, files = 0;
};

// Every `every`-th frame, from the first, >= 1. `progress` is told how many frames of the recording are behind.
// Errors: InputError when the folder cannot be written, RunError when the disk did not take everything; recording.pvd
// comes last, so that it never names a file that is not there.
PvdSummary export_pvd(const Recording& recording, const std::filesystem::path& folder, std::size_t every,
                      const std::function<void(std::size_t)>& progress);

}  // namespace trocar
