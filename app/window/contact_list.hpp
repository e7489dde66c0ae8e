// Who touches what, instrument by organ. Units: millimetres, kilopascals, newtons as shown; metres, pascals inside.
// Looked at in tests/app/window_path_test.sh
#pragma once

#include <vector>

#include "app/session/session.hpp"

namespace trocar {

struct ContactRow {
  std::size_t instrument = 0, organ = 0;
  std::uint32_t faces = 0;
  float deepest = 0.f;   // m
  float pressure = 0.f;  // Pa, the highest
};

// Pairs that touch in the last frame, by instrument, then organ. `rows` is refilled.
void contact_rows(const Session& session, std::vector<ContactRow>& rows);

// A panel at the left, in the middle.
void draw_contacts(const Session& session, std::vector<ContactRow>& rows);

}  // namespace trocar
