// An organ of any number of faces that needs no file: an ellipsoid of a liver's size that wobbles, so that every update
// changes all positions, with 5 mm instruments that sweep through it. Units: metres.
// Tested in tests/bench/gpu_kit_test.cpp
#pragma once

#include <cstddef>
#include <vector>

#include "geometry/tool_volume.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::bench {

// Makes an ellipsoid of rings of vertices from pole to pole, with about this number of faces (at least 2,000).
TriangleMesh make_ellipsoid(std::size_t faces);

struct WobbleFrame {
  std::vector<glm::vec3> positions;  // [vertex]
  std::vector<ToolVolume> tools;     // [tool]
};

// Makes a cycle of 16 frames of the wobbling mesh. Every instrument touches the organ in every frame.
std::vector<WobbleFrame> make_wobble_frames(const TriangleMesh& mesh, int tools);

}  // namespace trocar::bench
