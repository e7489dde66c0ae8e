// What a session measured of its backends, in the form of a comparison: the same table, JSON and picture.
#pragma once

#include "app/compare/compare.hpp"
#include "app/session/session.hpp"

namespace trocar {

CompareReport session_report(const Session& session, const Scene& scene, const std::string& gl);

}  // namespace trocar
