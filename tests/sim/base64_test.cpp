// Tests base64 as a text: the examples of RFC 4648, wrong padding, random bytes.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>

#include "sim/support/base64.hpp"

namespace trocar {
namespace {

std::string coded(std::string_view plain) { return base64(std::as_bytes(std::span(plain.data(), plain.size()))); }

std::optional<std::string> plain(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return {};
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

TEST(Base64Text, ReadsTheStandardsExamples) {
  for (const auto& [text, expected] :
       std::initializer_list<std::pair<const char*, const char*>>{{"", ""},
                                                                  {"Zg==", "f"},
                                                                  {"Zm8=", "fo"},
                                                                  {"Zm9v", "foo"},
                                                                  {"Zm9vYg==", "foob"},
                                                                  {"Zm9vYmE=", "fooba"},
                                                                  {"Zm9vYmFy", "foobar"},
                                                                  {"//79", "\xff\xfe\xfd"}})
    EXPECT_EQ(plain(text), expected) << text;
}

TEST(Base64Text, RefusesWrongPaddingAndOtherCharacters) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "=g==", "Z===", "Zm=v", "Zg==Zg==", "Zm9v\n", "Zm9-",
                           "Zm9_", "Zm 9v===", "Zm9\xc3", "Zh==", "Zm9="})
    EXPECT_FALSE(plain(text)) << text;
  EXPECT_FALSE(from_base64(std::string_view("Zm\0v", 4)));
}

TEST(Base64Text, EveryByteComesBack) {
  std::mt19937 random(3);
  for (std::size_t length = 0; length < 200; ++length) {
    std::string bytes(length, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_EQ(plain(coded(bytes)), bytes);
  }
}

}  // namespace
}  // namespace trocar
