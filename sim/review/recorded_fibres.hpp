// Gives the connective tissue of a recording frame by frame: which fibres are intact at the touch query, and where
// their ends are, bit for bit as in the session. Units: metres.   Tested in tests/sim/recorded_tissue_test.cpp
#pragma once

#include <span>
#include <vector>

#include "sim/hdf5/recording.hpp"

namespace trocar {

class RecordedFibres {
 public:
  // The recording must outlive this object. No frame is loaded yet.
  explicit RecordedFibres(const Recording& recording);

  // Loads a frame, in any order. `nodes`: [organ][node] m, of this frame; they must stay valid until the next call.
  void load(std::size_t frame, std::span<const std::span<const glm::vec3>> nodes);

  std::size_t size() const { return history_->fibres.size(); }
  // Return the state at the touch query of the loaded frame, which is that at the end of the frame before.
  bool intact(std::size_t fibre) const { return intact_[fibre] != 0; }
  FibreEnds ends(std::size_t fibre) const;
  const RecordedFibre& at_rest(std::size_t fibre) const { return history_->fibres[fibre]; }

 private:
  const FibreHistory* history_;
  std::span<const std::span<const glm::vec3>> nodes_;
  std::vector<std::uint8_t> intact_;  // [fibre]
};

}  // namespace trocar
