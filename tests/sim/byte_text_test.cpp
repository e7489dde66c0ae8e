// Tests text of any bytes: it becomes valid UTF-8 and the same bytes again, and strings of JSON and TOML are read back.
#include "sim/support/byte_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "geometry/error.hpp"
#include "sim/scene/toml_table.hpp"

namespace trocar {
namespace {

void expect_round_trip(const std::string& bytes) {
  const std::string text = text_of_bytes(bytes);
  ASSERT_EQ(first_invalid_utf8(text), std::string_view::npos);
  ASSERT_EQ(bytes_of_text(text), bytes);
  const std::string quoted = quoted_text(bytes);
  ASSERT_EQ(bytes_of_text(nlohmann::json::parse(quoted).get<std::string>()), bytes);
  TomlTable table = TomlTable::parse("f.toml", "a = " + quoted + "\n");
  ASSERT_EQ(bytes_of_text(table.text("a")), bytes);
}

TEST(ByteText, ValidTextStaysAsItIs) {
  for (const char* text : {"", "a b", "größe 宮本 \U0001f600", "\xef\x9d\xbf\xef\xa0\x80"})
    EXPECT_EQ(text_of_bytes(text), text);
  EXPECT_EQ(text_of_bytes("caf\xe9"), "caf\xef\x9f\xa9");
  EXPECT_EQ(quoted_text("a\"\\\n\x7f"), "\"a\\\"\\\\\\n\\u007f\"");
}

TEST(ByteText, AnyBytesComeBack) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 dice(seed);
  for (int first = 1; first < 256; ++first) expect_round_trip(std::string(1, static_cast<char>(first)));
  // Mostly bytes of the private range and of its neighbours.
  const std::string likely = "\xef\x9e\x9f\x80\xbf\xc3\xa9\"\\a";
  for (int k = 0; k < 2000; ++k) {
    std::string bytes;
    for (std::size_t n = dice() % 12; n > 0; --n)
      bytes += dice() % 4 ? likely[dice() % likely.size()] : static_cast<char>(1 + dice() % 255);
    expect_round_trip(bytes);
  }
}

}  // namespace
}  // namespace trocar
