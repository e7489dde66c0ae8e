// Computes the motion metrics of an instrument (lengths, speeds, volume), by pure functions of an evenly sampled track.
// Formulas and sources: docs/metrics.md. An undefined value is NaN.
// Units: metres, seconds, degrees.   Tested in tests/sim/score/motion_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/score/attempt.hpp"
#include "sim/score/track.hpp"

namespace trocar {

// The value of a metric that is not defined for an attempt.
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

constexpr double kStillSpeed = 0.005;    // m/s  slower is idle: Oropesa et al. 2013
constexpr double kMovingSpeed = 0.010;   // m/s  a movement begins above this and ends below kStillSpeed
constexpr double kShortestStop = 0.1;    // s    below kStillSpeed for less is not a stop
constexpr double kShortestMove = 0.002;  // m    a shorter path between two stops is not a movement
constexpr double kActiveSpeed = 0.001;   // m/s  the time before the first and after the last such speed is waiting
constexpr double kShortestWay = 0.001;   // m    below this straight-line distance a ratio is undefined

double path_length(std::span<const glm::dvec3> tip);  // m

// Returns the path-length ratio: path length over the sum of straight-line distances from the start through the
// positions at `stops` (s, ascending) to the end; 1 is straight. NaN when that sum is below kShortestWay.
double path_inefficiency(const Track& track, std::span<const double> stops);

double depth_travelled(const Track& track);  // m     along the shaft, in and out
double shaft_turned(const Track& track);     // degrees  of the shaft's direction
double roll_turned(const Track& track);      // degrees  about the shaft
double volume_used(const Track& track);      // m^3   of the axis-aligned box around all positions of the tip
// Returns the cube root of the volume over the path length. NaN when the path is shorter than kShortestWay.
double economy_of_volume(const Track& track);

double mean_speed(const Track& track);  // m/s
double peak_speed(const Track& track);  // m/s
double idle_share(const Track& track);  // 0..1  of the time, slower than kStillSpeed
std::size_t movements(const Track& track);
// Returns the movements of the track up to kTrackCutOff, whose smoothness is measured, each with half a period of this
// cut-off at either end, where samples exist.
std::vector<Track> movements_of(const Track& track);

// Returns Pearson's correlation of the speeds of two instruments over their common time; NaN when that is shorter than
// a second or one of the speeds is constant.
double speed_correlation(const Track& left, const Track& right);

// The list of motion metrics of an instrument, with their labels, units and notes: lengths, speeds, smoothness. A score
// of a recording and one of a trajectory have the same list. Definitions: docs/metrics.md.
// Units: as stated with each metric.   Tested in tests/sim/score/score_test.cpp

// A value that the noise of the sensor changes by more than this share is undefined. The trials of a MeasuredTrack
// raise the noise by the factor sqrt 2, so a change in proportion to the noise is 2.4 times as large as the trials
// show, and a change in proportion to its square as large: the value is within a tenth of that without noise.
constexpr double kMostChange = 0.03;
// Above this, noise of a still tip passes for motion: what depends on a limit of the speed is undefined, because more
// noise may then change nothing.
constexpr double kMostSpeedNoise = kStillSpeed / 2.5;  // m/s

// Returns whether noise leaves a value as it is: the mean change over the trials is at most kMostChange of `size`, >=
// 0.
bool steady(double value, std::span<const double> trials, double size);

// `stops`: s, ascending, times at which the straight-line path changes direction (path_inefficiency).
std::vector<Metric> motion_metrics(const MeasuredTrack& measured, std::span<const double> stops);
// Returns speed_correlation(); NaN when noise of the sensor changes it by more than kMostChange.
double steady_correlation(const MeasuredTrack& left, const MeasuredTrack& right);

// Metrics that the score of a recording and that of a running session share.
constexpr double kUsualForceLimit = 2.0;  // N  without a task; else the task's limit

// `good`, `poor`: s, of the task; empty without one.
Metric duration_metric(double duration, std::optional<double> good, std::optional<double> poor);
// `shares`: s, as of frame_shares(). `out_of_view`: [frame] 0 or 1.
Metric out_of_view_metric(std::span<const double> shares, std::span<const char> out_of_view, double duration);
// `peak`: N, the largest force.
Metric peak_force_metric(double peak, double limit);

// Computes the duration and the number of events from flags of frames. A frame represents the time since the frame
// before it, as in a task.
// Units: seconds.   Tested in tests/sim/score/motion_test.cpp

// Returns the duration of each frame, [frame] s; 0 where time does not increase.
std::vector<double> frame_shares(std::span<const double> times);

// Returns the total duration of the frames whose flag is not 0.
double time_of(std::span<const double> shares, std::span<const char> flags);
// Returns the number of events, including one that begins in the first frame. Events at most `away` s apart are merged.
std::size_t beginnings(std::span<const double> times, std::span<const char> flags, double away);

}  // namespace trocar
