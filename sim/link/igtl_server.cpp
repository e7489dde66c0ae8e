#include "sim/link/igtl_server.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "geometry/machine.hpp"
#include "sim/support/task.hpp"

namespace trocar {
namespace {

constexpr int kLookMs = 100;  // interval at which clients that receive nothing are checked
// A waiting client makes the listener ready again at once; without a free descriptor the thread would loop busily.
constexpr auto kAcceptPause = std::chrono::seconds(1);
constexpr auto kLogPause = std::chrono::seconds(10);  // between two lines about refused clients

struct Client {
  Descriptor socket;
  std::vector<std::byte> pending;  // the frame that is being sent
  std::size_t sent = 0;            // bytes of it that have been sent
  Clock::time_point moved;         // when bytes were last sent
  bool closed = false;

  bool waiting() const { return sent < pending.size(); }
};

double now_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct IgtlServer::Shared {
  IgtlServerParams params;
  Descriptor listener;
  int port = 0;
  Wake wake;
  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> connected{0};
  std::atomic<std::uint64_t> skipped{0}, dropped{0}, refused{0};
  std::thread thread;

  std::mutex mutex;                 // guards the next two members
  std::vector<PublishedTool> next;  // [tool]
  bool fresh = false;

  // Used by the thread only.
  std::vector<PublishedTool> tools;  // [tool]
  std::vector<NamedPose> poses;      // [tool]
  std::vector<double> numbers;
  std::vector<std::byte> frame;
  std::vector<Client> clients;
  std::vector<pollfd> waiting;                // the wake event, the listener, then the clients
  Clock::time_point accept_again, log_again;  // earliest time of the next accept, of the next log line

  bool take_frame() {
    const std::lock_guard lock(mutex);
    if (!fresh) return false;
    tools = next;
    fresh = false;
    return true;
  }

  void pack_frame() {
    const double time = now_since_1970();
    frame.clear();
    poses.resize(tools.size());
    for (std::size_t k = 0; k < tools.size(); ++k) {
      poses[k] = {tools[k].name, tools[k].pose};
      append_transform(frame, poses[k], time);
    }
    append_tdata(frame, "Instruments", poses, time);
    numbers.clear();
    for (const PublishedTool& tool : tools) numbers.push_back(tool.touched);
    append_sensor(frame, "Touched", numbers, IgtlUnit::None, time);
    numbers.clear();
    for (const PublishedTool& tool : tools)
      for (int axis = 0; axis < 3; ++axis) numbers.push_back(static_cast<double>(tool.force[axis]));
    append_sensor(frame, "Force", numbers, IgtlUnit::Newton, time);
    numbers.clear();
    for (const PublishedTool& tool : tools)
      for (int axis = 0; axis < 3; ++axis) numbers.push_back(static_cast<double>(tool.torque[axis]));
    append_sensor(frame, "Torque", numbers, IgtlUnit::NewtonMetre, time);
  }

  void send_remaining(Client& client) const {
    const auto remaining = std::span<const std::byte>(client.pending).subspan(client.sent);
    const std::ptrdiff_t count = send_some(client.socket, remaining);
    if (count < 0) client.closed = true;
    if (count <= 0) return;
    client.sent += static_cast<std::size_t>(count);
    client.moved = Clock::now();
  }

  void send_frame() {
    for (Client& client : clients) {
      if (client.waiting()) {
        ++skipped;
        continue;
      }
      client.pending = frame;
      client.sent = 0;
      client.moved = Clock::now();
      send_remaining(client);
    }
  }

  // Discards the data of a client, but notices that it has disconnected.
  void listen_to(Client& client) const {
    std::array<std::byte, 4096> bytes;
    if (receive_some(client.socket, bytes) < 0) client.closed = true;
  }

  void accept_clients() {
    for (;;) {
      Accepted accepted = accept_from(listener);
      if (accepted.out_of_descriptors) {
        accept_again = Clock::now() + kAcceptPause;
        log("OpenIGTLink: the system has no free descriptor for another client; close some programs");
      }
      if (!accepted.socket.open()) return;
      if (clients.size() >= params.most_clients) {  // those that have disconnected make room
        for (Client& client : clients) listen_to(client);
        drop_clients();
      }
      if (clients.size() >= params.most_clients) {
        ++refused;
        log(fmt::format("OpenIGTLink: client refused, {} are connected; {} refused so far", clients.size(),
                        refused.load()));
        continue;
      }
      Client client;
      client.socket = std::move(accepted.socket);
      client.moved = Clock::now();
      clients.push_back(std::move(client));
    }
  }

  void log(const std::string& line) {
    if (Clock::now() < log_again) return;
    log_again = Clock::now() + kLogPause;
    fmt::print(stderr, "{}\n", line);
  }

  void drop_clients() {
    for (Client& client : clients) {
      const std::chrono::duration<double> still = Clock::now() - client.moved;
      if (client.closed || !client.waiting() || still.count() < params.patience) continue;
      client.closed = true;
      ++dropped;
    }
    std::erase_if(clients, [](const Client& client) { return client.closed; });
    connected = clients.size();
  }

  void wait() {
    waiting.clear();
    waiting.push_back({wake.number(), POLLIN, 0});
    // poll() ignores a negative descriptor.
    waiting.push_back({Clock::now() < accept_again ? -1 : listener.number(), POLLIN, 0});
    for (const Client& client : clients)
      waiting.push_back({client.socket.number(), static_cast<short>(client.waiting() ? POLLIN | POLLOUT : POLLIN), 0});
    poll(waiting.data(), waiting.size(), kLookMs);
  }

  void run() {
    while (!stopping) {
      wait();
      if (waiting[0].revents != 0) wake.clear();
      for (std::size_t k = 0; k < clients.size(); ++k) {
        const short happened = waiting[k + 2].revents;
        if (happened & POLLOUT) send_remaining(clients[k]);
        if (happened & ~POLLOUT) listen_to(clients[k]);
      }
      if (waiting[1].revents != 0) accept_clients();
      if (take_frame()) {
        pack_frame();
        send_frame();
      }
      drop_clients();
    }
  }
};

IgtlServer::IgtlServer(const IgtlServerParams& params) : shared_(std::make_unique<Shared>()) {
  shared_->params = params;
  shared_->listener = listen_on(params.port, params.anyone);
  shared_->port = port_of(shared_->listener);
  shared_->thread =
      std::thread([shared = shared_.get()] { run_guarded("The OpenIGTLink server", [shared] { shared->run(); }); });
}

IgtlServer::~IgtlServer() {
  shared_->stopping = true;
  shared_->wake.ring();
  shared_->thread.join();
}

void IgtlServer::publish(std::span<const PublishedTool> tools) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->next.assign(tools.begin(), tools.end());
    shared_->fresh = true;
  }
  shared_->wake.ring();
}

