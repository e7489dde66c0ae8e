// Sockets, and the messages of OpenIGTLink. Encodes and decodes the OpenIGTLink protocol: messages to bytes, a stream
// of bytes to poses. libOpenIGTLink supplies byte order, checksums and layouts. The code here splits the stream into
// messages: it buffers incomplete messages, skips long messages of other types unread, and validates everything that
// comes from the network. Source: Tokuda et al., "OpenIGTLink: an open network protocol for image-guided therapy
// environment", Int. J. Medical Robotics 2009; openigtlink.org, protocol versions 1 to 3. Sends header version 1; reads
// versions 1 and 2, the latter with an extended header before the content and metadata after it, both skipped.
// Matrices: tool to world, millimetres in the messages, metres here. Names: at most 19 bytes; longer names are cut.
// Tested in tests/sim/link/igtl_test.cpp against libOpenIGTLink's own message classes
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

// Wraps the socket calls that network devices need. No call raises SIGPIPE or waits longer than its comment says. Linux
// only.

// Owns a file descriptor and closes it in its destructor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close();

 private:
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }
  int number_;
};

// Wakes a thread that waits in poll().
class Wake {
 public:
  Wake();
  int number() const { return event_.number(); }
  void ring() const;   // never blocks
  void clear() const;  // the woken thread calls it

 private:
  Descriptor event_;
};

// Listens for connections from this machine only, or, with `anyone`, from any machine. `port` 0: any free port. Throws
// InputError when the port is in use or may not be used.
Descriptor listen_on(int port, bool anyone);
int port_of(const Descriptor& socket);
struct Accepted {
  Descriptor socket;                // not open when no connection waits, or when it cannot be accepted
  bool out_of_descriptors = false;  // the system has no descriptor or memory for a waiting connection: try again later
};
// Accepts the next waiting connection; returns at once when there is none.
Accepted accept_from(const Descriptor& listener);

// Returns a closed descriptor when no connection is made within `timeout_ms` (for each address of the host) or `wake`
// rings. Resolving the host name may take longer.
Descriptor connect_to(const std::string& host, int port, int timeout_ms, const Wake& wake);

// These functions transfer as many bytes as possible without waiting. They return the number of bytes: 0 when no byte
// can be transferred yet, -1 when the connection is closed.
std::ptrdiff_t send_some(const Descriptor& socket, std::span<const std::byte> bytes);
std::ptrdiff_t receive_some(const Descriptor& socket, std::span<std::byte> bytes);

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
