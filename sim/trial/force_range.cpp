#include "sim/trial/force_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trocar {
namespace {

// Depths of the measured presses, in radii of the ball.
constexpr std::array kShares{0.2, 0.4, 0.6, 0.8, 1.0};
using AtShares = std::array<double, kShares.size()>;

// Bounds of the rows of the table of balls in docs/results.md, by thickness and by the ball's radius over the spacing.
struct BallRows {
  bool thick;          // blocks of two cells and more; otherwise of one
  double most_ratio;   // 1  radius over spacing
  AtShares low, high;  // 1
};
constexpr double kLeastRatio = 0.2;
constexpr BallRows kBallRows[] = {
    {true, 0.5, {0.98, 0.96, 0.95, 0.92, 0.83}, {1.01, 1.00, 1.00, 1.00, 0.98}},
    {true, 1.0, {0.94, 0.87, 0.86, 0.84, 0.79}, {1.01, 1.02, 1.04, 1.00, 0.93}},
    {false, 0.5, {0.95, 0.95, 0.96, 0.89, 0.76}, {1.06, 1.10, 1.12, 1.01, 0.89}},
    {false, 1.0, {0.96, 0.95, 0.97, 0.87, 0.74}, {1.11, 1.33, 1.58, 1.38, 1.22}},
};
// With the law `rising`: whole cells differ from the rows above by this much; where the surface cuts the cells, forces
// were this low at R / 5 and at R; a layer of one cell under a ball as large was this stiff.
constexpr double kRisingMore = 0.06, kRisingLowFirst = 0.84, kRisingLowLast = 0.63, kRisingThinHigh = 2.65;
// The radius may differ from that of the row by rounding.
constexpr double kSameRatio = 1e-6;
constexpr double kSteps = 100.0;  // of depths that are looked at

double between(const AtShares& values, double share) {
  if (share <= kShares.front()) return values.front();
  std::size_t k = 1;
  while (k + 1 < kShares.size() && share > kShares[k]) ++k;
  const double part = (share - kShares[k - 1]) / (kShares[k] - kShares[k - 1]);
  return values[k - 1] + part * (values[k] - values[k - 1]);
}

ForceBounds with_rising(ForceBounds bounds, bool thick, double share) {
  const double part = std::max(0.0, (share - kShares.front()) / (kShares.back() - kShares.front()));
  bounds.low = std::min(bounds.low - kRisingMore, kRisingLowFirst + part * (kRisingLowLast - kRisingLowFirst));
  bounds.high = thick ? bounds.high + kRisingMore : kRisingThinHigh;
  return bounds;
}

// Bounds of the table of parts there, over all spacings and depths with a reference; and the reference's force at the
// greatest depth, which was that of 6 kPa and 0.46.
constexpr double kPartRadius = 0.0025, kPartFinest = 0.005, kPartCoarsest = 0.009;  // m
constexpr double kPartModulus = 6000.0 / (1.0 - 0.46 * 0.46);                       // Pa
struct PartRow {
  TipShape shape;
  TissueLaw law;
  PartRange range;
};
constexpr PartRow kPartRows[] = {
    {TipShape::Wire, TissueLaw::Springs, {{0.68, 1.15}, 0.0015, 0.04000}},
    {TipShape::Wire, TissueLaw::Rising, {{0.91, 1.19}, 0.0015, 0.04000}},
    {TipShape::Blade, TissueLaw::Springs, {{0.75, 1.15}, 0.00075, 0.01833}},
    {TipShape::Blade, TissueLaw::Rising, {{0.76, 1.19}, 0.00075, 0.01833}},
    {TipShape::Jaw, TissueLaw::Springs, {{0.71, 1.27}, 0.002, 0.15413}},
    {TipShape::Jaw, TissueLaw::Rising, {{0.69, 1.26}, 0.002, 0.15413}},
};

}  // namespace

TipShape tip_shape(InstrumentKind kind) {
  if (is_blunt(kind)) return TipShape::Ball;
  if (kind == InstrumentKind::Hook) return TipShape::Wire;
  return kind == InstrumentKind::Scissors ? TipShape::Blade : TipShape::Jaw;
}

double hertz_force(double modulus, double radius, double depth) {
  return 4.0 / 3.0 * modulus * std::sqrt(radius * depth) * depth;
}

std::optional<ForceBounds> ball_bounds(const TouchedSolid& organ, double radius, double depth) {
  const double ratio = radius / organ.spacing, share = depth / radius;
  if (ratio < kLeastRatio * (1.0 - kSameRatio) || share > 1.0 + kSameRatio) return {};
  for (const BallRows& rows : kBallRows) {
    if (rows.thick != organ.thick || ratio > rows.most_ratio * (1.0 + kSameRatio)) continue;
    const ForceBounds bounds{between(rows.low, share), between(rows.high, share)};
    return organ.law == TissueLaw::Rising ? with_rising(bounds, organ.thick, share) : bounds;
  }
  return {};
}

std::optional<BallRange> ball_range(const TouchedSolid& organ, double radius) {
  BallRange range;
  bool close = true;
  for (double step = 1.0; step <= kSteps; ++step) {
    const double depth = radius * step / kSteps;
    const std::optional<ForceBounds> here = ball_bounds(organ, radius, depth);
    if (!here) return {};
    close = close && here->error() <= kCloseForce;
    range.within.low = std::min(range.within.low, here->low);
    range.within.high = std::max(range.within.high, here->high);
    if (close) range.close_depth = depth, range.close = range.within;
  }
  return range;
}

std::optional<PartRange> part_range(TipShape shape, double shaft_radius, const TouchedSolid& organ, double modulus) {
  const auto outside = [](double value, double low, double high) {
    return value < low * (1.0 - kSameRatio) || value > high * (1.0 + kSameRatio);
  };
  if (!organ.thick || outside(shaft_radius, kPartRadius, kPartRadius) ||
      outside(organ.spacing, kPartFinest, kPartCoarsest))
    return {};
  for (const PartRow& row : kPartRows) {
    if (row.shape != shape || row.law != organ.law) continue;
    PartRange range = row.range;
    range.force *= modulus / kPartModulus;
    return range;
  }
  return {};
}

}  // namespace trocar
