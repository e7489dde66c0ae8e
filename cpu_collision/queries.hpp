// Makes the touch queries that run on the CPU: `scan` (outcodes over all vertices, no tree), the trees of bounding
// volumes (`obb` and `obb-refit`, oriented boxes rebuilt or refitted each frame, are the validation path) and `bsp`.
// The reference, brute force in double, is in reference.hpp.
#pragma once

#include <memory>

#include "cpu_collision/trees/surface_tree.hpp"

namespace trocar {

std::unique_ptr<TouchQuery> make_scan_query();
// Binary space partition (bsp/bsp_query.cpp), rebuilt by every update(): 55 ms for a liver of 31,000 faces on a
// Xeon.
std::unique_ptr<TouchQuery> make_bsp_query();
inline std::unique_ptr<TouchQuery> make_obb_query(TreeUpdate update) {
  return make_surface_tree({.volume = VolumeKind::Obb, .update = update});
}

}  // namespace trocar
