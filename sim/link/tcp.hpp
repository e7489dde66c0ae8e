// Wraps the socket calls that network devices need. No call raises SIGPIPE or waits longer than its comment says. Linux
// only. Tested through tests/sim/igtl_test.cpp
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace trocar {

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

}  // namespace trocar
