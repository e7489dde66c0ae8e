// Writes attempts as JSON, for `trocar score --json` and the report. An undefined value is null.
// Layout: docs/file-formats.md   Tested in tests/sim/score_test.cpp
#pragma once

#include <span>
#include <string>

#include "sim/score/attempt.hpp"

namespace trocar {

// Writes one attempt. A reader gets every number with the same bits.
std::string to_json(const Attempt& attempt);
// Writes {"format": "trocar-scores-1", "attempts": [...]}.
std::string to_json(std::span<const Attempt> attempts);

}  // namespace trocar
