// Meshes in Python.
#include <pybind11/stl/filesystem.h>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/repair.hpp"
#include "python/bindings.hpp"

namespace trocar::python {
namespace {

TriangleMesh make_mesh(const py::object& position_array, const py::object& face_array) {
  const FloatArray positions = floats_of(position_array, "positions");
  const IndexArray faces = indices_of(face_array, "faces");
  const auto points = positions_of(positions, "positions");
  const auto corners = faces_of(faces, "faces");
  for (std::size_t f = 0; f < corners.size(); ++f)
    for (int k = 0; k < 3; ++k)
      if (corners[f][k] >= points.size())
        throw InputError("face " + std::to_string(f) + " uses vertex " + std::to_string(corners[f][k]) +
                         ", but there are " + std::to_string(points.size()) + "; number the vertices from 0");
  return {{points.begin(), points.end()}, {corners.begin(), corners.end()}};
}

py::dict report_of(const TriangleMesh& mesh, bool crossings) {
  const MeshReport report = unlocked([&] { return mesh_report(mesh.view(), {.find_crossings = crossings}); });
  using namespace py::literals;
  const auto triple = [](const glm::dvec3& v) { return py::make_tuple(v.x, v.y, v.z); };
  return py::dict("vertices"_a = report.vertices, "faces"_a = report.faces, "closed"_a = report.welded.closed(),
                  "manifold"_a = report.welded.manifold(), "oriented"_a = report.welded.oriented(),
                  "outward"_a = report.outward(), "holes"_a = report.welded.holes.size(),
                  "components"_a = report.welded.components, "degenerate_faces"_a = report.degenerate_faces(),
                  "duplicate_faces"_a = report.duplicate_faces, "crossing_pairs"_a = report.crossing_pairs,
                  "folded_pairs"_a = report.folded_pairs, "area"_a = report.area, "volume"_a = report.volume,
                  "low"_a = triple(report.low), "high"_a = triple(report.high), "sound"_a = report.sound(),
                  "fit_for_simulation"_a = report.fit_for_simulation());
}

py::tuple repaired(const TriangleMesh& mesh, double join_distance, double longest_boundary) {
  Repaired result =
      unlocked([&] { return repair(mesh, {.join_distance = join_distance, .longest_boundary = longest_boundary}); });
  using namespace py::literals;
  const RepairCounts& counts = result.counts;
  const py::dict changes("joined_vertices"_a = counts.joined_vertices, "dropped_faces"_a = counts.dropped_faces,
                         "loose_faces"_a = counts.loose_faces, "turned_faces"_a = counts.turned_faces,
                         "replaced_faces"_a = counts.replaced_faces, "closed_holes"_a = counts.closed_holes,
                         "new_faces"_a = counts.new_faces, "unused_vertices"_a = counts.unused_vertices,
                         "farthest"_a = counts.farthest);
  return py::make_tuple(std::move(result.mesh), changes);
}

}  // namespace

void bind_mesh(py::module_& module) {
  py::class_<TriangleMesh>(module, "Mesh", "An indexed triangle mesh, in metres.")
      .def(py::init(&make_mesh), py::arg("positions"), py::arg("faces"),
           "positions: (n, 3) float32, metres; faces: (m, 3) uint32, counter-clockwise seen from outside. Copies both.")
      .def_property_readonly(
          "positions", [](py::object self) { return viewed(self.cast<const TriangleMesh&>().positions, self); },
          "(n, 3) float32, metres; a read-only view.")
      .def_property_readonly(
          "faces",
          [](py::object self) {
            return viewed(std::span<const glm::uvec3>(self.cast<const TriangleMesh&>().faces), self);
          },
          "(m, 3) uint32; a read-only view.")
      .def("report", &report_of, py::arg("crossings") = true,
           "Health of the mesh, as in `trocar mesh check`: a dict with counts, area (m^2), volume (m^3), `sound` "
           "and `fit_for_simulation`. Without `crossings` the slow search for crossing faces is left out.")
      .def("repair", &repaired, py::arg("join_distance") = 0.0, py::arg("longest_boundary") = 0.1,
           "Makes the surface fit for tissue, as `trocar mesh repair`; both lengths in metres. Returns the new mesh "
           "and a dict with the number of each change and `farthest`, the distance of the new surface from the old one "
           "(m). Raises InputError where the result would not be sound.")
      .def("save", &save_mesh, py::arg("file"), py::arg("metres_per_unit") = kMillimetre,
           py::call_guard<py::gil_scoped_release>(),
           "Saves as .stl, .obj, .ply, .vtp, .vtk or .glb, in millimetres unless told otherwise.")
      .def("__len__", [](const TriangleMesh& mesh) { return mesh.faces.size(); })
      .def("__repr__",
           [](const TriangleMesh& mesh) { return "<trocar.Mesh of " + std::to_string(mesh.faces.size()) + " faces>"; });
  module.def(
      "load_mesh", &load_mesh, py::arg("file"), py::arg("metres_per_unit") = kMillimetre,
      py::call_guard<py::gil_scoped_release>(),
      "Loads .stl, .obj, .ply, .vtp, .vtk, .glb or .gltf; the file is in millimetres unless told otherwise (glTF: in "
      "metres, as its standard says). Raises InputError.");
  module.def(
      "load_mesh_parts",
      [](const std::filesystem::path& file, double metres_per_unit) {
        std::vector<std::pair<std::string, TriangleMesh>> named;
        for (MeshPart& part : load_mesh_parts(file, metres_per_unit))
          named.emplace_back(std::move(part.name), std::move(part.mesh));
        return named;
      },
      py::arg("file"), py::arg("metres_per_unit") = kMillimetre, py::call_guard<py::gil_scoped_release>(),
      "Loads the parts of a file, as `trocar mesh parts`: a list of (name, Mesh). Files other than glTF have one part, "
      "named as the file. Raises InputError.");
}

}  // namespace trocar::python
