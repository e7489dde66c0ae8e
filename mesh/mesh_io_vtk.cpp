// Reads legacy VTK polydata, ascii or binary (big endian). Reads cells in the layout of versions 1 to 4 and in that of
// version 5 (offsets and connectivity). The mesh holds the polygons first, then the triangle strips; vertices, lines
// and attributes are skipped.

#include "mesh/mesh_io_formats.hpp"
#include "mesh/mesh_io_numbers.hpp"

namespace trocar::mesh_io {
namespace {

constexpr NumberType kOldCellType{4, 'i'};

class VtkReader {
 public:
  explicit VtkReader(const Source& source) : source_(source), words_(source.bytes) {}

  FileMesh read() {
    read_header();
    while (read_section(words_.next())) continue;
    check_indices(polygons_);
    check_indices(strips_);
    for_each_cell(polygons_, [&](std::span<const std::uint32_t> corners) { add_fan(corners, mesh_.faces); });
    for_each_cell(strips_, [&](std::span<const std::uint32_t> corners) { add_strip(corners, mesh_.faces); });
    return std::move(mesh_);
  }

 private:
  struct Cells {
    std::vector<std::uint32_t> vertices;  // [corner]
    std::vector<std::size_t> ends;        // [cell] one past its last corner
    std::vector<std::size_t> lines;       // [cell] line in the file, 0 in binary
  };

  [[noreturn]] void refuse(const std::string& what, const char* remedy = kExportAgain) {
    if (binary_) fail(source_, what, remedy);
    fail(source_, words_.line(), what, remedy);
  }

  void read_header() {
    if (!words_.rest_of_line().starts_with("# vtk DataFile Version")) {
      fail(source_, 1, "the file does not start with '# vtk DataFile Version'", "check that it is a legacy VTK file");
    }
    words_.rest_of_line();
    const std::string_view encoding = words_.next();
    if (!equal_ignoring_case(encoding, "ascii") && !equal_ignoring_case(encoding, "binary")) {
      refuse("line 3 is " + in_quotes(encoding) + ", not ASCII or BINARY");
    }
    if (!equal_ignoring_case(words_.next(), "dataset")) refuse("the line 'DATASET POLYDATA' is missing");
    const std::string_view kind = words_.next();
    if (!equal_ignoring_case(kind, "polydata")) {
      refuse("the data set is " + in_quotes(kind) + ", not POLYDATA", "save its surface as polydata");
    }
    words_.rest_of_line();
    binary_ = equal_ignoring_case(encoding, "binary");
  }

  // Reads a section. Returns false at the attributes or at the end, when the geometry is complete.
  bool read_section(std::string_view keyword) {
    const auto is = [keyword](const char* name) { return equal_ignoring_case(keyword, name); };
    if (keyword.empty()) return false;
    if (is("point_data")) return check_attributes(mesh_.points.size(), "points");
    if (is("cell_data")) return check_attributes(cell_count_, "cells");
    if (is("points")) {
      read_points();
    } else if (is("polygons")) {
      polygons_ = read_cells(3);
    } else if (is("triangle_strips")) {
      strips_ = read_cells(3);
    } else if (is("vertices") || is("lines")) {
      check_indices(read_cells(1));
    } else if (is("metadata")) {
      skip_metadata();
    } else if (is("field")) {
      skip_field();
    } else {
      refuse(in_quotes(keyword) + " is not a section name such as POLYGONS",
             "a count before it is wrong or the file is damaged, export it again");
    }
    return true;
  }

  bool check_attributes(std::size_t expected, const char* what) {
    if (take_count() != expected) refuse(std::string("the number of attributes is not the number of ") + what);
    return false;
  }

  std::uint64_t take_count() {
    const std::string_view word = words_.next();
    const std::int64_t count = integer(source_, words_.line(), word, "a count");
    if (count < 0) refuse("a count is negative");
    return static_cast<std::uint64_t>(count);
  }

