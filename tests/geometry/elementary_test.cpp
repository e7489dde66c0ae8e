// Compares our elementary functions with the C library's in long double (64 bits of mantissa on x86): errors in units
// in the last place over ordinary, huge and tiny arguments, and special values. One hash of all results must be the
// same for every compiler, build and processor. Also tests text made printable.
#include "geometry/elementary.hpp"

#include <bit>

#include "geometry/error.hpp"
#include "geometry/frame.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace elementary_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kPi = 3.14159265358979323846;
constexpr std::uint64_t kSeed = 20260;
constexpr int kSamples = 100000;  // per range

// Arguments in a range, from a generator specified bit for bit: uniform, or uniform in the logarithm.
class Arguments {
 public:
  explicit Arguments(std::uint64_t seed) : random_(seed) {}
  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + share() * (high - low); }
  // Returns a number of either sign with 2^low <= size < 2^high.
  double of_size(int low, int high) {
    const double mantissa = 1.0 + share();
    const int exponent = low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low));
    return std::ldexp(random_() % 2 == 0 ? mantissa : -mantissa, exponent);
  }
  double bits() { return std::bit_cast<double>(random_()); }

 private:
  std::mt19937_64 random_;
};

double ulps(double result, long double exact) {
  const auto rounded = static_cast<double>(exact);
  if (result == rounded || (std::isnan(result) && std::isnan(rounded))) return 0.0;
  if (!std::isfinite(result) || !std::isfinite(rounded)) return kInfinity;
  const long double unit = static_cast<long double>(std::nextafter(std::abs(rounded), kInfinity)) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(result) - exact) / unit);
}

using Function = double (*)(double);
using LongFunction = long double (*)(long double);

void expect_accurate(const char* name, Function ours, LongFunction exact, double bound,
                     const std::function<double(Arguments&)>& argument) {
  Arguments arguments(kSeed);
  double worst = 0.0, at = 0.0;
  for (int k = 0; k < kSamples; ++k) {
    const double x = argument(arguments), error = ulps(ours(x), exact(x));
    if (error > worst) worst = error, at = x;
  }
  std::printf("%-6s seed %llu: at most %.4f ulp, at %.17g\n", name, static_cast<unsigned long long>(kSeed), worst, at);
  EXPECT_LE(worst, bound) << name << " at " << at;
}

long double exact_sin(long double x) { return std::sin(x); }
long double exact_cos(long double x) { return std::cos(x); }
long double exact_tan(long double x) { return std::tan(x); }
long double exact_asin(long double x) { return std::asin(x); }
long double exact_acos(long double x) { return std::acos(x); }
long double exact_atan(long double x) { return std::atan(x); }
long double exact_exp(long double x) { return std::exp(x); }
long double exact_log(long double x) { return std::log(x); }
long double exact_cbrt(long double x) { return std::cbrt(x); }

constexpr double kTrigonometric = 0.9, kPower = 0.7, kOthers = 0.51;  // ulp

TEST(Elementary, SineCosineAndTangent) {
  const std::function<double(Arguments&)> ranges[] = {
      [](Arguments& a) { return a.between(-kPi / 4, kPi / 4); }, [](Arguments& a) { return a.between(-100.0, 100.0); },
      [](Arguments& a) { return a.between(-1.1e6, 1.1e6); }, [](Arguments& a) { return a.of_size(-40, 1); },
      [](Arguments& a) { return a.of_size(18, 63); }, [](Arguments& a) { return a.of_size(63, 1024); },
      // Close to the roots, where a poor range reduction loses all digits.
      [](Arguments& a) { return std::floor(a.between(-6e5, 6e5)) * (kPi / 2); },
      [](Arguments& a) { return std::floor(a.between(-1e12, 1e12)) * (kPi / 2); }};
  for (const auto& range : ranges) {
    expect_accurate("sin", elementary::sin, exact_sin, kTrigonometric, range);
    expect_accurate("cos", elementary::cos, exact_cos, kTrigonometric, range);
    expect_accurate("tan", elementary::tan, exact_tan, kTrigonometric, range);
  }
}

