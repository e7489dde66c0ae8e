// VTP (VTK XML polydata) through VTK. What VTK hands over is checked before it is believed.
#include <vtkCallbackCommand.h>
#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <algorithm>
#include <exception>

#include "mesh/mesh_io_formats.hpp"

namespace trocar::mesh_io {
namespace {

const char* const kExport = "the file is cut or damaged, copy or export it again";

// VTK reports through events; without an observer it would print.
class Complaints {
 public:
  Complaints() {
    command_->SetClientData(this);
    command_->SetCallback([](vtkObject*, unsigned long, void* self, void* text) {
      static_cast<Complaints*>(self)->add(static_cast<const char*>(text));
    });
  }
  vtkCommand* command() { return command_; }
  bool any() const { return !first_.empty(); }
  const std::string& first() const { return first_; }

 private:
  // "ERROR: In FILE, line N\nvtkClass (0x...): MESSAGE\n\n": only the message is for users.
  void add(const char* text) {
    if (any()) return;
    std::string_view message = text ? text : "unknown error";
    const std::size_t start = message.rfind("): ");
    if (start != message.npos) message.remove_prefix(start + 3);
    while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.remove_suffix(1);
    first_ = in_quotes(message);
  }

  vtkNew<vtkCallbackCommand> command_;
  std::string first_;
};

void read_points(const Source& source, vtkPolyData& data, FileMesh& mesh) {
  const vtkIdType count = data.GetNumberOfPoints();
  mesh.points.reserve(static_cast<std::size_t>(count));
  for (vtkIdType i = 0; i < count; ++i) {
    double p[3];
    data.GetPoint(i, p);
    for (double value : p) check_coordinate(source, value, static_cast<std::size_t>(i));
    mesh.points.emplace_back(p[0], p[1], p[2]);
  }
}

// Offsets are checked before any cell is taken: VTK itself would follow them out of the array.
void check_offsets(const Source& source, vtkCellArray& cells) {
  vtkIdType previous = 0;
  const vtkIdType count = cells.GetOffsetsArray()->GetNumberOfTuples();
  for (vtkIdType i = 0; i < count; ++i) {
    const auto offset = static_cast<vtkIdType>(cells.GetOffsetsArray()->GetTuple1(i));
    if (offset < previous || (i == 0 && offset != 0)) fail(source, "the cells' offsets do not rise from 0", kExport);
    previous = offset;
  }
  if (previous != cells.GetConnectivityArray()->GetNumberOfTuples()) {
    fail(source, "the cells' offsets do not end at the length of their connectivity", kExport);
  }
}

template <class Add>
void read_cells(const Source& source, vtkCellArray& cells, std::size_t points, Add add) {
  check_offsets(source, cells);
  std::vector<std::uint32_t> corners;
  for (vtkIdType cell = 0; cell < cells.GetNumberOfCells(); ++cell) {
    vtkIdType count = 0;
    const vtkIdType* ids = nullptr;
    cells.GetCellAtId(cell, count, ids);
    if (count < 3) {
      fail(source, "cell " + std::to_string(cell) + " has " + std::to_string(count) + " corners where 3 are needed",
           "export the mesh again");
    }
    corners.clear();
    for (vtkIdType i = 0; i < count; ++i) {
      if (ids[i] < 0 || static_cast<std::size_t>(ids[i]) >= points) {
        fail(source,
             "cell " + std::to_string(cell) + " uses vertex " + std::to_string(ids[i]) + ", the file has " +
                 std::to_string(points) + " counted from 0",
             "export the mesh again");
      }
      corners.push_back(static_cast<std::uint32_t>(ids[i]));
    }
    add(std::span<const std::uint32_t>(corners));
  }
}

}  // namespace

FileMesh read_vtp(const Source& source) try {
  Complaints complaints;
  vtkNew<vtkXMLPolyDataReader> reader;
  for (unsigned long event : {vtkCommand::ErrorEvent, vtkCommand::WarningEvent}) {
    reader->AddObserver(event, complaints.command());
  }
  reader->SetReaderErrorObserver(complaints.command());
  reader->SetParserErrorObserver(complaints.command());
  reader->ReadFromInputStringOn();
  reader->SetInputString(std::string(source.bytes));
  reader->Update();
  if (complaints.any()) fail(source, "VTK says " + complaints.first(), kExport);
  FileMesh mesh;
  vtkPolyData& data = *reader->GetOutput();
  read_points(source, data, mesh);
  read_cells(source, *data.GetPolys(), mesh.points.size(), [&](auto corners) { add_fan(corners, mesh.faces); });
  read_cells(source, *data.GetStrips(), mesh.points.size(), [&](auto corners) { add_strip(corners, mesh.faces); });
  return mesh;
} catch (const std::bad_alloc&) {
  fail(source, "it announces more data than fits into memory", kExport);
} catch (const std::length_error&) {
  fail(source, "it announces more data than fits into memory", kExport);
}

std::string write_vtp(const FileMesh& mesh, MeshEncoding encoding) {
  vtkNew<vtkDoubleArray> coordinates;
  coordinates->SetNumberOfComponents(3);
  coordinates->SetNumberOfTuples(static_cast<vtkIdType>(mesh.points.size()));
  for (std::size_t i = 0; i < mesh.points.size(); ++i) {
    coordinates->SetTuple(static_cast<vtkIdType>(i), &mesh.points[i].x);
  }
  vtkNew<vtkPoints> points;
  points->SetData(coordinates);
  vtkNew<vtkCellArray> polygons;
  for (const glm::uvec3& face : mesh.faces) {
    const vtkIdType corners[3] = {face.x, face.y, face.z};
    polygons->InsertNextCell(3, corners);
  }
  vtkNew<vtkPolyData> data;
  data->SetPoints(points);
  data->SetPolys(polygons);
  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  writer->WriteToOutputStringOn();
  encoding == MeshEncoding::Ascii ? writer->SetDataModeToAscii() : writer->SetDataModeToAppended();
  writer->Write();
  return writer->GetOutputString();
}

}  // namespace trocar::mesh_io
