// Reads legacy VTK polydata, ascii or binary (big endian). Reads cells in the layout of versions 1 to 4 and in that of
// version 5 (offsets and connectivity). The mesh holds the polygons first, then the triangle strips; vertices, lines,
// fields, metadata and attributes are skipped, at any position and of any type.

#include "mesh/mesh_io_formats.hpp"
#include "mesh/mesh_io_text.hpp"
#include "mesh/polygons.hpp"

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
    Polygons polygons;
    for_each_cell(polygons_, [&](std::span<const std::uint32_t> corners) { polygons.add(corners, mesh_.faces); });
    polygons.split(mesh_);
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
    read_comment(words_.rest_of_line(), mesh_.facts);
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
    if (is("point_data")) return skip_attributes(mesh_.points.size(), "points");
    if (is("cell_data")) return skip_attributes(cell_count_, "cells");
    if (is_attribute(keyword)) return !has_geometry() && skip_to_geometry();
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

  // Returns false when nothing that the mesh needs follows the attributes.
  bool skip_attributes(std::size_t expected, const char* what) {
    if (take_count() != expected && expected > 0)
      refuse(std::string("the number of attributes is not the number of ") + what);
    return !has_geometry() && skip_to_geometry();
  }

  static bool is_attribute(std::string_view keyword) {
    for (const char* name : {"scalars", "color_scalars", "lookup_table", "vectors", "normals", "texture_coordinates",
                             "tensors", "tensors6", "global_ids", "pedigree_ids", "edge_flags"})
      if (equal_ignoring_case(keyword, name)) return true;
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

  // Returns whether the line begins a section of the geometry. Arrays of texts hold no such line: VTK writes their
  // blanks as %20.
  static bool begins_geometry(std::string_view line) {
    const auto is_count = [](std::string_view word) {
      return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
    };
    const std::string_view keyword = take_word(line), count = take_word(line), last = take_word(line);
    if (equal_ignoring_case(keyword, "points")) return is_count(count) && vtk_type(last) != nullptr;
    for (const char* name : {"polygons", "triangle_strips", "vertices", "lines"})
      if (equal_ignoring_case(keyword, name)) return is_count(count) && is_count(last);
    return false;
  }

  // Skips what the mesh does not need, up to the next section of the geometry. Returns false when there is none.
  bool skip_to_geometry() {
    while (words_.offset() < source_.bytes.size()) {
      const Words before = words_;
      if (!begins_geometry(words_.rest_of_line())) continue;
      words_ = before;
      return true;
    }
    return false;
  }

  bool has_geometry() const { return !mesh_.points.empty() && (!polygons_.ends.empty() || !strips_.ends.empty()); }

  // METADATA ends at an empty line.
  void skip_metadata() {
    words_.rest_of_line();
    while (words_.offset() < source_.bytes.size()) {
      const Words before = words_;
      std::string_view line = words_.rest_of_line();
      if (begins_geometry(line)) {
        words_ = before;
        return;
      }
      if (take_word(line).empty()) return;
    }
  }

  // Skips the arrays of a FIELD. Where they are not as VTK writes them, skips to the next section of the geometry.
  void skip_field() {
    words_.next();
    const std::uint64_t arrays = take_count();
    const Words start = words_;
    bool good = true;
    for (std::uint64_t i = 0; i < arrays && good; ++i) good = skip_array();
    if (good && (words_.offset() >= source_.bytes.size() || is_section(words_.peek()))) return;
    words_ = start;
    words_.rest_of_line();
    if (!skip_to_geometry() && !has_geometry()) refuse("there are no points and cells after the FIELD");
  }

  static bool is_section(std::string_view word) {
    for (const char* name : {"points", "polygons", "triangle_strips", "vertices", "lines", "point_data", "cell_data",
                             "metadata", "field", ""})
      if (equal_ignoring_case(word, name)) return true;
    return false;
  }

  // Skips one array: NAME COMPONENTS TUPLES TYPE, then its values. Returns false when they are not understood.
  bool skip_array() {
    std::string_view name = words_.next();
    while (equal_ignoring_case(name, "metadata")) {
      skip_metadata();
      name = words_.next();
    }
    if (name == "NULL_ARRAY") return true;
    std::uint64_t values = 0;
    if (!take_size(values)) return false;
    const std::string_view type_name = words_.next();
    const bool is_text = equal_ignoring_case(type_name, "string") || equal_ignoring_case(type_name, "utf8_string");
    if (is_text) return skip_texts(values, name == "SPACE");
    if (equal_ignoring_case(type_name, "variant")) return skip_words(2 * values);
    const NumberType* type = vtk_type(type_name);
    const bool bits = equal_ignoring_case(type_name, "bit");
    if (type == nullptr && !bits) return false;
    if (!binary_) return skip_words(values);
    words_.rest_of_line();
    return skip_bytes(bits ? (values + 7) / 8 : values * type->bytes);
  }

  // Reads the numbers of components and of tuples.
  bool take_size(std::uint64_t& values) {
    values = 1;
    for (int k = 0; k < 2; ++k) {
      const std::string_view word = words_.next();
      if (word.empty() || word.size() > 10 || word.find_first_not_of("0123456789") != word.npos) return false;
      values *= static_cast<std::uint64_t>(integer(source_, words_.line(), word, "a count"));
    }
    return values <= source_.bytes.size() * 8;
  }

  bool skip_words(std::uint64_t count) {
    for (std::uint64_t k = 0; k < count; ++k)
      if (words_.next().empty()) return false;
    return true;
  }

  bool skip_bytes(std::uint64_t count) {
    if (count > source_.bytes.size() - words_.offset()) return false;
    words_.skip_to(words_.offset() + count);
    return true;
  }

  // Each text has a line of its own, or, in binary files, its length before it. The first two bits of the length say in
  // how many bytes it is written.
  bool skip_texts(std::uint64_t count, bool is_space) {
    words_.rest_of_line();
    for (std::uint64_t k = 0; k < count; ++k) {
      std::string_view text;
      if (!binary_) {
        const Words before = words_;
        if (words_.offset() >= source_.bytes.size()) return false;
        text = words_.rest_of_line();
        if (begins_geometry(text)) {
          words_ = before;
          return true;
        }
      } else {
        const std::string_view rest = source_.bytes.substr(words_.offset());
        if (rest.empty()) return false;
        const int code = static_cast<unsigned char>(rest.front()) >> 6;
        const std::size_t bytes = code == 3 ? 1 : code == 2 ? 2 : code == 1 ? 4 : 8;
        if (rest.size() < bytes) return false;
        const std::uint64_t length = bits_of(rest.data(), bytes, true) & ((std::uint64_t{1} << (8 * bytes - 2)) - 1);
        if (length > rest.size() - bytes) return false;
        text = rest.substr(bytes, length);
        words_.skip_to(words_.offset() + bytes + length);
      }
      if (is_space) read_comment("SPACE=" + std::string(text.substr(0, 10)), mesh_.facts);
    }
    return true;
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
