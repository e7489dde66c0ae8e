// What a session measured of its backends, in the form of a comparison: the same table, JSON and picture.
#pragma once

#include "app/compare/compare.hpp"
#include "app/session/session.hpp"

#include <string>

namespace trocar {

CompareReport session_report(const Session& session, const Scene& scene, const std::string& gl);

// One sentence: how many faces were held against the double reference, of how many, and what came of it.
std::string sample_sentence(const SampleCount& sample);

}  // namespace trocar
