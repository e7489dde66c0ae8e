// Tests the text of error sentences: hand-made cases, every character of Unicode against a table, and the bytes of
// every short string against the definition of UTF-8 (the Unicode standard, table 3-7).
#include "geometry/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace trocar {
namespace {

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
  for (char32_t code = 0; code < 0x200000; ++code) {
    for (int bytes = std::max(2, shortest(code)); bytes <= 4; ++bytes) {
      if (bytes == shortest(code) && is_character(code)) continue;
      const std::string text = encoded(code, bytes);
      wrong += first_invalid_utf8("a" + text + "b") != 1u;
      if (code % 64 == 0) wrong += printable(text) != std::string(text.size(), '?');
    }
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
