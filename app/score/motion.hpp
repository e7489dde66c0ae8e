// Figures of an instrument's motion: how far, how fast, how wide. Pure functions of an even track.
// Formulas and sources, one by one: docs/metrics.md. Not a number where there is nothing to tell from.
// Units: metres, seconds, degrees.   Tested in tests/app/motion_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

#include "app/score/track.hpp"

namespace trocar {

constexpr double kStillSpeed = 0.005;   // m/s  slower is idle: Oropesa et al. 2013
constexpr double kMovingSpeed = 0.010;  // m/s  a movement begins above this and ends below kStillSpeed
constexpr double kActiveSpeed = 0.001;  // m/s  what lies before the first and after the last such speed is waiting
constexpr double kShortestWay = 0.001;  // m    a straight way shorter than this makes no ratio

double path_length(std::span<const glm::dvec3> tip);  // m

// Path length over the straight way from the start through the places at `stops` (s, ascending) to the end; 1 is
// straight. Not a number when that way is shorter than kShortestWay.
double path_inefficiency(const Track& track, std::span<const double> stops);

double depth_travelled(const Track& track);  // m     along the shaft, in and out
double shaft_turned(const Track& track);     // degrees  of the shaft's direction
double roll_turned(const Track& track);      // degrees  about the shaft
double volume_used(const Track& track);      // m^3   box along the world's axes about all places of the tip
// Cube root of the volume over the path: how much of the space the path filled. Not a number without a path.
double economy_of_volume(const Track& track);

double mean_speed(const Track& track);  // m/s
double peak_speed(const Track& track);  // m/s
double idle_share(const Track& track);  // 0..1  of the time, slower than kStillSpeed
std::size_t movements(const Track& track);

// Pearson's correlation of the speeds of two instruments over the time both were there; not a number when that is
// shorter than a second or one of them has the same speed throughout.
double speed_correlation(const Track& left, const Track& right);

}  // namespace trocar