  const NumberType& take_type() {
    const std::string_view name = words_.next();
    if (const NumberType* type = vtk_type(name)) return *type;
    refuse(in_quotes(name) + " is not a supported number type");
  }

  // Every number takes at least one byte: a count beyond the remaining bytes is rejected before memory is allocated.
  void begin_data(std::uint64_t count, const NumberType& type) {
    words_.rest_of_line();
    const std::uint64_t left = source_.bytes.size() - words_.offset();
    if (count > left / (binary_ ? type.bytes : 1)) {
      refuse("the header announces " + std::to_string(count) + " numbers, the file is too short for them",
             "the file is incomplete, copy or export it again");
    }
  }

  std::uint64_t take_bits(const NumberType& type) {
    data_ += type.bytes;
    return bits_of(source_.bytes.data() + data_ - type.bytes, type.bytes, true);
  }

  std::int64_t take_integer(const NumberType& type) {
    if (!binary_) {
      const std::string_view word = words_.next();
      return integer(source_, words_.line(), word, "a vertex number or count");
    }
    return integer_of(take_bits(type), type);
  }

  double take_coordinate(const NumberType& type, std::size_t vertex) {
    if (!binary_) {
      const std::string_view word = words_.next();
      return coordinate(source_, words_.line(), word);
    }
    const double value = number_of(take_bits(type), type);
    check_coordinate(source_, value, vertex);
    return value;
  }

  void read_points() {
    const std::uint64_t count = take_count();
    const NumberType type = take_type();
    if (count > source_.bytes.size()) refuse("there are fewer points than the header says");
    begin_data(3 * count, type);
    data_ = words_.offset();
    mesh_.points.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      for (int axis = 0; axis < 3; ++axis) mesh_.points[i][axis] = take_coordinate(type, i);
    }
    end_data();
  }

  void end_data() {
    if (binary_) words_.skip_to(data_);
  }

  // Reads the cells. Versions 1 to 4 store the number of cells and of numbers, then cells with their counts. Version 5
  // stores offsets and connectivity with types.
  Cells read_cells(std::size_t smallest) {
    const std::uint64_t first = take_count(), second = take_count();
    words_.rest_of_line();
    Cells cells = equal_ignoring_case(words_.peek(), "offsets") ? read_offsets(first, second) : read_old(first, second);
    std::size_t begin = 0;
    for (std::size_t cell = 0; cell < cells.ends.size(); begin = cells.ends[cell++]) {
      const std::size_t corners = cells.ends[cell] - begin;
      if (corners < smallest) {
        refuse("cell " + std::to_string(cell) + " has " + std::to_string(corners) + " corners but needs " +
               std::to_string(smallest));
      }
    }
    cell_count_ += cells.ends.size();
    return cells;
  }

  Cells read_old(std::uint64_t count, std::uint64_t numbers) {
    if (count > numbers) refuse("there are more cells than numbers for them");
    Cells cells;
    const std::uint64_t left = source_.bytes.size() - words_.offset();
    if (numbers > left / (binary_ ? kOldCellType.bytes : 1)) refuse("the file is too short for its cells");
    data_ = words_.offset();
    std::uint64_t used = 0;
    for (std::uint64_t cell = 0; cell < count; ++cell) {
      if (++used > numbers) refuse("the cells do not fill the announced length");
      const std::int64_t corners = take_integer(kOldCellType);
      const std::size_t line = binary_ ? 0 : words_.line();
      if (corners < 0 || static_cast<std::uint64_t>(corners) > numbers - used) {
        refuse("cell " + std::to_string(cell) + " has a corner count of " + std::to_string(corners));
      }
      used += static_cast<std::uint64_t>(corners);
      for (std::int64_t i = 0; i < corners; ++i) cells.vertices.push_back(take_vertex(kOldCellType));
      cells.ends.push_back(cells.vertices.size());
      cells.lines.push_back(line);
    }
    if (used != numbers) refuse("the cells do not fill the announced length");
    end_data();
    return cells;
  }

