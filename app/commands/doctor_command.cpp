// trocar doctor: reports what this machine supports and tests each backend on two triangles with a known answer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "app/commands/commands.hpp"
#include "app/compare/backends.hpp"
#include "app/window/glfw_gamepad.hpp"
#include "geometry/error.hpp"
#include "sim/device/haptic_stub.hpp"
#include "sim/device/spacemouse_device.hpp"
#include "sim/link/spacemouse_reader.hpp"
#include "sim/support/machine.hpp"

namespace trocar {
namespace {

// Two triangles: a vertical tool 5 mm thick passes through the first and misses the second.
struct KnownCase {
  std::vector<glm::vec3> positions = {{-0.02f, 0.f, -0.02f}, {0.02f, 0.f, -0.02f}, {0.f, 0.f, 0.03f},
                                      {0.10f, 0.f, 0.f},     {0.12f, 0.f, 0.f},    {0.11f, 0.f, 0.02f}};
  std::vector<glm::uvec3> faces = {{0, 1, 2}, {3, 4, 5}};
  ToolStep tool{{0.0, 0.2, 0.0}, {0.0, -0.01, 0.0}, {0.0, -0.01, 0.0}, 0.0025};
};

std::string try_backend(std::string_view name, Backends& backends) {
  try {
    const KnownCase known;
    const auto query = backends.make(name);
    query->rebuild({known.positions, known.faces});
    query->update(known.positions);
    const ToolVolume volume = swept_volume(known.tool, Cover::Capsule);
    const auto touches = query->touched({&volume, 1}, TouchSet::Exact).touches;
    if (query->fault() != TouchFault::None) return fmt::format("FAILS: {}", sentence_of(query->fault()));
    const bool right = touches.size() == 1 && index(touches.front().face) == 0;
    return right ? fmt::format("works ({:.3f} ms on two faces)", query->times().total_ms())
                 : "WRONG: the touched faces differ from the known answer";
  } catch (const InputError& error) {
    return fmt::format("not available: {}", error.what());
  }
}

// Returns the ticks per second of the haptic stub, measured over 0.2 s.
double haptic_rate() {
  const HapticStub stub({0.0, 0.0, 0.2}, {0.0, 0.0, 0.1}, [](double) { return glm::dvec3(0.0, 0.0, 0.1); });
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return static_cast<double>(stub.state().ticks) / time.count();
}

void show_devices() {
  const auto pads = gamepads_of_this_machine();
  if (!pads) fmt::print("gamepads       not checked: they need a window, and there is no display\n");
  if (pads && pads->empty()) fmt::print("gamepads       none\n");
  if (pads)
    for (const GamepadInfo& pad : *pads)
      fmt::print("gamepad {}      {}: {}\n", pad.number, pad.name,
                 pad.mapped ? "ready" : "not usable: GLFW has no button mapping for it");
  fmt::print("SpaceMouse     {}\n", spacenavd_answers() ? "spacenavd answers" : "spacenavd does not answer");
  fmt::print("haptic stub    {:.0f} ticks a second of 1000\n", haptic_rate());
}

void run() {
  Backends backends;
  fmt::print("Trocar {}\nmachine        {}\n", kVersion, machine_description());
  const char* display = std::getenv("DISPLAY");
  fmt::print("display        {}\n",
             display && *display ? display : "none: the window is not available, everything else is");
  fmt::print("OpenGL         {}\n", gl_description(backends));
  bool wrong = false;
  for (const BackendRow& row : backend_table()) {
    const std::string verdict = try_backend(row.name, backends);
    wrong = wrong || verdict.starts_with("WRONG");
    fmt::print("{:<14} {}\n", row.name, verdict);
  }
  show_devices();
  const BackendChoice choice = backends.choose();
  fmt::print("auto           {}: {}\n", choice.name, choice.why);
  if (wrong) throw RunError("a backend gave a wrong answer on the known triangles; do not use it on this machine");
}

}  // namespace

void add_doctor_command(CLI::App& program) {
  CLI::App* sub =
      program.add_subcommand("doctor", "Report what this machine supports; test each backend on known triangles");
  sub->callback([] { run(); });
}

}  // namespace trocar
