// Tests the limits of the OpenIGTLink server on loopback: at most sixteen clients, and no busy loop without free
// descriptors.
#include <gtest/gtest.h>
#include <igtlClientSocket.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "sim/link/igtl_device.hpp"
#include "sim/link/igtl_server.hpp"
#include "tests/support/sanitized.hpp"

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

const HeldTool kTool{{0, 0, 0.2}, {0, 0, 0.1}, glm::dvec3(0.0), {}, 0.0};
const IgtlServerParams kFreePort{.port = 0};

// Returns true when the condition holds within ten seconds; the limit is long because the machine may be busy.
bool comes_true(const std::function<bool()>& what) {
  for (const auto start = Clock::now(); Clock::now() - start < 10s; std::this_thread::sleep_for(1ms))
    if (what()) return true;
  return what();
}

TEST(IgtlServer, AcceptsAtMostSixteenClients) {
  testing::internal::CaptureStderr();
  IgtlServer server(kFreePort);
  std::vector<igtl::ClientSocket::Pointer> clients;
  for (int k = 0; k < 20; ++k) {
    clients.push_back(igtl::ClientSocket::New());
    ASSERT_EQ(clients.back()->ConnectToServer("127.0.0.1", server.port()), 0);
  }
  EXPECT_TRUE(comes_true([&] { return server.clients_refused() == 4 && server.clients() == 16; }));
  clients[3]->CloseSocket();
  EXPECT_TRUE(comes_true([&] { return server.clients() == 15; }));
  // Replaces the client that has disconnected.
  IgtlDevice device({"127.0.0.1", server.port(), "probe"}, kTool);
  EXPECT_TRUE(comes_true([&] { return server.clients() == 16; }));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("OpenIGTLink: client refused, 16 are connected"), std::string::npos) << log;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// A client waits and there is no free descriptor: the server waits without a busy loop, and accepts the client when a
// descriptor is free.
TEST(IgtlServer, WaitsWithoutBusyLoopWhenDescriptorsRunOut) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own checks open pipes, and here no descriptor is free";
  IgtlServer server(kFreePort);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  rlimit all{}, none{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &all), 0);
  none = all;
  const int next = dup(client);
  close(next);
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connected = connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  std::this_thread::sleep_for(50ms);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(800ms);
  const double used = cpu_seconds() - before;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
  EXPECT_EQ(connected, 0);
  EXPECT_EQ(server.clients(), 0u);
  EXPECT_LT(used, 0.1);
  EXPECT_TRUE(comes_true([&] { return server.clients() == 1; }));
  close(client);
}

}  // namespace
}  // namespace trocar
