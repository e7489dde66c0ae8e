// Tests every motion metric against noise of the sensor: on motions that surgeons make, with noise of 0 to 0.3 mm at 15
// to 1,000 Hz, each metric is within a tenth of its value without noise, or undefined. docs/metrics.md has the table.
// The reference is the motion itself, sampled at 1,000 Hz without noise. The path is compared with the length of the
// curve, which is found by other means.   Units: m, s, Hz
#include "sim/device/trajectory.hpp"
#include "sim/scene/scope.hpp"
#include "sim/score/motion.hpp"
#include "tests/sim/score/score_support.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::metric_noise_test {
namespace {

struct HandMotion {
  std::string name;
  test::Path path;
  double duration;              // s
  bool at_speed_limit = false;  // it stays near kStillSpeed and kMovingSpeed: the number of movements may be undefined
};

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  glm::dvec3 direction() { return glm::normalize(glm::dvec3(between(-1, 1), between(-1, 1), between(-0.5, 0.5))); }

 private:
  std::mt19937 random_;
};

// Minimum-jerk movements of `low` .. `high` m, `seconds_per_m` for each metre and 0.25 s for the rest, with pauses
// between them; within 6 cm of the start.
HandMotion movements_with_pauses(const char* name, unsigned seed, int count, glm::dvec2 size, double seconds_per_m,
                                 glm::dvec2 pause) {
  Draw draw(seed);
  std::vector<test::Path> moves;
  glm::dvec3 at(0.0);
  double time = draw.between(pause.x, pause.y);
  for (int k = 0; k < count; ++k) {
    const double length = draw.between(size.x, size.y), duration = 0.25 + seconds_per_m * length;
    glm::dvec3 move = length * draw.direction();
    while (glm::length(at + move) > 0.06) move = length * draw.direction();
    moves.push_back(test::minimum_jerk(move, duration, time));
    at += move;
    time += duration + draw.between(pause.x, pause.y);
  }
  return {name,
          [moves](double t) {
            glm::dvec3 tip(0.0);
            for (const test::Path& move : moves) tip += move(t);
            return tip;
          },
          time};
}

HandMotion reaching(unsigned seed) {
  return movements_with_pauses("reaches with pauses", seed, 14, {0.02, 0.055}, 12.0, {0.4, 1.2});
}
HandMotion stop_and_go(unsigned seed) {
  return movements_with_pauses("stop and go", seed, 30, {0.006, 0.02}, 15.0, {0.3, 0.6});
}

// A wavy line at `speed`, which varies a little.
HandMotion following(const char* name, unsigned seed, double speed) {
  Draw draw(seed);
  const double height = draw.between(0.004, 0.008), turns = draw.between(100.0, 160.0), phase = draw.between(0.0, 6.0);
  return {name,
          [=](double t) {
            const double along = speed * (t + 0.12 * std::sin(1.1 * t + phase));
            return glm::dvec3(along, height * std::sin(turns * along + phase), 0.002 * std::sin(70.0 * along));
          },
          30.0, speed < 0.006};
}

// Reaches with tremor of 8.4 to 9.5 Hz, which swells and fades.
HandMotion trembling(const char* name, unsigned seed, double amplitude) {
  const HandMotion calm = reaching(seed);
  return {name,
          [path = calm.path, amplitude](double t) {
            const double size = amplitude * (0.7 + 0.3 * std::sin(2.0 * t));
            return path(t) + size * glm::dvec3(std::sin(56.0 * t), std::sin(53.0 * t + 1.0), std::sin(60.0 * t + 2.0));
          },
          calm.duration};
}

std::vector<HandMotion> hand_motions(unsigned seed) {
  return {reaching(seed),
          stop_and_go(seed),
          following("curve, 8 mm/s", seed, 0.008),
          following("curve, 5 mm/s", seed, 0.005),
          trembling("tremor 0.15 mm", seed, 1.5e-4),
          trembling("tremor 0.4 mm", seed, 4e-4)};
}

