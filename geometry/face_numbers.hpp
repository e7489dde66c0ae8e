// Stores a set of face numbers that iterates in order: one bit per face, and a summary bit per 64 faces. The time to
// fill and empty it depends on the faces in it, not on the faces of the organ (except one word per 4096 faces).
// Tested in tests/geometry/touch_book_test.cpp
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/held_bytes.hpp"

namespace trocar {

class FaceSet {
 public:
  // Empties the set and makes it large enough for `faces` faces. Allocates.
  void resize(std::size_t faces) {
    words_.assign((faces + 63) / 64, 0);
    summary_.assign((words_.size() + 63) / 64, 0);
  }

  void insert(std::uint32_t face) { insert_if(true, face); }
  // Inserts `face` if `in` is true. It has no branch, for conditions that a processor cannot predict.
  void insert_if(bool in, std::uint32_t face) {
    words_[face >> 6] |= std::uint64_t{in} << (face & 63);
    summary_[face >> 12] |= std::uint64_t{in} << ((face >> 6) & 63);
  }

  // Calls visit(face) in ascending order and empties the set.
  template <typename Visit>
  void drain(Visit visit) {
    for (std::size_t s = 0; s < summary_.size(); ++s) {
      for (std::uint64_t full = std::exchange(summary_[s], 0); full; full &= full - 1) {
        const std::size_t w = s * 64 + static_cast<std::size_t>(std::countr_zero(full));
        for (std::uint64_t bits = std::exchange(words_[w], 0); bits; bits &= bits - 1)
          visit(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
      }
    }
  }

  std::size_t memory_bytes() const { return held_bytes(words_, summary_); }

 private:
  std::vector<std::uint64_t> words_, summary_;
};

}  // namespace trocar
