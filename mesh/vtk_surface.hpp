// Converts a triangle surface to VTK's polygons, and back. Lengths keep the caller's unit.
// Tested through its users: tests/mesh/mesh_io_test.cpp, organ_maker_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

class vtkPolyData;

namespace trocar {

// Copies points, [vertex], and faces, [face], in place of those of `data`.
void copy_to_vtk(std::span<const glm::dvec3> points, std::span<const glm::uvec3> faces, vtkPolyData& data);

// Copies points, [vertex], and faces, [face], in place of their content. Every polygon of `data` must be a triangle.
void copy_from_vtk(vtkPolyData& data, std::vector<glm::dvec3>& points, std::vector<glm::uvec3>& faces);

}  // namespace trocar
