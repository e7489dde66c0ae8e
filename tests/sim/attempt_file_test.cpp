// Tests attempts in a file: every field and bit comes back, and a damaged text is refused with one sentence.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "geometry/error.hpp"
#include "sim/support/base64.hpp"
#include "tests/sim/odd_attempt.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using Json = nlohmann::ordered_json;
using test::expect_same;
using test::odd_attempt;

TEST(AttemptText, EveryFieldAndBitComesBack) {
  const AttemptFile odd = odd_attempt(), again = parse_attempt(attempt_text(odd), "a.json");
  expect_same(odd, again);
  EXPECT_EQ(attempt_text(again), attempt_text(odd));
  for (const Activity activity : {Activity::Attempt, Activity::Replay, Activity::Script}) {
    AttemptFile other = odd;
    other.run = {ScoreClock::Tick, activity, ""};
    expect_same(other, parse_attempt(attempt_text(other), "a.json"));
  }
}

// Changes of the JSON of an attempt, each of which is refused with a sentence that has this part.
struct Damage {
  const char* part;
  std::function<void(Json& json)> change;
};

template <typename Value>
void change_column(Json& column, const std::function<void(std::vector<Value>& values)>& change) {
  const auto bytes = from_base64(column.get<std::string>());
  std::vector<Value> values(bytes->size() / sizeof(Value));
  std::memcpy(values.data(), bytes->data(), bytes->size());
  change(values);
  column = base64(std::as_bytes(std::span(values)));
}

Damage in_clock(std::size_t at, double number, const char* part = "the clock of frame") {
  return {part, [=](Json& json) {
            change_column<double>(json["frames"]["clock"], [&](std::vector<double>& clock) { clock[at] = number; });
          }};
}

Damage in_poses(std::vector<std::uint32_t> frames) {
  return {"damaged", [=](Json& json) { json["devices"][0]["frame"] = base64(std::as_bytes(std::span(frames))); }};
}

Damage in_state(std::uint8_t state) {
  return {"pose 1 of 'probe' is damaged", [=](Json& json) {
            change_column<std::uint8_t>(json["devices"][0]["state"],
                                        [&](std::vector<std::uint8_t>& states) { states[1] = state; });
          }};
}

Damage with_text(const char* part, const Json::json_pointer& place, const Json& value) {
  return {part, [=](Json& json) { json[place] = value; }};
}

