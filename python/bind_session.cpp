// Sessions in Python.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "python/bindings.hpp"
#include "python/driven_session.hpp"
#include "sim/session/frame_cost.hpp"
#include "sim/session/tick_clock.hpp"

namespace trocar::python {
namespace {

// ---- Names and numbers ----

template <typename List>
std::size_t number_in(const List& list, const py::handle& key, const char* what) {
  if (PyIndex_Check(key.ptr())) {
    const Py_ssize_t number = PyNumber_AsSsize_t(key.ptr(), nullptr);  // too large a number becomes the largest
    if (number >= 0 && static_cast<std::size_t>(number) < list.size()) return static_cast<std::size_t>(number);
    if (PyErr_Occurred()) throw py::error_already_set();
    throw py::index_error(fmt::format("{} {}: there are {} {}s, numbered from 0", what,
                                      py::str(key).cast<std::string>(), list.size(), what));
  }
  if (!py::isinstance<py::str>(key))
    throw py::type_error(
        fmt::format("the {} is named by its number or its name, not by {}", what, py::repr(key).cast<std::string>()));
  const auto name = key.cast<std::string>();
  for (std::size_t k = 0; k < list.size(); ++k)
    if (list[k].name == name) return k;
  throw py::key_error(std::string("no ") + what + " is named '" + name + "'");
}

std::size_t tool_in(const DrivenSession& s, const py::handle& key) {
  return number_in(s.session().instruments(), key, "instrument");
}
const Organ& organ_in(const DrivenSession& s, const py::handle& key) {
  return s.session().organs()[number_in(s.session().organs(), key, "organ")];
}

Diathermy energy_of(const std::string& name) {
  return chosen<Diathermy>("energy", name,
                           {{"off", Diathermy::Off}, {"cut", Diathermy::Cut}, {"coagulate", Diathermy::Coagulate}});
}

Quality quality_of(const std::string& name) {
  return chosen<Quality>("quality", name,
                         {{"low", Quality::Low}, {"medium", Quality::Medium}, {"high", Quality::High}});
}

Driver driver_of(const std::string& name) {
  return chosen<Driver>("driver", name, {{"caller", Driver::Caller}, {"scripts", Driver::Scripts}});
}

// ---- Construction and driving ----

constexpr double kMostTurn = 1e9;  // degrees

std::unique_ptr<DrivenSession> make_session(const std::filesystem::path& scene, const std::string& backend,
                                            const std::string& check, const std::string& driver,
                                            const std::map<std::string, std::filesystem::path>& trajectories,
                                            const std::optional<std::uint32_t>& anatomy,
                                            const std::optional<int>& level, bool allow_outside,
                                            const std::optional<std::filesystem::path>& record, bool force) {
  const DrivenParams params{backend, check,         driver_of(driver),   trajectories, anatomy,
                            level,   allow_outside, record.value_or(""), force};
  auto session = std::make_unique<DrivenSession>(scene, params);
  const std::string slow = slow_scene_text(session->scene(), session->session(), 0.0);
  if (!slow.empty() && PyErr_WarnEx(PyExc_UserWarning, slow.c_str(), 1) != 0) throw py::error_already_set();
  return session;
}

void move(DrivenSession& s, const py::handle& tool, const py::handle& tip, double roll_deg, double grip,
          const std::string& energy) {
  if (!(std::abs(roll_deg) <= kMostTurn) || !(grip >= 0.0 && grip <= 1.0))
    throw InputError("roll_deg must lie between -1e9 and 1e9, and grip between 0 (closed) and 1 (open)");
  s.command(tool_in(s, tool), {{}, point_of(tip, "tip"), roll_deg, grip, energy_of(energy), 1.0});
}

// rates: [tool][5]. All of them are checked before an instrument moves.
void drive(DrivenSession& s, const py::object& array, const std::vector<std::string>& energies) {
  const DoubleArray rates = doubles_of(array, "rates");
  const auto tools = static_cast<py::ssize_t>(s.session().instruments().size());
  if (rates.ndim() != 2 || rates.shape(0) != tools || rates.shape(1) != 5)
    throw InputError("rates: an array of shape (" + std::to_string(tools) + ", 5) is needed, not " + shape_text(rates));
  if (!energies.empty() && static_cast<py::ssize_t>(energies.size()) != tools)
    throw InputError("energies: one for each of the " + std::to_string(tools) + " instruments is needed");
  std::vector<Driving> driving;
  for (py::ssize_t tool = 0; tool < tools; ++tool) {
    const auto at = [&](py::ssize_t k) { return rates.at(tool, k); };
    driving.push_back({{at(0), at(1), at(2), at(3), at(4)},
                       energies.empty() ? Diathermy{} : energy_of(energies[static_cast<std::size_t>(tool)])});
  }
  s.drive(driving);
}

void step(DrivenSession& s, std::uint64_t frames) {
  const py::gil_scoped_release unlocked;
  for (std::uint64_t frame = 0; frame < frames; ++frame) s.step();
}

// ---- State ----

template <typename Value>
py::array_t<float> of_tools(const DrivenSession& s, Value value) {
  std::vector<glm::vec3> rows;
  for (const Instrument& instrument : s.session().instruments()) rows.emplace_back(value(instrument));
  return copied(std::span<const glm::vec3>(rows));
}

py::array_t<double> joints(const DrivenSession& s) {
  const auto tools = static_cast<py::ssize_t>(s.session().instruments().size());
  py::array_t<double> rows({tools, py::ssize_t{5}});
  for (py::ssize_t tool = 0; tool < tools; ++tool) {
    const Joints now = s.joints(static_cast<std::size_t>(tool));
    const double values[] = {now.pan_deg, now.tilt_deg, now.spin_deg, now.depth,
                             s.commanded(static_cast<std::size_t>(tool)).grip};
    for (py::ssize_t k = 0; k < 5; ++k) rows.mutable_at(tool, k) = values[k];
  }
  return rows;
}

// The ids of the faces of an organ that an instrument touches, with its shaft and the parts of its tip.
py::array_t<std::uint32_t> touched(const DrivenSession& s, const py::handle& organ_key, const py::handle& tool_key) {
  const Organ& organ = organ_in(s, organ_key);
  const std::size_t tool = tool_in(s, tool_key);
  const std::span<const FaceId> id_of = queried_ids(organ);
  std::vector<std::uint32_t> ids;
  if (tool + 1 < organ.touches.first.size())
    for (const Touch& touch : organ.touches.of_tool(tool)) ids.push_back(index(id_of[index(touch.face)]));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return copied_flat(std::span<const std::uint32_t>(ids));
}

py::array_t<std::uint32_t> face_ids(const Organ& organ) {
  std::vector<std::uint32_t> ids;
  for (const FaceId face : organ.face_ids) ids.push_back(index(face));
  return copied_flat(std::span<const std::uint32_t>(ids));
}

// Targets of the task: positions (n, 3) and states (n).
py::tuple targets(const DrivenSession& s) {
  std::vector<glm::vec3> positions;
  std::vector<std::uint8_t> states;
  for (const DrawnTarget& target : s.targets()) {
    positions.push_back(target.location);
    states.push_back(static_cast<std::uint8_t>(target.state));
  }
  return py::make_tuple(copied(std::span<const glm::vec3>(positions)),
                        copied_flat(std::span<const std::uint8_t>(states)));
}

py::object task_state(const DrivenSession& s) {
  if (!s.has_task()) return py::none();
  using namespace py::literals;
  const TaskFeed& feed = s.task().feed();
  return py::dict("finished"_a = feed.finished, "elapsed"_a = feed.elapsed, "progress"_a = feed.progress,
                  "errors"_a = feed.errors, "score"_a = feed.score, "hint"_a = feed.hint, "warning"_a = feed.warning);
}

py::array_t<std::uint8_t> picture(DrivenSession& s, int width, int height, const std::string& quality) {
  if (width < 1 || height < 1 || width > 8192 || height > 8192)
    throw InputError("width and height must lie between 1 and 8192");
  const std::vector<glm::u8vec3> pixels = s.picture(width, height, quality_of(quality));
  py::array_t<std::uint8_t> array({py::ssize_t{height}, py::ssize_t{width}, py::ssize_t{3}});
  std::memcpy(array.mutable_data(), pixels.data(), 3 * pixels.size());
  return array;
}

void bind_state(GuardedClass<DrivenSession>& session) {
  session
      .def_property_readonly(
          "frame", [](const DrivenSession& s) { return s.session().frames(); }, "Frames so far.")
      .def_property_readonly("time", &DrivenSession::time, "Time of the last frame, s.")
      .def_property_readonly("tick", &DrivenSession::tick, "Length of a frame, s.")
      .def_property_readonly("instruments",
                             [](const DrivenSession& s) {
                               std::vector<std::string> names;
                               for (const auto& tool : s.session().instruments()) names.push_back(tool.name);
                               return names;
                             })
      .def_property_readonly("organs",
                             [](const DrivenSession& s) {
                               std::vector<std::string> names;
                               for (const auto& organ : s.session().organs()) names.push_back(organ.name);
                               return names;
                             })
      .def_property_readonly("backend", [](const DrivenSession& s) { return s.session().backend().name; })
      .def_property_readonly(
          "disagreements", [](const DrivenSession& s) { return s.session().disagreements(); },
          "Faces about which the backend and its check disagreed, since the start.")
      .def_property_readonly(
          "tips", [](const DrivenSession& s) { return of_tools(s, [](const auto& tool) { return tool.pose.tip; }); },
          "(instruments, 3) float32, metres.")
      .def_property_readonly(
          "pivots",
          [](const DrivenSession& s) { return of_tools(s, [](const auto& tool) { return tool.pose.pivot; }); },
          "(instruments, 3) float32, metres.")
      .def_property_readonly(
          "forces", [](const DrivenSession& s) { return of_tools(s, [](const auto& tool) { return tool.force; }); },
          "(instruments, 3) float32, newtons: of the tissue on the instrument in the last frame.")
      .def_property_readonly("joints", &joints,
                             "(instruments, 5) float64: pan, tilt, spin in degrees, depth in metres, grip 0..1; as "
                             "commanded.")
      .def_property_readonly(
          "marks", [](const DrivenSession& s) { return copied(s.session().marks()); },
          "(marks, 3) float32, metres: the points that the task tracks on the tissue.")
      .def("targets", &targets,
           "Targets of the task after the last frame: positions (n, 3) float32, metres, and states (n) uint8: 0 "
           "waiting, "
           "1 next, 2 done, 3 error. Empty without targets.")
      .def(
          "joints_to",
          [](const DrivenSession& s, const py::object& instrument, const py::object& point) {
            const Joints to = s.joints_to(tool_in(s, instrument), point_of(point, "point"));
            return py::make_tuple(to.pan_deg, to.tilt_deg, to.depth);
          },
          py::arg("instrument"), py::arg("point"),
          "(pan, tilt, depth) in degrees and metres with which the tip of the instrument is at a point.")
      .def(
          "positions",
          [](const DrivenSession& s, const py::object& organ) {
            return copied(std::span<const glm::vec3>(organ_in(s, organ).positions));
          },
          py::arg("organ"), "(vertices, 3) float32, metres: the surface after the last frame.")
      .def(
          "faces",
          [](const DrivenSession& s, const py::object& organ) {
            return copied(std::span<const glm::uvec3>(organ_in(s, organ).mesh.faces));
          },
          py::arg("organ"), "(faces, 3) uint32: the present faces; face_ids() are their ids.")
      .def(
          "face_ids", [](const DrivenSession& s, const py::object& organ) { return face_ids(organ_in(s, organ)); },
          py::arg("organ"), "(faces) uint32: a face keeps its id for life.")
      .def("touched", &touched, py::arg("organ"), py::arg("instrument"),
           "(n) uint32, sorted: ids of the faces that the instrument touched in the last frame.")
      .def_property_readonly("task", &task_state,
                             "State of the task as a dict: finished, elapsed (s), progress (0..1), errors, score "
                             "(0..100), hint, warning. None without a task.");
}

}  // namespace

void bind_session(py::module_& module) {
  GuardedClass<DrivenSession> session(
      module,
      "A scene that runs frame by frame, without a window. Instruments stay where the "
      "scene puts them until they are moved. One thread at a time: RunError for others.");
  session
      .init(
          py::init(&make_session), py::arg("scene"), py::kw_only(), py::arg("backend") = "", py::arg("check") = "",
          py::arg("driver") = "caller", py::arg("trajectories") = std::map<std::string, std::filesystem::path>{},
          py::arg("anatomy") = py::none(), py::arg("level") = py::none(), py::arg("allow_outside") = false,
          py::arg("record") = py::none(), py::arg("force") = false,
          "scene: a .toml file. backend: of the touch query; empty: the scene's. check: a backend that answers every "
          "query again, for example obb-refit. driver: `caller` moves the instruments by move() or drive(); "
          "`scripts` follow the paths of the scene. trajectories: a CSV file for each instrument that follows one. "
          "anatomy: seed of a variation. level: of the task. record: a recording (.h5) to write. force: write it over "
          "a recording that "
          "exists.")
      .def("move", &move, py::arg("instrument"), py::arg("tip"), py::arg("roll_deg") = 0.0, py::arg("grip") = 1.0,
           py::arg("energy") = "off",
           "Sets the pose of an instrument for the next frames: tip in metres, grip 0 closed .. 1 open. energy "
           "(diathermy): `off`, "
           "`cut` or `coagulate`.")
      .def("drive", &drive, py::arg("rates"), py::arg("energies") = std::vector<std::string>{},
           "Moves all instruments by joint velocities for one frame, within their limits: (instruments, 5): pan, tilt, "
           "spin in degrees per second (at most 36000), depth in metres per second (100), grip per second (1000).")
      .def("step", &step, py::arg("frames") = 1, "Makes frames: devices, touch query, tissue, task. Releases the GIL.")
      .def("picture", &picture, py::arg("width") = 640, py::arg("height") = 480, py::arg("quality") = "high",
           "The scope's view as an array (height, width, 3) uint8, top row first. Needs OpenGL; no display.")
      .def(
          "save",
          [](const DrivenSession& s) {
            const std::vector<std::byte> bytes = s.save();
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "The state as bytes. A session of the same scene that restores them continues with the same bits.")
      .def(
          "restore", [](DrivenSession& s, const std::string& bytes) { s.restore(std::as_bytes(std::span(bytes))); },
          py::arg("state"),
          "Restores the state of save(). The task starts again. Raises InputError for bytes that are not a state of "
          "this scene, and changes nothing then.")
      .def("close", &DrivenSession::close_recording,
           "Completes the recording, if there is one. Later frames raise RunError then.");
  bind_state(session);
}

}  // namespace trocar::python
