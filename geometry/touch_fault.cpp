#include "geometry/touch_fault.hpp"

namespace trocar {

std::string_view sentence_of(TouchFault fault) {
  switch (fault) {
    case TouchFault::None:
      break;
    case TouchFault::LostContext:
      return "the graphics driver lost its OpenGL context";
    case TouchFault::TimedOut:
      return "the graphics driver did not answer in time";
    case TouchFault::OutOfMemory:
      return "the graphics driver ran out of memory";
    case TouchFault::DriverError:
      return "the graphics driver refused a command";
    case TouchFault::WrongAnswer:
      return "the graphics driver returned an impossible answer";
    case TouchFault::TooLarge:
      return "the organ has more faces, vertices or touches than this OpenGL context allows";
  }
  return {};
}

}  // namespace trocar