// Tests Kahan's hardest cases of range reduction: the doubles closest to multiples of pi / 2.
TEST(Elementary, SineAtTheHardestArguments) {
  for (const double x : {6381956970095103.0 * 0x1p797, 5.31937264832654e255, 1e22, 1e300, kLargest, 355.0, 33.0}) {
    EXPECT_LE(ulps(elementary::sin(x), std::sin(static_cast<long double>(x))), kTrigonometric) << x;
    EXPECT_LE(ulps(elementary::cos(x), std::cos(static_cast<long double>(x))), kTrigonometric) << x;
  }
}

TEST(Elementary, ArcFunctions) {
  const auto sines = [](Arguments& a) { return a.between(-1.0, 1.0); };
  const auto nearly_one = [](Arguments& a) { return 1.0 - std::abs(a.of_size(-53, -2)); };
  const auto small = [](Arguments& a) { return a.of_size(-80, 0); };
  for (const std::function<double(Arguments&)>& range :
       {std::function<double(Arguments&)>(sines), std::function<double(Arguments&)>(nearly_one),
        std::function<double(Arguments&)>(small)}) {
    expect_accurate("asin", elementary::asin, exact_asin, kOthers, range);
    expect_accurate("acos", elementary::acos, exact_acos, kOthers, range);
  }
  expect_accurate("atan", elementary::atan, exact_atan, kOthers, sines);
  expect_accurate("atan", elementary::atan, exact_atan, kOthers, [](Arguments& a) { return a.of_size(-1060, 1024); });
  expect_accurate("atan", elementary::atan, exact_atan, kOthers, [](Arguments& a) { return a.of_size(-6, 6); });
}

TEST(Elementary, ExponentialLogarithmAndCubeRoot) {
  expect_accurate("exp", elementary::exp, exact_exp, kPower, [](Arguments& a) { return a.between(-708.0, 709.7); });
  expect_accurate("exp", elementary::exp, exact_exp, kPower, [](Arguments& a) { return a.of_size(-60, 3); });
  expect_accurate("exp", elementary::exp, exact_exp, 1.01, [](Arguments& a) { return a.between(-745.5, -707.0); });
  expect_accurate("log", elementary::log, exact_log, kOthers,
                  [](Arguments& a) { return std::abs(a.of_size(-1074, 1024)); });
  expect_accurate("log", elementary::log, exact_log, kOthers, [](Arguments& a) { return a.between(0.5, 2.0); });
  expect_accurate("log", elementary::log, exact_log, kOthers, [](Arguments& a) { return 1.0 + a.of_size(-52, -2); });
  expect_accurate("cbrt", elementary::cbrt, exact_cbrt, kOthers, [](Arguments& a) { return a.of_size(-1074, 1024); });
  expect_accurate("cbrt", elementary::cbrt, exact_cbrt, kOthers, [](Arguments& a) { return a.between(-10.0, 10.0); });
}

struct TwoArguments {
  const char* name;
  double (*ours)(double, double);
  long double (*exact)(long double, long double);
};
long double exact_pow(long double x, long double y) { return std::pow(x, y); }
long double exact_hypot(long double x, long double y) { return std::hypot(x, y); }
long double exact_atan2(long double y, long double x) { return std::atan2(y, x); }

void expect_accurate(const TwoArguments& f, double bound, const std::function<double(Arguments&)>& first,
                     const std::function<double(Arguments&)>& second) {
  Arguments arguments(kSeed + 1);
  double worst = 0.0, at[2] = {};
  for (int k = 0; k < kSamples; ++k) {
    const double x = first(arguments), y = second(arguments);
    const long double exact = f.exact(x, y);
    if (exact != 0.0L && std::abs(exact) < std::numeric_limits<double>::min()) continue;  // rounds twice
    const double error = ulps(f.ours(x, y), exact);
    if (error > worst) worst = error, at[0] = x, at[1] = y;
  }
  std::printf("%-6s seed %llu: at most %.4f ulp, at %.17g, %.17g\n", f.name, static_cast<unsigned long long>(kSeed + 1),
              worst, at[0], at[1]);
  EXPECT_LE(worst, bound) << f.name << " at " << at[0] << ", " << at[1];
}

