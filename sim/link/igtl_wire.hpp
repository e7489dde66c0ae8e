// Encodes and decodes the OpenIGTLink protocol: messages to bytes, a stream of bytes to poses. libOpenIGTLink supplies
// byte order, checksums and layouts. The code here splits the stream into messages: it buffers incomplete messages,
// skips long messages of other types unread, and validates everything that comes from the network.
// Source: Tokuda et al., "OpenIGTLink: an open network protocol for image-guided therapy environment", Int. J. Medical
// Robotics 2009; openigtlink.org, protocol versions 1 to 3. Sends header version 1; reads versions 1 and 2, the latter
// with an extended header before the content and metadata after it, both skipped.
// Matrices: tool to world, millimetres in the messages, metres here. Names: at most 19 bytes; longer names are cut.
// Tested in tests/sim/igtl_wire_test.cpp against libOpenIGTLink's own message classes
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

struct NamedPose {
  std::string name;
  glm::dmat4 pose{1.0};  // m
};

enum class IgtlUnit { None, Newton, NewtonMetre };

// Each function appends one message to `out`. `time`: s since 1970.
void append_transform(std::vector<std::byte>& out, const NamedPose& tool, double time);
void append_tdata(std::vector<std::byte>& out, std::string_view name, std::span<const NamedPose> tools, double time);
// Appends a SENSOR message with at most 255 values and omits the others.
void append_sensor(std::vector<std::byte>& out, std::string_view name, std::span<const double> values, IgtlUnit unit,
                   double time);

// Callbacks for the content of a stream. The views are valid only during the call.
struct IgtlListener {
  std::function<void(std::string_view name, const glm::dmat4& pose)> pose;  // TRANSFORM, and each tool of TDATA; finite
  std::function<void(std::string_view name, std::span<const double> values)> sensor;  // SENSOR
};

class IgtlReader {
 public:
  // Processes received bytes. Returns false when the stream is not OpenIGTLink; the caller must then close the
  // connection.
  bool take(std::span<const std::byte> bytes, const IgtlListener& listener);

  // Returns the number of discarded messages: a wrong checksum or length, or numbers that are not finite.
  std::uint64_t refused() const { return refused_; }

 private:
  bool begin_message();
  void end_message(const IgtlListener& listener);

  std::vector<std::byte> message_;  // received part of header and body
  std::uint64_t skip_ = 0;          // bytes of a body that are still to be skipped
  std::size_t wanted_ = 0;          // length of the message in bytes; 0: the header is not complete
  std::uint64_t refused_ = 0;
};

}  // namespace trocar
