#include "sim/trial/force_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trocar {
namespace {

// Depths of the measured presses, in radii of the ball.
constexpr std::array kShares{0.2, 0.4, 0.6, 0.8, 1.0};
using AtShares = std::array<double, kShares.size()>;

// Bounds of the rows of the table in docs/results.md, by thickness and by the ball's radius over the spacing.
struct BallRows {
  bool thick;          // blocks of two cells and more; otherwise of one
  double most_ratio;   // 1  radius over spacing
  AtShares low, high;  // 1
};
constexpr double kLeastRatio = 0.2;
constexpr BallRows kBallRows[] = {
    {true, 0.5, {0.98, 0.96, 0.95, 0.92, 0.83}, {1.01, 1.00, 1.00, 1.00, 0.98}},
    {true, 1.0, {0.94, 0.87, 0.86, 0.84, 0.79}, {1.01, 1.02, 1.04, 1.00, 0.93}},
    {false, 0.5, {0.95, 0.95, 0.96, 0.89, 0.75}, {1.06, 1.10, 1.12, 1.01, 0.89}},
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

// Bounds of the other table there: 5 mm instruments on spacings of 9 and 4.5 mm over 1.5 mm, where both have a value;
// and the force on 1.5 mm at the greatest depth over the modulus, which was that of 6 kPa and 0.46.
constexpr double kPartRadius = 0.0025, kPartFinest = 0.0045, kPartCoarsest = 0.009;  // m
constexpr double kPartModulus = 6000.0 / (1.0 - 0.46 * 0.46);                        // Pa
constexpr PartRange kJaw{{0.46, 1.66}, 0.004, 0.289}, kWire{{0.56, 1.40}, 0.001, 0.025},
    kBlade{{0.60, 1.30}, 0.004, 0.138};

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
  if (shape == TipShape::Ball || organ.law == TissueLaw::Rising || !organ.thick ||
      outside(shaft_radius, kPartRadius, kPartRadius) || outside(organ.spacing, kPartFinest, kPartCoarsest))
    return {};
  PartRange range = shape == TipShape::Jaw ? kJaw : shape == TipShape::Wire ? kWire : kBlade;
  range.force *= modulus / kPartModulus;
  return range;
}

}  // namespace trocar
