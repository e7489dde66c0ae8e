// Computes the part of a report's summary that needs every touch of a recording: the number of faces that each tool
// touches in each frame, and the duration and the highest pressure of the contact of each face.   Units: metres,
// seconds, pascals.
// Tested in tests/app/report_test.cpp
#pragma once

#include "app/report/session_summary.hpp"

namespace trocar {

struct TouchedFaces {
  std::vector<std::vector<std::uint32_t>> of_tool;  // [tool][frame] faces, of all organs
  std::vector<OrganSummary> organs;                 // with shapes and contacts only if `surfaces`
};

TouchedFaces summarise_touches(const Recording& recording, bool surfaces,
                               const std::function<void(std::size_t)>& progress);

}  // namespace trocar
