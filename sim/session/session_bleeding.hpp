// Holds the bleeding of a session: the sources of blood and bile that cuts, tears and burns have opened, what stops
// them, and how much each organ has lost. Tissue that hot metal burns is coagulated and does not bleed.
// Units: metres, m^3, seconds.   Tested in tests/sim/session/session_bleeding_test.cpp
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/fluid/bleeding.hpp"
#include "deform/fluid/fluid_film.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/session_joins.hpp"

namespace trocar {

class SessionBleeding {
 public:
  SessionBleeding() = default;
  // `contacts`, `bonds`: of these organs.
  SessionBleeding(const Scene& scene, const std::vector<Organ>& organs, const OrganContacts& contacts,
                  const SessionBonds& bonds);

  // Starts a frame.
  void begin();
  // Call after a change of an organ's tissue: cut and torn surfaces bleed, holes through a wall spill. Allocates.
  void follow_change(std::uint32_t organ, const Organ& now, const SculptChange& change, DamageMark how);
  // Call when fibres have broken in this frame: an organ oozes where a layer was torn or cut off it. Allocates.
  void follow_bonds(const std::vector<Organ>& organs, const Bonds& bonds);
  // Ends a frame of `dt` seconds: opens the ends of divided vessels and the holes in others, and lets all sources flow.
  void end_frame(const std::vector<Organ>& organs, const SessionClips& clips, std::span<const Instrument> instruments,
                 double dt);

  // Returns whether an organ of the scene can bleed or spill.
  bool possible() const { return possible_; }
  std::span<const BleedSource> sources() const { return sources_; }  // in the order of opening
  std::span<const FluidLoss> lost() const { return lost_; }          // [organ] m^3, so far
  // Of the last frame: number of sources before it; sources whose state or vertex changed; volume of each, m^3.
  std::size_t sources_before() const { return before_; }
  std::span<const std::uint32_t> changed() const { return changed_; }
  std::span<const double> spilt() const { return spilt_; }  // [source]

  const std::optional<VesselScene>& vessel(std::size_t organ) const { return vessels_[organ]; }

  // The state that passes from frame to frame.
  std::vector<BleedSource>& source_state() { return sources_; }
  std::vector<FluidLoss>& loss_state() { return lost_; }
  std::vector<double>& content_state() { return left_; }
  // Call when these are those of a saved session: check_read() throws InputError where they do not fit the organs.
  void check_read(const std::vector<Organ>& organs) const;
  void follow_restored();

 private:
  struct Shown {
    BleedState state;
    std::uint32_t vertex;
  };
  void open(std::uint32_t organ, std::uint32_t vertex, BleedKind kind, double rate, double half_time);
  void open_surfaces(std::uint32_t organ, const Organ& now, std::size_t first_slot, bool slit);
  void open_wall(std::uint32_t organ, const Organ& now, const SculptChange& change);
  void find_hole(std::uint32_t organ, const Organ& now, const SculptChange& change);
  void open_vessels(const std::vector<Organ>& organs, const SessionClips& clips);
  void open_holes(const std::vector<Organ>& organs, const SessionClips& clips);
  void open_injuries(const std::vector<Organ>& organs, const SessionClips& clips);
  double depth_of(std::uint32_t organ, const glm::vec3& p) const;
  bool closed(const BleedSource& source, const Organ& organ, const SessionClips& clips) const;
  bool pressed(const BleedSource& source, const Organ& organ, std::span<const Instrument> instruments) const;

  bool possible_ = false;
  std::vector<std::optional<VesselScene>> vessels_;  // [organ]
  std::vector<std::optional<BloodParams>> blood_;    // [organ]
  std::vector<std::optional<BileParams>> bile_;      // [organ]
  std::vector<RestDistance> fields_;                 // [organ] at rest, before any cut; empty without bile
  std::vector<double> fibre_area_;                   // [fibre] m^2, of the layer that it stands for; 0: of a band
  std::vector<std::optional<std::uint32_t>> hole_;   // [organ] vertex where a vessel was opened in this frame
  std::vector<BleedSource> sources_;
  std::vector<FluidLoss> lost_;  // [organ]
  std::vector<double> left_;     // [organ] m^3, of its bile
  std::vector<double> spilt_;    // [source] m^3, in the last frame
  std::vector<Shown> shown_;     // [source] when it last counted as changed
  std::vector<std::uint32_t> changed_;
  std::size_t before_ = 0;
};

// Holds the fluid on the organs of a session: blood and bile from the sources of bleeding, water that instruments rinse
// with, what drips off, and what instruments suck away.
// Units: metres, m^3, seconds.   Tested in tests/sim/session/session_bleeding_test.cpp
class SessionFilm {
 public:
  SessionFilm() = default;
  SessionFilm(const Scene& scene, const std::vector<Organ>& organs);

  // Call after a change of an organ's tissue. Allocates.
  void follow_change(std::size_t organ, const Organ& now);
  // Ends a frame of `dt` seconds, after the bleeding.
  void end_frame(const std::vector<Organ>& organs, const SessionBleeding& bleeding,
                 std::span<const Instrument> instruments, double dt);

  // Returns whether there can be fluid: something can bleed, or an instrument can rinse.
  bool possible() const { return !films_.empty(); }
  const FluidAmounts& amounts() const { return amounts_; }
  // Returns the look of an organ's surface; empty when no fluid is possible. [vertex] blood and bile, 0 none .. 1
  // opaque
  std::span<const glm::vec2> look(std::size_t organ) const {
    return organ < looks_.size() ? std::span<const glm::vec2>(looks_[organ]) : std::span<const glm::vec2>();
  }
  double blood_area() const { return blood_area_; }          // m^2, that blood covers
  std::span<const Spurt> spurts() const { return spurts_; }  // of the vessels that bleed now

  // The state that passes from frame to frame.
  std::vector<FluidFilm>& film_state() { return films_; }
  FluidAmounts& amount_state() { return amounts_; }
  // Call when these are those of a saved session: check_read() throws InputError where they do not fit the organs.
  void check_read(const std::vector<Organ>& organs) const;
  void follow_read(const std::vector<Organ>& organs);

 private:
  void pour_out(const std::vector<Organ>& organs, const BleedSource& source, double volume);
  void pump(const std::vector<Organ>& organs, const Instrument& instrument, double dt);
  void show();

  std::vector<FluidFilm> films_;               // [organ]
  std::vector<glm::vec3> down_;                // [organ] unit
  std::vector<std::vector<glm::vec2>> looks_;  // [organ][vertex]
  FluidAmounts amounts_;
  double blood_area_ = 0.0;
  std::vector<Spurt> spurts_;
};

}  // namespace trocar
