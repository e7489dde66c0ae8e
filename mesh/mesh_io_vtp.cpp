// Reads and writes VTP (VTK XML polydata). The reader is ours, because that of VTK 9.1 trusts damaged lengths, reads
// beyond its buffers and divides by such lengths. The writer is VTK's.
#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkXMLPolyDataWriter.h>

#include <mutex>

#include "mesh/mesh_io_formats.hpp"
#include "mesh/mesh_io_vtp_data.hpp"
#include "mesh/mesh_io_xml.hpp"
#include "mesh/polygons.hpp"
#include "mesh/vtk_surface.hpp"

namespace trocar::mesh_io {
namespace {

const char* const kDamaged = "the file is incomplete or damaged, copy or export it again";

// Silences the messages of VTK's decompressors during its lifetime. Only one file is read at a time.
class QuietVtk {
 public:
  QuietVtk() : lock_(mutex()) {
    vtkOutputWindow::SetInstance(window_);
    vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
  }
  ~QuietVtk() {
    vtkLogger::SetStderrVerbosity(verbosity_before_);
    vtkOutputWindow::SetInstance(window_before_);
  }
  QuietVtk(const QuietVtk&) = delete;
  QuietVtk& operator=(const QuietVtk&) = delete;

 private:
  class SilentWindow : public vtkOutputWindow {
   public:
    static SilentWindow* New() { VTK_STANDARD_NEW_BODY(SilentWindow); }
    void DisplayText(const char*) override {}
  };

  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

  std::lock_guard<std::mutex> lock_;
  vtkSmartPointer<vtkOutputWindow> window_before_ = vtkOutputWindow::GetInstance();
  vtkLogger::Verbosity verbosity_before_ = vtkLogger::GetCurrentVerbosityCutoff();
  vtkNew<SilentWindow> window_;
};

struct Cells {
  VtpArray connectivity, offsets;
  std::uint64_t count = 0;
};

struct Piece {
  std::uint64_t point_count = 0;
  VtpArray points;
  Cells polygons, strips;
  std::size_t line = 0;
};

// Parses the document: its encoding and the locations of its arrays. Data are decoded later, since appended data come
// last.
class DocumentReader {
 public:
  explicit DocumentReader(const Source& source) : source_(source), xml_(source) {}

  void read() {
    for (Xml::Item item = xml_.next(); item.kind != Xml::Kind::Done; item = xml_.next()) {
      if (item.kind == Xml::Kind::Start) start(item);
      if (item.kind == Xml::Kind::End) end(item);
      if (item.kind == Xml::Kind::Text) text(item);
      if (item.kind == Xml::Kind::Comment) read_comment(item.content, facts);
      if (item.kind == Xml::Kind::Start && item.name == "AppendedData") return take_appended(item);
    }
    if (!has_root_) fail(source_, "the file has no element VTKFile", "check that it is a VTP file");
  }

  VtpEncoding encoding;
  std::vector<Piece> pieces;
  MeshFacts facts;

 private:
  void start(const Xml::Item& item) {
    if (array_ && !item.empty) ++inner_;
    if (item.name == "VTKFile") take_root(item);
    if (item.name == "Piece") take_piece(item);
    if (pieces.empty()) return;
    if (item.name == "Points" || item.name == "Polys" || item.name == "Strips") section_ = item.empty ? "" : item.name;
    if (item.name == "DataArray" && !section_.empty()) take_array(item);
  }

  void end(const Xml::Item& item) {
    if (item.name == section_) section_ = {};
    if (array_ && inner_ > 0) {
      --inner_;
    } else {
      array_ = nullptr;
    }
  }

  // A data array may contain keys with values of their own, which are not its text.
  void text(const Xml::Item& item) {
    if (!array_ || inner_ > 0) return;
    array_->text = item.content;
    array_->text_line = xml_.line_of(item.offset);
  }

