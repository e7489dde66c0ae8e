// Runs ways of answering on the same frames, taken in turn in random order (Google Benchmark's random interleaving),
// and keeps every frame's time. Units: milliseconds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/compare/compare.hpp"
#include "bench/contestant.hpp"
#include "bench/scene.hpp"

namespace trocar::bench {

struct MeasureOptions {
  int turns = 12;               // 1   times that each way gets its turn, >= 1
  double seconds_a_turn = 0.1;  // s   of measured time; at least two frames are run
  int checked_frames = 8;       // 1   frames whose answer is judged by the double reference before measuring
};

struct Measured {
  std::string name, how;
  bool peer = false;
  TimeSummary update{}, query{}, total{};  // ms per frame
  std::size_t frames = 0;                  // timed
  std::uint64_t touched = 0;               // faces, over the checked frames
  std::uint64_t missing = 0, extra = 0;    // faces against the reference, borderline ones apart
};

// A way that cannot run is said on stderr and left out.
std::vector<Measured> measure(std::span<const Entry> entries, FrameSource& frames, const MeasureOptions& options);

}  // namespace trocar::bench