TEST(Elementary, FunctionsOfTwoArguments) {
  const auto unit = [](Arguments& a) { return a.between(-1.0, 1.0); };
  const auto any = [](Arguments& a) { return a.of_size(-1074, 1024); };
  const auto wide = [](Arguments& a) { return a.of_size(-12, 12); };
  const TwoArguments angle{"atan2", elementary::atan2, exact_atan2}, power{"pow", elementary::pow, exact_pow},
      length{"hypot", elementary::hypot, exact_hypot};
  for (const std::function<double(Arguments&)>& range :
       {std::function<double(Arguments&)>(unit), std::function<double(Arguments&)>(any),
        std::function<double(Arguments&)>(wide)}) {
    expect_accurate(angle, kOthers, range, range);
    expect_accurate(length, kOthers, range, range);
  }
  expect_accurate(
      power, kPower, [](Arguments& a) { return a.between(0.0, 10.0); },
      [](Arguments& a) { return a.between(-10.0, 10.0); });
  expect_accurate(
      power, kPower, [](Arguments& a) { return std::abs(a.of_size(-1022, 1024)); }, unit);
  expect_accurate(
      power, kPower, [](Arguments& a) { return a.between(0.5, 2.0); },
      [](Arguments& a) { return a.between(-700.0, 700.0); });
  expect_accurate(
      power, kPower, [](Arguments& a) { return 1.0 + a.of_size(-40, -5); },
      [](Arguments& a) { return a.of_size(0, 30); });
  expect_accurate(
      power, kPower, [](Arguments& a) { return -a.between(0.1, 10.0); },
      [](Arguments& a) { return std::floor(a.between(-50.0, 50.0)); });
}

// Tests the special values of Annex F of the C standard; the library has the same ones.
TEST(Elementary, SpecialValues) {
  const double specials[] = {0.0,       -0.0,       1.0,      -1.0,      0.5,    -0.5,   2.0,
                             -2.0,      3.0,        -3.0,     1e300,     -1e300, kTiny,  -kTiny,
                             kInfinity, -kInfinity, kLargest, -kLargest, 0x1p53, 1e-300, kNan};
  const auto same = [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::signbit(a) == std::signbit(b) && (a == b || ulps(a, b) <= 1.0);
  };
  for (const double x : specials) {
    EXPECT_TRUE(same(elementary::sin(x), std::sin(x))) << "sin " << x;
    EXPECT_TRUE(same(elementary::cos(x), std::cos(x))) << "cos " << x;
    EXPECT_TRUE(same(elementary::tan(x), std::tan(x))) << "tan " << x;
    EXPECT_TRUE(same(elementary::asin(x), std::asin(x))) << "asin " << x;
    EXPECT_TRUE(same(elementary::acos(x), std::acos(x))) << "acos " << x;
    EXPECT_TRUE(same(elementary::atan(x), std::atan(x))) << "atan " << x;
    EXPECT_TRUE(same(elementary::exp(x), std::exp(x))) << "exp " << x;
    EXPECT_TRUE(same(elementary::log(x), std::log(x))) << "log " << x;
    EXPECT_TRUE(same(elementary::cbrt(x), std::cbrt(x))) << "cbrt " << x;
    for (const double y : specials) {
      EXPECT_TRUE(same(elementary::atan2(x, y), std::atan2(x, y))) << "atan2 " << x << " " << y;
      EXPECT_TRUE(same(elementary::hypot(x, y), std::hypot(x, y))) << "hypot " << x << " " << y;
      EXPECT_TRUE(same(elementary::pow(x, y), std::pow(x, y)))
          << "pow " << x << " " << y << ": " << elementary::pow(x, y) << " instead of " << std::pow(x, y);
    }
  }
}

