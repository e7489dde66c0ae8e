// Connects to spacenavd through libspnav. After the connection is open, only one thread calls libspnav.
#include "sim/link/spacemouse_reader.hpp"

#include <poll.h>
#include <spnav.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "geometry/error.hpp"
#include "sim/support/task.hpp"

namespace trocar {
namespace {

constexpr int kListenMs = 20;                        // interval at which the thread checks whether to stop
constexpr std::chrono::milliseconds kTryAgain{500};  // interval of attempts to reconnect

std::atomic<bool> connection_taken{false};

enum class Heard { Nothing, Events, Closed };

// Waits up to kListenMs. When the socket is readable but has no event, the daemon has closed it.
Heard listen(SpaceMouseState& state) {
  pollfd waiting{spnav_fd(), POLLIN, 0};
  if (poll(&waiting, 1, kListenMs) <= 0) return Heard::Nothing;
  bool any = false;
  spnav_event event;
  for (int type = spnav_poll_event(&event); type != 0; type = spnav_poll_event(&event)) {
    any = true;
    if (type == SPNAV_EVENT_MOTION) {
      const spnav_event_motion& m = event.motion;
      state.axes = {m.x, m.y, m.z, m.rx, m.ry, m.rz};
    } else if (type == SPNAV_EVENT_BUTTON && event.button.bnum >= 0 && event.button.bnum < 3) {
      state.buttons[static_cast<std::size_t>(event.button.bnum)] = event.button.press != 0;
    } else if (type == SPNAV_EVENT_DEV && event.dev.op == SPNAV_DEV_RM) {
      state.axes = {};
      state.buttons = {};
    }
  }
  return any ? Heard::Events : Heard::Closed;
}

}  // namespace

struct SpaceMouseReader::Shared {
  mutable std::mutex mutex;
  SpaceMouseState state;
  std::atomic<bool> stopping{false};
  std::thread thread;

  void publish(const SpaceMouseState& now) {
    const std::lock_guard lock(mutex);
    state = now;
  }

  void run() {
    SpaceMouseState now;
    now.connected = true;
    auto tried = std::chrono::steady_clock::now();
    while (!stopping) {
      if (!now.connected) {
        std::this_thread::sleep_for(std::chrono::milliseconds(kListenMs));
        if (std::chrono::steady_clock::now() - tried < kTryAgain) continue;
        tried = std::chrono::steady_clock::now();
        now.connected = spnav_open() != -1;
        publish(now);
        continue;
      }
      const Heard heard = listen(now);
      if (heard == Heard::Nothing) continue;
      if (heard == Heard::Closed) {
        spnav_close();
        now = {};
      }
      publish(now);
    }
    if (now.connected) spnav_close();
  }
};

SpaceMouseReader::SpaceMouseReader() : shared_(std::make_unique<Shared>()) {
  if (connection_taken.exchange(true))
    throw InputError(
        "the SpaceMouse can move only one instrument or the scope; give the other another device in the scene");
  if (spnav_open() == -1) {
    connection_taken = false;
    throw InputError(
        "the SpaceMouse daemon spacenavd does not answer; start it (systemctl start spacenavd) or choose another "
        "device");
  }
  shared_->state.connected = true;
  shared_->thread = std::thread([shared = shared_.get()] {
    run_guarded("The SpaceMouse reader", [shared] { shared->run(); });
    shared->publish({});
  });
}

SpaceMouseReader::~SpaceMouseReader() {
  shared_->stopping = true;
  shared_->thread.join();
  connection_taken = false;
}

SpaceMouseState SpaceMouseReader::state() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state;
}

bool spacenavd_answers() {
  if (connection_taken.exchange(true)) return true;
  const bool answers = spnav_open() != -1;
  if (answers) spnav_close();
  connection_taken = false;
  return answers;
}

}  // namespace trocar
