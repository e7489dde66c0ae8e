#include "app/window/input/hands.hpp"

namespace trocar {
namespace {

int between(bool more, bool less) { return (more ? 1 : 0) - (less ? 1 : 0); }

}  // namespace

HandInput hand_input(const WindowInput& input) {
  return {.motion = input.pointer_motion,
          .wheel = input.wheel,
          .jaws_down = input.left_button,
          .jaws_pressed = input.left_pressed,
          .scope = input.right_button,
          .cut = input.down(Key::E) || input.down(Key::Space),
          .coagulate = input.down(Key::R),
          .fine = input.down(Key::Shift),
          .roll = between(input.down(Key::W) || input.down(Key::Right), input.down(Key::Q) || input.down(Key::Left)),
          .insert = between(input.down(Key::Up), input.down(Key::Down))};
}

void Hands::tell(const ScopeAxes& axes, const HandSettings& settings) {
  for (HandDevice* hand : devices_.hands) {
    hand->set_screen(axes.right, axes.up);
    hand->set_fulcrum(settings.fulcrum);
  }
}

void Hands::move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings) {
  tell(axes, settings);
  MouseHands::move(hand_input(input), axes, elapsed, settings);
}

}  // namespace trocar
