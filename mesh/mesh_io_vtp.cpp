// VTP (VTK XML polydata) through VTK. What VTK hands over is checked before it is believed.
#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <exception>
#include <mutex>

#include "mesh/mesh_io_formats.hpp"

namespace trocar::mesh_io {
namespace {

const char* const kExport = "the file is cut or damaged, copy or export it again";

// Takes what VTK would print. Any of its objects may complain and go on, so everything counts.
class CatchingWindow : public vtkOutputWindow {
 public:
  static CatchingWindow* New();
  vtkTypeMacro(CatchingWindow, vtkOutputWindow);

  // "ERROR: In FILE, line N\nvtkClass (0x...): MESSAGE\n\n": only the message is for users.
  void DisplayText(const char* text) override {
    if (!first.empty()) return;
    std::string_view message = text ? text : "unknown error";
    const std::size_t start = message.find("): ");
    if (start != message.npos) message.remove_prefix(start + 3);
    first = in_quotes(message.substr(0, message.find('\n')));
  }

  std::string first;
};
vtkStandardNewMacro(CatchingWindow);

// While one lives, VTK's messages of the whole program go to it: one file is read at a time.
class Complaints {
 public:
  Complaints() : lock_(mutex()), window_before_(vtkOutputWindow::GetInstance()) {
    vtkOutputWindow::SetInstance(window_);
    vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
  }
  ~Complaints() {
    vtkLogger::SetStderrVerbosity(verbosity_before_);
    vtkOutputWindow::SetInstance(window_before_);
  }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  const std::string& first() const { return window_->first; }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

  std::lock_guard<std::mutex> lock_;
  vtkSmartPointer<vtkOutputWindow> window_before_;
  vtkLogger::Verbosity verbosity_before_ = vtkLogger::GetCurrentVerbosityCutoff();
  vtkNew<CatchingWindow> window_;
};

// VTK reads the pieces of any root element, and data whose file ends behind them.
void check_frame(const Source& source) {
  const std::size_t root = source.bytes.find("<VTKFile");
  if (root == source.bytes.npos) fail(source, "the file has no element VTKFile", "check that it is a VTP file");
  const std::string_view element = source.bytes.substr(root, source.bytes.find('>', root) - root);
  if (element.find("\"PolyData\"") == element.npos && element.find("'PolyData'") == element.npos) {
    fail(source, "the file is of another type than PolyData", "save its surface as polydata");
  }
  const std::string_view text = source.bytes.substr(0, source.bytes.find_last_not_of(" \t\r\n") + 1);
  if (!text.ends_with("</VTKFile>")) fail(source, "the file does not end with </VTKFile>", kExport);
}

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
  check_frame(source);
  vtkNew<vtkXMLPolyDataReader> reader;
  reader->ReadFromInputStringOn();
  reader->SetInputString(std::string(source.bytes));
  reader->Update();
  if (!complaints.first().empty()) fail(source, "VTK says " + complaints.first(), kExport);
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
