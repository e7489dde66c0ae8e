// Why a touch query can no longer answer: the device behind it failed, not the question. Recordings keep the number, so
// the order stays.   Tested in tests/gpu_collision/gpu_fault_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trocar {

enum class TouchFault : std::uint8_t {
  None,
  LostContext,  // the driver was reset, or the GPU is gone
  TimedOut,     // no answer within gl::kLongestWait
  OutOfMemory,  // the driver gave no memory, or would not map it
  DriverError,  // the driver refused a command
  WrongAnswer,  // what was read back cannot be an answer: a face or tool that does not exist, an answer of another call
  TooLarge,     // more faces, vertices or touches than one buffer of this context holds
};
constexpr std::size_t kTouchFaults = 7;

// What follows "backend NAME: "; empty for None.
std::string_view sentence_of(TouchFault fault);

}  // namespace trocar
