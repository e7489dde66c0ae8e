// Makes meshes by formula, for tests and benchmarks of all rooms.
// Units: metres. Closed shapes are oriented outward.   Checked in tests/mesh/mesh_report_test.cpp
#pragma once

#include <cstdint>

#include "mesh/triangle_mesh.hpp"

namespace trocar::shapes {

// Returns an icosahedron split `subdivisions` times, with 20 * 4^subdivisions faces.
TriangleMesh icosphere(int subdivisions, float radius = 0.1f, const glm::vec3& centre = glm::vec3(0.f));
// Returns a sphere of at least `faces` faces, for tests that need a certain size: rings with equal numbers of vertices
// between two poles.
TriangleMesh sphere_of(std::size_t faces, float radius = 0.1f, const glm::vec3& centre = glm::vec3(0.f));
// Twelve faces.
TriangleMesh cube(float side = 0.1f, const glm::vec3& centre = glm::vec3(0.f));
// Returns an open sheet in the plane z = 0 around the origin, facing +z, with 2 * columns * rows faces.
TriangleMesh grid(int columns, int rows, float width = 0.1f, float height = 0.1f);
// Returns a closed ring around the z axis with 2 * major_steps * minor_steps faces.
TriangleMesh torus(int major_steps, int minor_steps, float major_radius = 0.1f, float minor_radius = 0.03f);
// Returns triangles that share no vertex, with corners uniform in a cube; the same seed gives the same soup everywhere.
TriangleMesh random_soup(std::uint32_t seed, std::size_t faces, float side = 0.1f, float longest_edge = 0.02f);

// Returns both in one mesh; the faces of `first` come first.
TriangleMesh joined(const TriangleMesh& first, const TriangleMesh& second);
// Returns the mesh with every face flipped.
TriangleMesh turned(TriangleMesh mesh);

}  // namespace trocar::shapes
