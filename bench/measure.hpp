// Runs methods on the same frames, in turn and in random order (Google Benchmark's random interleaving), and
// keeps every frame's time. Units: milliseconds.
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
  int turns = 12;               // 1   turns of each method, >= 1
  double seconds_a_turn = 0.1;  // s   measured time per turn, but at least two frames
  int checked_frames = 8;       // 1   frames whose answer is compared with the double reference before measuring
};

struct Measured {
  std::string name, how;
  bool peer = false;
  TimeSummary update{}, query{}, total{};  // ms per frame
  std::size_t frames = 0;                  // timed
  std::uint64_t touched = 0;               // faces, over the checked frames
  std::uint64_t missing = 0, extra = 0;    // faces against the reference, without borderline faces
};

// Measures every method. A method that cannot run is reported on stderr and omitted.
std::vector<Measured> measure(std::span<const Entry> entries, FrameSource& frames, const MeasureOptions& options);

}  // namespace trocar::bench
