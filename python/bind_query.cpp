// Touch queries in Python.
#include <pybind11/stl.h>

#include <vector>

#include "cpu_collision/reference.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "geometry/error.hpp"
#include "mesh/triangle_mesh.hpp"
#include "python/bindings.hpp"

namespace trocar::python {
namespace {

TouchSet set_of(const std::string& name) {
  return chosen<TouchSet>("set", name, {{"exact", TouchSet::Exact}, {"volume", TouchSet::Volume}});
}

Cover cover_of(const std::string& name) {
  return chosen<Cover>("cover", name, {{"capsule", Cover::Capsule}, {"paper", Cover::Paper}});
}

ToolStep make_tool(const py::handle& pivot, const py::handle& tip, const py::object& tip_before, double radius) {
  const glm::dvec3 now = point_of(tip, "tip");
  return {point_of(pivot, "pivot"), tip_before.is_none() ? now : point_of(tip_before, "tip_before"), now, radius, {}};
}

// The touches of an answer, copied, column by column.
struct Touches {
  py::array_t<std::uint32_t> tools, faces;
  py::array_t<float> points, normals, depths, times;
};

template <typename Column>
auto column_of(std::span<const Touch> touches, Column column) {
  std::vector<std::decay_t<decltype(column(touches.front()))>> values;
  values.reserve(touches.size());
  for (const Touch& touch : touches) values.push_back(column(touch));
  return values;
}

Touches copied_touches(const TouchList& list) {
  std::vector<std::uint32_t> tools;
  for (std::uint32_t tool = 0; tool + 1 < list.first.size(); ++tool)
    tools.insert(tools.end(), list.first[tool + 1] - list.first[tool], tool);
  const auto flat = [](const auto& values) { return copied_flat(std::span(std::as_const(values))); };
  const auto rows = [](const std::vector<glm::vec3>& values) { return copied(std::span<const glm::vec3>(values)); };
  return {flat(tools),
          flat(column_of(list.touches, [](const Touch& t) { return static_cast<std::uint32_t>(index(t.face)); })),
          rows(column_of(list.touches, [](const Touch& t) { return t.point; })),
          rows(column_of(list.touches, [](const Touch& t) { return t.normal; })),
          flat(column_of(list.touches, [](const Touch& t) { return t.depth; })),
          flat(column_of(list.touches, [](const Touch& t) { return t.time; }))};
}

class PythonQuery : public OneAtATime {
 public:
  static constexpr const char* kName = "TouchQuery";

  PythonQuery(const TriangleMesh& mesh, const std::string& backend) : vertices_(mesh.positions.size()) {
    require_positions(mesh.positions, "mesh");
    const MeshView view = mesh.view();
    choice_ = backends_.resolve(backend, {&view, 1});
    on_gl_ = runs_on_gl(choice_.name);
    const GlUse gl(backends_, on_gl_);
    query_ = backends_.make(choice_.name);
    query_->rebuild(view);
    require_start(*query_);
  }
  ~PythonQuery() {
    const GlUse gl(backends_, on_gl_ && !gl_was_forked());
    query_.reset();
  }

  const BackendChoice& choice() const { return choice_; }

  void update(const py::object& array) {
    const FloatArray positions = floats_of(array, "positions");
    const auto rows = positions_of(positions, "positions");
    if (rows.size() != vertices_)
      throw InputError("positions: the mesh has " + std::to_string(vertices_) + " vertices, not " +
                       std::to_string(rows.size()));
    const py::gil_scoped_release unlocked;
    const GlUse gl(backends_, on_gl_);
    query_->update(rows);
  }

  Touches touched(const std::vector<ToolStep>& tools, const std::string& set, const std::string& cover) {
    const TouchSet wanted = set_of(set);
    const Cover with = cover_of(cover);
    if (wanted == TouchSet::Exact && with != Cover::Capsule)
      throw InputError("the exact set needs the capsule cover; choose set volume or cover capsule");
    volumes_.clear();
    for (const ToolStep& tool : tools) volumes_.push_back(swept_volume(tool, with));
    const TouchList list = unlocked([&] {
      const GlUse gl(backends_, on_gl_);
      return query_->touched(volumes_, wanted);
    });
    require_answer(*query_);
    return copied_touches(list);
  }

  py::dict times() const {
    using namespace py::literals;
    const StageTimes& t = query_->times();
    return py::dict("update_ms"_a = t.update_ms, "submit_ms"_a = t.submit_ms, "gpu_ms"_a = t.gpu_ms,
                    "read_back_ms"_a = t.read_back_ms, "search_ms"_a = t.search_ms, "refine_ms"_a = t.refine_ms,
                    "total_ms"_a = t.total_ms());
  }

