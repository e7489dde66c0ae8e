#include "app/lab/page_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kTick{100};

std::string plain_answer(int status, const char* what) {
  const std::string text = fmt::format("{}\n", what);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, what, text.size(), text);
}

// The end of the headers; npos: there is more to come.
std::size_t end_of_headers(const std::string& text) {
  const std::size_t end = text.find("\r\n\r\n");
  return end == std::string::npos ? end : end + 4;
}

std::uint64_t length_of_body(const std::string& headers) {
  std::string lower = headers;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string name = "\r\ncontent-length:";
  const std::size_t at = lower.find(name);
  if (at == std::string::npos) return lower.find("\r\ntransfer-encoding:") == std::string::npos ? 0 : 1;
  const std::size_t digits = lower.find_first_not_of(" \t", at + name.size());
  std::uint64_t length = 0;
  if (digits != std::string::npos &&
      std::from_chars(lower.data() + digits, lower.data() + lower.size(), length).ec == std::errc::result_out_of_range)
    return UINT64_MAX;
  return length;
}

struct Connection {
  enum class State { Reading, Waiting, Writing, Ending };
  int socket = -1;
  std::uint64_t number = 0;
  State state = State::Reading;
  std::string text;  // the request, then the answer
  std::size_t done = 0;
  Clock::time_point deadline;
};

// Threads that make answers.
class Makers {
 public:
  struct Made {
    std::uint64_t connection;
    std::string answer;
  };

