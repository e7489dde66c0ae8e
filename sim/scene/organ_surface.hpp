// Gives the surface of an organ of a scene: from its mesh file, made as a tube, or given with the scene.
// Units: metres.   Tested in tests/sim/tube_organ_test.cpp and tests/app/input_test.cpp
#pragma once

#include "mesh/triangle_mesh.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// Throws InputError for a mesh file that cannot be read.
TriangleMesh surface_of(const OrganScene& organ);

// Does the same for a surface that tissue will fill. Throws InputError also for a mesh file that is not sound, with the
// sentence of `trocar mesh check` (MeshReport::fault), and for one in a wrong unit, with the unit that fits.
TriangleMesh solid_surface_of(const OrganScene& organ);

// Returns the name of the mesh file, or says that the organ is a tube.
std::string origin_of(const OrganScene& organ);

}  // namespace trocar
