// Tests which key is meant in the layouts of several countries: letters by their label, movement keys by their
// position, and the labels that the help shows.
#include "app/window/input/keys.hpp"

#include <gtest/gtest.h>

#include <map>

namespace trocar {
namespace {

// `rows`: what the layout has where a US keyboard has the rows qwertyuiop, asdfghjkl; and zxcvbnm,./
KeyLayout layout_of(const std::vector<std::string>& upper, const std::vector<std::string>& middle,
                    const std::vector<std::string>& lower) {
  std::map<int, std::string> labels;
  const auto add = [&](std::string_view positions, const std::vector<std::string>& row) {
    for (std::size_t k = 0; k < row.size(); ++k) labels[positions[k]] = row[k];
  };
  add("QWERTYUIOP", upper);
  add("ASDFGHJKL;", middle);
  add("ZXCVBNM,./", lower);
  return KeyLayout([&](int position) { return labels[position]; });
}

std::vector<std::string> letters(const std::string& row) {
  std::vector<std::string> list;
  for (const char letter : row) list.emplace_back(1, letter);
  return list;
}

KeyLayout azerty() { return layout_of(letters("azertyuiop"), letters("qsdfghjklm"), letters("wxcvbn,;:!")); }
KeyLayout qwertz() { return layout_of(letters("qwertzuiop"), letters("asdfghjkl"), letters("yxcvbnm,.-")); }
KeyLayout dvorak() { return layout_of(letters("',.pyfgcrl"), letters("aoeuidhtns"), letters(";qjkxbmwvz")); }
KeyLayout russian() {
  return layout_of({"й", "ц", "у", "к", "е", "н", "г", "ш", "щ", "з"},
                   {"ф", "ы", "в", "а", "п", "р", "о", "л", "д", "ж"},
                   {"я", "ч", "с", "м", "и", "т", "ь", "б", "ю", "."});
}
// F keyboard of Turkey: G lies at a movement key.
KeyLayout turkish_f() {
  return layout_of({"f", "g", "ğ", "ı", "o", "d", "r", "n", "h", "p"},
                   {"u", "i", "e", "a", "ü", "t", "k", "m", "l", "y"},
                   {"j", "ö", "v", "c", "ç", "z", "s", "b", ".", ","});
}

constexpr Key kAllLetters[] = {Key::C, Key::E, Key::G, Key::H, Key::L, Key::N, Key::O, Key::P,
                               Key::Q, Key::R, Key::S, Key::T, Key::W, Key::X, Key::Y, Key::Z};

TEST(KeyLayout, WithoutLabelsPositionsCount) {
  const KeyLayout none([](int) { return std::string(); });
  for (const char letter : {'C', 'Q', 'Z'}) EXPECT_EQ(none.key_at(letter, false), us_layout().key_at(letter, false));
  EXPECT_EQ(none.key_at(-1, false), Key::Other);
  EXPECT_EQ(none.key_at(100000, true), Key::Other);
  EXPECT_EQ(none.position_by_label('Z'), 'Z');
}

TEST(KeyLayout, ShortcutsGoByTheirLabel) {
  EXPECT_EQ(azerty().key_at('W', true), Key::Z);
  EXPECT_EQ(azerty().key_at('Z', true), Key::W);
  EXPECT_EQ(qwertz().key_at('Y', true), Key::Z);
  EXPECT_EQ(qwertz().key_at('Z', true), Key::Y);
  EXPECT_EQ(dvorak().key_at('B', false), Key::X);
  EXPECT_EQ(dvorak().key_at(';', true), Key::S);
  EXPECT_EQ(russian().key_at('Z', true), Key::Z) << "no label is Latin: the position counts";
  EXPECT_EQ(azerty().position_by_label('W'), 'Z');
}

TEST(KeyLayout, MovementKeysArePositions) {
  for (const KeyLayout& layout : {azerty(), qwertz(), dvorak(), russian(), turkish_f()}) {
    EXPECT_EQ(layout.key_at('Q', false), Key::Q);
    EXPECT_EQ(layout.key_at('W', false), Key::W);
  }
}

// Each key is meant by exactly one position, so nothing is out of reach and no key does two things.
TEST(KeyLayout, EveryKeyIsSomewhereOnce) {
  for (const KeyLayout& layout : {us_layout(), azerty(), qwertz(), dvorak(), russian(), turkish_f()}) {
    for (const Key key : kAllLetters) {
      int plain = 0, control = 0;
      for (int position = 0; position < kMostPositions; ++position) {
        plain += layout.key_at(position, false) == key ? 1 : 0;
        control += layout.key_at(position, true) == key ? 1 : 0;
      }
      EXPECT_EQ(plain, 1) << layout.label_of(key, false);
      EXPECT_EQ(control, 1) << layout.label_of(key, true);
    }
  }
}

TEST(KeyLayout, TextsHaveTheUsersLabels) {
  EXPECT_EQ(in_layout("Q  W, left  right", us_layout()), "Q  W, left  right");
  EXPECT_EQ(in_layout("Q  W, left  right", azerty()), "A  Z, left  right");
  EXPECT_EQ(in_layout("Ctrl Y, Ctrl Shift Z", qwertz()), "Ctrl Y, Ctrl Shift Z");
  EXPECT_EQ(in_layout("Ctrl Z, W", azerty()), "Ctrl Z, Z");
  EXPECT_EQ(in_layout("List of contacts (L)", russian()), "List of contacts (Д)");
  EXPECT_EQ(in_layout("suction: E removes fluid, R rinses", russian()), "suction: У removes fluid, К rinses");
  EXPECT_EQ(in_layout("F1, Tab", azerty()), "F1, Tab");
  EXPECT_EQ(turkish_f().label_of(Key::G, false), "Ü") << "its own position is a movement key";
}

}  // namespace
}  // namespace trocar