  Makers(const std::function<std::string(const std::string&)>& answer, int threads)
      : answer_(answer), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { run(); });
  }
  ~Makers() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    if (wake_ >= 0) ::close(wake_);
  }
  Makers(const Makers&) = delete;
  Makers& operator=(const Makers&) = delete;

  int wake() const { return wake_; }
  void ask(std::uint64_t connection, std::string request) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back({connection, std::move(request)});
    }
    changed_.notify_one();
  }
  std::vector<Made> take() {
    std::uint64_t ignored = 0;
    while (::read(wake_, &ignored, sizeof ignored) > 0) continue;
    const std::lock_guard lock(mutex_);
    return std::exchange(made_, {});
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ended_ || !asked_.empty(); });
      if (ended_) return;
      Made job = std::move(asked_.front());
      asked_.pop_front();
      lock.unlock();
      job.answer = made(job.answer);
      lock.lock();
      made_.push_back(std::move(job));
      const std::uint64_t one = 1;
      if (::write(wake_, &one, sizeof one) < 0) continue;  // the loop looks after a tick at the latest
    }
  }
  std::string made(const std::string& request) const noexcept {
    try {
      std::string text = answer_(request);
      return text.empty() ? plain_answer(400, "Bad Request") : text;
    } catch (...) {
      return "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    }
  }

  const std::function<std::string(const std::string&)>& answer_;
  int wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Made> asked_;  // with the request in place of the answer
  std::vector<Made> made_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

class Loop {
 public:
  Loop(int socket, const std::function<std::string(const std::string&)>& answer, const PageLimits& limits)
      : socket_(socket), limits_(limits), makers_(answer, limits.threads) {}
  ~Loop() {
    for (const Connection& connection : connections_) ::close(connection.socket);
    ::close(socket_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void step() {
    wait();
    for (Makers::Made& made : makers_.take())
      for (Connection& connection : connections_)
        if (connection.number == made.connection) answer(connection, std::move(made.answer));
    for (Connection& connection : connections_) serve(connection);
    const auto now = Clock::now();
    for (Connection& connection : connections_)
      if (connection.state != Connection::State::Waiting && now > connection.deadline) close(connection);
    std::erase_if(connections_, [](const Connection& connection) { return connection.socket < 0; });
    accept_all();
  }

 private:
  using State = Connection::State;

  void wait() {
    polled_.assign({{socket_, POLLIN, 0}, {makers_.wake(), POLLIN, 0}});
    if (no_descriptors_) polled_[0].events = 0;
    no_descriptors_ = false;
    for (const Connection& connection : connections_)
      if (connection.state != State::Waiting)
        polled_.push_back({connection.socket, connection.state == State::Writing ? short{POLLOUT} : short{POLLIN}, 0});
    ::poll(polled_.data(), polled_.size(), static_cast<int>(kTick.count()));
  }

  void accept_all() {
    for (;;) {
      const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        no_descriptors_ = errno != EAGAIN && errno != EWOULDBLOCK;
        if (no_descriptors_) end_longest();
        return;
      }
      if (connections_.size() >= limits_.connections && !end_longest()) {
        ::close(socket);
        continue;
      }
      connections_.push_back({socket, ++numbers_, State::Reading, {}, 0, Clock::now() + limits_.for_request});
    }
  }

  // Ends the connection that has waited longest for its request, or for its end.
  bool end_longest() {
    for (const State state : {State::Ending, State::Reading, State::Writing}) {
      const auto found = std::ranges::find(connections_, state, &Connection::state);
      if (found == connections_.end()) continue;
      ::close(found->socket);
      connections_.erase(found);
      return true;
    }
    return false;
  }

  void serve(Connection& connection) {
    if (connection.state == State::Reading) read(connection);
    if (connection.state == State::Writing) write(connection);
    if (connection.state == State::Ending) drop(connection);
  }

  void read(Connection& connection) {
    std::array<char, 4096> buffer;
    while (connection.state == State::Reading) {
      const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (got <= 0) return close(connection);
      connection.text.append(buffer.data(), static_cast<std::size_t>(got));
      const std::size_t end = end_of_headers(connection.text);
      if (std::min(end, connection.text.size()) > limits_.request)
        answer(connection, plain_answer(431, "Request Header Fields Too Large"));
      else if (end != std::string::npos)
        ask(connection, connection.text.substr(0, end));
    }
  }

  void ask(Connection& connection, std::string request) {
    if (length_of_body(request) > limits_.body) return answer(connection, plain_answer(413, "Payload Too Large"));
    if (!request.starts_with("GET ") && !request.starts_with("HEAD "))
      return answer(connection, plain_answer(405, "Method Not Allowed"));
    connection.state = State::Waiting;
    connection.text.clear();
    makers_.ask(connection.number, std::move(request));
  }

  void answer(Connection& connection, std::string text) {
    connection.state = State::Writing;
    connection.text = std::move(text);
    connection.done = 0;
    connection.deadline = Clock::now() + limits_.for_answer;
  }

  void write(Connection& connection) {
    while (connection.done < connection.text.size()) {
      const ssize_t sent = ::send(connection.socket, connection.text.data() + connection.done,
                                  connection.text.size() - connection.done, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (sent <= 0) return close(connection);
      connection.done += static_cast<std::size_t>(sent);
    }
    // What the client still sends is read for a moment: closing at once would take the answer away from it.
    ::shutdown(connection.socket, SHUT_WR);
    connection.state = State::Ending;
    connection.done = 0;
    connection.text = {};
    connection.deadline = Clock::now() + limits_.for_end;
  }

  void drop(Connection& connection) {
    std::array<char, 16384> buffer;
    for (;;) {
      const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (got > 0) connection.done += static_cast<std::size_t>(got);
      if (got <= 0 || connection.done > limits_.body) return close(connection);
    }
  }

  static void close(Connection& connection) {
    if (connection.socket >= 0) ::close(connection.socket);
    connection.socket = -1;
    connection.state = State::Waiting;
  }

  int socket_;
  PageLimits limits_;
  Makers makers_;
  std::list<Connection> connections_;  // the oldest first
  std::vector<pollfd> polled_;
  std::uint64_t numbers_ = 0;
  bool no_descriptors_ = false;
};

}  // namespace

int listen_on(bool anyone, int& port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(anyone ? INADDR_ANY : INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(socket, kBacklog) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    ::close(socket);
    return -1;
  }
  port = ntohs(address.sin_port);
  return socket;
}

void serve_pages(int socket, const std::function<std::string(const std::string&)>& answer,
                 const std::function<bool()>& ended, const PageLimits& limits) {
  Loop loop(socket, answer, limits);
  while (!ended()) loop.step();
}

}  // namespace trocar
