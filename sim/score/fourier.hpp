// Computes the discrete Fourier transform for scores, with the same bits on every machine; a library's result depends
// on its version and on the processor. Source: Cooley, Tukey, "An algorithm for the machine calculation of complex
// Fourier series", Math. Comp. 19, 1965.   Tested against the definition in tests/sim/smoothness_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

namespace trocar {

// Transforms in place. x is the real part, y the imaginary part. The length must be a power of two.
void fourier_transform(std::span<glm::dvec2> values);

}  // namespace trocar
