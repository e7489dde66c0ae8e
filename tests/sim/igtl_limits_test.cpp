// Tests the limits of the OpenIGTLink server on loopback: at most sixteen clients, and no busy loop without free
// descriptors.
#include <gtest/gtest.h>
#include <igtlClientSocket.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "geometry/error.hpp"
#include "sim/link/igtl_device.hpp"
#include "sim/link/igtl_server.hpp"
#include "sim/link/tcp.hpp"
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

// A plain client: the kernel connects it, whatever the server then does.
class PlainClient {
 public:
  explicit PlainClient(int port) : socket_(connect_to("127.0.0.1", port, 5000, never_)) {}
  bool connected() const { return socket_.open(); }
  // Reads what has arrived; false when the server has closed the connection.
  bool read() {
    std::array<std::byte, 65536> bytes;
    for (;;) {
      const std::ptrdiff_t got = receive_some(socket_, bytes);
      if (got <= 0) return got == 0;
      bytes_ += static_cast<std::size_t>(got);
    }
  }
  std::size_t bytes() const { return bytes_; }

 private:
  const Wake never_;
  Descriptor socket_;
  std::size_t bytes_ = 0;
};

// Frames go on while the clients come: the first sixteen get them, the others not a byte.
TEST(IgtlServer, AClientBeyondTheLimitGetsNoData) {
  testing::internal::CaptureStderr();
  IgtlServer server(kFreePort);
  const std::vector<PublishedTool> tools{{.name = "probe"}};
  std::vector<std::unique_ptr<PlainClient>> clients;
  for (int k = 0; k < 19; ++k) {
    clients.push_back(std::make_unique<PlainClient>(server.port()));
    ASSERT_TRUE(clients.back()->connected());
    server.publish(tools);
  }
  std::size_t closed = 0;
  EXPECT_TRUE(comes_true([&] {
    server.publish(tools);
    closed = 0;
    bool all = true;
    for (std::size_t k = 0; k < clients.size(); ++k) {
      const bool open = clients[k]->read();
      closed += !open;
      all = all && (k < 16 ? clients[k]->bytes() > 1000 : !open);
    }
    return all;
  }));
  EXPECT_EQ(closed, 3u);
  for (std::size_t k = 16; k < clients.size(); ++k) EXPECT_EQ(clients[k]->bytes(), 0u) << k;
  EXPECT_EQ(server.clients(), 16u);
  EXPECT_EQ(server.clients_refused(), 3u);
  // A client that has disconnected no longer counts, also when the next one comes in the same moment.
  for (int round = 0; round < 50; ++round) {
    clients[3].reset();
    clients[3] = std::make_unique<PlainClient>(server.port());
    ASSERT_TRUE(clients[3]->connected());
    ASSERT_TRUE(comes_true([&] {
      server.publish(tools);
      return !clients[3]->read() || clients[3]->bytes() > 0;
    }));
    EXPECT_GT(clients[3]->bytes(), 0u) << "round " << round;
  }
  testing::internal::GetCapturedStderr();
}

// The sentence gives the error of the call that failed, not of one after it.
TEST(ListenOn, WithoutDescriptorsTheSentenceSaysSo) {
  rlimit all{}, none{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &all), 0);
  none = all;
  const int next = dup(STDERR_FILENO);
  close(next);
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string what;
  try {
    listen_on(0, false);
  } catch (const InputError& error) {
    what = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
  EXPECT_EQ(what, "cannot listen on port 0 (Too many open files); close some programs");
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
