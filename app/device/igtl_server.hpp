// Tells the world what happens: an OpenIGTLink server that sends every frame to any number of clients. Its own thread
// packs and sends; publish() only copies. Each frame, in this order:
//   TRANSFORM  one for each instrument, under its name   tool to world, mm; convention as in igtl_device.hpp
//   TDATA      "Instruments"                             all of them, in their order
//   SENSOR     "Touched"                                 faces that each instrument touches, in that order; no unit
//   SENSOR     "Force"                                   x, y, z of the force on each instrument, in that order;
//   newtons
// A client that has not taken the last frame yet skips this one; one that takes nothing for `patience` is dropped.
// More clients than `most_clients` are hung up on, with a line in the log; without free descriptors none is accepted
// for a second. What clients send is read and thrown away: nobody has to ask.   Tested in tests/app/igtl_test.cpp
#pragma once

#include <memory>
#include <span>

#include "app/device/igtl_wire.hpp"

namespace trocar {

struct IgtlServerParams {
  int port = 18944;       //     0: a free one
  bool anyone = false;    //     other machines may connect; false: this machine only
  double patience = 2.0;  // s
  std::size_t most_clients = 16;
};

struct PublishedTool {
  std::string name;
  glm::dmat4 pose{1.0};       // m
  glm::vec3 force{0.f};       // N
  std::uint32_t touched = 0;  // faces
};

class IgtlServer {
 public:
  // Error: InputError when the port is taken.
  explicit IgtlServer(const IgtlServerParams& params = {});
  ~IgtlServer();

  // Never waits for a client; allocates only until it has seen as many tools. Frames that come faster than they are
  // packed replace each other.
  void publish(std::span<const PublishedTool> tools);

  int port() const;
  std::size_t clients() const;        // connected now
  std::uint64_t frames_sent() const;  // all clients together, begun
  std::uint64_t frames_skipped() const;
  std::uint64_t clients_dropped() const;  // for they took nothing
  std::uint64_t clients_refused() const;  // for there were too many

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace trocar
