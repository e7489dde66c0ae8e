// The score of an attempt, from its recording alone: the same file gives the same figures, bit for bit, today and
// later, finished or recovered. Figures, formulas, sources, limits: docs/metrics.md.
// Tested in tests/app/score_test.cpp
#pragma once

#include <string>

#include "app/score/attempt.hpp"

namespace trocar {

class Recording;

// `file`: as the attempt is to name it.
Attempt score_recording(const Recording& recording, const std::string& file);

}  // namespace trocar
