// Provides what backends of a touch query share for their faces: sets of face numbers, the slots of ids, the numbers
// after a change of faces, an order in which neighbours lie together, and the bytes that vectors hold.
// Tested in tests/geometry/refine_test.cpp
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <utility>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Returns the bytes allocated by the vectors, including unused capacity; without what their elements own.
template <class... Vectors>
std::size_t held_bytes(const Vectors&... vectors) {
  return (std::size_t{0} + ... + (vectors.capacity() * sizeof(typename Vectors::value_type)));
}

// A set of face numbers that iterates in order: one bit per face, and a summary bit per 64 faces. The time to fill and
// empty it depends on the faces in it, not on the faces of the organ (except one word per 4096 faces).
class FaceSet {
 public:
  // Empties the set and makes it large enough for `faces` faces. Allocates.
  void resize(std::size_t faces) {
    words_.assign((faces + 63) / 64, 0);
    summary_.assign((words_.size() + 63) / 64, 0);
  }

  void insert(std::uint32_t face) { insert_if(true, face); }  // face: below the number given to resize()
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

  std::size_t memory_bytes() const { return held_bytes(words_, summary_); }  // allocated

 private:
  std::vector<std::uint64_t> words_, summary_;
};

// Returns the slot of a face among the current faces; their number when it was removed. `ids`: [slot], ascending.
std::size_t slot_of(std::span<const FaceId> ids, FaceId face);

constexpr std::uint32_t kRemovedFace = 0xffff'ffffu;

// Numbers the faces after a change as TouchQuery::change_faces() defines it. Fills `after`: [face before the change]
// its number after it, kRemovedFace for a removed one. `removed`: ascending.
inline void renumber(std::span<const FaceId> removed, std::size_t faces, std::vector<std::uint32_t>& after) {
  after.resize(faces);
  std::uint32_t face = 0, next = 0;
  for (const FaceId gone : removed) {
    while (face < index(gone)) after[face++] = next++;
    after[face++] = kRemovedFace;
  }
  while (face < faces) after[face++] = next++;
}

// Orders points so that runs of equal length are neighbours in space: the set is halved along its longest axis, in
// whole runs, down to single runs; within a run the numbers ascend. Equal points are ordered by number, so the result
// is the same everywhere. `numbers`: [number] indices of `points`, [point] of any unit, each once. Only the last run
// may be shorter than `run`.
void order_in_runs(std::span<std::uint32_t> numbers, std::span<const glm::vec3> points, std::size_t run);

}  // namespace trocar
