#include "sim/session/instrument_clash.hpp"

#include <cmath>

#include "geometry/closest.hpp"

namespace trocar {

InstrumentClash clash_of(std::uint32_t first, const ToolPose& a, std::uint32_t second, const ToolPose& b) {
  const closest::Segment shaft_a = closest::segment(a.pivot, a.tip), shaft_b = closest::segment(b.pivot, b.tip);
  const closest::SegmentPair pair = closest::closest_segments(shaft_a, shaft_b);
  const glm::dvec3 on_a = shaft_a.p + pair.u * shaft_a.d, on_b = shaft_b.p + pair.v * shaft_b.d;
  const double apart = std::sqrt(pair.squared), distance = apart - a.radius - b.radius;
  // `share` leads from a's axis to the point halfway between the surfaces. Where the axes cross, the direction is
  // undefined.
  const double share = apart > 0.0 ? (a.radius + 0.5 * distance) / apart : 0.0;
  return {first, second, distance, on_a + share * (on_b - on_a)};
}

}  // namespace trocar
