// Defines the appearance of every panel of the window: colours, fonts, common controls, and scopes of Dear ImGui.
// Labels of buttons, fields, rows and tabs are English: they are looked up in the catalogue here
// (geometry/translate.hpp), and name the item for tests. All other texts are shown as they are given. Colours come from
// Okabe and Ito's colour-blind-safe palette (jfly.uni-koeln.de/color, 2008); words repeat what a colour means. Lengths
// are in layout units: 1/720 of the window's height, or 1/1280 of its width if that is smaller. Scopes are tested in
// tests/app/window_test.cpp; tests/house holds their rule
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trocar::theme {

constexpr glm::vec3 kOrange{0.90f, 0.62f, 0.00f}, kSkyBlue{0.34f, 0.71f, 0.91f}, kGreen{0.00f, 0.62f, 0.45f},
    kYellow{0.94f, 0.89f, 0.26f}, kBlue{0.00f, 0.45f, 0.70f}, kVermilion{0.84f, 0.37f, 0.00f},
    kPurple{0.80f, 0.47f, 0.65f};
constexpr glm::vec3 kText{0.93f, 0.94f, 0.95f}, kQuiet{0.62f, 0.66f, 0.70f}, kGood{0.33f, 0.80f, 0.64f},
    kBad{0.97f, 0.60f, 0.22f};

// Returns the colour of an instrument; the view colours the faces that it touches alike.
glm::vec3 instrument_colour(std::size_t instrument);

// Returns a colour with opacity as ImGui's drawing lists take it.
std::uint32_t packed(const glm::vec3& colour, float alpha = 1.f);

enum class Letters { Text, Small, Heading, Title, Numbers };

// Sets the font for the lifetime of this object.
class WithLetters {
 public:
  explicit WithLetters(Letters letters);
  ~WithLetters();
  WithLetters(const WithLetters&) = delete;
  WithLetters& operator=(const WithLetters&) = delete;
};

// Converts a length of the layout to pixels.
float px(float units);
// Returns the pixels of this height, or of what the panel has above its last `below` units if that is less: large
// letters make panels higher than a small window.
float height_above(float units, float below);

// The next item, of `width` units, stands beside the last one, or below it where the line is full.
void beside_or_below(float width);

void text(std::string_view words, const glm::vec3& colour = kText);
void wrapped(std::string_view words, const glm::vec3& colour = kText);  // wraps at the available width
void heading(std::string_view words);
void headline(std::string_view words, bool wraps = false);  // of a panel
// Draws a line of two columns: a grey label and a right-aligned value.
void row(std::string_view label, std::string_view value, const glm::vec3& colour = kText);
// Draws a grey label; the next item follows at `from` units, as wide as `width` units, 0: to the end of the line.
void label(std::string_view words, float from, float width = 0.f);
// Draws a bar of 0..1 with text on it.
void bar(double share, const glm::vec3& colour, std::string_view words = {}, float height = 18.f);
// Draws a button; returns true when it is pressed. `width` 0: the button fits the text.
bool button(const char* label, float width = 0.f, bool main = false, bool enabled = true);

// The position of the last item on the screen, at which tests and remote control press it.
struct ItemPosition {
  std::string label;
  glm::vec2 from{0.f}, to{0.f};  // pixels from the top left
};
void note_item(std::string_view label);

// What a frame shows: the items that can be pressed and, if they are wanted, all words.
struct ShownFrame {
  std::vector<ItemPosition> items;
  std::vector<std::string> words;
  bool with_words = false;
};
// Notes words that no function of this file draws.
void note_words(std::string_view words);

// Position and size of a panel without decoration; pivot 0..1: the point of the panel that lies at this position.
struct PanelLayout {
  glm::vec2 at{0.f};     // share of the window, 0..1
  glm::vec2 shift{0.f};  // units
  glm::vec2 pivot{0.f};
  glm::vec2 size{0.f};  // units; 0: fits the content
};
// Shown: takes no input. Used: has controls. Front: in front of all others.
enum class PanelKind { Shown, Used, Front };
// A panel for the lifetime of this object, which must enclose that of every WithLetters in it.
class Panel {
 public:
  Panel(const char* name, const PanelLayout& layout, PanelKind kind, float opacity = 0.82f);
  ~Panel();
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
};

// Darkens everything drawn so far.
void dim_screen(float opacity = 0.55f);

// What Dear ImGui begins and must end, as objects: a scope ends what it began when it is left, also by an exception.
// Nothing else in app/window calls ImGui's End..., Pop... or Unindent.
class [[nodiscard]] Scope {
 public:
  using End = void (*)(float);

  // `open`: whether its content is shown. `end` may be null: nothing is to be ended.
  Scope(bool open, End end, float value = 0.f) : end_(end), value_(value), open_(open) {}
  ~Scope() {
    if (end_) end_(value_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  explicit operator bool() const { return open_; }

 private:
  End end_;
  float value_;
  bool open_;
};

// Part of a panel that scrolls by itself. `size`: pixels; 0: the remaining space. `flags`: ImGuiWindowFlags.
Scope child(const char* name, const glm::vec2& size, int flags = 0, bool border = false);
// Only while these are true, they are shown. Flags are those of ImGui's functions.
Scope table(const char* name, int columns, int flags, float height = 0.f);
Scope combo(const char* name, const std::string& shown, int flags = 0);
Scope tab_bar(const char* name);
Scope tab(const char* name, int flags = 0);
// Draws a label and a list of names; returns the number of the one that the user selects in this frame. `shown`: in the
// closed list. The items that can be pressed are noted: the label, or in the open list the names.
std::optional<std::size_t> choice(const std::string& label, const std::string& shown,
                                  std::span<const std::string> names, float from, float width = 0.f);
// These are always shown.
Scope group();
Scope indent(float pixels);
Scope with_id(std::size_t id);
Scope with_cell_padding(const glm::vec2& pixels);

}  // namespace trocar::theme
