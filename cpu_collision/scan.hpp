// Defines `scan`, the touch query without OpenGL and without a tree. For each tool volume:
//   1. each vertex gets a code with a bit for every plane it is outside of;
//   2. a face survives when the AND of its three codes is 0;
// 3. a surviving face with a corner of code 0 is touched; any other is clipped exactly against the volume.
// scan_volume() does exactly this. The query gives the same answer faster: it does steps 1 and 2 in float with widened
// planes, only in patches of the organ that no plane excludes, and step 3 in double on the few surviving faces.
// Lombardo, Cani, Neyret 1999 do this with the graphics card's clipping; the codes are Cohen and Sutherland's. Units:
// metres. Tested in tests/cpu_collision/scan_test.cpp
#pragma once

#include <memory>
#include <vector>

#include "cpu_collision/scan_kernels.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// Applies the definition, in double, to every face: the slow baseline of the query. The answer is sorted. Allocates.
std::vector<FaceId> scan_volume(const MeshView& mesh, const ToolVolume& tool);

// Does the same as make_scan_query() with given inner loops.
std::unique_ptr<TouchQuery> make_scan_query(const ScanKernels& kernels);

}  // namespace trocar
