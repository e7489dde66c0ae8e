// OpenIGTLink on the wire: messages to bytes, a stream of bytes to poses. Byte order, check sums and layouts are those
// of libOpenIGTLink; streams are cut into messages here, so that half messages wait, long ones of other kinds are
// skipped unread, and nothing that comes from the network is trusted.
// Source: Tokuda et al., "OpenIGTLink: an open network protocol for image-guided therapy environment", Int. J. Medical
// Robotics 2009; openigtlink.org, protocol versions 1 to 3 (extended header and meta data of version 3 are skipped).
// Matrices: tool to world, millimetres on the wire, metres here. Names: 19 bytes, longer ones are cut.
// Tested in tests/app/igtl_wire_test.cpp against libOpenIGTLink's own message classes
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

enum class IgtlUnit { None, Newton };

// Each appends one message to `out`. `time`: s since 1970.
void append_transform(std::vector<std::byte>& out, const NamedPose& tool, double time);
void append_tdata(std::vector<std::byte>& out, std::string_view name, std::span<const NamedPose> tools, double time);
// At most 255 values; more are left out.
void append_sensor(std::vector<std::byte>& out, std::string_view name, std::span<const double> values, IgtlUnit unit,
                   double time);

// What a stream says. Views last as long as the call.
struct IgtlListener {
  std::function<void(std::string_view name, const glm::dmat4& pose)> pose;  // TRANSFORM, and each tool of TDATA; finite
  std::function<void(std::string_view name, std::span<const double> values)> sensor;  // SENSOR
};

class IgtlReader {
 public:
  // Takes bytes as they come. False: this is no OpenIGTLink, the connection is to be closed.
  bool take(std::span<const std::byte> bytes, const IgtlListener& listener);

  // Messages that were thrown away: check sum or length wrong, numbers that are not finite.
  std::uint64_t refused() const { return refused_; }

 private:
  bool begin_message();
  void end_message(const IgtlListener& listener);

  std::vector<std::byte> message_;  // header and body, as far as they came
  std::uint64_t skip_ = 0;          // bytes of a body that nobody reads
  std::size_t wanted_ = 0;          // bytes of the message; 0: the header is not complete
  std::uint64_t refused_ = 0;
};

}  // namespace trocar
