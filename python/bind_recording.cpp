// Recordings and scores in Python. Frames are read when they are asked for.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "app/compare/backends.hpp"
#include "app/replay/replay.hpp"
#include "geometry/error.hpp"
#include "python/bindings.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/attempt.hpp"

namespace trocar::python {
namespace {

using namespace py::literals;

class PythonRecording : public OneAtATime {
 public:
  static constexpr const char* kName = "Recording";
  explicit PythonRecording(const std::filesystem::path& file) : file_(file) {}
  const Recording& operator*() const { return file_; }

 private:
  Recording file_;
};

std::size_t frame_in(const Recording& recording, std::ptrdiff_t frame) {
  const auto count = static_cast<std::ptrdiff_t>(recording.frame_count());
  if (frame < -count || frame >= count)
    throw py::index_error("frame " + std::to_string(frame) + ": the recording has " + std::to_string(count) +
                          " frames");
  return static_cast<std::size_t>(frame < 0 ? frame + count : frame);
}

std::size_t organ_in(const Recording& recording, const std::string& name) {
  for (std::size_t k = 0; k < recording.organs().size(); ++k)
    if (recording.organs()[k].name == name) return k;
  throw py::key_error("no organ is named '" + name + "'");
}

py::array_t<float> of_tools(const Recording& recording, std::size_t frame, auto value) {
  std::vector<glm::vec3> rows;
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) rows.emplace_back(value(frame, tool));
  return copied(std::span<const glm::vec3>(rows));
}

py::dict touches(const PythonRecording& opened, std::ptrdiff_t number, const std::string& organ) {
  const Recording& recording = *opened;
  OrganFrame frame;
  const std::size_t at = frame_in(recording, number), of = organ_in(recording, organ);
  unlocked([&] { recording.read_frame(at, of, frame); });
  std::vector<std::uint32_t> tools, faces;
  std::vector<float> depths;
  for (std::uint32_t tool = 0; tool + 1 < frame.first.size(); ++tool)
    tools.insert(tools.end(), frame.first[tool + 1] - frame.first[tool], tool);
  for (const Touch& touch : frame.touches) {
    faces.push_back(static_cast<std::uint32_t>(index(touch.face)));
    depths.push_back(touch.depth);
  }
  return py::dict("tools"_a = copied_flat(std::span<const std::uint32_t>(tools)),
                  "faces"_a = copied_flat(std::span<const std::uint32_t>(faces)),
                  "depths"_a = copied_flat(std::span<const float>(depths)),
                  "pressures"_a = copied_flat(std::span<const float>(frame.pressure)));
}

py::object parsed(const std::string& json) { return py::module_::import("json").attr("loads")(json); }

py::object score(const std::filesystem::path& file) {
  return parsed(unlocked([&] { return to_json(score_recording(Recording(file), file.string())); }));
}

py::object score_motion(const std::filesystem::path& file) {
  return parsed(to_json(score_trajectory(load_trajectory(file), file.string())));
}

py::dict replay_file(const std::filesystem::path& file, const std::string& backend) {
  const Recording recording(file);
  Backends backends;
  const ReplayResult result = unlocked([&] {
    const std::string name = backend.empty() ? recording.text("backend") : backend;
    return replay(recording, backends.resolve(name, {}).name, backends, [](std::size_t) {});
  });
  return py::dict("touches"_a = result.touches, "tip_touches"_a = result.tip_touches,
                  "differing_frames"_a = result.differing_frames, "not_replayed"_a = result.not_replayed);
}

py::dict perform(const std::filesystem::path& scene_file, const std::filesystem::path& out, const std::string& skill,
                 std::uint32_t seed, const std::string& backend, const std::optional<std::uint32_t>& anatomy,
                 const std::optional<int>& level, bool force) {
  const Skill chosen_skill = chosen<Skill>(
      "skill", skill, {{"expert", Skill::Expert}, {"average", Skill::Average}, {"clumsy", Skill::Clumsy}});
  const Scene scene = with_level(with_anatomy(load_scene(scene_file, SceneAccess{}), anatomy), level);
  if (!scene.task)
    throw InputError(scene_file.string() + ": the scene has no [task] to perform; choose a scene with one");
  check_recording_output(scene, "out", out, force);
  const RecordingTarget target(out);
  const TaskFeed feed = unlocked([&] {
    Backends backends;
    PerformedSession attempt(scene, style_of(chosen_skill), seed, backends, backend);
    SessionRecorder recorder(recording_file(out), scene, attempt.session(), gl_description(backends),
                             {.activity = Activity::Demonstration, .device = kPerformerDevice});
    while (!attempt.task().feed().finished && !recorder.failed()) {
      attempt.step();
      recorder.append(attempt.session(), attempt.time());
    }
    recorder.close(ending_of(&attempt.task()));
    return attempt.task().feed();
  });
  return py::dict("score"_a = feed.score, "elapsed"_a = feed.elapsed, "errors"_a = feed.errors);
}

py::list recording_columns() {
  py::list columns;
  for (std::size_t group = 0; group < static_cast<std::size_t>(ColumnGroup::kCount); ++group)
    for (std::size_t k = 0; k < columns_of(ColumnGroup(group)).size(); ++k) {
      const Column& column = columns_of(ColumnGroup(group))[k];
      columns.append(py::dict("path"_a = path_of(ColumnGroup(group), k, "NAME"), "rows"_a = name_of(column.rows),
                              "type"_a = type_text(column), "unit"_a = column.unit, "forms"_a = forms_text(column),
                              "meaning"_a = column.meaning));
    }
  return columns;
}

}  // namespace

