// trocar doctor: reports what this machine supports, tests each backend on two triangles with a known answer, those on
// OpenGL in a child process, and times the backends of `auto` on the organs of the demonstration.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "app/commands/commands.hpp"
#include "app/compare/backend_trial.hpp"
#include "app/compare/backends.hpp"
#include "app/compare/known_case.hpp"
#include "app/window/glfw_gamepad.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/haptic_stub.hpp"
#include "sim/device/spacemouse_device.hpp"
#include "sim/link/spacemouse_reader.hpp"
#include "sim/support/child_process.hpp"
#include "sim/support/data_folder.hpp"
#include "sim/support/disk_space.hpp"
#include "sim/support/machine.hpp"

namespace trocar {
namespace {

// A driver that crashes ends the child only.
std::string try_in_child(const std::string& name) {
  constexpr std::chrono::seconds kLongest{60};
  const std::string arguments[] = {"doctor", "--only", name};
  const ChildResult child = run_child(own_program(), arguments, kLongest);
  if (!child.failure.empty()) return fmt::format("FAILS: its test {}", child.failure);
  if (child.status != 0) return fmt::format("FAILS: its test ends with status {}", child.status);
  return child.output.substr(0, child.output.find('\n'));
}

// Prints the times of those backends that may be chosen by `auto`, and of the two trees that validate.
void show_times(std::span<const std::string> working, Backends& backends) {
  std::vector<TriangleMesh> meshes;
  for (const char* file : {"organs/liver.obj", "organs/stomach.obj"}) meshes.push_back(load_mesh(data_file(file)));
  std::vector<MeshView> organs;
  std::size_t faces = 0;
  for (const TriangleMesh& mesh : meshes) {
    organs.push_back(mesh.view());
    faces += mesh.faces.size();
  }
  std::vector<std::string> names;
  for (const char* name : {"scan", "compute", "occlusion", "aabb-refit", "obb-refit"})
    if (std::find(working.begin(), working.end(), name) != working.end()) names.emplace_back(name);
  fmt::print("times          ms per frame on two organs, {} faces:", faces);
  for (const BackendTrial& trial : time_backends(backends, names, organs))
    fmt::print(" {} {}", trial.name, trial.frames > 0 ? fmt::format("{:.3f}", trial.median_ms) : "FAILS");
  const BackendChoice choice = backends.resolve("auto", organs);
  fmt::print("\nauto           {}: {}\n", choice.name, choice.why);
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
  const auto free = free_space("out");
  fmt::print("disk           {}\n",
             free ? bytes_text(*free) + " free for recordings in out" : "its free space is not known");
  fmt::print("OpenGL         {}\n", gl_description(backends));
  bool wrong = false;
  std::vector<std::string> working;
  for (const BackendRow& row : backend_table()) {
    const std::string name(row.name);
    const std::string verdict = row.needs == "CPU" ? verdict_on_known_case(backends, name) : try_in_child(name);
    wrong = wrong || verdict.starts_with("WRONG");
    if (verdict.starts_with("works")) working.push_back(name);
    fmt::print("{:<14} {}\n", name, verdict);
  }
  show_devices();
  show_times(working, backends);
  if (wrong) throw RunError("a backend gave a wrong answer on the known triangles; do not use it on this machine");
}

}  // namespace

void add_doctor_command(CLI::App& program) {
  CLI::App* sub =
      program.add_subcommand("doctor", "Report what this machine supports; test each backend on known triangles");
  auto only = std::make_shared<std::string>();
  sub->add_option("--only", *only, "Test this backend only, in this process");
  sub->callback([only] {
    if (only->empty()) return run();
    Backends backends;
    fmt::print("{}\n", verdict_on_known_case(backends, *only));
  });
}

}  // namespace trocar
