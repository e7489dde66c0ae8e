// Reports the times and the agreement of a session's backends in the form of a comparison: the same table, JSON and
// picture.
#pragma once

#include "app/compare/compare.hpp"
#include "sim/session/session.hpp"

#include <string>

namespace trocar {

CompareReport session_report(const Session& session, const Scene& scene, const std::string& gl);

// Returns one sentence: number of faces compared with the double reference, number of all answers, number of wrong
// ones.
std::string sample_sentence(const SampleCount& sample);

}  // namespace trocar
