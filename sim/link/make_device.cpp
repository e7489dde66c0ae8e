#include "sim/link/make_device.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spnav.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "geometry/error.hpp"
#include "sim/device/haptics.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/link/igtl_device.hpp"
#include "sim/review/recorded_frames.hpp"
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

namespace {

template <typename Hand>
std::unique_ptr<Device> registered(std::unique_ptr<Hand> hand, DeviceContext& context) {
  context.rates.push_back(hand.get());
  return hand;
}

std::unique_ptr<Device> make_gamepad(const HeldTool& tool, const std::string& source, DeviceContext& context) {
  GamepadParams params;
  params.fulcrum = context.fulcrum;
  if (!context.gamepad) throw InputError("this program reads no gamepads; open the scene with `trocar run`");
  return registered(std::make_unique<GamepadDevice>(tool, context.gamepad(source), params), context);
}

std::unique_ptr<Device> make_spacemouse(const HeldTool& tool, DeviceContext& context) {
  if (context.spacemouse)
    throw InputError(
        "the SpaceMouse can move only one instrument or the scope; give the other another device in the scene");
  context.spacemouse = std::make_unique<SpaceMouseReader>();
  SpaceMouseParams params;
  params.fulcrum = context.fulcrum;
  const auto read = [reader = context.spacemouse.get()] { return reader->state(); };
  return registered(std::make_unique<SpaceMouseDevice>(tool, read, params), context);
}

std::unique_ptr<Device> make_haptic(const InstrumentScene& scene) {
  const auto path = std::shared_ptr<Device>(make_script_device({scene.pivot, scene.tip, scene.script}));
  HapticStubParams params;
  params.contact = scene.haptic;
  const auto target = [path](double time) { return path->pose({0, time}).tip; };
  return std::make_unique<HapticStub>(scene.pivot, scene.tip, target, params);
}

// Makes a device of a kind that instruments and the scope share. Sets `mouse` when the device is a mouse.
std::unique_ptr<Device> make_held(const std::string& device, const HeldTool& tool, const std::string& source,
                                  DeviceContext& context, MouseDevice*& mouse) {
  if (device == "igtl") return std::make_unique<IgtlDevice>(parse_igtl_source(source), tool);
  if (const std::string fault = start_fault(tool); !fault.empty())
    throw InputError(fault + "; move its tip or widen its limits in the scene");
  if (device == "gamepad") return make_gamepad(tool, source, context);
  if (device == "spacemouse") return make_spacemouse(tool, context);
  MouseParams params;
  params.fulcrum = context.fulcrum;
  auto made = std::make_unique<MouseDevice>(tool, params);
  mouse = made.get();
  return made;
}

[[noreturn]] void rethrow(const std::string& who, const InputError& error) {
  throw InputError(fmt::format("{}: {}", who, error.what()));
}

}  // namespace

Activity activity_of(const Scene& scene) {
  bool live = false, recorded = false;
  const auto note = [&](const std::string& device) {
    recorded = recorded || device == "trajectory";
    live = live || (device != "script" && device != "trajectory");
  };
  note(scene.scope.device);
  for (const InstrumentScene& instrument : scene.instruments) note(instrument.device);
  return live ? Activity::Attempt : recorded ? Activity::Replay : Activity::Script;
}

std::unique_ptr<Device> make_device(const InstrumentScene& scene, DeviceContext& context) try {
  MouseDevice*& mouse = context.mice.emplace_back(nullptr);
  if (scene.device == "script") return make_script_device({scene.pivot, scene.tip, scene.script});
  if (scene.device == "trajectory") return make_replay_device(load_motion(scene.trajectory, scene.source, scene.name));
  if (scene.device == "haptic") return make_haptic(scene);
  return make_held(scene.device, held_tool(scene), scene.source, context, mouse);
} catch (const InputError& error) {
  rethrow(fmt::format("instrument {}", scene.name), error);
}

std::unique_ptr<Device> make_scope_device(const ScopeScene& scene, const std::filesystem::path& folder,
                                          DeviceContext& context) try {
  if (scene.device == "script") return nullptr;
  if (scene.device == "haptic") throw InputError("the haptic stub can only hold an instrument; choose another device");
  if (scene.device == "trajectory") {
    if (scene.source.empty()) throw InputError("device = \"trajectory\" needs source = \"RECORDING.h5\"");
    return make_replay_device(load_scope_motion(folder / scene.source));
  }
  return make_held(scene.device, held_tool(scene), scene.source, context, context.scope_mouse);
} catch (const InputError& error) {
  rethrow("scope", error);
}

}  // namespace trocar
