// Keeps a task's marks of every frame of a recording, so that a replay shows them in any order. What does not change
// from one frame to the next is stored once.   Units: metres.   Tested in tests/app/window_replay_test.cpp
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/task/observation.hpp"

namespace trocar {

class MarkTrack {
 public:
  // Appends the marks of the next frame.
  void add(const DrawnMarks& marks);
  std::size_t frames() const { return frames_.size(); }
  // Overwrites `marks` with those of a frame, valid until the next add(). After the last frame: those of the last; an
  // empty track has none.
  void get(std::size_t frame, DrawnMarks& marks) const;

 private:
  struct Range {
    std::size_t first = 0, count = 0;
    bool operator==(const Range&) const = default;
  };
  struct Path {
    Range points;
    float width = 0.f;
    std::size_t done = 0;
    MarkState state = MarkState::Waiting;
    bool operator==(const Path&) const = default;
  };
  struct Zone {
    Range outline;
    bool violated = false;
    bool operator==(const Zone&) const = default;
  };
  struct Frame {
    Range targets, paths, zones;
  };

  // Returns where a list is stored: `before` if it holds the same, otherwise the end of `all`, to which it is appended.
  template <typename T>
  static Range stored(std::span<const T> list, const Range& before, std::vector<T>& all);

  std::vector<Frame> frames_;
  std::vector<DrawnTarget> targets_;
  std::vector<Path> paths_;
  std::vector<Zone> zones_;
  std::vector<glm::vec3> points_;
  std::vector<glm::dvec2> corners_;
  std::vector<Path> paths_now_;  // of the frame that is added
  std::vector<Zone> zones_now_;
};

// Returns whether two sets of marks are equal, bit for bit.
bool same_marks(const DrawnMarks& a, const DrawnMarks& b);

}  // namespace trocar
