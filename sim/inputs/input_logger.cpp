#include "sim/inputs/input_logger.hpp"

#include <utility>

namespace trocar {

void InputLogger::suspend_devices() {
  session_.suspend_devices();
  suspended_ = true;
}

void InputLogger::step(const FrameClock& clock, double duration, double field_of_view_deg) {
  session_.set_field_of_view(field_of_view_deg);
  session_.step(clock, duration);
  log_.frames.push_back({clock, duration, field_of_view_deg, std::exchange(suspended_, false), {}});
}

}  // namespace trocar
