// Tries a scene on this machine: how long its frames take, at rest and while instruments press its organs, how deep
// tools sink into tissue beyond their dents, what sets the substeps of each organ, and where its shape is thin for its
// lattice. In a press the tip goes straight from the trocar into the organ, waits, is dragged sideways, waits and moves
// out. Each organ is pressed once where an instrument reaches it along a free line, and each instrument presses once;
// two press at a time, as two hands do, and the others are withdrawn. Jaws and blades are closed, diathermy is off. The
// motion depends on the scene alone, times on the machine. Drawing is not part of it. Units: metres, seconds, newtons;
// stage times in ms.   Tested in tests/sim/trial/scene_trial_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <glm/glm.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/record/record_sink.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/frame_cost.hpp"
#include "sim/session/tick_clock.hpp"

namespace trocar {

struct TrialParams {
  double warm_up = 0.25;      // s    at first, not counted: buffers get their sizes; >= 0
  double rest = 2.0;          // s    > 0
  double depth = 0.010;       // m    of a press, along the shaft; > 0
  double drag = 0.020;        // m    > 0
  double press_speed = 0.05;  // m/s  of press and drag, > 0
  double travel_speed = 0.3;  // m/s  of an instrument that touches nothing, > 0
  std::size_t hands = 2;      // 1    instruments that press at a time, >= 1
};

// Of many times: the median, the time that 99 of 100 do not exceed, the largest.
struct Spread {
  double median = 0.0, high = 0.0, largest = 0.0;  // ms
};
Spread spread_of(std::vector<float> values);

// The frames of a phase.
struct PhaseTimes {
  std::size_t frames = 0;
  std::array<Spread, kStages> stage{};  // [stage]
  Spread total;
  double late = 0.0;  // 1  share of the frames that take longer than a frame lasts
};
PhaseTimes phase_times(std::span<const StageMs> frames, double frame_ms);

// What the times mean for a frame of this length.
enum class FrameVerdict {
  Fits,     // 99 of 100 frames fit
  Tight,    // the median fits, 99 of 100 do not
  TooHeavy  // the median does not fit: simulated time runs slower than real time
};
FrameVerdict frame_verdict(const PhaseTimes& rest, const PhaseTimes& press, double frame_ms);

// Returns by which factor the spacing of an organ must grow to save `excess` of the time of all tissue, both 1; nothing
// when no spacing saves so much. `share`: of the organ, 1. With its own stiffness as the cause of the substeps, time
// falls with the fourth power of the spacing, otherwise with the third.
std::optional<double> coarser_by(double excess, double share, bool sets_substeps);

// How thick an organ is: distances across it, from points of its surface straight inward.
struct Thickness {
  std::vector<double> length;  // [ray] m  ascending
  std::vector<double> share;   // [ray] 1  of the surface, up to this ray
  double thinnest = 0.0;       // m  1 % of the surface is over less
  glm::vec3 at{0.f};           // m  a point there
  // Returns the share of the surface where the organ is thinner than this, 1.
  double below(double thickness) const;
};
Thickness measure_thickness(const MeshView& organ);

// The deepest that a tool was in an organ after a frame of a press, beyond its dent.
struct Penetration {
  double depth = 0.0;  // m
  std::size_t tool = 0, organ = 0;
};

// A press that was made.
struct TrialPress {
  std::size_t tool = 0, organ = 0;
  double force = 0.0;    // N  largest on the instrument
  double deepest = 0.0;  // m  of this instrument in this organ
};

struct OrganTrial {
  std::size_t nodes = 0, faces = 0;
  Thickness thickness;        // of a solid
  OrganSubsteps rest, press;  // at rest; at the most contact substeps
};

struct SceneTrial {
  std::string backend, why_backend;
  PhaseTimes rest, press;
  std::vector<OrganTrial> organs;   // [organ]
  std::vector<TrialPress> presses;  // in their order
  Penetration deepest;
  int contact_substeps = 1;  // 1  the most in a frame of a press
  double seconds = 0.0;      // s  simulated
  bool complete = true;      //    `goes_on` has not ended it
};

// Runs the trial. `sink`: records it, so that recording is part of the time; empty: nothing is recorded. `gl`: from
// gl_description(). `goes_on`: called before each frame with the simulated time, s; false ends the trial. Throws the
// errors of Session and of `sink`.
SceneTrial try_scene(const Scene& scene, BackendMaker& backends, const std::string& backend, const OpenSink& sink,
                     const std::string& gl, const std::function<bool(double)>& goes_on, const TrialParams& params = {});

}  // namespace trocar
