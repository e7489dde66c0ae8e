#include "app/window/input_queue.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>

namespace trocar {
namespace {

bool is_modifier(const InputEvent& event) {
  return event.kind == InputEvent::Kind::Key && event.code >= GLFW_KEY_LEFT_SHIFT && event.code <= GLFW_KEY_RIGHT_SUPER;
}

// A key such as Enter or Delete, which works on the text that was typed before it.
bool edits(const InputEvent& event) {
  return event.kind == InputEvent::Kind::Key && event.down && event.code >= GLFW_KEY_ESCAPE && !is_modifier(event);
}

bool is_press(const InputEvent& event) {
  return event.kind == InputEvent::Kind::Key && event.down && !is_modifier(event);
}

}  // namespace

void InputQueue::add(const InputEvent& event) {
  if (event.kind == InputEvent::Kind::Motion && !waiting_.empty() && waiting_.back().kind == InputEvent::Kind::Motion)
    waiting_.back() = event;
  else
    waiting_.push_back(event);
}

void InputQueue::forget_motion() {
  std::erase_if(waiting_, [](const InputEvent& event) { return event.kind == InputEvent::Kind::Motion; });
}

// Whether the event may happen in the same picture as those before it.
bool InputQueue::fits(const InputEvent& event) const {
  const auto none = [&](auto&& is) { return std::ranges::none_of(picture_, is); };
  const auto is_motion = [](const InputEvent& one) { return one.kind == InputEvent::Kind::Motion; };
  const auto is_button = [](const InputEvent& one) { return one.kind == InputEvent::Kind::Button; };
  const auto is_text = [](const InputEvent& one) { return one.kind == InputEvent::Kind::Text; };
  const auto is_same = [&](const InputEvent& one) { return one.kind == event.kind && one.code == event.code; };
  switch (event.kind) {
    case InputEvent::Kind::Motion:
    case InputEvent::Kind::Wheel:
      return none(is_button);
    case InputEvent::Kind::Button:  // the panels first learn where the pointer is
      return none(is_same) && none(is_motion) && none(is_press) && none(is_text);
    case InputEvent::Kind::Key:
      if (!none(is_same) || !none(is_button)) return false;
      if (is_modifier(event)) return none(is_press);
      return !edits(event) || none(is_text);
    case InputEvent::Kind::Text:
      return none(is_button) && none(edits);
  }
  return true;
}

std::span<const InputEvent> InputQueue::next_picture() {
  picture_.clear();
  while (!waiting_.empty() && fits(waiting_.front())) {
    picture_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return picture_;
}

}  // namespace trocar
