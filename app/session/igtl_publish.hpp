// A session told to the world: every frame to the clients of an OpenIGTLink server. Messages:
// app/device/igtl_server.hpp Tested in tests/app/igtl_test.cpp
#pragma once

#include <vector>

#include "app/device/igtl_server.hpp"
#include "app/session/session.hpp"

namespace trocar {

class IgtlPublisher {
 public:
  // Error: InputError when the port is taken.
  IgtlPublisher(const Scene& scene, const IgtlServerParams& params);

  // The last frame. Never waits.
  void publish(const Session& session);
  const IgtlServer& server() const { return server_; }

 private:
  IgtlServer server_;
  std::vector<RemoteCentre> centres_;  // [instrument] whose frame says where spin is 0
  std::vector<PublishedTool> tools_;   // [instrument]
};

}  // namespace trocar
