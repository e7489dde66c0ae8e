// trocar doctor: reports what this machine supports, tests each backend on two triangles with a known answer, and times
// the backends of `auto` on the organs of the demonstration. Everything that calls a driver or a device runs in a child
// process with a limit of time, so that a driver that crashes or hangs ends its own line of the report only. With a
// scene: reports about the scene instead (doctor_scene.hpp).
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "app/commands/commands.hpp"
#include "app/commands/doctor_scene.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "app/view/film_file.hpp"
#include "app/window/input/hands.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/hand_device.hpp"
#include "sim/device/haptics.hpp"
#include "sim/link/make_device.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

constexpr std::string_view kOpenGl = "OpenGL", kDevices = "devices",
                           kTimes = "times:,";  // then names, each with a comma
constexpr int kTimesLimit = 5;                  // the times are of many frames: so many limits

// Runs a part of the report in a child process: a driver that crashes or hangs ends that part only.
ChildResult in_child(const std::string& part, std::chrono::seconds limit) {
  const std::string arguments[] = {"doctor", "--only", part};
  ChildResult child = run_child(own_program(), arguments, limit);
  if (child.failure.empty() && child.status != 0) child.failure = fmt::format("ends with status {}", child.status);
  return child;
}

std::string first_line(const ChildResult& child) {
  if (!child.failure.empty()) return fmt::format("FAILS: its test {}", child.failure);
  return child.output.substr(0, child.output.find('\n'));
}

// Prints the times of those backends that work and may be chosen by `auto`, and of the two trees that validate.
void show_times(std::string_view working) {
  Backends backends;
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
    if (working.find(fmt::format(",{},", name)) != working.npos) names.emplace_back(name);
  fmt::print("times          ms per frame on two organs, {} faces:", faces);
  for (const BackendTrial& trial : time_backends(backends, names, organs))
    fmt::print(" {} {}", trial.name, trial.frames > 0 ? fmt::format("{:.3f}", trial.median_ms) : "FAILS");
  const bool gl_answers = working.find(fmt::format(",{},", kOpenGl)) != working.npos;
  const BackendChoice choice =
      gl_answers ? backends.resolve("auto", organs) : BackendChoice{"scan", "OpenGL does not answer"};
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

// Returns the verdict of each backend, of those on OpenGL only when OpenGL itself answers.
std::string verdict(const BackendRow& row, bool gl_answers, std::chrono::seconds limit) {
  const std::string name(row.name);
  if (row.needs == "CPU") {
    Backends backends;
    return verdict_on_known_case(backends, name);
  }
  return gl_answers ? first_line(in_child(name, limit)) : "not tested: OpenGL does not answer";
}

void run(std::chrono::seconds limit) {
  fmt::print("Trocar {}\nmachine        {}\n", kVersion, machine_description());
  const char* display = std::getenv("DISPLAY");
  fmt::print("display        {}\n",
             display && *display ? display : "none: the window is not available, everything else is");
  const auto free = free_space("out");
  fmt::print("disk           {}\n",
             free ? bytes_text(*free) + " free for recordings in out" : "its free space is not known");
  fmt::print("films          {}\n", film_support());
  std::fflush(stdout);
  const ChildResult gl = in_child(std::string(kOpenGl), limit);
  fmt::print("OpenGL         {}\n", first_line(gl));
  bool wrong = false;
  std::string timed(kTimes);
  if (gl.failure.empty()) timed += fmt::format("{},", kOpenGl);
  for (const BackendRow& row : backend_table()) {
    const std::string said = verdict(row, gl.failure.empty(), limit);
    wrong = wrong || said.starts_with("WRONG");
    if (said.starts_with("works")) timed += fmt::format("{},", row.name);
    fmt::print("{:<14} {}\n", row.name, said);
    std::fflush(stdout);
  }
  const ChildResult devices = in_child(std::string(kDevices), limit);
  fmt::print("{}", devices.failure.empty() ? devices.output : fmt::format("devices        {}\n", first_line(devices)));
  std::fflush(stdout);
  const ChildResult times = in_child(timed, kTimesLimit * limit);
  fmt::print("{}",
             times.failure.empty()
                 ? times.output
                 : fmt::format("times          {}\nauto           not known without the times\n", first_line(times)));
  if (wrong) throw RunError("a backend gave a wrong answer on the known triangles; do not use it on this machine");
}

void run_only(const std::string& part) {
  if (part == kDevices) return show_devices();
  if (part.starts_with(kTimes)) return show_times(std::string_view(part).substr(kTimes.size() - 1));
  Backends backends;
  fmt::print("{}\n", part == kOpenGl ? gl_description(backends) : verdict_on_known_case(backends, part));
}

// A driver that crashes or hangs is left alone: the scene then uses scan.
void run_scene(DoctorScene scene) {
  const ChildResult gl = in_child(std::string(kOpenGl), scene.limit);
  scene.gl = first_line(gl);
  if (!gl.failure.empty()) scene.backend = "scan";
  report_scene(scene);
}

}  // namespace

void add_doctor_command(Command& program) {
  Command& sub = program.command(
      "doctor",
      "Report what this machine supports; or whether a scene is too heavy for it, and how far its forces hold");
  auto only = std::make_shared<std::string>();
  auto limit = std::make_shared<int>(60);
  auto scene = std::make_shared<DoctorScene>();
  sub.option("scene", scene->file, "Scene: .toml; without it the report is about the machine alone");
  sub.option("--only", *only, "Test this backend only, in this process; or: OpenGL, devices").excludes({"scene"});
  sub.option("--limit", *limit, "Longest time of each test of a driver or of devices, and of the trial of a scene, s")
      .within(1, 3600)
      .shown();
  add_access_option(sub, scene->access);
  sub.runs([only, limit, scene] {
    scene->limit = std::chrono::seconds(*limit);
    if (!scene->file.empty()) return run_scene(*scene);
    only->empty() ? run(scene->limit) : run_only(*only);
  });
}

}  // namespace trocar
