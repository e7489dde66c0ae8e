#include "geometry/face_numbers.hpp"

#include <algorithm>

namespace trocar {
namespace {

int longest_axis(std::span<const std::uint32_t> numbers, std::span<const glm::vec3> points) {
  glm::vec3 low = points[numbers.front()], high = low;
  for (const std::uint32_t number : numbers) {
    low = glm::min(low, points[number]);
    high = glm::max(high, points[number]);
  }
  const glm::vec3 size = high - low;
  if (size.x >= size.y && size.x >= size.z) return 0;
  return size.y >= size.z ? 1 : 2;
}

}  // namespace

std::size_t slot_of(std::span<const FaceId> ids, FaceId face) {
  const auto found = std::lower_bound(ids.begin(), ids.end(), face);
  return found != ids.end() && *found == face ? static_cast<std::size_t>(found - ids.begin()) : ids.size();
}

void order_in_runs(std::span<std::uint32_t> numbers, std::span<const glm::vec3> points, std::size_t run) {
  if (numbers.size() <= run) {
    std::sort(numbers.begin(), numbers.end());
    return;
  }
  const std::size_t runs = (numbers.size() + run - 1) / run, half = runs / 2 * run;
  const int axis = longest_axis(numbers, points);
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(half), numbers.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const float at_a = points[a][axis], at_b = points[b][axis];
                     return at_a != at_b ? at_a < at_b : a < b;
                   });
  order_in_runs(numbers.first(half), points, run);
  order_in_runs(numbers.subspan(half), points, run);
}

}  // namespace trocar
