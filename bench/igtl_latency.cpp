// Measures the latency of OpenIGTLink from IgtlServer::publish() through loopback to the pose of IgtlDevice, one
// message after another. The latency includes both of our threads and the kernel between them, but no tracker and no
// network.
// Usage: trocar_igtl_latency [MESSAGES]   (default 1000)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include "geometry/machine.hpp"
#include "sim/link/igtl_device.hpp"
#include "sim/link/igtl_server.hpp"

namespace {

using namespace trocar;

constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kWarming = 20;                 // messages that are not counted
constexpr std::chrono::microseconds kBetween{2000};  // pause, so that no message waits for the previous one

}  // namespace

int main(int argc, char** argv) {
  const std::size_t messages = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  if (messages == 0) {
    fmt::print(stderr, "trocar_igtl_latency: MESSAGES must be a number greater than 0\n");
    return 2;
  }
  const HeldTool tool{{0, 0, 0.2}, {0, 0, 0.1}, glm::dvec3(0.0), {}, 0.0};
  const RemoteCentre centre = remote_centre(tool.pivot, tool.tip - tool.pivot);
  IgtlServerParams params;
  params.port = 0;
  IgtlServer server(params);
  IgtlDevice device({"127.0.0.1", server.port(), "probe"}, tool);
  for (const auto start = Clock::now(); server.clients() == 0 && Clock::now() - start < kPatience;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));

  std::vector<double> ms;
  for (std::size_t k = 0; k < messages + kWarming; ++k) {
    const Joints joints{20.0 * std::sin(0.1 * static_cast<double>(k)), 0.0, 0.0, 0.1, 60.0};
    const PublishedTool probe{"probe", matrix_of(centre, joints), {1.f, -2.f, 3.f}, 7};
    const glm::dvec3 wanted = pose_of(centre, tool.limits, joints).tip;
    std::this_thread::sleep_for(kBetween);
    const auto start = Clock::now();
    server.publish({&probe, 1});
    while (glm::distance(device.pose({}).tip, wanted) > 1e-6) {
      if (Clock::now() - start > kPatience) {
        fmt::print(stderr, "trocar_igtl_latency: message {} did not arrive within 10 s\n", k);
        return 1;
      }
      std::this_thread::yield();
    }
    if (k >= kWarming) ms.push_back(milliseconds_since(start));
  }
  std::sort(ms.begin(), ms.end());
  fmt::print(
      "OpenIGTLink over loopback, publish to pose, {} messages: median {:.3f} ms, 99 % {:.3f} ms, worst {:.3f} ms\n",
      messages, ms[messages / 2], ms[messages * 99 / 100], ms.back());
}
