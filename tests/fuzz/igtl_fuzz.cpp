// Feeds OpenIGTLink streams to the parser. An even first byte sends the remaining bytes unchanged, in several parts. An
// odd one wraps them as the body of one message with a valid header and checksum, so that the parser reaches the body;
// in header version 2 as the content between an extended header and no metadata, or as the whole body.
#include <igtl_header.h>
#include <igtl_util.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "sim/link/igtl_wire.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace trocar::fuzz {
namespace {

constexpr const char* kTypes[] = {"TRANSFORM", "TDATA", "SENSOR", "STATUS", "QTDATA"};

std::vector<std::byte> message_of(Bytes given, std::uint8_t choice) {
  std::vector<std::uint8_t> body(given.begin(), given.end());
  constexpr std::uint8_t kExtended[] = {0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if ((choice & 0xc0) == 0x40) body.insert(body.begin(), std::begin(kExtended), std::end(kExtended));
  std::vector<std::byte> message(IGTL_HEADER_SIZE + body.size());
  igtl_header header{};
  header.version = (choice & 0x40) != 0 ? 2 : 1;
  const std::string_view type = kTypes[(choice >> 1) % std::size(kTypes)];
  std::copy(type.begin(), type.end(), header.name);
  std::copy_n("Probe", 5, header.device_name);
  header.body_size = body.size(), header.crc = crc64(body.data(), static_cast<int>(body.size()), crc64(nullptr, 0, 0));
  igtl_header_convert_byte_order(&header);
  std::memcpy(message.data(), &header, IGTL_HEADER_SIZE);
  if (!body.empty()) std::memcpy(message.data() + IGTL_HEADER_SIZE, body.data(), body.size());
  return message;
}

// Sends the stream in parts of uneven length, as a network does.
void send(std::span<const std::byte> stream) {
  IgtlListener listener;
  listener.pose = [](std::string_view name, const glm::dmat4& pose) {
    require(name.size() <= 20, "a name is longer than its field");
    for (int column = 0; column < 4; ++column)
      for (int row = 0; row < 4; ++row) require(std::isfinite(pose[column][row]), "a pose is not finite");
  };
  listener.sensor = [](std::string_view, std::span<const double> values) {
    for (const double value : values) require(std::isfinite(value), "a sensor's value is not finite");
  };
  IgtlReader reader;
  std::size_t length = 1;
  while (!stream.empty()) {
    const std::size_t piece = std::min(length, stream.size());
    if (!reader.take(stream.first(piece), listener)) return;
    stream = stream.subspan(piece);
    length = length % 97 * 3 + 1;
  }
}

}  // namespace
}  // namespace trocar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar::fuzz;
  if (size == 0) return 0;
  const Bytes rest(data + 1, size - 1);
  if (data[0] % 2 == 0)
    send(std::as_bytes(rest));
  else
    send(message_of(rest, data[0]));
  return 0;
}
