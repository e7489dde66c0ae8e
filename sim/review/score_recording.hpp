// Computes the score of an attempt from its recording alone. The same file always gives bit-identical metrics, whether
// finished or recovered. Metrics, formulas, sources, limits: docs/metrics.md.
// Tested in tests/sim/score_test.cpp
#pragma once

#include <string>

#include "sim/score/attempt.hpp"

namespace trocar {

class Recording;

// Scores a recording. `file`: the name to store in the attempt.
Attempt score_recording(const Recording& recording, const std::string& file);

}  // namespace trocar
