#include "app/window/input/keys.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace trocar {
namespace {

struct LetterKey {
  char letter;
  Key key;
};
constexpr LetterKey kLetters[] = {{'C', Key::C}, {'E', Key::E}, {'G', Key::G}, {'H', Key::H},
                                  {'L', Key::L}, {'N', Key::N}, {'O', Key::O}, {'P', Key::P},
                                  {'Q', Key::Q}, {'R', Key::R}, {'S', Key::S}, {'T', Key::T},
                                  {'W', Key::W}, {'X', Key::X}, {'Y', Key::Y}, {'Z', Key::Z}};

bool moves(Key key) { return key == Key::Q || key == Key::W; }

bool is_position(int code) {
  return (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9') || code == 161 || code == 162 ||
         (code > 0 && code < 127 &&
          std::string_view("'-,./;=[]\\`").find(static_cast<char>(code)) != std::string::npos);
}

// The Latin letter of a label, as a capital.
std::optional<char> letter_of(const std::string& label) {
  if (label.size() != 1 || !std::isalpha(static_cast<unsigned char>(label[0]))) return {};
  return static_cast<char>(std::toupper(static_cast<unsigned char>(label[0])));
}

Key key_of(std::optional<char> letter) {
  const auto found = std::ranges::find_if(kLetters, [&](const LetterKey& one) { return one.letter == letter; });
  return found == std::end(kLetters) ? Key::Other : found->key;
}

// Capitals of the alphabets that keyboards have; other signs stay as they are. Each of these letters has two bytes.
std::string capital_letter(std::string label) {
  if (label.size() == 1) label[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(label[0])));
  if (label.size() != 2) return label;
  const unsigned letter =
      ((static_cast<unsigned char>(label[0]) & 0x1Fu) << 6) | (static_cast<unsigned char>(label[1]) & 0x3Fu);
  unsigned big = letter;
  if (letter >= 0xE0 && letter <= 0xFE && letter != 0xF7) big = letter - 0x20;  // Latin
  if (letter >= 0x100 && letter <= 0x177 && letter % 2 == 1 && (letter < 0x131 || letter > 0x148)) big = letter - 1;
  if (letter >= 0x3B1 && letter <= 0x3C9 && letter != 0x3C2) big = letter - 0x20;  // Greek
  if (letter >= 0x430 && letter <= 0x44F) big = letter - 0x20;                     // Cyrillic
  if (letter >= 0x450 && letter <= 0x45F) big = letter - 0x50;
  return {static_cast<char>(0xC0u | (big >> 6)), static_cast<char>(0x80u | (big & 0x3Fu))};
}

}  // namespace

KeyLayout::KeyLayout()
    : KeyLayout(
          [](int position) { return position < 127 ? std::string(1, static_cast<char>(position)) : std::string(); }) {}

KeyLayout::KeyLayout(const LabelAt& label_at) {
  for (int position = 0; position < kMostPositions; ++position)
    if (is_position(position)) labels_[static_cast<std::size_t>(position)] = capital_letter(label_at(position));
  assign();
}

void KeyLayout::assign() {
  plain_.fill(Key::Other);
  with_control_.fill(Key::Other);
  for (std::size_t at = 0; at < labels_.size(); ++at) {
    const Key key = key_of(letter_of(labels_[at]));
    with_control_[at] = key;
    if (!moves(key)) plain_[at] = key;
  }
  plain_['Q'] = Key::Q, plain_['W'] = Key::W;
  // A key that no label means: its position on a US keyboard, or else any position without a meaning.
  for (const LetterKey& one : kLetters) {
    for (auto* keys : {&plain_, &with_control_}) {
      if (std::ranges::find(*keys, one.key) != keys->end()) continue;
      auto at = static_cast<std::size_t>(one.letter);
      if ((*keys)[at] != Key::Other)
        for (at = 'A'; at < 'Z' && (*keys)[at] != Key::Other;) ++at;
      if ((*keys)[at] == Key::Other) (*keys)[at] = one.key;
    }
  }
}

Key KeyLayout::key_at(int position, bool control) const {
  if (position < 0 || position >= kMostPositions) return Key::Other;
  return (control ? with_control_ : plain_)[static_cast<std::size_t>(position)];
}

int KeyLayout::position_by_label(int position) const {
  if (position < 0 || position >= kMostPositions) return position;
  const auto letter = letter_of(labels_[static_cast<std::size_t>(position)]);
  return letter ? *letter : position;
}

const std::string& KeyLayout::label_of(Key key, bool control) const {
  const auto& keys = control ? with_control_ : plain_;
  const auto found = std::ranges::find(keys, key);
  static const std::string none;
  return found == keys.end() ? none : labels_[static_cast<std::size_t>(found - keys.begin())];
}

const KeyLayout& us_layout() {
  static const KeyLayout layout;
  return layout;
}

std::string in_layout(std::string_view text, const KeyLayout& layout) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || (static_cast<unsigned char>(c) & 0x80u);
  };
  std::string result;
  bool control = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (word.empty()) {
      control = control && text[at] != ',';
      result += text[at++];
      continue;
    }
    control = control || word == "Ctrl";
    const Key key =
        word.size() == 1 && std::isupper(static_cast<unsigned char>(word[0])) ? key_of(word[0]) : Key::Other;
    const std::string& label = layout.label_of(key, control);
    result += key == Key::Other || label.empty() ? std::string(word) : label;
    at = end;
  }
  return result;
}

}  // namespace trocar
