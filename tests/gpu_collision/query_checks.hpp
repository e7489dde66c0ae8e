// What every GPU backend is asked, in one place: the same answer as the reference on organs and tools of every kind, on
// hostile faces, with several tools, after updates and rebuilds, without allocating. Units: metres.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu_collision/reference.hpp"
#include "geometry/touch_query.hpp"
#include "gpu_collision/gl_context.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::checks {

constexpr std::uint32_t kSeed = 1999;

// Volumes of random steps near a mesh of the size of shapes::icosphere: static, paper and capsule in turn; only capsule
// covers for the exact set.
std::vector<ToolVolume> random_tools(std::uint32_t seed, int count, TouchSet set);

// Points, lines, slivers, duplicates, faces smaller than a float step, faces larger than any volume: in and around the
// volume of `tool`, many of them on its very planes.
TriangleMesh hostile_faces(std::uint32_t seed, const ToolVolume& tool);

// Sizes of the answer, order, and no disagreement with the reference, tool by tool. Returns the faces touched.
std::size_t expect_agreement(TouchQuery& query, const MeshView& mesh, std::span<const ToolVolume> tools, TouchSet set,
                             const std::string& what);

// The checks proper; each brings `query` its own mesh.
void check_random_tools(TouchQuery& query, TouchSet set, int tools);
void check_hostile_faces(TouchQuery& query, TouchSet set, int tools);
// At every switch of case of the volumes, and volumes of a few micrometres.
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
// In the context of a renderer whose state is hostile: made there, right answers, and the state left as it was.
void check_good_guest(const std::function<std::unique_ptr<TouchQuery>()>& make, const GlInfo& info);

}  // namespace trocar::checks
