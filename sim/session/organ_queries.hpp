// Makes the touch queries of a session: decides which tools each organ is queried about, holds one query per organ, and
// replaces a backend that fails by scan.   Units: metres, milliseconds of wall clock.   Tested in
// tests/sim/session/session_test.cpp, near_pairs_test.cpp and backend_fault_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "deform/contact/organ_contact.hpp"
#include "geometry/tool_volume.hpp"
#include "sim/session/answer_check.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/tissue_world.hpp"

namespace trocar {

// Finds the candidate pairs of a frame (instrument and organ, organ and organ, instrument and instrument) by sweep and
// prune over their boxes. An instrument's box contains the motion of all its parts
// in the frame (InstrumentBody::box). A face that it touches lies in both boxes, so a pair that is not listed needs no
// touch query.
// Units: metres, world frame.   Tested in tests/sim/session/near_pairs_test.cpp
struct InstrumentPair {
  std::uint32_t first, second;  // first < second
};

class NearPairs {
 public:
  NearPairs() : NearPairs(0, 0) {}
  NearPairs(std::size_t organs, std::size_t instruments);

  // These functions set the boxes of this frame. `surface`: of the organ's vertices. `reach`: the box in which it may
  // touch another organ; empty when it is the only organ.
  void set_organ(std::size_t organ, const broad::Box& surface, const broad::Box& reach);
  // From now on no pair has this organ.
  void leave_alone(std::size_t organ) { alone_[organ] = 1; }
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
  std::vector<char> alone_;                       // [organ]
  std::vector<broad::Box> surface_, instrument_;  // [organ], [instrument]
  std::vector<std::uint32_t> near_, first_near_;  // instruments near organ k are near_[first_near_[k]] .. [k + 1]
  std::vector<OrganPair> organ_pairs_;
  std::vector<InstrumentPair> instrument_pairs_;
};

// Computes the distance between two instruments, whose shafts are capsules from the trocar to the tip.
// Units: metres, world frame.   Tested against sampling in tests/sim/session/near_pairs_test.cpp
struct InstrumentClash {
  std::uint32_t first, second;  // instruments, first < second
  double distance;              // m   between their surfaces; below 0: they collide, with this penetration
  glm::dvec3 point;             // m   halfway between the surfaces where they are closest
};

// Computes the distance in closed form, from the closest points of the two axes.
InstrumentClash clash_of(std::uint32_t first, const ToolPose& a, std::uint32_t second, const ToolPose& b);

class OrganQueries {
 public:
  OrganQueries(BackendChoice backend, std::size_t organs, std::size_t instruments);

  // Finds, from the boxes of this frame, about which volumes to query which organ, and which instruments collide.
  // From now on an organ has no contact with others.
  void leave_alone(std::size_t organ) { near_pairs_.leave_alone(organ); }
  void find_near_pairs(TissueWorld& world, const Instruments& instruments, double dt);
  // Queries every organ. A backend that fails for one organ is replaced for all of them in the same frame; the fault is
  // appended to `faults`. `times`: those of the backend.
  void ask(TissueWorld& world, const Instruments& instruments, std::size_t frame, BackendTimes& times,
           std::vector<BackendFault>& faults, StageMs& stage_ms);
  // Call when another backend has taken over: its times begin again.
  void take_over(BackendChoice backend, BackendTimes& times);

  const BackendChoice& backend() const { return backend_; }
  const NearPairs& near_pairs() const { return near_pairs_; }
  std::span<const AskedVolumes> asked() const { return asked_; }         // [organ]
  std::span<const InstrumentClash> clashes() const { return clashes_; }  // of instruments whose boxes overlap

 private:
  TouchFault ask_each(std::vector<Organ>& organs, const FrameVolumes& frame);

  BackendChoice backend_;
  NearPairs near_pairs_;
  std::vector<AskedVolumes> asked_;       // [organ]
  std::vector<InstrumentClash> clashes_;  // of the last frame
};

}  // namespace trocar
