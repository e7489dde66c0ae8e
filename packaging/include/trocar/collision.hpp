// The touch query on the CPU: which faces of a mesh does a tool touch? Volumes of tools, triangle meshes and their
// files, the backends `scan`, `aabb` and `obb`, the double-precision reference. Target Trocar::collision.
// Guide: docs/library.md.   Units: metres.
#pragma once

#include "cpu_collision/queries.hpp"
#include "cpu_collision/reference.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "geometry/error.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/triangle_mesh.hpp"
