// Tests the bimodal search on every cyclic shift of every small strictly rising and falling sequence, and on large
// ones.
#include "geometry/planar/convex_polygon.hpp"

#include <gtest/gtest.h>

#include "tests/geometry/planar_random.hpp"

namespace trocar::planar {
namespace {

using namespace test;

// Also counts the comparisons.
struct Found {
  std::size_t maximum, minimum;
  long comparisons;
};

Found search(const std::vector<int>& f) {
  Found found{};
  const auto compare = [&](std::size_t i, std::size_t j) { return ++found.comparisons, (f[i] > f[j]) - (f[i] < f[j]); };
  found.maximum = bimodal_maximum(f.size(), compare);
  found.minimum = bimodal_minimum(f.size(), compare);
  return found;
}

bool right(const std::vector<int>& f) {
  const Found found = search(f);
  return f[found.maximum] == *std::max_element(f.begin(), f.end()) &&
         f[found.minimum] == *std::min_element(f.begin(), f.end());
}

// Every distribution of the values 0 .. n-1 to the rising and the falling half, with the two largest or the two
// smallest equal or not, in every shift.
TEST(PlanarBimodal, EverySmallSequence) {
  long cases = 0, wrong = 0;
  for (int n = 1; n <= 10; ++n) {
    for (int halves = 0; halves < 1 << n; ++halves) {
      for (int equal = 0; equal < (n >= 4 ? 4 : 1); ++equal) {
        std::vector<int> up, down;
        for (int v = 0; v < n; ++v) {
          const bool same_low = (equal & 1) && v == 1, same_high = (equal & 2) && v == n - 1;
          // Equal extremes go to different halves, so that they are neighbours.
          const bool rises = v == 0 || v == n - 2 || !(same_low || same_high) ? (halves >> v) & 1
                             : same_low                                       ? !(halves & 1)
                                                                              : !((halves >> (n - 2)) & 1);
          (rises ? up : down).push_back(same_low ? 0 : same_high ? n - 2 : v);
        }
        std::vector<int> f = up;
        f.insert(f.end(), down.rbegin(), down.rend());
        for (int shift = 0; shift < n; ++shift) {
          std::rotate(f.begin(), f.begin() + 1, f.end());
          ++cases;
          wrong += !right(f);
        }
      }
    }
  }
  std::printf("    %ld sequences\n", cases);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarBimodal, LargeSequencesInLogarithmicComparisons) {
  Dice dice(2);
  Tally tally{"bimodal extrema"};
  long wrong = 0, most = 0;
  std::vector<int> f;
  while (tally.cases < kCases) {
    const int n = static_cast<int>(dice.log_uniform(3.0, 1001.0)), up = static_cast<int>(dice.pick(n + 1));
    f.resize(n);
    int value = 0;
    for (int i = 0; i < up; ++i) f[i] = value += 1 + static_cast<int>(dice.pick(dice.pick(2) ? 2 : 5000));
    // Descends from just below, at or above the top; stays above the lowest value except at the very end.
    const int flat_top = static_cast<int>(dice.pick(3));
    value += flat_top == 0 ? 0 : static_cast<int>(dice.pick(3)) - 1;
    for (int i = up; i < n; ++i) f[i] = value, value -= 1 + static_cast<int>(dice.pick(3));
    if (up > 0 && up < n && dice.pick(4) == 0) f[n - 1] = std::min(f[0], n - up > 1 ? f[n - 2] - 1 : f[0]);
    tally.degenerate += up > 0 && up < n && (f[up] == f[up - 1] || f[0] == f[n - 1]);
    for (int k = 0; k < 20; ++k, ++tally.cases) {
      std::rotate(f.begin(), f.begin() + dice.pick(n), f.end());
      wrong += !right(f);
      most = std::max(most, search(f).comparisons);
    }
  }
  std::printf("    at most %ld comparisons for both extremes of 1000 values\n", most);
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(most, 2 * 3 * 12);
}

}  // namespace
}  // namespace trocar::planar
