// Reduces moderate angles by Cody and Waite's method, with pi / 2 in four parts. Reduces larger angles by Payne and
// Hanek's method, which computes in integers the bits of x times 2 / pi that are not whole turns.
#include "geometry/reduce_angle.hpp"

#include <cmath>
#include <cstdint>

namespace trocar::elementary {
namespace {

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

}  // namespace

ReducedAngle reduce_angle(double x) {
  if (std::abs(x) < kModerate) return reduce_moderate(x);
  if (x > 0.0) return reduce_large(x);
  const ReducedAngle mirrored = reduce_large(-x);
  return {(4u - mirrored.quarters) & 3u, -mirrored.rest};
}

}  // namespace trocar::elementary
