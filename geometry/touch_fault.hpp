// Lists the faults that end a touch query: the question was valid, but the graphics device failed. Recordings store
// these numbers, so their order must not change.   Tested in tests/gpu_collision/gpu_fault_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trocar {

enum class TouchFault : std::uint8_t {
  None,
  LostContext,  // the driver was reset, or the GPU was removed
  TimedOut,     // no answer within gl::kLongestWait
  OutOfMemory,  // the driver had no memory left, or did not map a buffer
  DriverError,  // the driver refused a command
  WrongAnswer,  // the answer is impossible: it names a face or tool that does not exist, or belongs to another call
  TooLarge,     // more faces, vertices or touches than one buffer of this context holds
};
constexpr std::size_t kTouchFaults = 7;

// Returns the text after "backend NAME: "; empty for None.
std::string_view sentence_of(TouchFault fault);

}  // namespace trocar
