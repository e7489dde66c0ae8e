// Watches a window of an operation: the ruled surface between lines on organs, such as the cystic duct, the cystic
// artery and the edge of the liver, that must be free of other organs, such as fat and peritoneum, in front of it and
// behind it. Straight lines across the window say so: a line is free when it meets no face of these organs within
// kReach on either side; of an organ that need only be opened, the lines in the middle say so. The lines move with the
// organs, so the check is of the tissue as it lies now. Every line is looked at once in kTurns frames. A session and
// its recording give the same answer. The rule is the second criterion of the critical view of safety, "the
// hepatocystic triangle is cleared of fat and fibrous tissue" (Strasberg, Brunt, J. Am. Coll. Surg. 2010); the number
// of lines and the reach are ours. Units: metres, world.   Tested in tests/sim/task/clear_window_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <optional>
#include <span>
#include <vector>

#include "sim/scene/task_scene.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// A line across a window.
struct WindowLine {
  glm::dvec3 at{0.0};      // m  in the window
  glm::dvec3 normal{0.0};  // 1  along the line, towards the eye
  glm::dvec3 across{0.0};  // 1  in the window, from the side before it to the side after it
  bool free = false;
  glm::dvec3 front{0.0};  // m  where it first meets one of the organs, from the eye; with `free`: no meaning
};

class ClearWindow {
 public:
  static constexpr int kAlong = 8, kAcross = 3;  // lines along the sides, and between two of them
  static constexpr double kReach = 0.008;        // m
  static constexpr int kTurns = 24;              // frames in which every line is looked at

  // Adds the points of the sides to `marks`; seen.marks[first_mark] is the first of them. Throws InputError naming an
  // organ that the stage does not have.
  ClearWindow(const TaskStep& step, const TaskStage& stage, std::size_t first_mark, std::vector<SurfaceMark>& marks);

  // Observes the next frame.
  void look(const Observation& seen);

  // Does the same for every line.
  void look_at_all(const Observation& seen);

  std::span<const WindowLine> lines() const { return lines_; }
  // Returns where a line lies now, m, without looking along it.
  glm::dvec3 place_of(const Observation& seen, std::size_t line) const;
  double share() const;  // 1, of the lines that are free
  // Returns the share of the lines next to a side that are free, of both windows that it borders: what is seen of the
  // tissue beside a duct.
  double share_beside(std::size_t side) const;

 private:
  // The middle of a duct is the mean of two opposite points on it.
  glm::dvec3 point(const Observation& seen, std::size_t side, int along) const;
  // Returns the point of a line between two points of its sides.
  glm::dvec3 across(std::size_t side, int place, const glm::dvec3& from, const glm::dvec3& to) const;
  void place(const Observation& seen);
  void look_through(const Observation& seen, std::size_t k);

  std::size_t first_mark_;
  std::vector<double> clear_;  // [side] m, between the side and the first lines
  struct Gone {
    std::uint32_t organ;
    bool opened;  // only the lines in the middle count
  };
  std::vector<Gone> gone_;
  std::vector<WindowLine> lines_;  // by window, place along it, place across it
  int turn_ = -1;                  // -1: before the first frame
};

}  // namespace trocar
