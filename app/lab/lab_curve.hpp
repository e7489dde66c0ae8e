// The learning curve of a person at a level of a task: any metric from attempt to attempt, the line of a pass, and the
// band in which the middle half of the others were at their attempt of that number.
// Shown by the pages of lab_server.hpp and in the window.   Tested in tests/app/lab_database_test.cpp
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/lab_attempt.hpp"
#include "sim/course/curriculum.hpp"

namespace trocar {

// A band needs so many others, so that it shows none of them.
inline constexpr std::size_t kFewestPeers = 3;

// Of the others' values at one number of attempt: a quarter is below `low`, a quarter above `high`.
struct PeerRange {
  double low = 0.0, high = 0.0;
};

struct PassLine {
  double value = 0.0;
  bool at_most = false;  // false: at least
};

struct LabCurve {
  std::string metric = {};                // as in LabAttempt::metrics; empty: the score
  std::vector<LabAttempt> attempts = {};  // with a value, oldest first
  std::vector<double> values = {};        // [attempt]
  std::vector<PeerRange> peers = {};      // [number of attempt], up to the last that enough others reached
  std::optional<PassLine> pass = {};
};

// Returns the value of a metric; empty where it is undefined.
std::optional<double> value_of(const LabAttempt& attempt, const std::string& metric);
// Returns the metrics that some attempt has, sorted; the score is not one of them.
std::vector<std::string> metrics_of(std::span<const LabAttempt> attempts);

// The values that a drawing of these curves of one metric shows: all of a score, else those of the curves with their
// bands and pass lines. low < high.
struct CurveRange {
  double low = 0.0, high = 100.0;
};
CurveRange curve_range(std::span<const LabCurve> curves);
// Returns the ranges of the others up to the last attempt of the person.
std::span<const PeerRange> shown_peers(const LabCurve& curve);

// `all`: attempts of everybody at one level of one task, in any order.
LabCurve lab_curve(const std::string& person, std::span<const LabAttempt> all, const std::string& metric,
                   const Curriculum& curriculum);

}  // namespace trocar
