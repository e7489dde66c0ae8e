// The part of a report's summary that must look at every touch of a recording: how many faces each tool touched in each
// frame, and for how long and how hard each face was touched.   Units: metres, seconds, pascals.
// Tested in tests/app/report_test.cpp
#pragma once

#include "app/report/session_summary.hpp"

namespace trocar {

struct TouchedFaces {
  std::vector<std::vector<std::uint32_t>> of_tool;  // [tool][frame] faces, of all organs
  std::vector<OrganSummary> organs;                 // without shapes and contacts unless asked for
};

TouchedFaces summarise_touches(const Recording& recording, bool surfaces,
                               const std::function<void(std::size_t)>& progress);

}  // namespace trocar
