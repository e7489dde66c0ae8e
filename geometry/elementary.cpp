#include "geometry/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "geometry/exact_sign.hpp"

namespace trocar::elementary {
namespace {

constexpr DoublePair kQuarterTurn{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};  // rad

// A number of quarter turns and a remainder, for every finite double.
struct ReducedAngle {
  unsigned quarters = 0;  // modulo 4
  DoublePair rest;        // rad   -pi/4 .. pi/4
};
// Reduces moderate angles by Cody and Waite's method, with pi / 2 in four parts. Reduces larger angles by Payne and
// Hanek's method, which computes in integers the bits of x times 2 / pi that are not whole turns.

// pi / 2 = the sum of these. A whole number of up to 20 bits times any of the first three is exact.
constexpr double kParts[4] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e000000p-69,
                              0x1.b839a252049c1p-104};
constexpr double kPerQuarterTurn = 0x1.45f306dc9c883p-1;
constexpr double kModerate = 1e6;  // rad

// The binary digits of 2 / pi after the point, most significant word first, after one word of zeros.
constexpr std::uint64_t kTwoOverPi[21] = {0,
                                          0xa2f9836e4e441529,
                                          0xfc2757d1f534ddc0,
                                          0xdb6295993c439041,
                                          0xfe5163abdebbc561,
                                          0xb7246e3a424dd2e0,
                                          0x06492eea09d1921c,
                                          0xfe1deb1cb129a73e,
                                          0xe88235f52ebb4484,
                                          0xe99c7026b45f7e41,
                                          0x3991d639835339f4,
                                          0x9c845f8bbdf9283b,
                                          0x1ff897ffde05980f,
                                          0xef2f118b5a0a6d1f,
                                          0x6d367ecf27cb09b7,
                                          0x4f463f669e5fea2d,
                                          0x7527bac7ebe5f17b,
                                          0x3d0739f78a5292ea,
                                          0x6bfb5fb11f8d5d08,
                                          0x56033046fc7b6bab,
                                          0xf0cfbc209af4361d};

ReducedAngle reduce_moderate(double x) {
  const double n = std::floor(x * kPerQuarterTurn + 0.5);
  const DoublePair first = exact_sum(x - n * kParts[0], -(n * kParts[1]));
  const DoublePair second = exact_sum(first.high, -(n * kParts[2]));
  const double low = (first.low + second.low) - n * kParts[3];
  return {static_cast<unsigned>(static_cast<int>(n)) & 3u, quick_sum(second.high, low)};
}

std::uint64_t digits_from(int bit) {
  const int word = bit / 64, shift = bit % 64;
  const std::uint64_t here = kTwoOverPi[word] << shift;
  return shift == 0 ? here : here | kTwoOverPi[word + 1] >> (64 - shift);
}

struct Product {
  std::uint64_t high, low;
};
Product product(std::uint64_t a, std::uint64_t b, std::uint64_t plus) {
  __extension__ using Wide = unsigned __int128;
  const Wide wide = static_cast<Wide>(a) * b + plus;
  return {static_cast<std::uint64_t>(wide >> 64), static_cast<std::uint64_t>(wide)};
}

// Converts a fraction of 192 binary digits.
DoublePair pair_of(const std::uint64_t (&words)[3]) {
  DoublePair sum;
  for (int half = 5; half >= 0; --half) {
    const std::uint64_t word = words[half / 2];
    const auto digits = static_cast<std::uint32_t>(half % 2 == 0 ? word >> 32 : word);
    const DoublePair next = exact_sum(std::ldexp(static_cast<double>(digits), -32 * (half + 1)), sum.high);
    sum = quick_sum(next.high, next.low + sum.low);
  }
  return sum;
}

ReducedAngle reduce_large(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  const auto whole = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
  // Starts at the digit worth two quarter turns; earlier digits are whole turns.
  const int first = 64 + (exponent - 53) - 2;
  const Product low = product(whole, digits_from(first + 128), 0);
  const Product middle = product(whole, digits_from(first + 64), low.high);
  const Product high = product(whole, digits_from(first), middle.high);
  std::uint64_t fraction[3] = {high.low << 2 | middle.low >> 62, middle.low << 2 | low.low >> 62, low.low << 2};
  auto quarters = static_cast<unsigned>(high.low >> 62);
  const bool above_half = fraction[0] >> 63 != 0;
  if (above_half) {
    ++quarters;
    for (std::uint64_t& word : fraction) word = ~word;
  }
  const DoublePair rest = pair_of(fraction) * kQuarterTurn;
  return {quarters & 3u, above_half ? -rest : rest};
}

ReducedAngle reduce_angle(double x) {
  if (std::abs(x) < kModerate) return reduce_moderate(x);
  if (x > 0.0) return reduce_large(x);
  const ReducedAngle mirrored = reduce_large(-x);
  return {(4u - mirrored.quarters) & 3u, -mirrored.rest};
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr DoublePair kHalfTurn{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
constexpr DoublePair kThird{0x1.5555555555555p-2, 0x1.5555555555555p-56};
// log 2 = the sum of the parts. A whole number of up to 11 bits times any part except the last is exact.
constexpr double kLog2Parts[3] = {0x1.62e42fee00000p-1, 0x1.a39ef35600000p-33, 0x1.93c7673007e5fp-65};
constexpr double kPerLog2 = 0x1.71547652b82fep+0;
// Arc tangents of k / 8.
constexpr DoublePair kArcs[9] = {{0.0, 0.0},
                                 {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                 {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                 {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                 {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                 {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                 {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                 {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                 {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

template <std::size_t N>
double polynomial(double x, const double (&coefficients)[N]) {
  double sum = coefficients[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + coefficients[k];
  return sum;
}

double value(const DoublePair& pair) { return pair.high + pair.low; }

// These functions compute sine and cosine on [-pi/4, pi/4]. The first, exact term is kept separate from the small
// remainder.
DoublePair sine(const DoublePair& r) {
  static constexpr double kTaylor[] = {
      -1.0 / 6,        1.0 / 120,         -1.0 / 5040,           1.0 / 362880,
      -1.0 / 39916800, 1.0 / 6227020800., -1.0 / 1307674368000., 1.0 / 355687428096000.};
  const double x = r.high, square = x * x;
  return quick_sum(x, r.low * (1.0 - 0.5 * square) + x * square * polynomial(square, kTaylor));
}
DoublePair cosine(const DoublePair& r) {
  static constexpr double kTaylor[] = {
      1.0 / 24,        -1.0 / 720,          1.0 / 40320,           -1.0 / 3628800,
      1.0 / 479001600, -1.0 / 87178291200., 1.0 / 20922789888000., -1.0 / 6402373705728000.};
  const double x = r.high;
  const DoublePair square = exact_product(x, x), first = quick_sum(1.0, -0.5 * square.high);
  const double rest = square.high * square.high * polynomial(square.high, kTaylor) - 0.5 * square.low - x * r.low;
  return quick_sum(first.high, first.low + rest);
}

double sine_of_quarters(unsigned quarters, const DoublePair& rest) {
  const double size = value(quarters % 2 == 0 ? sine(rest) : cosine(rest));
  return quarters < 2 ? size : -size;
}

// Returns the arc tangent of y / x for x, y >= 0, the larger of the two in [1/2, 1] and the quotient above 2^-60.
// Starts at the nearest multiple of 1/8 and adds the arc tangent of the difference.
DoublePair arc_of_octant(const DoublePair& y, const DoublePair& x) {
  static constexpr double kTaylor[] = {-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17};
  const int nearest = static_cast<int>(std::floor(8.0 * y.high / x.high + 0.5));
  const double eighths = 0.125 * nearest;
  const DoublePair t = (y - eighths * x) / (x + eighths * y);
  const double square = t.high * t.high;
  return kArcs[nearest] + quick_sum(t.high, t.low + t.high * square * polynomial(square, kTaylor));
}
DoublePair arc(const DoublePair& y, const DoublePair& x) {
  return y.high <= x.high ? arc_of_octant(y, x) : kQuarterTurn - arc_of_octant(x, y);
}

// sqrt(1 - x^2).
DoublePair other_leg(double x) { return square_root(DoublePair{1.0} - exact_product(x, x)); }

// e^x where the result is a normal number or slightly subnormal; scaled by a power of two at the end.
double exp_of(const DoublePair& x) {
  static constexpr double kTaylor[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,         1.0 / 120,
                                       1.0 / 720,     1.0 / 5040,     1.0 / 40320,      1.0 / 362880,
                                       1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600., 1.0 / 6227020800.};
  const double n = std::floor(x.high * kPerLog2 + 0.5);
  const DoublePair first = exact_sum(x.high - n * kLog2Parts[0], -(n * kLog2Parts[1]));
  const DoublePair r = quick_sum(first.high, first.low - n * kLog2Parts[2] + x.low);
  const DoublePair head = quick_sum(1.0, r.high);
  const double rest = r.low * head.high + r.high * r.high * polynomial(r.high, kTaylor);
  return std::ldexp(head.high + (head.low + rest), static_cast<int>(n));
}

// Above the first the result overflows; below the second it is less than half the smallest positive number.
constexpr double kLargestExponent = 709.79, kSmallestExponent = -745.14;

double exp_in_range(const DoublePair& x) {
  if (x.high > kLargestExponent) return kInfinity;
  return x.high < kSmallestExponent ? 0.0 : exp_of(x);
}

// Returns the logarithm of a finite x > 0: log m by the series of 2 artanh((m - 1) / (m + 1)) with m in [sqrt(1/2),
// sqrt 2].
DoublePair log_of(double x) {
  static constexpr double kSeries[] = {1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15,
                                       1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25};
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) m *= 2.0, --exponent;
  const DoublePair s = DoublePair{m - 1.0} / exact_sum(m, 1.0), square = s * s;
  const DoublePair series = kThird + exact_product(square.high, polynomial(square.high, kSeries));
  const DoublePair log_m = 2.0 * (s + s * square * series);
  const double n = exponent;
  const DoublePair whole = quick_sum(n * kLog2Parts[0], n * kLog2Parts[1]);
  return quick_sum(whole.high, whole.low + n * kLog2Parts[2]) + log_m;
}

bool is_whole(double y) { return std::floor(y) == y; }
bool is_odd(double y) { return is_whole(y) && std::abs(y) < 0x1p53 && std::fmod(y, 2.0) != 0.0; }

// pow where x is 0 or infinite, or y is infinite.
double extreme_power(double x, double y) {
  const double size = std::abs(x);
  if (std::isinf(y)) {
    if (size == 1.0) return 1.0;
    return (size > 1.0) == (y > 0.0) ? kInfinity : 0.0;
  }
  const double power = (size > 0.0) == (y > 0.0) ? kInfinity : 0.0;
  return is_odd(y) ? std::copysign(power, x) : power;
}

}  // namespace

double sin(double x) {
  if (!std::isfinite(x)) return kNan;
  if (std::abs(x) < 0x1p-27) return x;
  const ReducedAngle angle = reduce_angle(x);
  return sine_of_quarters(angle.quarters, angle.rest);
}

double cos(double x) {
  if (!std::isfinite(x)) return kNan;
  const ReducedAngle angle = reduce_angle(x);
  return sine_of_quarters((angle.quarters + 1u) & 3u, angle.rest);
}

double tan(double x) {
  if (!std::isfinite(x)) return kNan;
  if (std::abs(x) < 0x1p-27) return x;
  const ReducedAngle angle = reduce_angle(x);
  const DoublePair s = sine(angle.rest), c = cosine(angle.rest);
  return angle.quarters % 2 == 0 ? value(s / c) : -value(c / s);
}

double asin(double x) {
  const double size = std::abs(x);
  if (!(size <= 1.0)) return kNan;
  if (size < 0x1p-27) return x;
  return std::copysign(value(arc({size}, other_leg(x))), x);
}

double acos(double x) {
  const double size = std::abs(x);
  if (!(size <= 1.0)) return kNan;
  if (size < 0x1p-60) return kQuarterTurn.high;
  const DoublePair angle = arc(other_leg(x), {size});
  return value(x > 0.0 ? angle : kHalfTurn - angle);
}

double atan(double x) { return atan2(x, 1.0); }

double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return kNan;
  double a = std::abs(y), b = std::abs(x);
  const bool back = std::signbit(x);
  if (std::isinf(a) && std::isinf(b)) a = b = 1.0;
  int exponent = 0;
  const double larger = std::max(a, b);
  // Nearly along an axis the angle equals the quotient, or differs from a right angle or half turn by less than
  // rounding.
  if (std::isinf(larger) || !(std::min(a, b) > 0x1p-60 * larger)) {
    if (a > b) return std::copysign(kQuarterTurn.high, y);
    return back ? std::copysign(kHalfTurn.high, y) : a == 0.0 ? y : std::copysign(a / b, y);
  }
  std::frexp(larger, &exponent);
  const DoublePair angle = arc({std::ldexp(a, -exponent)}, {std::ldexp(b, -exponent)});
  return std::copysign(value(back ? kHalfTurn - angle : angle), y);
}

double exp(double x) { return std::isnan(x) ? x : exp_in_range({x}); }

double log(double x) {
  if (std::isnan(x) || x < 0.0) return kNan;
  if (x == 0.0) return -kInfinity;
  return std::isinf(x) ? x : value(log_of(x));
}

double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (std::isnan(x) || std::isnan(y)) return kNan;
  if (x == 0.0 || std::isinf(x) || std::isinf(y)) return extreme_power(x, y);
  if (x < 0.0 && !is_whole(y)) return kNan;
  if (x == -1.0) return is_odd(y) ? -1.0 : 1.0;
  const DoublePair log_x = log_of(std::abs(x));
  const double rough = y * log_x.high;
  const double size = std::abs(rough) > 1e3 ? (rough > 0.0 ? kInfinity : 0.0) : exp_in_range(y * log_x);
  return x < 0.0 && is_odd(y) ? -size : size;
}

double cbrt(double x) {
  if (x == 0.0 || !std::isfinite(x)) return x;
  int exponent = 0;
  double m = std::frexp(std::abs(x), &exponent);
  for (; exponent % 3 != 0; ++exponent) m *= 0.5;
  // m is in [1/8, 1]. Newton's method from a linear first guess; the last step uses the exact residue.
  double y = 0.4 + 0.6 * m;
  for (int step = 0; step < 5; ++step) y -= (y * y * y - m) / (3.0 * y * y);
  const DoublePair residue = DoublePair{m} - y * exact_product(y, y);
  return std::copysign(std::ldexp(y + residue.high / (3.0 * y * y), exponent / 3), x);
}

double hypot(double x, double y) {
  if (std::isinf(x) || std::isinf(y)) return kInfinity;
  if (std::isnan(x) || std::isnan(y)) return kNan;
  const double larger = std::max(std::abs(x), std::abs(y)), smaller = std::min(std::abs(x), std::abs(y));
  if (!(smaller > 0x1p-60 * larger)) return larger;
  int exponent = 0;
  std::frexp(larger, &exponent);
  const double a = std::ldexp(larger, -exponent), b = std::ldexp(smaller, -exponent);
  return std::ldexp(value(square_root(exact_product(a, a) + exact_product(b, b))), exponent);
}

}  // namespace trocar::elementary
