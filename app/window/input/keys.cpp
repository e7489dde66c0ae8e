#include "app/window/input/keys.hpp"

#include <algorithm>
#include <cctype>

namespace trocar {
namespace {

struct LetterKey {
  char letter;
  Key key;
};
constexpr LetterKey kLetters[] = {{'C', Key::C}, {'E', Key::E}, {'G', Key::G}, {'H', Key::H}, {'L', Key::L},
                                  {'N', Key::N}, {'O', Key::O}, {'P', Key::P}, {'Q', Key::Q}, {'R', Key::R},
                                  {'S', Key::S}, {'T', Key::T}, {'V', Key::V}, {'W', Key::W}, {'X', Key::X},
                                  {'Y', Key::Y}, {'Z', Key::Z}};

bool moves(Key key) { return key == Key::Q || key == Key::W; }

Key digit_key(std::size_t number) { return static_cast<Key>(static_cast<std::size_t>(Key::Digit1) + number); }

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
  for (std::size_t number = 0; number < kDigits; ++number) plain_['1' + number] = digit_key(number);
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

namespace {

constexpr KeyLine kInstrument[] = {
    {"move the mouse", "swing the handle about the trocar: the tip moves in the opposite direction"},
    {"wheel, up  down", "insert, withdraw"},
    {"Q  W, left  right", "roll the instrument; for the scope, turn the light post"},
    {"Shift, held", "fine movement: swing, insertion and roll are a quarter as large"},
    {"left button, click", "close the jaws with a light grip; the next click opens them"},
    {"left button, held", "close the jaws with a firm grip; they stay closed. Scissors: closed while held"},
    {"E or Space, held", "diathermy on, cut: the hook removes the tissue around its wire"},
    {"R, held", "diathermy on, coagulate: tissue at the wire turns pale, then black"},
    {"E  R, held", "suction: E removes the fluid near the tip, R rinses the tissue with water"},
    {"1 to 9", "select the instrument of this number, or the scope; with Shift: for the other hand"},
    {"Tab", "select the next instrument or the scope; with Shift: for the other hand"},
    {"right button, held", "move the scope, whichever instrument is selected"},
    {"V", "wipe the lens of the scope"},
};
constexpr KeyLine kKeysAlone[] = {
    {"arrows", "swing the handle; a short press moves it little"},
    {"Page down, Page up", "insert, withdraw"},
    {"Home  End", "roll"},
    {"Insert", "the button of the jaws: pressed shortly a light grip, held a firm one"},
    {"keypad", "8 4 6 2 swing, 3 and 9 insert and withdraw, 7 and 1 roll, 5 jaws, 0 diathermy"},
};
constexpr KeyLine kGamepad[] = {
    {"left, right stick", "swing the other hand, the main hand"},
    {"LB, RB, held", "the hand's stick inserts, withdraws and rolls"},
    {"LT, RT", "the button of the hand's jaws"},
    {"lower, right button", "diathermy: cut, coagulate"},
    {"left, upper button", "the other hand, the main hand takes the next instrument"},
    {"cross", "swing the scope; with LB and RB: in, out, light post"},
};
constexpr KeyLine kSession[] = {
    {"Enter or Space", "start, when the instructions are shown"},
    {"Esc", "pause: resume, finish or restart"},
    {"F2", "settings"},
    {"L", "list of contacts: on, off"},
    {"G", "touched faces: show, hide"},
    {"X", "the expert's ghost: off, in time, by progress"},
    {"P", "save a picture (picture.png)"},
    {"F11", "full screen: on, off"},
    {"F1", "this help"},
};
constexpr KeyLine kTechnical[] = {
    {"T", "technical overlay: forces, pressures, backend, checks, touched faces: on, off"},
    {"H", "times of each stage, and of the session's backend and the OBB tree: on, off"},
    {"O", "switch between the session's backend and the OBB tree"},
    {"C", "check every frame with the OBB tree: on, off"},
};
constexpr KeyLine kReplay[] = {
    {"Space", "play, pause"},
    {"left  right", "previous frame, next frame"},
    {"Home  End", "first frame, last frame"},
    {"up  down", "faster, slower"},
    {"N, Shift N", "next error, previous error: from two seconds before it"},
    {"Esc", "back"},
};
constexpr KeyLine kEditor[] = {
    {"left button", "select or add; drag to move"},
    {"right button + move", "turn the view around the organs"},
    {"wheel", "zoom in, zoom out"},
    {"Ctrl Z", "undo"},
    {"Ctrl Y, Ctrl Shift Z", "redo"},
    {"Ctrl S", "save"},
    {"Delete", "remove the selected item"},
};
constexpr KeyGroup kGroups[] = {{"Instruments", kInstrument},
                                {"A hand by keys", kKeysAlone},
                                {"Both hands by a gamepad", kGamepad},
                                {"Session", kSession},
                                {"Replay", kReplay},
                                {"Scene editor", kEditor},
                                {"Technical", kTechnical, true}};

constexpr KeyLine kScissors[] = {{"left button, held", "close the blades: they cut once"}};
constexpr KeyLine kGrasper[] = {{"left button, click", "close the jaws lightly; the next click opens them"},
                                {"left button, held", "close them firmly; they stay closed"}};
constexpr KeyLine kClipApplier[] = {{"left button, held", "close the jaws firmly: the clip closes"},
                                    {"left button, click", "open them wide: the next clip is loaded"}};
constexpr KeyLine kHook[] = {
    {"Q  W", "turn the hook's foot"}, {"E or Space, held", "diathermy: cut"}, {"R, held", "diathermy: coagulate"}};
constexpr KeyLine kSuction[] = {{"E, held", "suck"}, {"R, held", "rinse"}};
constexpr KeyLine kScope[] = {{"Q  W", "turn the light post"}};

std::span<const KeyLine> work_of(std::optional<InstrumentKind> kind) {
  if (!kind) return kScope;
  switch (*kind) {
    case InstrumentKind::Grasper:
      return kGrasper;
    case InstrumentKind::Hook:
      return kHook;
    case InstrumentKind::Scissors:
      return kScissors;
    case InstrumentKind::ClipApplier:
      return kClipApplier;
    case InstrumentKind::Suction:
      return kSuction;
    case InstrumentKind::Probe:
      break;
  }
  return {};
}

}  // namespace

std::vector<KeyLine> keys_of(std::optional<InstrumentKind> kind) {
  std::vector<KeyLine> lines = {
      {"mouse", kind ? "swing the handle: the tip moves against the hand" : "swing the scope"},
      {"wheel, up  down", "insert, withdraw"}};
  const auto work = work_of(kind);
  lines.insert(lines.end(), work.begin(), work.end());
  lines.push_back({"Shift, held", "fine movement"});
  return lines;
}

std::span<const KeyGroup> key_table() { return kGroups; }

}  // namespace trocar
