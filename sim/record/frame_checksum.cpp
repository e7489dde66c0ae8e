#include "sim/record/frame_checksum.hpp"

#include "sim/support/checksum.hpp"

namespace trocar {
namespace {

template <typename Value>
std::uint64_t with(std::uint64_t sum, const Value& value) {
  return checksum_of(std::as_bytes(std::span(&value, 1)), sum);
}

}  // namespace

std::uint64_t checksum_of(const RecordedFrame& frame) {
  std::uint64_t sum = kEmptyChecksum;
  for (const RecordedOrganFrame& organ : frame.organs) {
    sum = checksum_of(std::as_bytes(organ.nodes), sum);
    for (const Touch& touch : organ.touches.touches)
      sum = with(with(with(with(sum, touch.point), touch.normal), touch.depth), touch.time);
    sum = checksum_of(std::as_bytes(organ.pressure), sum);
  }
  return sum;
}

std::uint64_t checksum_with_faces(const RecordedFrame& frame) {
  std::uint64_t sum = checksum_of(frame);
  for (const RecordedOrganFrame& organ : frame.organs)
    for (const Touch& touch : organ.touches.touches) sum = with(sum, touch.face);
  return sum;
}

}  // namespace trocar
