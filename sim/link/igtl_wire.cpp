#include "sim/link/igtl_wire.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <igtl_header.h>
#include <igtl_sensor.h>
#include <igtl_tdata.h>
#include <igtl_transform.h>
#include <igtl_unit.h>
#include <igtl_util.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "geometry/error.hpp"
#include "geometry/units.hpp"

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

namespace {

// Message types that are read are far shorter than the first limit; skipped types (images) than the second.
constexpr std::uint64_t kLongestRead = 1u << 20, kLongestSkipped = 1ull << 34;  // bytes
// From this header version on, the content lies between an extended header and the metadata. Protocol versions 1 and 2
// use header version 1; protocol version 3 uses header version 2.
constexpr int kFirstExtended = 2;
constexpr std::size_t kExtendedHeader = 12;  // bytes: its own length, the two lengths of the metadata, a message number
constexpr int kNewestHeader = 3;             // no sender uses it; libOpenIGTLink reads it as it reads version 2

// Writes a text field of fixed width: cut, or padded with zeros. libOpenIGTLink expects at least one zero.
template <std::size_t kSize>
void put_text(char (&field)[kSize], std::string_view text) {
  std::memset(field, 0, kSize);
  std::memcpy(field, text.data(), std::min(kSize - 1, text.size()));
}

template <std::size_t kSize>
std::string_view text_of(const char (&field)[kSize]) {
  return {field, strnlen(field, kSize)};
}

// Returns a time stamp: seconds and their binary fraction, 32 bits each.
std::uint64_t stamp(double time) {
  const double whole = std::floor(time);
  return static_cast<std::uint64_t>(whole) << 32 | static_cast<std::uint64_t>((time - whole) * 4294967296.0);
}

std::uint64_t check_sum(std::span<const std::byte> body) {
  auto* bytes = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(body.data()));
  return crc64(bytes, body.size(), crc64(nullptr, 0, 0));
}

void append_message(std::vector<std::byte>& out, const char* kind, std::string_view name, double time,
                    std::span<const std::byte> body) {
  igtl_header header{};
  header.version = 1;
  put_text(header.name, kind);
  put_text(header.device_name, name);
  header.timestamp = stamp(time);
  header.body_size = body.size();
  header.crc = check_sum(body);
  igtl_header_convert_byte_order(&header);
  const auto bytes = std::as_bytes(std::span(&header, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.insert(out.end(), body.begin(), body.end());
}

std::array<float, 12> numbers_of(const glm::dmat4& pose) {
  std::array<float, 12> numbers;
  for (int column = 0; column < 4; ++column)
    for (int row = 0; row < 3; ++row)
      numbers[static_cast<std::size_t>(3 * column + row)] =
          static_cast<float>(pose[column][row] * (column == 3 ? kMmPerMetre : 1.0));
  return numbers;
}

glm::dmat4 pose_from(const float* numbers) {
  glm::dmat4 pose(1.0);
  for (int column = 0; column < 4; ++column)
    for (int row = 0; row < 3; ++row)
      pose[column][row] = static_cast<double>(numbers[3 * column + row]) / (column == 3 ? kMmPerMetre : 1.0);
  return pose;
}

bool finite(std::span<const float> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

// Returns nothing when the lengths of the extended header and the metadata are inconsistent with the body.
std::optional<std::span<const std::byte>> content_of(std::span<const std::byte> body, int version) {
  if (version < kFirstExtended) return body;
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < size; ++k) value = value << 8 | std::to_integer<std::uint64_t>(body[at + k]);
    return value;
  };
  if (body.size() < kExtendedHeader) return std::nullopt;
  const std::uint64_t front = number(0, 2), back = number(2, 2) + number(4, 4);
  if (front < kExtendedHeader || front + back > body.size()) return std::nullopt;
  return body.subspan(static_cast<std::size_t>(front), static_cast<std::size_t>(body.size() - front - back));
}

bool hear_transform(std::string_view name, std::span<const std::byte> content, const IgtlListener& listener) {
  std::array<float, 12> numbers;
  if (content.size() != sizeof numbers) return false;
  std::memcpy(numbers.data(), content.data(), sizeof numbers);
  igtl_transform_convert_byte_order(numbers.data());
  if (!finite(numbers)) return false;
  listener.pose(name, pose_from(numbers.data()));
  return true;
}

bool hear_tdata(std::span<const std::byte> content, const IgtlListener& listener) {
  bool sound = content.size() % sizeof(igtl_tdata_element) == 0;
  for (; content.size() >= sizeof(igtl_tdata_element); content = content.subspan(sizeof(igtl_tdata_element))) {
    igtl_tdata_element element;
    std::memcpy(&element, content.data(), sizeof element);
    igtl_tdata_convert_byte_order(&element, 1);
    std::array<float, 12> numbers;
    std::memcpy(numbers.data(), element.transform, sizeof numbers);
    if (finite(numbers)) {
      listener.pose(text_of(element.name), pose_from(numbers.data()));
    } else {
      sound = false;
    }
  }
  return sound;
}

bool hear_sensor(std::string_view name, std::span<const std::byte> content, const IgtlListener& listener) {
  if (content.size() < IGTL_SENSOR_HEADER_SIZE) return false;
  std::array<double, 255> values;
  const std::size_t count = std::to_integer<std::size_t>(content[0]);
  content = content.subspan(IGTL_SENSOR_HEADER_SIZE);
  if (content.size() != count * sizeof(double)) return false;
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < sizeof bits; ++b) bits = bits << 8 | std::to_integer<std::uint64_t>(content[8 * k + b]);
    values[k] = std::bit_cast<double>(bits);
    if (!std::isfinite(values[k])) return false;
  }
  listener.sensor(name, {values.data(), count});
  return true;
}