TrackSamples measured_samples(const HandMotion& motion, double rate, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  TrackSamples samples;
  for (int k = 0; k <= static_cast<int>(motion.duration * rate); ++k) {
    glm::dvec3 tip = motion.path(k / rate);
    if (noise > 0.0) tip += noise * glm::dvec3(normal(random), normal(random), normal(random));
    samples.add(k / rate, tip, {0.02, -0.06, 0.25}, 0.0);
  }
  return samples;
}

// The change from the reference, as a share of it; of a logarithm, which has no natural zero, at least of 1.
double change_of(const Metric& metric, const Metric& reference) {
  if (metric.value == reference.value) return 0.0;
  const bool log = metric.id == "ldlj" || metric.id == "ldlj_movement" || metric.id == "log_jerk";
  const double size = std::max(std::abs(reference.value), log ? 1.0 : 0.0);
  return std::abs(metric.value - reference.value) / size;
}

struct Found {
  double worst = 0.0;
  int defined = 0, all = 0;
};
using Table = std::map<std::string, std::map<double, Found>>;  // [metric][noise, mm]

void compare_metrics(const std::vector<Metric>& metrics, const std::vector<Metric>& reference, double noise,
                     const std::string& where, std::span<const std::string_view> defined, Table& table) {
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    const Metric& metric = metrics[k];
    if (metric.id == "noise" || std::isnan(reference[k].value)) continue;
    Found& found = table[metric.id][noise * 1e3];
    ++found.all;
    if (std::isnan(metric.value)) {
      EXPECT_EQ(std::ranges::count(defined, metric.id), 0) << metric.id << " is undefined: " << where;
      continue;
    }
    ++found.defined;
    const double change = change_of(metric, reference[k]);
    found.worst = std::max(found.worst, change);
    EXPECT_LT(change, 0.1) << metric.id << " " << metric.value << ", without noise " << reference[k].value << ": "
                           << where;
  }
}

void print_table(const Table& table) {
  std::printf("worst change, %% of the value without noise (share of the tracks where it is defined, %%)\n%-22s",
              "noise, mm");
  for (const auto& [noise, found] : table.begin()->second) std::printf("%14g", noise);
  for (const auto& [id, row] : table) {
    std::printf("\n%-22s", id.c_str());
    for (const auto& [noise, found] : row)
      std::printf("%8.1f (%3d)", 100.0 * found.worst, 100 * found.defined / std::max(found.all, 1));
  }
  std::printf("\n");
}

constexpr double kNoises[] = {0.0, 1e-5, 3e-5, 1e-4, 2e-4, 3e-4};      // m
constexpr double kRates[] = {15.0, 30.0, 60.0, 100.0, 240.0, 1000.0};  // Hz

// What must be defined up to 0.1 mm at 30 Hz and above.
constexpr std::string_view kDefined[] = {"path_length", "movements"};
std::span<const std::string_view> must_be_defined(double rate, double noise, bool at_speed_limit = false) {
  if (rate < 30.0 || noise > 1e-4) return {};
  return std::span(kDefined).first(at_speed_limit ? 1 : 2);
}

TEST(MetricNoise, EachMetricIsWithinATenthOrUndefined) {
  Table table;
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::printf("seed %u\n", seed);
    for (const HandMotion& motion : hand_motions(seed)) {
      const auto reference = motion_metrics({track_of(measured_samples(motion, 1000.0, 0.0, 0)), 0.0, 1000.0}, {});
      for (const double rate : kRates)
        for (const double noise : kNoises) {
          const auto samples = measured_samples(motion, rate, noise, 100 * seed + 7);
          compare_metrics(motion_metrics(measured_track(samples), {}), reference, noise,
                          motion.name + ", seed " + std::to_string(seed) + ", " + std::to_string(rate) + " Hz, " +
                              std::to_string(noise * 1e3) + " mm",
                          must_be_defined(rate, noise, motion.at_speed_limit), table);
        }
    }
  }
  print_table(table);
}