  void take_root(const Xml::Item& item) {
    has_root_ = true;
    const std::size_t line = xml_.line_of(item.offset);
    if (xml_.attribute(item, "type") != "PolyData") {
      fail(source_, line, "the file holds " + in_quotes(xml_.attribute(item, "type")) + ", not PolyData",
           "save its surface as polydata");
    }
    const std::string_view order = xml_.attribute(item, "byte_order"), header = xml_.attribute(item, "header_type");
    encoding.big_endian = order == "BigEndian";
    encoding.header_bytes = header == "UInt64" ? 8 : 4;
    encoding.compressor = xml_.attribute(item, "compressor");
    const bool known = (order.empty() || order == "BigEndian" || order == "LittleEndian") &&
                       (header.empty() || header == "UInt32" || header == "UInt64");
    if (!known) fail(source_, line, "the byte order or header type is not known", kDamaged);
  }

  void take_piece(const Xml::Item& item) {
    if (!has_root_) fail(source_, "the file has no element VTKFile", "check that it is a VTP file");
    const std::size_t line = xml_.line_of(item.offset);
    // `array_` would point into an earlier piece, and the pointer becomes invalid when the list of pieces grows.
    if (array_) fail(source_, line, "a piece begins within a data array", kDamaged);
    pieces.push_back({});
    Piece& piece = pieces.back();
    piece.line = line;
    piece.point_count = take_count(item, "NumberOfPoints", piece.line);
    piece.polygons.count = take_count(item, "NumberOfPolys", piece.line);
    piece.strips.count = take_count(item, "NumberOfStrips", piece.line);
  }

  std::uint64_t take_count(const Xml::Item& item, const char* name, std::size_t line) {
    const std::string_view value = xml_.attribute(item, name);
    const std::int64_t count = value.empty() ? 0 : integer(source_, line, value, name);
    // Larger counts do not fit 32-bit vertex indices.
    if (count < 0 || count > 0xFFFFFFFFll) fail(source_, line, std::string(name) + " is out of range", kDamaged);
    return static_cast<std::uint64_t>(count);
  }

  void take_array(const Xml::Item& item) {
    VtpArray array;
    array.type = xml_.attribute(item, "type");
    array.format = xml_.attribute(item, "format");
    array.offset = xml_.attribute(item, "offset");
    array.line = array.text_line = xml_.line_of(item.offset);
    const std::string_view name = xml_.attribute(item, "Name");
    Piece& piece = pieces.back();
    Cells& cells = section_ == "Polys" ? piece.polygons : piece.strips;
    VtpArray* target = section_ == "Points"     ? &piece.points
                       : name == "connectivity" ? &cells.connectivity
                       : name == "offsets"      ? &cells.offsets
                                                : nullptr;
    if (!target) return;
    if (target->line != 0) fail(source_, array.line, "a data array is given twice", kDamaged);
    if (section_ == "Points" && xml_.attribute(item, "NumberOfComponents") != "3") {
      fail(source_, array.line, "the points do not have 3 components", kDamaged);
    }
    *target = array;
    if (!item.empty) array_ = target;
  }

  // Raw bytes follow, so the document is not parsed further; it must end with the closing tags.
  void take_appended(const Xml::Item& item) {
    const std::string_view kind = xml_.attribute(item, "encoding");
    if (kind != "raw" && kind != "base64") {
      fail(source_, xml_.line_of(item.offset), "the appended data are " + in_quotes(kind), kDamaged);
    }
    encoding.appended_is_raw = kind == "raw";
    std::string_view rest = source_.bytes.substr(xml_.offset());
    for (const std::string_view closing : {"</VTKFile>", "</AppendedData>"}) {
      rest = rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1);
      if (!rest.ends_with(closing)) fail(source_, "the file does not end with " + std::string(closing), kDamaged);
      rest.remove_suffix(closing.size());
    }
    const std::size_t underscore = rest.find_first_not_of(" \t\r\n");
    if (underscore == rest.npos || rest[underscore] != '_')
      fail(source_, "the appended data do not start with '_'", kDamaged);
    encoding.appended = rest.substr(underscore + 1);
  }

  const Source& source_;
  Xml xml_;
  bool has_root_ = false;
  std::string_view section_;   // of the current piece: Points, Polys, Strips, or empty for others
  VtpArray* array_ = nullptr;  // the array whose text comes next
  int inner_ = 0;              // open elements within the array
};

class PieceReader {
 public:
  PieceReader(const Source& source, const VtpEncoding& encoding) : source_(source), encoding_(encoding) {}

