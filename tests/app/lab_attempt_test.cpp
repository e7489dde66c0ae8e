// Tests dates, keys and the file form of an attempt.
#include "app/lab/lab_attempt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <random>
#include <set>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// Against the C library.
TEST(LabDate, TextsAreReadAndWritten) {
  const std::uint32_t seed = std::random_device{}();
  std::mt19937_64 dice(seed);
  for (int k = 0; k < 20000; ++k) {
    const auto seconds = static_cast<std::time_t>(dice() % 253402300800u);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", std::gmtime(&seconds));
    ASSERT_EQ(date_of_text(text), static_cast<double>(seconds)) << text << ", seed " << seed;
    ASSERT_EQ(text_of_date(static_cast<double>(seconds)), std::string(text).substr(0, 16)) << "seed " << seed;
  }
  for (const char* none : {"", "yesterday", "2026-02-30 10:00:00", "2026-11-26 25:00:00", "2026-11-26 10",
                           "2026-11-26 10:20:30 ", "2026-11-26 +1:00:00", "+026-11-26", "26-11-26"})
    EXPECT_EQ(date_of_text(none), 0.0) << none;
  EXPECT_EQ(date_of_text("2026-11-26"), 1795651200.0);
  EXPECT_EQ(text_of_date(NAN), "");
  EXPECT_EQ(text_of_date(-1.0), "");
  EXPECT_EQ(text_of_date(1e30), "");
}

TEST(LabAttempt, KeysDiffer) {
  std::set<std::string> keys;
  for (int k = 0; k < 1000; ++k) {
    const std::string key = new_attempt_key();
    EXPECT_EQ(key.size(), 32u);
    EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 1000u);
}

TEST(LabAttempt, ItsFileHoldsEveryBit) {
  LabAttempt a;
  a.key = new_attempt_key(), a.person = "Zoë 宮", a.scene = "s", a.started = 1e9 + 0.1, a.seconds = 1.0 / 3.0,
  a.score = 200.0 / 3.0;
  a.critical = true, a.level = 3, a.recording = "/a \"b\"\n.h5";
  a.metrics = {{"task.x", 0.1 + 0.2}, {"left.y", 1e-300}};
  const LabAttempt b = lab_attempt_of_json(lab_attempt_json(a), "f");
  EXPECT_EQ(lab_attempt_json(b), lab_attempt_json(a));
  EXPECT_EQ(b.metrics, a.metrics);
  EXPECT_EQ(b.score, a.score);
  EXPECT_EQ(b.started, a.started);
  a.score.reset();
  EXPECT_FALSE(lab_attempt_of_json(lab_attempt_json(a), "f").score);
}

TEST(LabAttempt, DamagedFilesAreRefused) {
  LabAttempt a;
  a.key = new_attempt_key(), a.person = "p";
  const std::string good = lab_attempt_json(a);
  for (std::size_t cut = 0; cut + 2 < good.size(); cut += 7)
    EXPECT_THROW(lab_attempt_of_json(good.substr(0, cut), "f"), InputError) << cut;
  for (const char* bad : {"[]", "3", "{\"format\": \"trocar-attempt-9\"}", "null"})
    EXPECT_THROW(lab_attempt_of_json(bad, "f"), InputError) << bad;
  a.person = "../x";
  EXPECT_THROW(lab_attempt_of_json(lab_attempt_json(a), "f"), InputError);
}

}  // namespace
}  // namespace trocar
