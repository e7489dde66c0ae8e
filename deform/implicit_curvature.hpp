// Removes the negative part of the curvature of a cell's energy, for Newton's method (implicit_terms.hpp).
#pragma once

#include <span>

namespace trocar {

// matrix: [9][9], symmetric, over the three mean edges of a cell. Its negative eigenvalues become 0.
void keep_positive_part(std::span<double, 81> matrix);

}  // namespace trocar
