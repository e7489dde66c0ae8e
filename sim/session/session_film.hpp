// Holds the fluid on the organs of a session: blood and bile from the sources of bleeding, water that instruments rinse
// with, what drips off, and what instruments suck away.
// Units: metres, m^3, seconds.   Tested in tests/sim/session_film_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/fluid/fluid_film.hpp"
#include "sim/session/session_bleeding.hpp"

namespace trocar {

class SessionFilm {
 public:
  SessionFilm() = default;
  SessionFilm(const Scene& scene, const std::vector<Organ>& organs);

  // Call after a change of an organ's tissue. Allocates.
  void follow_change(std::size_t organ, const Organ& now);
  // Ends a frame of `dt` seconds, after the bleeding.
  void settle(const std::vector<Organ>& organs, const SessionBleeding& bleeding,
              std::span<const Instrument> instruments, double dt);

  // Returns whether there can be fluid: something can bleed, or an instrument can rinse.
  bool possible() const { return !films_.empty(); }
  const FluidAmounts& amounts() const { return amounts_; }
  // Returns the look of an organ's surface; empty when no fluid is possible. [vertex] blood and bile, 0 none .. 1
  // opaque
  std::span<const glm::vec2> look(std::size_t organ) const {
    return organ < looks_.size() ? std::span<const glm::vec2>(looks_[organ]) : std::span<const glm::vec2>();
  }
  double blood_area() const { return blood_area_; }  // m^2, that blood covers

  // The state that passes from frame to frame.
  std::vector<FluidFilm>& film_state() { return films_; }
  FluidAmounts& amount_state() { return amounts_; }
  // Call when these are those of a saved session: check_read() throws InputError where they do not fit the organs.
  void check_read(const std::vector<Organ>& organs) const;
  void follow_read(const std::vector<Organ>& organs);

 private:
  void pump(const std::vector<Organ>& organs, const Instrument& instrument, double dt);
  void show();

  std::vector<FluidFilm> films_;               // [organ]
  std::vector<glm::vec3> down_;                // [organ] unit
  std::vector<std::vector<glm::vec2>> looks_;  // [organ][vertex]
  FluidAmounts amounts_;
  double blood_area_ = 0.0;
};

}  // namespace trocar
