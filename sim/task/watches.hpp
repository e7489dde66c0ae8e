// Makes the measurements that tasks share: contact of an instrument's tip, distance from a target along the surface,
// path lengths. Keeps a state through single frames that interrupt it.
// Units: metres, seconds.   Tested in tests/sim/task/task_run_test.cpp
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cpu_collision/solids/point_in_solid.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/planar/zone.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {

// A touch by a part of the tip (a jaw, a blade, the wire) is a touch by the tip; so is a touch by the shaft within this
// distance of its surface at the tip.
constexpr double kTipReach = 0.003;  // m
// Tissue that an instrument pushes away is not touched in every frame.
constexpr double kContactLasts = 0.1;  // s
// An error ends after this time without it; only then can it count again.
constexpr double kErrorLasts = 0.3;  // s

// Returns whether the tool's tip touches the organ in this frame.
bool tip_touches(const Observation& seen, std::size_t organ, std::size_t tool);
// Returns whether any part of the tool touches the organ in this frame.
bool touches(const Observation& seen, std::size_t organ, std::size_t tool);

// Returns the distance from a target along the surface, for a tip that rests on it: a ball of the instrument's radius
// on a plane, so sqrt(distance^2 - radius^2), and 0 if distance < radius. `distance`: from the tip to the target.
double beside(double distance, double radius);

// A state with hysteresis, for intermittent observations: contact with yielding tissue, an error close to its limit. It
// ends when it has not been observed for longer than `lasts`.
class Lasting {
 public:
  explicit Lasting(double lasts) : lasts_(lasts) {}
  // Returns true when the state begins.
  bool see(bool there, double time) {
    const bool before = now_;
    if (there) last_ = time, ever_ = true;
    now_ = there || (ever_ && time - last_ <= lasts_);
    return now_ && !before;
  }
  bool now() const { return now_; }

 private:
  double lasts_, last_ = 0.0;  // s
  bool ever_ = false, now_ = false;
};

// Measures the path length of a tip, and the straight-line distance between targets.
class PathMeter {
 public:
  void see(const glm::dvec3& tip) {
    if (begun_) length_ += glm::distance(tip, last_);
    if (!begun_) station_ = tip;
    last_ = tip, begun_ = true;
  }
  // Call when a target is reached: adds its straight-line distance and the path so far.
  void reach() {
    direct_ += glm::distance(last_, station_), reached_ = length_;
    station_ = last_;
  }
  double length() const { return length_; }    // m, so far
  double reached() const { return reached_; }  // m, up to the last target
  double direct() const { return direct_; }    // m, straight-line distances up to the last target

 private:
  glm::dvec3 last_{0.0}, station_{0.0};
  double length_ = 0.0, reached_ = 0.0, direct_ = 0.0;  // m
  bool begun_ = false;
};

// Returns part / whole; NaN unless whole > 0.
double ratio(double part, double whole);

// Detects too much force on the tissue, in every kind of task: measures count, duration and peak. The force first
// passes a low-pass filter, as a hand does, so that single frames of an intermittent contact do not count.
// Units: newtons, seconds.   Tested in tests/sim/task/task_run_test.cpp
class ForceWatch {
 public:
  static constexpr double kTimeConstant = 0.05;  // s   of the filter

  ForceWatch(const TaskScene& task, const TaskStage& stage)
      : most_(task.most_force),
        instruments_(stage.instruments),
        over_(stage.instruments.size(), Lasting(kErrorLasts)),
        felt_(stage.instruments.size(), glm::dvec3(0.0)) {}

  void step(const Observation& seen, double dt, TaskLog& log);
  double now() const { return now_; }  // N, largest filtered force of an instrument
  bool over() const { return now_ > most_; }
  double peak() const { return peak_; }  // N
  void add_metrics(PartList& parts) const;

 private:
  double most_;
  std::vector<std::string> instruments_;
  std::vector<Lasting> over_;     // [instrument]
  std::vector<glm::dvec3> felt_;  // [instrument] N
  double now_ = 0.0, peak_ = 0.0, time_over_ = 0.0;
};

// Measures the tremor of the tip while it moves slowly, in every kind of task whose scene sets a limit. Physiological
// tremor of the hand lies at 8 to 12 Hz (Elble, Koller, "Tremor", 1990). A fourth-order Butterworth high-pass filter at
// 5 Hz separates it from intended movement; fast movement and the time after it are left out, because a fast start or
// stop contains these frequencies too.
// Units: metres, seconds, hertz.   Tested in tests/sim/task/task_run_test.cpp

// A high-pass filter of a point's position: two second-order sections, bilinear transform.
class TremorFilter {
 public:
  static constexpr double kLowest = 5.0;  // Hz   half of the power passes here

  void begin(const glm::dvec3& at);
  // Returns the part of the position above kLowest, m. `dt`: s, below 1 / (2 kLowest).
  glm::dvec3 step(const glm::dvec3& at, double dt);

 private:
  struct Section {
    glm::dvec3 first{0.0}, second{0.0};  // the state of the transposed direct form
  };
  glm::dvec3 start_{0.0};
  std::array<Section, 2> sections_;
};

class TremorWatch {
 public:
  static constexpr double kSlow = 0.03;         // m/s  the tip is held or traces a line
  static constexpr double kSettled = 0.3;       // s    slow for so long: the last fast movement has left the filter
  static constexpr double kLongestStep = 0.05;  // s    longer steps do not show the frequencies of tremor
  static constexpr double kEnough = 1.0;        // s    less measured time gives no value

  TremorWatch(const TaskScene& task, const TaskStage& stage);

  void step(const Observation& seen, double dt);
  double rms() const;  // m, of the instrument with the largest; NaN when too little was measured
  void add_metrics(PartList& parts) const;

 private:
  struct Hand {
    TremorFilter filter;
    glm::dvec3 smooth{0.0};                // m   the tip after a low-pass filter, for its speed
    double slow = 0.0;                     // s   since the last fast movement
    double squares = 0.0, measured = 0.0;  // m^2 s, s
    bool begun = false;
  };
  void follow(Hand& hand, const glm::dvec3& tip, double dt);

  double most_, worst_;  // m   full grade, grade 0
  bool of_scope_;
  std::vector<std::size_t> tools_;
  std::vector<Hand> hands_;  // [tools_], or the scope
};

// Watches the forbidden zones of a task, which are drawn in the scope's picture: measures entries of instruments, time
// inside, depth. The shaft's radius is projected at the depth of its point nearest to the zone.
// Units: metres, seconds; in the picture half heights.   Tested in tests/sim/task/task_run_test.cpp

// Penetration of a tool into a zone, in the picture; <= 0: outside. `metres`: the same length at the tool's depth.
struct ZoneDepth {
  double half_heights = -1.0, metres = 0.0;
};
ZoneDepth depth_in_zone(const planar::Zone& zone, const ScopePose& scope, const ToolPose& tool);

class ZoneWatch {
 public:
  // An instrument has left a zone when it has been outside for this long.
  static constexpr double kAway = kErrorLasts;  // s

  // Prepares the zones. Throws InputError for an outline that is not a simple polygon.
  ZoneWatch(const TaskScene& task, const TaskStage& stage);

  void step(const Observation& seen, double dt, TaskLog& log);
  bool violated() const { return deepest_now_ > 0.0; }
  double deepest_now() const { return deepest_now_; }  // m
  std::size_t entries() const { return entries_; }
  double deepest() const { return deepest_; }  // m

  // Appends the zone metrics if the task has zones.
  void add_metrics(PartList& parts) const;
  void draw(DrawnMarks& marks) const;

 private:
  std::vector<planar::Zone> zones_;
  std::vector<std::string> instruments_;
  std::vector<Lasting> inside_;  // [zone, instrument]
  std::vector<char> violated_;   // [zone] now
  std::size_t entries_ = 0;
  double time_inside_ = 0.0, deepest_ = 0.0, deepest_now_ = 0.0;
};

// Watches cuts and tears in organs that a task does not divide.   Tested in tests/sim/task/task_run_test.cpp

// A cut that lasts several frames counts once.
struct CutWatch {
  double last = -INFINITY;  // s   the last frame in which faces were removed
  std::size_t count = 0;

  // Call for every frame with removed faces. Returns true for a new cut.
  bool cut(double time) {
    constexpr double kPause = 0.5;  // s
    const bool is_new = time > last + kPause;
    last = time;
    count += is_new;
    return is_new;
  }
};

// Watches how much blood and bile an organ loses in a task, against the limits of the task. The volumes are those of
// the session or its recording.   Units: ml.   Tested in tests/sim/task/task_run_test.cpp
class LossWatch {
 public:
  LossWatch(std::uint32_t organ, const TaskLimit& limit)
      : organ_(organ), blood_{limit.most_blood_ml}, bile_{limit.most_bile_ml} {}

  // Observes the next frame. `name`: of the organ. Blood above its limit is a critical error, bile an error, once.
  void step(const Observation& seen, const std::string& name, TaskLog& log);
  double blood() const { return blood_.lost; }       // ml, in the task
  double most_blood() const { return blood_.most; }  // ml, 0: unlimited

 private:
  struct Limit {
    double most = 0.0;  // ml, 0: unlimited
    double lost = 0.0;  // ml
    bool reported = false;

    bool exceeded(double volume) {
      lost = volume;
      if (reported || !(most > 0.0) || !(volume > most)) return false;
      return reported = true;
    }
  };
  std::uint32_t organ_;
  Limit blood_, bile_;
  std::optional<FluidLoss> before_;  // m^3, before the task
};

// Measures how deep burnt holes reach into an organ: the largest distance of a vertex of their walls from the surface
// at rest. Scanned organs overlap their neighbours at rest; tissue inside a neighbour is not counted, and its surface
// bounds the organ there.   Units: metres.   Tested in tests/sim/task/task_run_test.cpp
class BurnWatch {
 public:
  // Surfaces at rest, unburnt. `neighbours`: the other organs; closed.
  BurnWatch(const MeshView& organ, std::span<const MeshView> neighbours);

  // Adds the vertices of new walls. m, at rest
  void add(std::span<const glm::vec3> walls);
  double deepest() const { return deepest_; }

 private:
  // A surface, and a tree that refers to it.
  struct Solid {
    explicit Solid(const MeshView& mesh);
    std::unique_ptr<TriangleMesh> surface;
    std::unique_ptr<SurfaceTree> tree;
    solids::SolidBox box;
  };
  double depth_of(const glm::vec3& p) const;

  std::vector<Solid> solids_;  // the organ, then its neighbours
  double deepest_ = 0.0;
};

}  // namespace trocar
