// Keeps what happened to keyboard and mouse in its order and hands it out picture by picture, so that nothing is lost
// between two pictures: a key or button changes at most once a picture, a click counts where the button went down, and
// text and the keys that edit it keep their order. What does not fit into a picture follows in the next ones.
// Tested in tests/app/input_queue_test.cpp
#pragma once

#include <deque>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "app/window/input/keys.hpp"

namespace trocar {

struct InputEvent {
  enum class Kind { Motion, Wheel, Button, Key, Text };

  Kind kind = Kind::Motion;
  int code = 0;             // of the button, or GLFW's of the key
  bool down = false;        // the button or key went down; else up
  Key key = Key::Other;     // what the key means
  int position = 0;         // GLFW's code of the key with this label
  glm::dvec2 pointer{0.0};  // pixels, when it happened
  double wheel = 0.0;       // notches
  char32_t letter = 0;
};

class InputQueue {
 public:
  void add(const InputEvent& event);
  // Returns the events of the next picture, valid until the next call.
  std::span<const InputEvent> next_picture();
  // Returns the events of the last next_picture().
  std::span<const InputEvent> picture() const { return picture_; }
  bool empty() const { return waiting_.empty(); }
  // Forgets motions that wait: the pointer's coordinates have changed.
  void forget_motion();

 private:
  bool fits(const InputEvent& event) const;

  std::deque<InputEvent> waiting_;
  std::vector<InputEvent> picture_;
};

}  // namespace trocar
