// Remeshes a raw iso-surface isotropically: edges become equally long, the valence is near six, and every vertex lies
// on the field's surface. Based on: Botsch, Kobbelt, "A remeshing approach to multiresolution modeling", SGP 2004
// (split, collapse, flip, relax). We differ: vertices are projected onto the implicit surface instead of the old mesh,
// and the face count is met exactly. Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#pragma once

#include "mesh/iso_surface.hpp"

namespace trocar {

// Remeshes `raw`. `faces`: target number of triangles, rounded to even. The same input gives the same output, bit for
// bit.
// Throws RunError when `raw` is not a closed oriented manifold.
RawSurface even_remesh(const RawSurface& raw, const SampledField& field, std::size_t faces);

}  // namespace trocar
