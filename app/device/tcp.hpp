// The few calls on sockets that devices over a network need; none of them raises SIGPIPE, none waits longer than it
// says. Linux.   Tested through tests/app/igtl_test.cpp
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace trocar {

// A file descriptor, closed at its end.
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
  void clear() const;  // to be called by the thread that was woken

 private:
  Descriptor event_;
};

// Listens on this machine only, or for any machine. `port` 0: a free one. Error: InputError when the port is taken.
Descriptor listen_on(int port, bool anyone);
int port_of(const Descriptor& socket);
struct Accepted {
  Descriptor socket;                // not open when none waits, or none can be taken
  bool out_of_descriptors = false;  // one waits and the system has no descriptor or memory for it: try again later
};
// The next connection that waits, without waiting for one.
Accepted accept_from(const Descriptor& listener);

// Not open when it did not come about within `timeout_ms`, or `wake` rang. Looking up the name may take longer.
Descriptor connect_to(const std::string& host, int port, int timeout_ms, const Wake& wake);

// What went through at once. More than 0: bytes; 0: nothing for now; -1: the other side is gone.
std::ptrdiff_t send_some(const Descriptor& socket, std::span<const std::byte> bytes);
std::ptrdiff_t receive_some(const Descriptor& socket, std::span<std::byte> bytes);

}  // namespace trocar
