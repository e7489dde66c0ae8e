// How every panel of the window looks: colours, letters, and the few pieces that panels are made of. Colours are of
// Okabe and Ito's colour-blind-safe palette (jfly.uni-koeln.de/color, 2008); what they say is also said in words.
// Lengths are in units of the layout: 1/720 of the window's height, or 1/1280 of its width where that is less.
#pragma once

#include <glm/glm.hpp>
#include <string>
#include <string_view>

namespace trocar::theme {

constexpr glm::vec3 kOrange{0.90f, 0.62f, 0.00f}, kSkyBlue{0.34f, 0.71f, 0.91f}, kGreen{0.00f, 0.62f, 0.45f},
    kYellow{0.94f, 0.89f, 0.26f}, kBlue{0.00f, 0.45f, 0.70f}, kVermilion{0.84f, 0.37f, 0.00f},
    kPurple{0.80f, 0.47f, 0.65f};
constexpr glm::vec3 kText{0.93f, 0.94f, 0.95f}, kQuiet{0.62f, 0.66f, 0.70f}, kGood{0.33f, 0.80f, 0.64f},
    kBad{0.97f, 0.60f, 0.22f};

// One for each instrument, as the view colours the faces it touches.
glm::vec3 instrument_colour(std::size_t instrument);

enum class Letters { Text, Small, Heading, Title, Numbers };

// For the life of an object.
class WithLetters {
 public:
  explicit WithLetters(Letters letters);
  ~WithLetters();
  WithLetters(const WithLetters&) = delete;
  WithLetters& operator=(const WithLetters&) = delete;
};

// Pixels of a length of the layout.
float px(float units);

void text(std::string_view words, const glm::vec3& colour = kText);
void wrapped(std::string_view words, const glm::vec3& colour = kText);  // to the width that is left
void heading(std::string_view words);
// A line of two columns: a quiet label and a value at the right end.
void row(std::string_view label, std::string_view value, const glm::vec3& colour = kText);
// 0..1, with words on it.
void bar(double share, const glm::vec3& colour, std::string_view words = {}, float height = 18.f);
// `width` 0: as wide as the words.
bool button(const char* label, float width = 0.f, bool main = false, bool enabled = true);

// Where the thing shown last is on the screen: for tests and remote control, which press it there.
struct ButtonPlace {
  std::string label;
  glm::vec2 from{0.f}, to{0.f};  // pixels from the top left
};
void note_place(std::string_view label);

// A panel without decoration at a place of the window; pivot 0..1: which point of the panel lies there.
struct PanelPlace {
  glm::vec2 at{0.f};     // share of the window, 0..1
  glm::vec2 shift{0.f};  // units
  glm::vec2 pivot{0.f};
  glm::vec2 size{0.f};  // units; 0: as large as what is in it
};
// Only looked at; with something to press; in front of all others.
enum class PanelKind { Shown, Used, Front };
// For the life of an object; made before, and gone after, every WithLetters in it.
class Panel {
 public:
  Panel(const char* name, const PanelPlace& place, PanelKind kind, float opacity = 0.82f);
  ~Panel();
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
};

// Darkens everything drawn so far.
void dim_screen(float opacity = 0.55f);

}  // namespace trocar::theme