  void read(const Piece& piece, FileMesh& mesh, Polygons& polygons, std::vector<glm::uvec3>& strips) {
    first_ = mesh.points.size();
    read_points(piece, mesh);
    read_cells(piece, piece.polygons, [&] { polygons.add(corners_, mesh.faces); });
    read_cells(piece, piece.strips, [&] { add_strip(corners_, strips); });
  }

 private:
  void read_points(const Piece& piece, FileMesh& mesh) {
    if (piece.point_count == 0) return;
    if (piece.points.line == 0) fail(source_, piece.line, "the points are missing", kDamaged);
    const std::vector<double> numbers = vtp_coordinates(source_, encoding_, piece.points, 3 * piece.point_count);
    for (std::size_t i = 0; i < numbers.size(); i += 3) {
      for (std::size_t axis = 0; axis < 3; ++axis) check_coordinate(source_, numbers[i + axis], mesh.points.size());
      mesh.points.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
    }
  }

  template <class Add>
  void read_cells(const Piece& piece, const Cells& cells, Add add) {
    if (cells.count == 0) return;
    if (cells.connectivity.line == 0 || cells.offsets.line == 0) {
      fail(source_, piece.line, "the connectivity or the offsets of the cells are missing", kDamaged);
    }
    const std::vector<std::int64_t> ends = vtp_integers(source_, encoding_, cells.offsets, cells.count);
    std::int64_t begin = 0;
    for (std::int64_t end : ends) {
      if (end < begin + 3) {
        fail(source_, cells.offsets.line, "a cell has " + std::to_string(end - begin) + " corners but needs 3",
             kDamaged);
      }
      begin = end;
    }
    const auto length = static_cast<std::uint64_t>(begin);
    const std::vector<std::int64_t> vertices = vtp_integers(source_, encoding_, cells.connectivity, length);
    std::size_t next = 0;
    for (std::int64_t end : ends) {
      corners_.clear();
      while (next < static_cast<std::size_t>(end)) corners_.push_back(vertex(piece, cells, vertices[next++]));
      add();
    }
  }

  std::uint32_t vertex(const Piece& piece, const Cells& cells, std::int64_t number) {
    if (number < 0 || static_cast<std::uint64_t>(number) >= piece.point_count) {
      fail(source_, cells.connectivity.line,
           "a cell uses vertex " + std::to_string(number) + ", the file has " + std::to_string(piece.point_count) +
               " counted from 0",
           "export the mesh again");
    }
    return static_cast<std::uint32_t>(first_ + static_cast<std::size_t>(number));
  }

  const Source& source_;
  const VtpEncoding& encoding_;
  std::size_t first_ = 0;  // first vertex of the piece
  std::vector<std::uint32_t> corners_;
};

}  // namespace

FileMesh read_vtp(const Source& source) {
  const QuietVtk quiet;
  DocumentReader document(source);
  document.read();
  FileMesh mesh;
  std::vector<glm::uvec3> strips;
  Polygons polygons;
  for (const Piece& piece : document.pieces) PieceReader(source, document.encoding).read(piece, mesh, polygons, strips);
  mesh.facts = std::move(document.facts);
  polygons.split(mesh);
  mesh.faces.insert(mesh.faces.end(), strips.begin(), strips.end());
  return mesh;
}

std::string write_vtp(const FileMesh& mesh, MeshEncoding encoding) {
  vtkNew<vtkPolyData> data;
  copy_to_vtk(mesh.points, mesh.faces, *data);
  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  writer->WriteToOutputStringOn();
  encoding == MeshEncoding::Ascii ? writer->SetDataModeToAscii() : writer->SetDataModeToAppended();
  writer->Write();
  // As in the other formats, a comment names the program: Trocar overwrites only its own files.
  std::string text = writer->GetOutputString();
  text.insert(text.find('\n') + 1, "<!-- Trocar mesh -->\n");
  return text;
}

}  // namespace trocar::mesh_io

// The linker takes this file from its library because it asks for this name (mesh/CMakeLists.txt).
extern "C" {
extern const bool trocar_vtp_format;
const bool trocar_vtp_format = [] {
  trocar::mesh_io::formats().push_back({".vtp", trocar::mesh_io::read_vtp, trocar::mesh_io::write_vtp});
  return true;
}();
}
