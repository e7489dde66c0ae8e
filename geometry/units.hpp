// Units of length and angle, for numbers that are not in metres or radians. Degrees: glm::radians and glm::degrees.
#pragma once

#include <numbers>

namespace trocar {

constexpr double kFullTurn = 2.0 * std::numbers::pi;  // rad
constexpr double kMillimetre = 1e-3;                  // m
// A product with this and a quotient by kMillimetre differ in the last bit.
constexpr double kMmPerMetre = 1e3;

}  // namespace trocar
