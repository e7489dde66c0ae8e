// The page of the GPU kit: its measurements as a Markdown text with tables.   Tested in tests/bench/gpu_kit_test.cpp
#pragma once

#include <string>

#include "bench/gpu_kit/sections.hpp"

namespace trocar::bench {

// Returns the sum of the disagreements of all rows.
std::uint64_t disagreements_of(const Json& results);

// `results`: as measure.json (docs/gpu-kit.md).
std::string kit_page(const Json& results);

}  // namespace trocar::bench
