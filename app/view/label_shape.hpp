// Computes what faces the eye at a task's targets: a ring around the next one, and a disc with its number beside each.
// The digits are strokes, drawn from a small volume of distances.
// Units: metres.   Tested in tests/app/view_parts_test.cpp
#pragma once

#include <cstdint>
#include <vector>

#include "sim/scene/scope.hpp"
#include "sim/task/observation.hpp"

namespace trocar {

// The numbers are those of shaders/label.frag.
enum class LabelStyle { Ring, Number };

// A vertex of the two triangles of a label; the shader turns them towards the eye.
struct LabelVertex {
  glm::vec4 centre_radius;        // m
  glm::vec4 corner_style_number;  // 1; corner: -1 .. 1 in the label, right and up
  glm::vec4 shift_towards;        // m  right and up of the centre; towards the eye
  glm::vec4 paint;                // display colour and opacity
};

// Overwrites `vertices` with the labels of the targets that have a number. `time`: s, of the pulse. `pixel`: half
// heights. A disc is large enough for its number to be readable.
void label_vertices(const DrawnMarks& marks, const ScopePose& scope, double time, float pixel,
                    std::vector<LabelVertex>& vertices);

// The volume of the digits: one layer for each of 0 .. 9, seen from the front, rows from the bottom.
constexpr glm::ivec3 kDigitTexels{32, 48, 10};
// Returns the distance of each texel from the edge of the strokes: 128 there, larger inside.   [digit][row][column]
std::vector<std::uint8_t> make_digits();

}  // namespace trocar
