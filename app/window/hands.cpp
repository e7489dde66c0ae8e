#include "app/window/hands.hpp"

namespace trocar {
namespace {

int between(bool more, bool less) { return (more ? 1 : 0) - (less ? 1 : 0); }

}  // namespace

HandInput hand_input(const WindowInput& input) {
  return {input.pointer_motion,
          input.wheel,
          input.left_button,
          input.left_pressed,
          input.right_button,
          input.down(Key::E) || input.down(Key::Space),
          input.down(Key::R),
          input.down(Key::Shift),
          between(input.down(Key::W) || input.down(Key::Right), input.down(Key::Q) || input.down(Key::Left)),
          between(input.down(Key::Up), input.down(Key::Down))};
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
