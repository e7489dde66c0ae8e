// Coagulates tissue around hot metal without removing it. Each voxel near the metal collects a dose: in contact for a
// time t, at the distance s from the metal, it is t (spread / s)^2. Where the dose reaches 1 the tissue is coagulated
// and pale, so the depth of that zone is spread sqrt(t): the law of heat conduction, with spread = sqrt(4 k) = 0.75
// mm/sqrt(s) for the thermal diffusivity k = 1.4e-7 m^2/s of soft tissue (Duck, "Physical properties of tissue", 1990).
// Blood flow carries the heat away over sqrt(conductivity / (perfusion c)), about 3 mm in the liver (Pennes, "Analysis
// of tissue and arterial blood temperatures", 1948): the zone ends at `deepest`. At higher doses the tissue chars.
// Units: metres, seconds.   Tested in tests/deform/sear_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

struct Lattice;
struct Sculpture;
struct HotSegment;

struct SearParams {
  double spread = 7.5e-4;  // m/sqrt(s)  depth of the coagulated zone after one second, > 0
  double deepest = 0.003;  // m          limit of that depth, >= 0
  double char_dose = 8.0;  // 1          dose at which tissue is black, > 1
};

// The doses of an organ. Cells without any dose have no memory.
struct SearField {
  std::vector<std::uint32_t> block;  // [cell] its doses begin here; kNoDose: none; empty: no cell has any
  std::vector<float> dose;           // [block + voxel of the cell] 1
  float char_dose = 8.f;             // 1, of the latest hook
};
inline constexpr std::uint32_t kNoDose = 0xffffffffu;

// Adds the dose of `dt` seconds of contact with `metal` (its surface: the radius of a segment is that of the wire).
// Returns the box of the voxels whose dose changed, at rest; low > high when none did. Allocates only when a cell gets
// its first dose.
struct SearBox {
  glm::vec3 low{INFINITY}, high{-INFINITY};  // m
  bool empty() const { return low.x > high.x; }
};
SearBox sear(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
             std::span<const HotSegment> metal, const SearParams& params, float dt);

// Returns the dose at a point of the rest shape: trilinear between voxels in cells of the lattice.
float dose_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p);

// Returns the look of tissue at a point of the rest shape: 0 intact .. 0.5 pale (dose 1) .. 1 charred (char_dose).
float look_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p);

}  // namespace trocar