int IgtlServer::port() const { return shared_->port; }
std::size_t IgtlServer::clients() const { return shared_->connected; }
std::uint64_t IgtlServer::frames_skipped() const { return shared_->skipped; }
std::uint64_t IgtlServer::clients_dropped() const { return shared_->dropped; }
std::uint64_t IgtlServer::clients_refused() const { return shared_->refused; }

IgtlPublisher::IgtlPublisher(const Scene& scene, const IgtlServerParams& params) : server_(params) {
  for (const InstrumentScene& instrument : scene.instruments) {
    const glm::dvec3 axis = instrument.axis == glm::dvec3(0.0) ? instrument.tip - instrument.pivot : instrument.axis;
    centres_.push_back(remote_centre(instrument.pivot, axis));
    tools_.push_back({instrument.name, glm::dmat4(1.0), glm::vec3(0.f), 0});
  }
}

void IgtlPublisher::publish(const Session& session) {
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const Instrument& instrument = session.instruments()[k];
    tools_[k].pose = matrix_of(centres_[k], {instrument.pose.pivot, instrument.pose.tip, instrument.roll_deg});
    tools_[k].force = instrument.force;
    tools_[k].torque = instrument.torque;
    tools_[k].touched = 0;
    for (const Organ& organ : session.organs())
      tools_[k].touched += static_cast<std::uint32_t>(organ.touches.of_tool(k).size());
  }
  server_.publish(tools_);
}

}  // namespace trocar