 private:
  std::size_t vertices_;
  Backends backends_;
  BackendChoice choice_;
  bool on_gl_ = false;
  std::unique_ptr<TouchQuery> query_;
  std::vector<ToolVolume> volumes_;
};

py::tuple reference(const TriangleMesh& mesh, const ToolStep& tool, const std::string& set) {
  const TouchSet wanted = set_of(set);
  require_positions(mesh.positions, "mesh");
  const ToolVolume volume = swept_volume(tool, Cover::Capsule);
  const ReferenceAnswer answer = unlocked([&] { return reference_touched(mesh.view(), volume, wanted); });
  const auto faces = [](const std::vector<FaceId>& list) {
    std::vector<std::uint32_t> numbers;
    for (const FaceId face : list) numbers.push_back(static_cast<std::uint32_t>(index(face)));
    return copied_flat(std::span<const std::uint32_t>(numbers));
  };
  return py::make_tuple(faces(answer.touched), faces(answer.borderline));
}

py::tuple meet(const TriangleMesh& first, const py::object& first_moved, const TriangleMesh& second,
               const py::object& second_moved, double tolerance) {
  const FloatArray first_after = floats_of(first_moved, "first_after");
  const FloatArray second_after = floats_of(second_moved, "second_after");
  const auto moving = [](const TriangleMesh& mesh, const FloatArray& after, const char* name) {
    const auto rows = positions_of(after, name);
    if (rows.size() != mesh.positions.size())
      throw InputError(std::string(name) + ": the mesh has " + std::to_string(mesh.positions.size()) +
                       " vertices, not " + std::to_string(rows.size()));
    require_positions(mesh.positions, "mesh");
    return MovingMesh{mesh.positions, rows, mesh.faces};
  };
  if (!(tolerance > 0.0 && tolerance <= kLargestCoordinate))
    throw InputError("tolerance: a length above 0 and up to 1000 is needed, in metres");
  const MovingMesh a = moving(first, first_after, "first_after"), b = moving(second, second_after, "second_after");
  const std::vector<FaceMeeting> meetings = unlocked([&] { return meshes_meet(a, b, tolerance); });
  py::array_t<std::uint32_t> pairs({static_cast<py::ssize_t>(meetings.size()), py::ssize_t{2}});
  py::array_t<double> times(static_cast<py::ssize_t>(meetings.size()));
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    const auto row = static_cast<py::ssize_t>(k);
    pairs.mutable_at(row, 0) = static_cast<std::uint32_t>(index(meetings[k].first));
    pairs.mutable_at(row, 1) = static_cast<std::uint32_t>(index(meetings[k].second));
    times.mutable_at(row) = meetings[k].time;
  }
  return py::make_tuple(pairs, times);
}

}  // namespace

void bind_query(py::module_& module) {
  py::class_<ToolStep>(module, "Tool", "A round shaft from its trocar to its tip, during one step. Metres.")
      .def(py::init(&make_tool), py::arg("pivot"), py::arg("tip"), py::arg("tip_before") = py::none(),
           py::arg("radius") = 0.0025,
           "The tip moves from `tip_before` to `tip` on a straight line; without `tip_before` the tool is at rest.")
      .def_readonly("radius", &ToolStep::radius);

  py::class_<Touches>(module, "Touches", "Touched faces, sorted by tool, then by face; one row for each touch.")
      .def_readonly("tools", &Touches::tools, "(n) uint32, index into the list of tools.")
      .def_readonly("faces", &Touches::faces, "(n) uint32.")
      .def_readonly("points", &Touches::points, "(n, 3) float32, metres, on the face. Set `exact` only.")
      .def_readonly("normals", &Touches::normals, "(n, 3) float32, unit, from tissue to tool. Set `exact` only.")
      .def_readonly("depths", &Touches::depths, "(n) float32, metres. Set `exact` only.")
      .def_readonly("times", &Touches::times, "(n) float32, first contact as a part of the step. Set `exact` only.")
      .def("__len__", [](const Touches& touches) { return touches.faces.size(); });

  GuardedClass<PythonQuery>(module,
                            "Which faces of a mesh do tools touch? One object for each mesh, and one thread at a time.")
      .init(py::init<const TriangleMesh&, const std::string&>(), py::arg("mesh"), py::arg("backend") = "auto",
            "backend: auto, or a name of backends(). Raises InputError for a backend that this machine cannot run.")
      .def_property_readonly("backend", [](const PythonQuery& query) { return query.choice().name; })
      .def_property_readonly(
          "why", [](const PythonQuery& query) { return query.choice().why; }, "Why this backend, one sentence.")
      .def(
          "update", &PythonQuery::update, py::arg("positions"),
          "Sets the positions, (n, 3), metres. A C-contiguous float32 array is read in place. Raises InputError naming "
          "the vertex whose coordinates are not finite or beyond 1000 m.")
      .def("touched", &PythonQuery::touched, py::arg("tools"), py::arg("set") = "exact", py::arg("cover") = "capsule",
           "Returns the Touches of a list of tools. set: `exact`, faces within the radius of the moving shaft; "
           "`volume`, faces that the convex volume of the tool meets. cover: `capsule` or `paper` (1999).")
      .def_property_readonly("times", &PythonQuery::times, "Times of the stages of the last call, milliseconds.");

  module.def(
      "backends", [] { return backend_names(); }, "Names of all backends.");
  module.def("reference", &reference, py::arg("mesh"), py::arg("tool"), py::arg("set") = "exact",
             "The double-precision reference, by brute force: (touched faces, borderline faces), each (n) uint32.");
  module.def("meet", &meet, py::arg("first"), py::arg("first_after"), py::arg("second"), py::arg("second_after"),
             py::arg("tolerance") = 1e-6,
             "Pairs of faces of two meshes that meet while every vertex moves on a straight line from its position to "
             "that of `after`: (pairs (n, 2) uint32, times (n) float64, 0..1). No meeting is missed or late.");
}

}  // namespace trocar::python