TEST(Elementary, ExactResultsAreExact) {
  EXPECT_EQ(elementary::exp(0.0), 1.0);
  EXPECT_EQ(elementary::log(1.0), 0.0);
  EXPECT_EQ(elementary::cos(0.0), 1.0);
  EXPECT_EQ(elementary::hypot(3.0, 4.0), 5.0);
  EXPECT_EQ(elementary::pow(2.0, -1074.0), kTiny);
  EXPECT_EQ(elementary::pow(-3.0, 5.0), -243.0);
  EXPECT_EQ(elementary::pow(9.0, 0.5), 3.0);
  for (int k = -50; k <= 50; ++k) {
    EXPECT_EQ(elementary::cbrt(double(k) * k * k), k);
    EXPECT_EQ(elementary::pow(2.0, k), std::ldexp(1.0, k));
  }
}

TEST(Elementary, RotationsEqualThoseOfGlm) {
  Arguments arguments(kSeed + 3);
  for (int k = 0; k < 1000; ++k) {
    const glm::dvec3 axis = glm::normalize(
        glm::dvec3(arguments.between(-1.0, 1.0), arguments.between(-1.0, 1.0), arguments.between(0.1, 1.0)));
    const double angle = arguments.between(-7.0, 7.0);
    const glm::dquat ours = turn_about(axis, angle), other = glm::angleAxis(angle, axis);
    EXPECT_LT(glm::length(ours - other), 1e-15);
  }
}

// Regenerate: run the test and copy the value that it prints.
constexpr std::uint64_t kGoldenElementary = 0xcdb39619d7d6fe37;

TEST(Elementary, SameBitsEverywhere) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  const auto add = [&](double value) {
    auto bits = std::isnan(value) ? 0x7ff8000000000000ull : std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 1099511628211ull;
  };
  Arguments arguments(kSeed + 2);
  for (int k = 0; k < kSamples; ++k) {
    const double x = k % 2 == 0 ? arguments.bits() : arguments.between(-2.0, 2.0);
    const double y = k % 3 == 0 ? arguments.bits() : arguments.between(-20.0, 20.0);
    for (const Function f : {elementary::sin, elementary::cos, elementary::tan, elementary::asin, elementary::acos,
                             elementary::atan, elementary::exp, elementary::log, elementary::cbrt})
      add(f(x));
    add(elementary::atan2(y, x)), add(elementary::hypot(y, x)), add(elementary::pow(std::abs(x), y));
  }
  std::printf("golden hash of the elementary functions: 0x%016llx\n", static_cast<unsigned long long>(hash));
  EXPECT_EQ(hash, kGoldenElementary);
}

}  // namespace elementary_test

