// The keys of the window: which key is meant in the user's layout, and what each does in words. Tested in
// tests/app/window_input_test.cpp; the table is compared with the guide in tests/app/window_test.cpp
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scene/scene.hpp"

namespace trocar {

// Keys are named by what the user reads on them: Key::Z is the key with the label Z, at any position. Movement keys are
// positions, and so are the digits, which some layouts have with Shift: Key::Q and Key::W are the two keys at the left
// of the upper row of letters, which AZERTY labels A and Z. Where a layout has no key with a label, as in Russian, the
// key at its position on a US keyboard stands for it.
enum class Key {
  Escape,
  Enter,
  Space,
  Tab,
  Left,
  Right,
  Up,
  Down,
  Home,
  End,
  PageUp,
  PageDown,
  Insert,
  Delete,
  F1,
  F2,
  F11,
  C,
  E,
  G,
  H,
  L,
  N,
  O,
  P,
  Q,
  R,
  S,
  T,
  V,
  W,
  X,
  Y,
  Z,
  Control,
  Shift,
  Digit1,
  Digit2,
  Digit3,
  Digit4,
  Digit5,
  Digit6,
  Digit7,
  Digit8,
  Digit9,
  Other
};
constexpr std::size_t kKeys = static_cast<std::size_t>(Key::Other) + 1;
constexpr std::size_t kDigits = 9;  // from Key::Digit1

// A position is named by the character that a US keyboard has there: 'A', '7', ','. These are the codes of GLFW, too.
// 161 and 162 are the additional keys of other keyboards.
constexpr int kMostPositions = 163;

class KeyLayout {
 public:
  // Returns the label at a position, UTF-8; empty: none.
  using LabelAt = std::function<std::string(int position)>;

  KeyLayout();  // a US keyboard
  explicit KeyLayout(const LabelAt& label_at);

  // Returns what the key at a position means; Key::Other: nothing. With Ctrl also movement keys go by their label.
  Key key_at(int position, bool control) const;
  // Returns the position of the key with a Latin letter as its label, for shortcuts in text fields; the position itself
  // where the key has no Latin letter.
  int position_by_label(int position) const;
  // Returns the label that the user reads on the key that means `key`: "A" for Key::Q on AZERTY.
  const std::string& label_of(Key key, bool control) const;

 private:
  void assign();

  std::array<std::string, kMostPositions> labels_;  // [position] capital letters
  std::array<Key, kMostPositions> plain_{}, with_control_{};
};

const KeyLayout& us_layout();

// Returns a text of the key table with the labels of a layout: each capital letter that stands alone is a key, and
// after the word Ctrl it is one with Ctrl.
std::string in_layout(std::string_view text, const KeyLayout& layout);

// Lists every key and mouse action in words. F1 shows this table, and docs/user-guide.md prints it.
struct KeyLine {
  const char* keys;
  const char* what;
};

struct KeyGroup {
  const char* title;
  std::span<const KeyLine> lines;
  bool technical = false;
};

std::span<const KeyGroup> key_table();
// Returns what moves and works one instrument; without a kind, the scope. A short form of key_table().
std::vector<KeyLine> keys_of(std::optional<InstrumentKind> kind);

}  // namespace trocar
