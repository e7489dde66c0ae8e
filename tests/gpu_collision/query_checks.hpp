// Checks that every GPU backend must pass. Its answer must equal the reference's on organs and tools of every kind, on
// difficult faces (points, lines, thin, tiny, huge and duplicate ones), with several tools, and after updates and
// rebuilds; a frame must not allocate. Units: metres.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu_collision/reference.hpp"
#include "geometry/touch.hpp"
#include "gpu_collision/gl_context.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::checks {

constexpr std::uint32_t kSeed = 1999;

// Returns the volumes of random steps near a mesh of the size of shapes::icosphere: static, paper and capsule in turn;
// only capsule covers for the exact set.
std::vector<ToolVolume> random_tools(std::uint32_t seed, int count, TouchSet set);

// Returns points, lines, slivers, duplicates, faces smaller than a float step, and faces larger than any volume, in and
// around the volume of `tool`, many of them exactly on its planes.
TriangleMesh hostile_faces(std::uint32_t seed, const ToolVolume& tool);

// Checks the sizes of the answer, its order, and no disagreement with the reference, tool by tool. Returns the number
// of touched faces.
std::size_t expect_agreement(TouchQuery& query, const MeshView& mesh, std::span<const ToolVolume> tools, TouchSet set,
                             const std::string& what);

// These are the checks; each gives `query` its own mesh.
void check_random_tools(TouchQuery& query, TouchSet set, int tools);
void check_hostile_faces(TouchQuery& query, TouchSet set, int tools);
// Volumes at every case switch, and volumes of a few micrometres.
void check_switches_of_case(TouchQuery& query);
void check_tiny_volumes(TouchQuery& query);
void check_several_tools(TouchQuery& query);
void check_nothing_to_do(TouchQuery& query);
void check_single_faces(TouchQuery& query);
void check_everything_inside(TouchQuery& query);
void check_new_positions(TouchQuery& query);
void check_new_topology(TouchQuery& query);
void check_repeatable(TouchQuery& query);
void check_no_allocation(TouchQuery& query);
void check_times(TouchQuery& query);
// Makes the query in a context that a renderer has left in an unusual state (guest_state.hpp). The query must answer
// correctly and leave that state unchanged.
void check_good_guest(const std::function<std::unique_ptr<TouchQuery>()>& make, const GlInfo& info);

}  // namespace trocar::checks
