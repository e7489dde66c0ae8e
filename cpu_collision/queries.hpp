// The touch query on the CPU: `scan` (outcodes over all vertices, no tree), `obb` and `obb-refit`
// (oriented-bounding-box tree, rebuilt or refitted each frame: the validation path), `reference` (brute force in
// double: the judge).
#pragma once

#include <memory>

#include "geometry/touch_query.hpp"

namespace trocar {

enum class TreeUpdate { Rebuild, Refit };

std::unique_ptr<TouchQuery> make_scan_query();
std::unique_ptr<TouchQuery> make_obb_query(TreeUpdate update);

}  // namespace trocar
