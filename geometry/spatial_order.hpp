// Orders points so that runs of equal length are neighbours in space: the set is halved along its longest axis, in
// whole runs, down to single runs; within a run the numbers ascend. Equal points are ordered by number, so the result
// is the same everywhere. Tested in tests/geometry/touch_book_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>

namespace trocar {

// `numbers`: indices of `points`, each once. Only the last run may be shorter than `run`.
void order_in_runs(std::span<std::uint32_t> numbers, std::span<const glm::vec3> points, std::size_t run);

}  // namespace trocar
