// Makes the touch queries of a session: decides which tools each organ is queried about, holds one query per organ, and
// replaces a backend that fails by scan.   Units: metres, milliseconds of wall clock.   Tested in
// tests/sim/session_test.cpp, encounters_test.cpp and backend_fault_test.cpp
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/session/answer_check.hpp"
#include "sim/session/encounters.hpp"
#include "sim/session/instrument_clash.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/tissue_world.hpp"

namespace trocar {

class OrganQueries {
 public:
  OrganQueries(BackendChoice backend, std::size_t organs, std::size_t instruments);

  // Finds, from the boxes of this frame, about which volumes to query which organ, and which instruments collide.
  void find_encounters(TissueWorld& world, const Instruments& instruments, double dt);
  // Queries every organ. A backend that fails for one organ is replaced for all of them in the same frame; the fault is
  // appended to `faults`. `times`: those of the backend.
  void ask(TissueWorld& world, const Instruments& instruments, std::size_t frame, BackendTimes& times,
           std::vector<BackendFault>& faults, StageMs& stage_ms);
  // Call when another backend has taken over: its times begin again.
  void take_over(BackendChoice backend, BackendTimes& times);

  const BackendChoice& backend() const { return backend_; }
  const Encounters& encounters() const { return encounters_; }
  std::span<const AskedVolumes> asked() const { return asked_; }         // [organ]
  std::span<const InstrumentClash> clashes() const { return clashes_; }  // of instruments whose boxes overlap

 private:
  TouchFault ask_each(std::vector<Organ>& organs, const FrameVolumes& frame);

  BackendChoice backend_;
  Encounters encounters_;
  std::vector<AskedVolumes> asked_;       // [organ]
  std::vector<InstrumentClash> clashes_;  // of the last frame
};

}  // namespace trocar