// Returns the sentence with which the text is refused; empty when it is accepted.
std::string refusal(const std::string& text) {
  try {
    parse_attempt(text, "a.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

void expect_refused(const std::string& text, const std::string& part) {
  const std::string sentence = refusal(text);
  EXPECT_TRUE(sentence.starts_with("a.json: ")) << sentence << "\n" << text.substr(0, 200);
  EXPECT_NE(sentence.find(part), std::string::npos) << sentence << "\nexpected: " << part;
  EXPECT_LT(sentence.size(), 300u);
  for (const char c : sentence) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << sentence;
}

TEST(AttemptText, OtherTextsAreRefused) {
  const std::string whole = attempt_text(odd_attempt());
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("{}"), std::string("attempt"),
        whole.substr(0, whole.size() / 2), whole + "}", std::string("\xff\xfe"), std::string(100000, '['),
        std::string("{\"format\": 7}"), std::string("{\"format\": \"trocar-attempt-1\"}"), std::string(9, '\0')})
    expect_refused(text, "is not an attempt of format trocar-browser-attempt-1");
  std::string deep;
  for (int k = 0; k < 50000; ++k) deep += "{\"a\":";
  expect_refused(deep, "is not an attempt");
  expect_refused(deep + "1" + std::string(50000, '}'), "is not an attempt");
}

TEST(AttemptText, EveryKeyIsRequired) {
  const Json whole = Json::parse(attempt_text(odd_attempt()));
  const std::set<std::string> free_texts = {"program", "date", "scene", "scene_text", "person", "name", "text"};
  std::size_t keys = 0;
  const auto without = [&](const Json::json_pointer& parent) {
    for (const auto& [key, value] : whole[parent].items()) {
      static_cast<void>(value);
      for (const Json& other : {Json(), Json(-1.5), Json::array({1}), Json("x y")}) {
        if (other.is_string() && free_texts.contains(key)) continue;
        Json json = whole;
        json[parent][key] = other;
        expect_refused(json.dump(), "");
      }
      Json json = whole;
      json[parent].erase(key);
      expect_refused(json.dump(), "");
      ++keys;
    }
  };
  for (const char* parent : {"", "/frames", "/devices/0", "/events/1"}) without(Json::json_pointer(parent));
  EXPECT_EQ(keys, 15u + 5u + 5u + 3u);
}

std::vector<Damage> damages() {
  using Place = Json::json_pointer;
  const double nan = std::nan("");
  const Json::json_pointer checksum("/frames/checksum");
  return {
      in_clock(0, nan),
      in_clock(6, -1e-9),
      in_clock(7, INFINITY),
      in_clock(10, 86400.001),
      in_clock(3, -0.1, "the duration of frame 0"),
      in_clock(8, 1.001, "the duration of frame 1"),
      in_clock(13, nan, "the duration of frame 2"),
      in_clock(4, 0.0, "the field of view of frame 0"),
      in_clock(14, 180.0, "the field of view of frame 2"),
      in_clock(0, 1e-3, "the time of frame 1 is before"),
      in_clock(6, 86401.0, "the clock of frame 1"),
      in_clock(11, 0.25, "the time of frame 2 is before"),
      in_poses({0, 0}),
      in_poses({0, 3}),
      {"incomplete", in_poses({1, 2}).change},
      {"incomplete", in_poses({0}).change},
      {"incomplete", in_poses({}).change},
      in_state(3),
      in_state(0x30),
      in_state(0xff),
      with_text("\"checksum\" is damaged", checksum, "AAAA"),
      with_text("\"checksum\" is damaged", checksum, "AAAAAAAAAA"),
      with_text("differ in length", checksum, ""),
      with_text("a pause lies after the last frame", Place("/frames/suspended"), "AwAAAA=="),
      with_text("more than 65 devices", Place("/devices"), Json(std::vector<int>(66))),
      with_text("a device is damaged", Place("/devices/0"), 7),
      with_text("an event is damaged", Place("/events/0"), "left"),
      with_text("'\?\?[2J'", Place("/ending"), "\x1b\x07[2J"),
      with_text("the person ' ' cannot be recorded", Place("/person"), " "),
      with_text("its score is not within", Place("/score"), 100.5),
      with_text("its score is not within", Place("/score"), -1),
      with_text("\"model_version\"", Place("/model_version"), 65536 * 65536ll),
      with_text("\"seed\"", Place("/seed"), 4294967296ll),
      with_text("\"seed\"", Place("/seed"), -1),
  };
}

TEST(AttemptText, DamagesAreNamed) {
  const Json whole = Json::parse(attempt_text(odd_attempt()));
  for (const Damage& damage : damages()) {
    Json json = whole;
    damage.change(json);
    expect_refused(json.dump(), damage.part);
  }
  Json empty = whole;
  for (auto& column : empty["frames"]) column = "";
  expect_refused(empty.dump(), "it has no frame");
  std::string huge = whole.dump();
  huge.replace(huge.find("\"score\":") + 8, 1, "1e999");
  expect_refused(huge, "is not an attempt");
}

TEST(AttemptText, RandomChangesAreAcceptedOrRefused) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string whole = attempt_text(odd_attempt());
  std::size_t accepted = 0;
  for (int k = 0; k < 20000; ++k) {
    std::string text = whole;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % text.size(), length = random() % 20;
      if (random() % 3 == 0)
        text[at] = static_cast<char>(random());
      else if (random() % 2 == 0)
        text.erase(at, length);
      else
        text.insert(at, text.substr(random() % text.size(), length));
    }
    const std::string sentence = refusal(text);
    if (!sentence.empty()) continue;
    const AttemptFile attempt = parse_attempt(text, "a.json");
    expect_same(attempt, parse_attempt(attempt_text(attempt), "a.json"));
    ++accepted;
  }
  std::printf("%zu of 20000 accepted\n", accepted);
}

TEST(AttemptText, OnlyFilesOfAttemptsAreRead) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.json", attempt_text(odd_attempt()));
  expect_same(load_attempt(file), odd_attempt());
  EXPECT_THROW(load_attempt(folder.path() / "absent.json"), InputError);
  EXPECT_THROW(load_attempt(folder.path()), InputError);
  std::filesystem::resize_file(file, kMostAttemptBytes + 1);
  EXPECT_THROW(load_attempt(file), InputError);
}

}  // namespace
}  // namespace trocar