// The path by the lengths of many straight pieces of the motion without tremor, without track, spline or filter.
TEST(MetricNoise, ThePathIsThatOfTheHand) {
  for (const unsigned seed : {4u, 5u})
    for (const HandMotion& motion : hand_motions(seed)) {
      const HandMotion hand = motion.name.starts_with("tremor") ? reaching(seed) : motion;
      double length = 0.0;
      for (int k = 1; k <= 30000; ++k)
        length += glm::distance(hand.path(hand.duration * k / 30000.0), hand.path(hand.duration * (k - 1) / 30000.0));
      const auto samples = measured_samples(motion, 30.0, 1e-4, seed);
      const double found = path_length(track_of(samples).tip);
      std::printf("%-20s seed %u: path %.1f mm, found %.1f mm\n", motion.name.c_str(), seed, 1e3 * length, 1e3 * found);
      EXPECT_NEAR(found / length, 1.0, 0.1) << motion.name;
    }
}

// A log of a surgical robot, 16 s at 30 Hz: the motion of a real arm, sampled with a spline for other rates.
TEST(MetricNoise, TheSameHoldsForARealTrajectory) {
  const auto file = shared_file("trajectories/dvrk_classic.csv");
  if (!file) GTEST_SKIP() << "no shared test data";
  const Trajectory log = load_trajectory(*file);
  Knots axes[3];
  for (const TrajectoryRow& row : log.rows)
    for (int axis = 0; axis < 3; ++axis) axes[axis].time.push_back(row.time), axes[axis].value.push_back(row.tip[axis]);
  Table table;
  for (const double rate : kRates) {
    TrackSamples clean;
    std::vector<double> line[3];
    for (int axis = 0; axis < 3; ++axis) line[axis] = spline_samples(axes[axis], rate);
    for (std::size_t k = 0; k < line[0].size(); ++k)
      clean.add(static_cast<double>(k) / rate, {line[0][k], line[1][k], line[2][k]}, log.rows[0].pivot, 0.0);
    static std::vector<Metric> reference;
    if (reference.empty()) {
      TrackSamples given;
      for (const TrajectoryRow& row : log.rows) given.add(row.time, row.tip, row.pivot, 0.0);
      reference = motion_metrics({track_of(given), 0.0, 30.0}, {});
    }
    for (const double noise : kNoises)
      compare_metrics(motion_metrics(measured_track(with_noise(clean, noise, 77)), {}), reference, noise,
                      std::to_string(rate) + " Hz, " + std::to_string(noise * 1e3) + " mm",
                      must_be_defined(rate, noise), table);
  }
  print_table(table);
}

// The tip crosses the edge of the field at the speed of a hand. Time out of view and its count come from each frame.
TEST(MetricNoise, TimeOutOfViewBearsNoise) {
  const ScopePose scope{};
  for (const double rate : {30.0, 60.0, 240.0, 1000.0})
    for (const double noise : {0.0, 3e-5, 1e-4, 3e-4})
      for (const unsigned seed : {1u, 2u, 3u}) {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        std::vector<double> times;
        std::vector<char> exact, measured;
        for (int k = 0; k <= static_cast<int>(40.0 * rate); ++k) {
          times.push_back(k / rate);
          const double angle = 0.8 * std::numbers::pi * times.back() / 4.0;
          const glm::dvec3 tip = scope.eye + 0.1 * axes_of(scope).forward +
                                 glm::dvec3(0.08 * std::sin(angle), 0.01 * std::cos(angle), 0.0);
          const glm::dvec3 off = noise * glm::dvec3(normal(random), normal(random), normal(random));
          exact.push_back(!seen_point(scope, {}, tip).visible);
          measured.push_back(!seen_point(scope, {}, tip + off).visible);
        }
        const auto shares = frame_shares(times);
        ASSERT_GT(time_of(shares, exact), 4.0);
        EXPECT_NEAR(time_of(shares, measured) / time_of(shares, exact), 1.0, 0.1) << rate << " Hz, " << noise;
        EXPECT_EQ(beginnings(times, measured, 0.3), beginnings(times, exact, 0.3)) << rate << " Hz, " << noise;
      }
}

}  // namespace
}  // namespace trocar::metric_noise_test
