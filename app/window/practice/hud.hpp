// Draws the overlay during practice. A trainee sees the instruments with what they do; the technical overlay adds
// forces, pressures, contacts and the session's state. Its panels lie in the dark corners beside the circular view.
// Units: newtons, kilopascals, millimetres and milliseconds as shown; metres and pascals inside.
// Tested in tests/app/window_test.cpp, tests/sim/recording/recorded_tissue_test.cpp, recorded_session_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/window/input/hands.hpp"
#include "deform/contact/contact.hpp"
#include "sim/session/organ_queries.hpp"
#include "sim/session/session.hpp"

namespace trocar {

struct DamageReading {
  std::uint32_t burnt = 0, torn = 0, crushed = 0;  // faces since the start; a face may count in several
  float peak = 0.f;                                // Pa, highest pressure on any face since the start
};

DamageReading reading_of(const TissueDamage& damage);

// Returns the collision with the deepest penetration; null when no instruments collide.
const InstrumentClash* deepest_clash(std::span<const InstrumentClash> clashes);

struct HudState {
  std::size_t in_hand = 0;  // selected instrument; the number of instruments: the scope; greater: nothing
  bool recording = false;
  double frame_ms = 0.0;  // smoothed, of the whole frame
  double lost = 0.0;      // s  simulation time lost because the machine was too slow
  bool slow = false;      // so much that the attempt does not count
  bool technical = false;
  std::optional<std::size_t> wanted = {};  // instrument that the task wants next
  const Hands* hands = nullptr;            // what the other hand holds, what is out of the body; null: unknown
};

class Hud {
 public:
  // Draws the instruments bottom left, the session bottom right.
  void draw(const Session& session, const HudState& state);

 private:
  void note_tears(const Session& session);

  std::vector<int> tear_shown_;  // [instrument] remaining frames in which the panel reports its tear
};

// Returns the device's fault in words; empty: none.
std::string trouble_of(const Instrument& instrument);

// An instrument and an organ in contact.
struct ContactRow {
  std::size_t instrument = 0, organ = 0;
  std::uint32_t faces = 0;
  float deepest = 0.f;   // m
  float pressure = 0.f;  // Pa, the highest
};

// Overwrites `rows` with the pairs in contact in the last frame, sorted by instrument, then organ.
void contact_rows(const Session& session, std::vector<ContactRow>& rows);

// Draws the list of contacts, at the middle of the left edge.
void draw_contacts(const Session& session, std::vector<ContactRow>& rows);

}  // namespace trocar
