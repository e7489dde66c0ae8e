// Broadcasts each frame of a session to the clients of an OpenIGTLink server. Messages: sim/link/igtl_server.hpp
// Tested in tests/sim/igtl_test.cpp
#pragma once

#include <vector>

#include "sim/link/igtl_server.hpp"
#include "sim/session/session.hpp"

namespace trocar {

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
