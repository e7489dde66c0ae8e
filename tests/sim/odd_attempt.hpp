// Provides an attempt with numbers that a text form easily loses, and the comparison of two attempts, bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "sim/inputs/attempt_file.hpp"

namespace trocar::test {

inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

inline void expect_same(const LoggedFrame& a, const LoggedFrame& b) {
  EXPECT_EQ(a.clock.frame, b.clock.frame);
  EXPECT_TRUE(same_bits(a.clock.time, b.clock.time) && same_bits(a.clock.wall, b.clock.wall) &&
              same_bits(a.clock.lost, b.clock.lost) && same_bits(a.step, b.step) &&
              same_bits(a.field_of_view_deg, b.field_of_view_deg));
  EXPECT_EQ(a.suspended, b.suspended);
  EXPECT_EQ(a.sums, b.sums);
}

inline void expect_same(const LoggedDevice& a, const LoggedDevice& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.follows_ticks, b.follows_ticks);
  ASSERT_EQ(a.poses.size(), b.poses.size());
  for (std::size_t k = 0; k < a.poses.size(); ++k) {
    EXPECT_EQ(a.poses[k].frame, b.poses[k].frame);
    EXPECT_TRUE(trocar::same_bits(a.poses[k].pose, b.poses[k].pose));
    EXPECT_EQ(a.poses[k].health, b.poses[k].health);
  }
}

inline void expect_same(const std::vector<TaskEvent>& a, const std::vector<TaskEvent>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_TRUE(same_bits(a[k].time, b[k].time));
    EXPECT_EQ(a[k].error, b[k].error);
    EXPECT_EQ(a[k].text, b[k].text);
  }
}

inline void expect_same(const AttemptFile& a, const AttemptFile& b) {
  EXPECT_EQ(std::tie(a.program, a.date, a.model_version, a.scene, a.scene_text, a.seed, a.ending),
            std::tie(b.program, b.date, b.model_version, b.scene, b.scene_text, b.seed, b.ending));
  EXPECT_EQ(std::tie(a.run.clock, a.run.activity, a.run.person, a.run.device),
            std::tie(b.run.clock, b.run.activity, b.run.person, b.run.device));
  EXPECT_TRUE(same_bits(a.score, b.score));
  expect_same(a.events, b.events);
  ASSERT_EQ(a.log.frames.size(), b.log.frames.size());
  for (std::size_t k = 0; k < a.log.frames.size(); ++k) expect_same(a.log.frames[k], b.log.frames[k]);
  ASSERT_EQ(a.log.devices.size(), b.log.devices.size());
  for (std::size_t k = 0; k < a.log.devices.size(); ++k) expect_same(a.log.devices[k], b.log.devices[k]);
}

// Three frames with numbers that a text form easily loses.
inline AttemptFile odd_attempt() {
  AttemptFile attempt{.program = "1.2.3",
                      .date = "2026-03-04 05:06:07",
                      .model_version = 9,
                      .scene = "scenes/a.toml",
                      .scene_text = "title = \"\\u00e4\"\r\n\t# \"\\ \xc3\xa4\n",
                      .seed = 0xffffffffu};
  attempt.run = {ScoreClock::Wall, Activity::Demonstration, "zo\xc3\xab", kPerformerDevice};
  attempt.ending = Ending::NotDone;
  attempt.score = 0.1 + 0.2;
  attempt.events = {{1e-300, true, "left the \"line\""}, {1.0 / 3.0, false, ""}};
  const double tiny = std::numeric_limits<double>::denorm_min(), nan = std::bit_cast<double>(0x7ff8dead0000beefull);
  attempt.log.frames = {{{0, 0.0, 0.0, 0.0}, 0.0, 60.0, false, {}},
                        {{~std::uint64_t{0}, tiny, 1.0 / 3.0, tiny}, 1.0, 61.7, true, {~std::uint64_t{0}, 7}},
                        {{5, 86400.0, 86400.0, 86400.0}, 0.1, 179.0, false, {1, ~0u}}};
  attempt.log.devices = {
      {"probe",
       false,
       {{0, {{1, 2, 3}, {-0.0, nan, tiny}, -720.0, 0.5, Diathermy::Coagulate, 0.25}, DeviceHealth::Good},
        {2, {{INFINITY, 2, 3}, {4, 5, 6}}, DeviceHealth::Lost}}},
      {kScopeName, true, {{0, {}, DeviceHealth::Stale}}}};
  return attempt;
}

}  // namespace trocar::test
