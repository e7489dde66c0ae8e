// Ducts and vessels in tasks: their lines, at rest and now, and what is done to them.   Units: metres.
// Tested in tests/sim/task/task_run_test.cpp
#pragma once

#include <algorithm>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "deform/join/bonds.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// Returns the point at this distance along a line, or the end of the line. `line`: at least two points.
inline glm::dvec3 point_on_line(std::span<const glm::dvec3> line, double along) {
  double before = 0.0;
  for (std::size_t k = 1; k < line.size(); ++k) {
    const double length = glm::distance(line[k - 1], line[k]);
    if (before + length >= along || k + 1 == line.size())
      return glm::mix(line[k - 1], line[k], std::clamp((along - before) / length, 0.0, 1.0));
    before += length;
  }
  return line.front();
}

// Tells where ducts and vessels run now: each point of a line at rest moves like the mean of the surface's vertices
// that are nearest to it at rest.   Units: metres.   Tested in tests/sim/task/task_run_test.cpp
class DuctPoints {
 public:
  DuctPoints() = default;
  // The lines and surfaces of the stage.
  explicit DuctPoints(const TaskStage& stage);

  bool empty() const { return lines_.empty(); }  // no ducts
  // Moves the points. `organs`: [organ], with their surfaces.
  void follow(std::span<const SeenOrgan> organs);
  // Returns the distance of a segment from the nearest wall, negative inside; infinite without ducts.
  double clearance(const glm::dvec3& from, const glm::dvec3& to) const;

 private:
  struct Point {
    glm::dvec3 rest, now;
    glm::dvec3 mean{0.0};                    // of its vertices at rest
    std::vector<std::uint32_t> around = {};  // vertices
  };
  struct Line {
    std::uint32_t organ;
    double radius;  // m
    std::vector<Point> points;
  };
  std::vector<Line> lines_;
};

// Watches ducts and vessels that a task divides: clips on both sides of a target, and a cut between them. Sides, clips
// and divisions come from the tissue (sim/session/session_joins.hpp). A cut without a clip on both sides, and a cut or
// clip on another duct, are critical errors. Rules and sources: docs/tasks.md.   Units: metres, seconds.
// Tested in tests/sim/task/task_run_test.cpp

// A duct or vessel that is to be divided.
struct DuctTarget {
  std::uint32_t organ = 0;
  double along = 0.0;   // m, of the target on its line
  bool starts = false;  // the part with the start of its line stays
  bool divided = false;
  std::size_t staying = 0, leaving = 0;  // closing clips on the part that stays, and on the other
  double miss = 0.0;                     // m, of the division from the target

  bool done(const TaskRules& rules) const { return divided && double(staying) >= rules.clips_staying; }
  double progress(const TaskRules& rules) const;
};

class DuctWatch {
 public:
  // Throws InputError for a target on an organ that is not a duct or vessel.
  DuctWatch(const TaskScene& task, const TaskStage& stage);

  void step(const Observation& seen, TaskLog& log);

  const std::vector<DuctTarget>& targets() const { return targets_; }
  bool done() const;
  double progress() const;  // 0 .. 1; 1 without targets
  bool is_tube(std::size_t organ) const { return is_tube_[organ] != 0; }
  bool is_divided(std::size_t organ) const { return divided_[organ] != 0; }
  // Return the counts of the last frame.
  std::size_t divisions_now() const { return divisions_now_; }
  std::size_t clips_now() const { return clips_now_; }
  // Does a vessel bleed that was divided? Then the task goes on: the bleeding can be stopped.
  bool bleeds() const { return bleeds_; }

  bool wants_clip() const;                                 // is a clip the next thing to do? Otherwise a cut is
  const std::string& warning() const { return warning_; }  // the latest error
  // Append the next thing to do, and the latest error.
  void say(std::string& hint, std::string& warning) const;
  void add_metrics(PartList& parts) const;
  // `positions`: m, of the targets. [target]
  void draw(std::span<const glm::vec3> positions, DrawnMarks& marks) const;

 private:
  const DuctTarget* current() const;
  DuctTarget* target_on(std::uint32_t organ);
  void complain(const Observation& seen, std::string text, TaskLog& log);
  void watch_clips(const Observation& seen, TaskLog& log);
  void watch_divisions(const Observation& seen, TaskLog& log);
  void divide(const Observation& seen, const TubeState& tube, DuctTarget& target, TaskLog& log);
  void injure(const Observation& seen, std::string text, TaskLog& log) const;
  void watch_bleeding(const Observation& seen, TaskLog& log);
  void watch_useless_clips(const Observation& seen, TaskLog& log);
  void count_clips(const Observation& seen, DuctTarget& target) const;

  TaskRules rules_;
  double tolerance_;
  std::vector<std::string> names_;       // [organ]
  std::vector<char> is_tube_, divided_;  // [organ]
  std::vector<char> is_injured_;         // [organ] its bleeding is to be stopped
  std::vector<DuctTarget> targets_;      // in the task's order
  std::vector<char> was_on_;             // [clip]
  std::vector<BleedState> state_;        // [source] in the last frame
  std::vector<double> since_;            // [source] s, when it opened
  bool bleeds_ = false;
  std::size_t known_ = 0, bad_clips_ = 0, clips_now_ = 0, divisions_now_ = 0;
  std::string warning_;
};

}  // namespace trocar
