// The force of a rigid ball without friction on a soft layer that is glued to a rigid base, to compare presses with.
// Source: Hertz's half-space, with the factor of Dimitriadis, Horkay, Maresca, Kachar, Chadwick, "Determination of
// elastic moduli of thin layers of soft material using the atomic force microscope", Biophys. J. 82, 2002. Units:
// metres, newtons, pascals.   Used by tests/deform/dent_test.cpp and bench/touch_places.cpp
#pragma once

#include <cmath>
#include <numbers>

namespace trocar {

// Returns the force at a depth of the ball, N. `height`: of the layer.
inline double hertz_on_layer(double modulus, double poisson, double radius, double depth, double height) {
  constexpr double pi = std::numbers::pi;
  const double a = -(1.2876 - 1.4678 * poisson + 1.3442 * poisson * poisson) / (1.0 - poisson),
               b = (0.6387 - 1.0277 * poisson + 1.5164 * poisson * poisson) / (1.0 - poisson);
  const double x = std::sqrt(radius * depth) / height, cube = a * a * a, pi3 = pi * pi * pi;
  const double factor = 1.0 - 2.0 * a / pi * x + 4.0 * a * a / (pi * pi) * x * x -
                        8.0 / pi3 * (cube + 4.0 * pi * pi / 15.0 * b) * x * x * x +
                        16.0 * a / (pi3 * pi) * (cube + 3.0 * pi * pi / 5.0 * b) * x * x * x * x;
  return 4.0 / 3.0 * modulus / (1.0 - poisson * poisson) * std::sqrt(radius * depth) * depth * factor;
}

}  // namespace trocar