igtl_header header_in(std::span<const std::byte> message) {
  igtl_header header;
  std::memcpy(&header, message.data(), sizeof header);
  igtl_header_convert_byte_order(&header);
  return header;
}

bool is_read(std::string_view kind) { return kind == "TRANSFORM" || kind == "TDATA" || kind == "SENSOR"; }

// Returns whether the header is plausible. The standard's message types are upper-case; those of users need not be.
bool plausible(const igtl_header& header) {
  const std::string_view kind = text_of(header.name);
  const auto fits = [](char c) { return c >= ' ' && c <= '~'; };
  return header.version >= 1 && header.version <= kNewestHeader && !kind.empty() && std::ranges::all_of(kind, fits) &&
         header.body_size <= (is_read(kind) ? kLongestRead : kLongestSkipped);
}

}  // namespace

void append_transform(std::vector<std::byte>& out, const NamedPose& tool, double time) {
  auto numbers = numbers_of(tool.pose);
  igtl_transform_convert_byte_order(numbers.data());
  append_message(out, "TRANSFORM", tool.name, time, std::as_bytes(std::span(numbers)));
}

void append_tdata(std::vector<std::byte>& out, std::string_view name, std::span<const NamedPose> tools, double time) {
  std::vector<igtl_tdata_element> elements(tools.size());
  for (std::size_t k = 0; k < tools.size(); ++k) {
    put_text(elements[k].name, tools[k].name);
    elements[k].type = IGTL_TDATA_TYPE_6D;
    elements[k].reserved = 0;
    const auto numbers = numbers_of(tools[k].pose);
    std::memcpy(elements[k].transform, numbers.data(), sizeof numbers);
  }
  igtl_tdata_convert_byte_order(elements.data(), static_cast<int>(elements.size()));
  append_message(out, "TDATA", name, time, std::as_bytes(std::span(elements)));
}

namespace {

igtl_unit packed(IgtlUnit unit) {
  if (unit == IgtlUnit::None) return 0;
  igtl_unit_data parts;
  igtl_unit_init(&parts);
  parts.unit[0] = IGTL_UNIT_SI_DERIVED_NEWTON;
  parts.exp[0] = 1;
  if (unit == IgtlUnit::NewtonMetre) parts.unit[1] = IGTL_UNIT_SI_BASE_METER, parts.exp[1] = 1;
  return igtl_unit_pack(&parts);
}

}  // namespace

void append_sensor(std::vector<std::byte>& out, std::string_view name, std::span<const double> values, IgtlUnit unit,
                   double time) {
  std::array<std::byte, IGTL_SENSOR_HEADER_SIZE + 255 * sizeof(double)> body;
  const std::size_t count = std::min<std::size_t>(values.size(), 255);
  igtl_sensor_header header{};
  header.larray = static_cast<igtl_uint8>(count);
  header.unit = packed(unit);
  std::array<double, 255> copy{};
  std::copy_n(values.begin(), count, copy.begin());
  igtl_sensor_convert_byte_order(&header, copy.data());
  std::memcpy(body.data(), &header, sizeof header);
  std::memcpy(body.data() + sizeof header, copy.data(), count * sizeof(double));
  append_message(out, "SENSOR", name, time, std::span(body).first(sizeof header + count * sizeof(double)));
}

bool IgtlReader::take(std::span<const std::byte> bytes, const IgtlListener& listener) {
  while (!bytes.empty()) {
    if (skip_ > 0) {
      const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
      skip_ -= skipped;
      bytes = bytes.subspan(skipped);
      continue;
    }
    const std::size_t wanted = wanted_ > 0 ? wanted_ : IGTL_HEADER_SIZE;
    const std::size_t taken = std::min(wanted - message_.size(), bytes.size());
    message_.insert(message_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (message_.size() < wanted) continue;
    if (wanted_ == 0 && !begin_message()) return false;
    if (wanted_ > 0 && message_.size() == wanted_) end_message(listener);
  }
  return true;
}

// The header is complete: determines the length of the body, and whether it is read or skipped.
bool IgtlReader::begin_message() {
  const igtl_header header = header_in(message_);
  if (!plausible(header)) return false;
  if (is_read(text_of(header.name))) {
    wanted_ = IGTL_HEADER_SIZE + static_cast<std::size_t>(header.body_size);
  } else {
    skip_ = header.body_size;
    message_.clear();
  }
  return true;
}

void IgtlReader::end_message(const IgtlListener& listener) {
  const igtl_header header = header_in(message_);
  const std::span<const std::byte> body = std::span<const std::byte>(message_).subspan(IGTL_HEADER_SIZE);
  const auto content = header.crc == check_sum(body) ? content_of(body, header.version) : std::nullopt;
  bool sound = content.has_value();
  if (sound) {
    const std::string_view kind = text_of(header.name), name = text_of(header.device_name);
    sound = kind == "TRANSFORM" ? hear_transform(name, *content, listener)
            : kind == "TDATA"   ? hear_tdata(*content, listener)
                                : hear_sensor(name, *content, listener);
  }
  if (!sound) ++refused_;
  message_.clear();
  wanted_ = 0;
}

}  // namespace trocar