namespace {

// Tests the text of error sentences: hand-made cases, every character of Unicode against a table, and the bytes of
// every short string against the definition of UTF-8 (the Unicode standard, table 3-7).

// Encodes any number as UTF-8 does, also the numbers that it excludes. `bytes`: 1 .. 4, the number must fit.
std::string encoded(char32_t code, int bytes) {
  if (bytes == 1) return {static_cast<char>(code)};
  std::string text(static_cast<std::size_t>(bytes), '\0');
  for (int k = bytes - 1; k > 0; --k, code >>= 6)
    text[static_cast<std::size_t>(k)] = static_cast<char>(0x80 + code % 64);
  text[0] =
      static_cast<char>(std::array{0xC0, 0xE0, 0xF0}[static_cast<std::size_t>(bytes - 2)] + static_cast<int>(code));
  return text;
}

int shortest(char32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

bool is_character(char32_t code) { return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF); }

TEST(Printable, IsOneShortLine) {
  EXPECT_EQ(printable("liver"), "liver");
  EXPECT_EQ(printable("a\nb\x1b[31mc\x7f"), "a?b?[31mc?");
  EXPECT_EQ(printable("Le\xc5\x84ka \xe8\x82\x9d"), "Le\xc5\x84ka \xe8\x82\x9d");
  EXPECT_EQ(printable("\xff\xc3 (\xe2\x80\xae"), "?? (?");
  EXPECT_EQ(printable("\xed\xa0\x80\xc0\x80"), "?????");
  EXPECT_EQ(printable(std::string(70, 'x'), 60), std::string(60, 'x') + "...");
  EXPECT_EQ(printable(std::string(60, 'x'), 60), std::string(60, 'x'));
}

TEST(Printable, FindsBytesThatAreNotUtf8) {
  EXPECT_EQ(first_invalid_utf8("Le\xc5\x84ka \xe8\x82\x9d \xf0\x9f\x98\x80"), std::string_view::npos);
  EXPECT_EQ(first_invalid_utf8("caf\xe9"), 3u);
  EXPECT_EQ(first_invalid_utf8("a\xed\xa0\x80"), 1u);
  EXPECT_EQ(first_invalid_utf8("\xc3"), 0u);
}

// Controls; line ends, direction marks, embeddings, overrides and isolates; the byte order mark.
TEST(Printable, ReplacesTheCharactersOfTheTable) {
  struct Range {
    char32_t first, last;
  };
  constexpr Range kReplaced[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x61C, 0x61C},  {0x200E, 0x200F},
                                 {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
  int wrong = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (!is_character(code)) continue;
    const std::string text = encoded(code, shortest(code));
    bool replaced = false;
    for (const Range& range : kReplaced) replaced = replaced || (code >= range.first && code <= range.last);
    wrong += printable(text) != (replaced ? "?" : text);
    wrong += first_invalid_utf8(text) != std::string_view::npos;
  }
  EXPECT_EQ(wrong, 0);
}

// A longer form than the shortest, a surrogate and a number above 0x10FFFF are not valid.
TEST(Printable, AcceptsTheShortestFormOnly) {
  int wrong = 0;
  for (char32_t code = 0; code < 0x200000; ++code)
    for (int bytes = std::max(2, shortest(code)); bytes <= 4; ++bytes) {
      if (bytes == shortest(code) && is_character(code)) continue;
      const std::string text = encoded(code, bytes);
      wrong += first_invalid_utf8("a" + text + "b") != 1u;
      if (code % 64 == 0) wrong += printable(text) != std::string(text.size(), '?');
    }
  EXPECT_EQ(wrong, 0);
}

// Every lead byte followed by every byte, and a valid start that is cut or broken off.
TEST(Printable, FindsBrokenSequences) {
  for (int lead = 0; lead < 256; ++lead) {
    const std::string alone(1, static_cast<char>(lead));
    EXPECT_EQ(first_invalid_utf8(alone), lead < 0x80 ? std::string_view::npos : 0u) << lead;
    for (int next = 0; next < 256; ++next) {
      const std::string two = alone + static_cast<char>(next);
      const bool pair = lead >= 0xC2 && lead <= 0xDF && next >= 0x80 && next <= 0xBF;
      const std::size_t expected = pair || (lead < 0x80 && next < 0x80) ? std::string_view::npos
                                   : lead < 0x80                        ? 1u
                                                                        : 0u;
      EXPECT_EQ(first_invalid_utf8(two), expected) << lead << " " << next;
    }
  }
  for (const char32_t code : {U'\u0144', U'\u809d', U'\U0001f600'}) {
    const std::string whole = encoded(code, shortest(code));
    for (std::size_t cut = 1; cut < whole.size(); ++cut) {
      EXPECT_EQ(first_invalid_utf8("ab" + whole.substr(0, cut)), 2u);
      EXPECT_EQ(printable(whole.substr(0, cut) + "z"), std::string(cut, '?') + "z");
      std::string broken = whole;
      broken[cut] = 'x';
      EXPECT_EQ(first_invalid_utf8(broken), 0u);
    }
    EXPECT_EQ(first_invalid_utf8(whole + whole + "\xff"), 2 * whole.size());
  }
}

TEST(Printable, CutsAfterCharactersNotBytes) {
  const std::string two = "\xc5\x84", text = two + two + two;
  EXPECT_EQ(printable(text, 3), text);
  EXPECT_EQ(printable(text, 2), two + two + "...");
  EXPECT_EQ(printable(text, 0), "...");
  EXPECT_EQ(printable("", 0), "");
}

}  // namespace

}  // namespace trocar
