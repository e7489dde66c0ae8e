// Tests base64, text of any bytes, and what the caller learns about a child process that ends, fails, crashes or hangs.
#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

#include "geometry/error.hpp"
#include "mesh/base64.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/process.hpp"
#include "sim/support/text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

std::string coded(std::string_view plain) { return base64(std::as_bytes(std::span(plain.data(), plain.size()))); }

std::optional<std::string> plain(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return {};
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

TEST(Base64Text, FollowsTheStandardsExamples) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"Zg==", "f"},
                                                       {"Zm8=", "fo"},
                                                       {"Zm9v", "foo"},
                                                       {"Zm9vYg==", "foob"},
                                                       {"Zm9vYmE=", "fooba"},
                                                       {"Zm9vYmFy", "foobar"},
                                                       {"//79", "\xff\xfe\xfd"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(plain(text), expected) << text;
    EXPECT_EQ(coded(expected), text);
  }
}

TEST(Base64Text, RefusesWrongPaddingAndOtherCharacters) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "=g==", "Z===", "Zm=v", "Zg==Zg==", "Zm9v\n", "Zm9-",
                           "Zm9_", "Zm 9v===", "Zm9\xc3", "Zh==", "Zm9="})
    EXPECT_FALSE(plain(text)) << text;
  EXPECT_FALSE(from_base64(std::string_view("Zm\0v", 4)));
}

TEST(Base64Text, OfOtherWritersPaddingMayBeAbsentOrTooLong) {
  for (const char* text : {"Zm8", "Zm8=", "Zm8===", "Zm9"}) EXPECT_EQ(decoded_base64(text), "fo") << text;
  for (const char* text : {"Zm=8", "Zm8-", "Z m8"}) EXPECT_FALSE(decoded_base64(text)) << text;
}

TEST(Base64Text, EveryByteComesBack) {
  std::mt19937 random(3);
  for (std::size_t length = 0; length < 200; ++length) {
    std::string bytes(length, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_EQ(plain(coded(bytes)), bytes);
  }
}

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

ChildResult shell(const std::string& script, int seconds = 20) {
  const std::vector<std::string> arguments{"-c", script};
  return run_child("/bin/sh", arguments, std::chrono::seconds(seconds));
}

TEST(ChildProcess, ReturnsOutputAndStatus) {
  const ChildResult good = shell("echo one; echo hidden >&2; echo two");
  EXPECT_EQ(good.output, "one\ntwo\n");
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.failure, "");
  EXPECT_EQ(shell("exit 3").status, 3);
  EXPECT_EQ(shell("head -c 300000 /dev/zero").output.size(), 300000u) << "more than a pipe holds";
}

TEST(ChildProcess, ACrashDoesNotEndTheCaller) {
  const ChildResult crash = shell("echo before; kill -SEGV $$");
  EXPECT_EQ(crash.output, "before\n");
  EXPECT_EQ(crash.status, -1);
  EXPECT_EQ(crash.failure, "crashes (signal 11)");
}

TEST(ChildProcess, AChildThatHangsIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult hang = shell("exec sleep 60", 1);
  EXPECT_EQ(hang.failure, "does not end within 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// Closing the output is not the end: the limit holds until the process itself ends.
TEST(ChildProcess, AChildThatClosesItsOutputIsKilledAtTheLimit) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult silent = shell("echo before; exec >&-; sleep 60", 1);
  EXPECT_EQ(silent.failure, "does not end within 1 s");
  EXPECT_EQ(silent.status, -1);
  EXPECT_EQ(silent.output, "before\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  const ChildResult late = shell("echo before; exec >&-; sleep 0.2; exit 3");
  EXPECT_EQ(late.failure, "");
  EXPECT_EQ(late.status, 3);
}

// The pipe stays open as long as any process holds it; the child's end is what counts.
TEST(ChildProcess, AGrandchildThatHoldsTheOutputDelaysNothing) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult parent = shell("sleep 60 & echo $!; exit 4", 30);
  EXPECT_EQ(parent.failure, "");
  EXPECT_EQ(parent.status, 4);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  // What it left behind has been killed.
  const std::string grandchild = parent.output.substr(0, parent.output.find('\n'));
  EXPECT_NE(shell("sleep 0.2; grep -q '^State:[[:space:]]*[RSDT]' /proc/" + grandchild + "/status").status, 0);
  const ChildResult both = shell("sleep 60 & exec >&-; sleep 60", 1);
  EXPECT_EQ(both.failure, "does not end within 1 s");
}

TEST(ChildProcess, AChildThatWritesEndlesslyIsKilled) {
  const ChildResult flood = shell("exec cat /dev/zero", 60);
  EXPECT_EQ(flood.failure, "writes more than 64 MiB");
  EXPECT_LT(flood.output.size(), std::size_t{65} << 20);
}

TEST(ChildProcess, AMissingProgramIsAFailure) {
  const ChildResult missing = run_child("/nonexistent", {}, std::chrono::seconds(5));
  EXPECT_EQ(missing.failure, "cannot be started (No such file or directory)");
}

}  // namespace
}  // namespace trocar
