// Stores a set of face numbers that iterates in order: one bit per face, and a summary bit per 64 faces. The time to
// fill and empty it depends on the faces in it, not on the faces of the organ (except one word per 4096 faces).
// Tested in tests/cpu_collision/scan_test.cpp
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trocar {

class ScanFaceSet {
 public:
  // Empties the set and makes it large enough for `faces` faces. Allocates.
  void resize(std::size_t faces) {
    words_.assign((faces + 63) / 64, 0);
    summary_.assign((words_.size() + 63) / 64, 0);
  }

  // Inserts `face` if `in` is true. It has no branch, because half of the tested faces are out, in no order, and a
  // processor could not predict the branch.
  void insert_if(bool in, std::uint32_t face) {
    words_[face >> 6] |= std::uint64_t{in} << (face & 63);
    summary_[face >> 12] |= std::uint64_t{in} << ((face >> 6) & 63);
  }

  // Calls visit(face) in ascending order and empties the set.
  template <typename Visit>
  void drain(Visit visit) {
    for (std::size_t s = 0; s < summary_.size(); ++s) {
      for (std::uint64_t full = summary_[s]; full; full &= full - 1) {
        const std::size_t w = s * 64 + std::countr_zero(full);
        for (std::uint64_t bits = words_[w]; bits; bits &= bits - 1)
          visit(static_cast<std::uint32_t>(w * 64 + std::countr_zero(bits)));
        words_[w] = 0;
      }
      summary_[s] = 0;
    }
  }

  std::size_t memory_bytes() const { return (words_.capacity() + summary_.capacity()) * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_, summary_;
};

}  // namespace trocar
