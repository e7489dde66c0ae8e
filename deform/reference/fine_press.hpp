// The press of a rigid shape without friction into a block of soft tissue that is glued to its base, at rest, by finite
// elements that are fine under the shape and coarse away from it. It validates the force of tools that are smaller than
// a cell of the lattice, and shares nothing with the lattice but its constants: Young's modulus and Poisson's ratio.
//
// Solids: Linear, Hooke's law at small strain, as Hertz has it; and Finite, a compressible neo-Hookean solid
// W = mu / 2 (I1 - 3 - 2 ln J) + lambda / 2 (J - 1)^2 (Bonet, Wood, "Nonlinear continuum mechanics for finite element
// analysis", 1997, chapter 5), the same at small strain. The contact follows the deformed surface in both. Elements are
// bricks of eight nodes; three quarters of the pressure follow the mean J of a brick, or they would lock (Simo, Taylor,
// Pister, Comput. Methods Appl. Mech. Eng. 51, 1985), one quarter that of its points. One quarter is solved: shape and
// block are symmetric about x = 0 and y = 0. Newton's method with conjugate gradients; nine points of each face of the
// top press as an elastic foundation. On coarse elements forces are too high; extrapolated() takes two sizes, as if the
// error had the first power of the size. Under sharp edges the elements fold some radii deep, and no balance is found.
//
// Units: metres, newtons, pascals.   Checked against Hertz' ball and a cylinder on a glued layer in
// tests/deform/fine_press_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace trocar {

// All points within `radius` of a prism: an outline in x and z, extended along y. Lowest at z = 0.
struct PressShape {
  std::vector<glm::dvec2> outline;  // m  convex, counter-clockwise; one point: a ball or cylinder
  double half_length = 0.0;         // m  along y; 0: a flat outline
  double radius = 0.0;              // m  > 0
};

enum class PressedSolid { Linear, Finite };

struct PressedBlock {
  double side = 0.036, height = 0.018;  // m
  double youngs_modulus = 6000.0;       // Pa
  double poisson_ratio = 0.46;          // 1
  PressedSolid solid = PressedSolid::Finite;
  // Plane strain: a slice under an endless shape; forces are those of one metre of it.
  bool plane = false;
};

// Element sizes: `finest` around the places where the shape is curved, growing by `growth` of the distance from there.
struct PressElements {
  double finest = 1e-4;  // m
  double growth = 0.25;  // 1
  PressElements refined(double ratio) const { return {finest / ratio, growth / ratio}; }
};

// What the shape feels at a depth.
struct PressAnswer {
  double depth = 0.0, force = 0.0;  // m, N (plane: N/m)
  double peak_pressure = 0.0;       // Pa  on the undeformed area
  int iterations = 0;               //     of Newton's method since the previous depth
};

class FinePress {
 public:
  FinePress(const PressedBlock& block, const PressShape& shape, const PressElements& elements);
  ~FinePress();
  // Presses on to a depth, from the previous one. Nothing where no balance is found: the elements fold.
  std::optional<PressAnswer> press_to(double depth);
  std::size_t nodes() const;

 private:
  struct Grid;
  std::unique_ptr<Grid> grid_;
};

// Returns the forces (N) at ascending depths of presses on elements and on those refined by `ratio`, extrapolated to
// elements of no size, and the finer one's. Ends where one finds no balance.
struct ExtrapolatedForce {
  double depth, force, finer;  // m, N, N
};
std::vector<ExtrapolatedForce> extrapolated(const PressedBlock& block, const PressShape& shape,
                                            const PressElements& elements, double ratio,
                                            std::span<const double> depths);

// Returns the depth (m) of an endless rigid cylinder that is pressed with `force` (N/m) into a layer that is glued to a
// rigid base, in plane strain: the pressure of Hertz, whose half width a is small against the height, on the layer's
// exact response (Fourier transform: Jaffar, Int. J. Mech. Sci. 31, 1989; Johnson, "Contact mechanics", 1985, 5.7).
double cylinder_depth_on_layer(double modulus, double poisson, double radius, double force, double height);

}  // namespace trocar
