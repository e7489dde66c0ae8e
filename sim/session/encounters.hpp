// Finds the candidate pairs of a frame (instrument and organ, organ and organ, instrument and instrument) by sweep and
// prune over their boxes. An instrument's box contains the motion of all its parts
// in the frame (InstrumentBody::box). A face that it touches lies in both boxes, so a pair that is not listed needs no
// touch query.
// Units: metres, world frame.   Tested in tests/sim/encounters_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "deform/contact/organ_contact.hpp"

namespace trocar {

struct InstrumentPair {
  std::uint32_t first, second;  // first < second
};

class Encounters {
 public:
  Encounters() : Encounters(0, 0) {}
  Encounters(std::size_t organs, std::size_t instruments);

  // These functions set the boxes of this frame. `surface`: of the organ's vertices. `reach`: the box in which it may
  // touch another organ; empty when it is the only organ.
  void set_organ(std::size_t organ, const broad::Box& surface, const broad::Box& reach);
  void set_instrument(std::size_t instrument, const broad::Box& box);
  // Finds the pairs. Allocates nothing after the first frames.
  void update();

  // These functions return results of the last update(), ascending.
  std::span<const std::uint32_t> instruments_near(std::size_t organ) const;
  std::span<const OrganPair> organ_pairs() const { return organ_pairs_; }
  std::span<const InstrumentPair> instrument_pairs() const { return instrument_pairs_; }

 private:
  std::size_t organs_;
  broad::SweepAndPrune sweep_;
  std::vector<broad::Box> surface_, instrument_;  // [organ], [instrument]
  std::vector<std::uint32_t> near_, first_near_;  // instruments near organ k are near_[first_near_[k]] .. [k + 1]
  std::vector<OrganPair> organ_pairs_;
  std::vector<InstrumentPair> instrument_pairs_;
};

}  // namespace trocar
