// Exports a recording as a time series for ParaView: DIR/recording.pvd lists, for each frame, one polydata file per
// organ, one for the tools, and one for the connective tissue of a session that has some.
// Organs: the points as they were at the touch query; for each face `face_id`, `touched_by` and `touched_by_tip` (sum
// of 1 for the first tool, 2 for the second, 4 for the third, ...), `pressure_pa` and `depth_mm` (the largest of all
// tools).
// Tools: one line each from trocar to tip, with `tool`, `energy`, `grip`, `roll_deg`, `force_n`; at its tip the vector
// `force`, the force of the tissue on the tool, and zero at the trocar.
// Fibres: one line each, while it is intact, with its number `fibre` and its `strain`.
// Units: millimetres, newtons, pascals, seconds.   Tested in tests/app/report_test.cpp
#pragma once

#include <filesystem>
#include <functional>

namespace trocar {

class Recording;

struct PvdSummary {
  std::size_t frames = 0, files = 0;
};

// Exports every `every`-th frame (>= 1), starting with the first. Calls `progress` with the number of frames processed.
// Throws InputError when the folder cannot be written, RunError when a write fails. recording.pvd is committed last,
// so it never lists a missing file.
PvdSummary export_pvd(const Recording& recording, const std::filesystem::path& folder, std::size_t every,
                      const std::function<void(std::size_t)>& progress);

}  // namespace trocar