  Cells read_offsets(std::uint64_t offsets, std::uint64_t numbers) {
    Cells cells;
    words_.next();
    const NumberType offset_type = take_type();
    begin_data(offsets, offset_type);
    data_ = words_.offset();
    for (std::uint64_t i = 0; i < offsets; ++i) {
      const std::int64_t offset = take_integer(offset_type);
      const std::int64_t previous = cells.ends.empty() ? 0 : static_cast<std::int64_t>(cells.ends.back());
      if (offset < previous || (i == 0 && offset != 0) || static_cast<std::uint64_t>(offset) > numbers) {
        refuse("the cells' offsets do not rise from 0 to the length");
      }
      if (i > 0) cells.ends.push_back(static_cast<std::size_t>(offset));
    }
    end_data();
    if (!cells.ends.empty() && cells.ends.back() != numbers) refuse("the cells' offsets do not end at the length");
    if (!equal_ignoring_case(words_.next(), "connectivity")) refuse("CONNECTIVITY is missing after OFFSETS");
    const NumberType type = take_type();
    begin_data(numbers, type);
    data_ = words_.offset();
    for (std::uint64_t i = 0; i < numbers; ++i) cells.vertices.push_back(take_vertex(type));
    end_data();
    cells.lines.assign(cells.ends.size(), 0);
    return cells;
  }

  std::uint32_t take_vertex(const NumberType& type) {
    const std::int64_t vertex = take_integer(type);
    if (vertex < 0 || vertex > 0xFFFFFFFFll) refuse("a face uses vertex " + std::to_string(vertex));
    return static_cast<std::uint32_t>(vertex);
  }

  // Points may follow the cells, so this check comes last.
  void check_indices(const Cells& cells) {
    std::size_t begin = 0;
    for (std::size_t cell = 0; cell < cells.ends.size(); begin = cells.ends[cell++]) {
      for (std::size_t i = begin; i < cells.ends[cell]; ++i) {
        if (cells.vertices[i] < mesh_.points.size()) continue;
        const std::string what = "a cell uses vertex " + std::to_string(cells.vertices[i]) + ", the file has " +
                                 std::to_string(mesh_.points.size()) + " counted from 0";
        if (cells.lines[cell] == 0) fail(source_, what, kExportAgain);
        fail(source_, cells.lines[cell], what, kExportAgain);
      }
    }
  }

  template <class Visit>
  void for_each_cell(const Cells& cells, Visit visit) {
    std::size_t begin = 0;
    for (std::size_t end : cells.ends) {
      visit(std::span<const std::uint32_t>(cells.vertices).subspan(begin, end - begin));
      begin = end;
    }
  }

  // METADATA ends at an empty line.
  void skip_metadata() {
    words_.rest_of_line();
    while (words_.offset() < source_.bytes.size()) {
      std::string_view line = words_.rest_of_line();
      if (take_word(line).empty()) return;
    }
  }

  void skip_field() {
    words_.next();
    const std::uint64_t arrays = take_count();
    for (std::uint64_t i = 0; i < arrays; ++i) {
      std::string_view name = words_.next();
      if (equal_ignoring_case(name, "metadata")) {
        skip_metadata();
        name = words_.next();
      }
      if (name.empty()) refuse("the file ends within a FIELD");
      const std::uint64_t components = take_count(), tuples = take_count();
      const NumberType type = take_type();
      if (components > source_.bytes.size() || tuples > source_.bytes.size()) refuse("a FIELD is longer than the file");
      begin_data(components * tuples, type);
      if (binary_) {
        words_.skip_to(words_.offset() + components * tuples * type.bytes);
      } else {
        for (std::uint64_t value = 0; value < components * tuples; ++value) words_.next();
      }
    }
  }

  const Source& source_;
  Words words_;
  bool binary_ = false;
  std::size_t data_ = 0;        // next byte of the binary data being read
  std::size_t cell_count_ = 0;  // cells of all kinds
  Cells polygons_, strips_;
  FileMesh mesh_;
};

}  // namespace

FileMesh read_vtk(const Source& source) { return VtkReader(source).read(); }

}  // namespace trocar::mesh_io
