#include "sim/link/tcp.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// Keep-alive detects a machine that vanished silently after about five seconds: 2 s idle, then 3 probes 1 s apart.
constexpr int kIdleSeconds = 2, kProbeSeconds = 1, kProbes = 3;
// A small send buffer, so that a slow client does not receive outdated frames.
constexpr int kSendBuffer = 16 * 1024;  // bytes

void set_option(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

void prepare(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_SNDBUF, kSendBuffer);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

bool for_now() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

bool out_of_descriptors(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

// `error`: the errno of the call that failed, read before any other call.
[[noreturn]] void refuse_port(int port, int error) {
  throw InputError(fmt::format("cannot listen on port {} ({}); {}", port, std::strerror(error),
                               out_of_descriptors(error) ? "close some programs" : "choose another port"));
}

Descriptor try_address(const addrinfo& address, int timeout_ms, const Wake& wake) {
  Descriptor made(socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol));
  if (!made.open()) return made;
  prepare(made.number());
  if (connect(made.number(), address.ai_addr, address.ai_addrlen) == 0) return made;
  if (errno != EINPROGRESS) return Descriptor();
  std::array<pollfd, 2> waiting{{{made.number(), POLLOUT, 0}, {wake.number(), POLLIN, 0}}};
  if (poll(waiting.data(), waiting.size(), timeout_ms) <= 0 || waiting[1].revents != 0) return Descriptor();
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(made.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? std::move(made) : Descriptor();
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Wake::Wake() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!event_.open()) throw RunError("the system has no free event descriptor; close some programs");
}

void Wake::ring() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_.number(), &one, sizeof one);
}

void Wake::clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto bytes = ::read(event_.number(), &count, sizeof count);
}

Descriptor listen_on(int port, bool anyone) {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener.open()) refuse_port(port, errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(anyone ? INADDR_ANY : INADDR_LOOPBACK);
  set_option(listener.number(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.number(), SOMAXCONN) != 0)
    refuse_port(port, errno);
  return listener;
}

int port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Accepted accept_from(const Descriptor& listener) {
  Accepted accepted{Descriptor(accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)), false};
  if (accepted.socket.open())
    prepare(accepted.socket.number());
  else
    accepted.out_of_descriptors = out_of_descriptors(errno);
  return accepted;
}

Descriptor connect_to(const std::string& host, int port, int timeout_ms, const Wake& wake) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return Descriptor();
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  for (const addrinfo* address = found; address; address = address->ai_next)
    if (Descriptor made = try_address(*address, timeout_ms, wake); made.open()) return made;
  return Descriptor();
}

std::ptrdiff_t send_some(const Descriptor& socket, std::span<const std::byte> bytes) {
  const auto sent = send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent >= 0 ? sent : for_now() ? 0 : -1;
}

std::ptrdiff_t receive_some(const Descriptor& socket, std::span<std::byte> bytes) {
  const auto got = recv(socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return got > 0 ? got : got < 0 && for_now() ? 0 : -1;
}

}  // namespace trocar