void bind_recording(py::module_& module) {
  GuardedClass<PythonRecording>(module, "A recorded session; frames are read when they are asked for.")
      .init(py::init<const std::filesystem::path&>(), py::arg("file"))
      .def("__len__", [](const PythonRecording& r) { return (*r).frame_count(); })
      .def_property_readonly(
          "times", [](const PythonRecording& r) { return copied_flat(std::span<const double>((*r).times())); },
          "(frames) float64, s of simulated time.")
      .def_property_readonly("instruments", [](const PythonRecording& r) { return (*r).tools(); })
      .def_property_readonly("organs",
                             [](const PythonRecording& r) {
                               std::vector<std::string> names;
                               for (const OrganRecording& organ : (*r).organs()) names.push_back(organ.name);
                               return names;
                             })
      .def(
          "text", [](const PythonRecording& r, const std::string& attribute) { return (*r).text(attribute); },
          py::arg("attribute"), "A text of the file: scene, backend, machine, date, ...")
      .def(
          "tips",
          [](const PythonRecording& r, std::ptrdiff_t frame) {
            return of_tools(*r, frame_in(*r, frame),
                            [&](std::size_t f, std::size_t tool) { return (*r).pose(f, tool).tip; });
          },
          py::arg("frame"), "(instruments, 3) float32, metres.")
      .def(
          "forces",
          [](const PythonRecording& r, std::ptrdiff_t frame) {
            return of_tools(*r, frame_in(*r, frame),
                            [&](std::size_t f, std::size_t tool) { return (*r).force(f, tool); });
          },
          py::arg("frame"), "(instruments, 3) float32, newtons.")
      .def("touches", &touches, py::arg("frame"), py::arg("organ"),
           "Touches in a frame as a dict of columns: tools, faces (ids), depths (m), pressures (Pa).")
      .def(
          "nodes",
          [](const PythonRecording& r, std::ptrdiff_t frame, const std::string& organ) {
            OrganFrame read;
            (*r).read_frame(frame_in(*r, frame), organ_in(*r, organ), read);
            return copied(std::span<const glm::vec3>(read.nodes));
          },
          py::arg("frame"), py::arg("organ"), "(nodes, 3) float32, metres: the lattice.");
  module.def("score", &score, py::arg("file"),
             "Metrics and task score of a recording: a dict, one of the attempts of `trocar score --json`.");
  module.def("score_trajectory", &score_motion, py::arg("file"),
             "Motion metrics of a trajectory (.csv, in millimetres), in the form of score().");
  module.def(
      "recording_columns", &recording_columns,
      "The columns of recordings: a list of dicts with path, rows (what a row describes), type, unit, forms (full, "
      "packed, compact: those that have it) and meaning.");
  module.def("replay", &replay_file, py::arg("file"), py::arg("backend") = "",
             "Repeats the queries of a recording; the touched faces must be the recorded ones: a dict with "
             "differing_frames, touches, tip_touches, not_replayed.");
  module.def("perform", &perform, py::arg("scene"), py::arg("out"), py::arg("skill") = "expert", py::arg("seed") = 1,
             py::arg("backend") = "", py::arg("anatomy") = py::none(), py::arg("level") = py::none(),
             py::arg("force") = false,
             "A scripted trainee performs the task of a scene, as `trocar perform`; returns score, elapsed, errors. "
             "skill: expert, average or clumsy. level: of the task; None: the scene as written. out: the recording; a "
             "file that exists is written over only with force.");
}

}  // namespace trocar::python
