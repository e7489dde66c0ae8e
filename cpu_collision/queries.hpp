// Makes the touch queries that run on the CPU: `scan` (outcodes over all vertices, no tree) and the trees of
// bounding volumes (`obb` and `obb-refit`, oriented boxes rebuilt or refitted each frame, are the validation path).
// The reference, brute force in double, is in reference.hpp.   Tested in tests/cpu_collision/scan_test.cpp
#pragma once

#include <memory>

#include "cpu_collision/trees/surface_tree.hpp"

namespace trocar {

std::unique_ptr<TouchQuery> make_scan_query();  // with best_scan_kernels()

}  // namespace trocar
