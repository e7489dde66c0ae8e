// Makes our own organs as even, closed triangle meshes of any face count: a liver, a stomach and a gallbladder,
// positioned as in the body. They are made from implicit surfaces (organ_shapes.hpp), so every face count approximates
// the same surface. The result is deterministic. Frame: -x the patient's right, +y towards the head, +z to the front.
// Units: metres.   Tested in tests/mesh/organ_maker_test.cpp
#pragma once

#include <string_view>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct OrganParams {
  int faces = 20000;  // 1  triangles, 2,000 .. 4,000,000, of a lymph node from 200; an odd number is rounded up
};

// Each function makes one organ. Vertices and faces are ordered along a space-filling curve, so that neighbours in
// space are neighbours in memory. Throws InputError when the number of faces is out of range.
TriangleMesh make_liver(const OrganParams& params);
TriangleMesh make_stomach(const OrganParams& params = {.faces = 10000});
TriangleMesh make_gallbladder(const OrganParams& params = {.faces = 2000});
// Makes the organ "liver", "stomach", "gallbladder", "gallbladder-with-stone" or "lymph-node", or a neighbour that
// scenes show behind them: "colon", "omentum", "lesser-omentum", "retroperitoneum" or "diaphragm". Throws InputError
// for another name.
TriangleMesh make_organ(std::string_view name, const OrganParams& params);

}  // namespace trocar
