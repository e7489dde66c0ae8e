// Names the points that organs hide from the scope in a frame; a recording keeps it, so that scores need no surfaces.
// Computed by sim/session/sight_watch.hpp   Tested in tests/sim/sight_watch_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>

namespace trocar {

// Points after the 32nd count as visible. Recordings before format 2.10 hide nothing.
struct HiddenPoints {
  static constexpr std::size_t kMost = 32;
  std::uint32_t tips = 0, marks = 0;  // bit k: the tip of instrument k, the mark k

  bool tip(std::size_t tool) const { return tool < kMost && (tips >> tool & 1u) != 0; }
  bool mark(std::size_t mark) const { return mark < kMost && (marks >> mark & 1u) != 0; }
  bool operator==(const HiddenPoints&) const = default;
};

}  // namespace trocar
