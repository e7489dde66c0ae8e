// Broadcasts each frame over OpenIGTLink to up to `most_clients` clients. Its own thread packs and sends; publish()
// only copies. Each frame sends, in this order:
//   TRANSFORM  one per instrument, with its name   tool to world, mm; convention as in igtl_device.hpp
//   TDATA      "Instruments"                       all instruments, in their order
//   SENSOR     "Touched"                           number of faces that each instrument touches, in that order; no unit
//   SENSOR     "Force"                             x, y, z of the force on each instrument, in that order; newtons
//   SENSOR     "Torque"                            x, y, z of its torque about the trocar, in that order; newton metres
// A client that has not received the whole last frame skips this one; a client that receives nothing for `patience` is
// disconnected. More clients than `most_clients` are refused, with a line in the log. When the system has no free
// descriptors, the server accepts no client for a second. Data from clients is read and discarded: they need not ask.
// Tested in tests/sim/link/igtl_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/link/igtl_wire.hpp"
#include "sim/session/session.hpp"

namespace trocar {

struct IgtlServerParams {
  int port = 18944;       //     0: any free port
  bool anyone = false;    //     true: other machines may connect; false: this machine only
  double patience = 2.0;  // s   a client that receives nothing for longer is disconnected
  std::size_t most_clients = 16;
};

struct PublishedTool {
  std::string name;
  glm::dmat4 pose{1.0};       // m
  glm::vec3 force{0.f};       // N
  std::uint32_t touched = 0;  // number of touched faces
  glm::vec3 torque{0.f};      // N m, about the trocar
};

class IgtlServer {
 public:
  // Starts the server. Throws InputError when the port is in use.
  explicit IgtlServer(const IgtlServerParams& params = {});
  ~IgtlServer();

  // Copies a frame for the server's thread. Never waits for a client; allocates only when the number of tools grows. A
  // new frame replaces one that has not been packed yet.
  void publish(std::span<const PublishedTool> tools);

  int port() const;
  std::size_t clients() const;  // connected now
  std::uint64_t frames_skipped() const;
  std::uint64_t clients_dropped() const;  // because they received nothing for `patience`
  std::uint64_t clients_refused() const;  // because `most_clients` were connected

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// Broadcasts each frame of a session to the clients of an OpenIGTLink server. Messages: sim/link/igtl_server.hpp

class IgtlPublisher {
 public:
  // Starts the server. Throws InputError when the port is in use.
  IgtlPublisher(const Scene& scene, const IgtlServerParams& params);

  // Sends the last frame. Never blocks.
  void publish(const Session& session);
  const IgtlServer& server() const { return server_; }

 private:
  IgtlServer server_;
  std::vector<RemoteCentre> centres_;  // [instrument] their frames define where spin is 0
  std::vector<PublishedTool> tools_;   // [instrument]
};

}  // namespace trocar
