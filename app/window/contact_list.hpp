// Shows the list of contacts: one entry for each instrument and organ in contact. Units: millimetres, kilopascals,
// newtons as shown; metres, pascals inside. Shown in tests/app/window_path_test.sh
#pragma once

#include <vector>

#include "sim/session/session.hpp"

namespace trocar {

struct ContactRow {
  std::size_t instrument = 0, organ = 0;
  std::uint32_t faces = 0;
  float deepest = 0.f;   // m
  float pressure = 0.f;  // Pa, the highest
};

// Overwrites `rows` with the pairs in contact in the last frame, sorted by instrument, then organ.
void contact_rows(const Session& session, std::vector<ContactRow>& rows);

// Draws a panel at the middle of the left edge.
void draw_contacts(const Session& session, std::vector<ContactRow>& rows);

}  // namespace trocar
