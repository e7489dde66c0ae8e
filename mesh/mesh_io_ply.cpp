// Reads PLY, ascii and both binaries. Elements other than vertex, face and tristrips are checked for length and
// skipped.
#include <algorithm>
#include <optional>

#include "mesh/mesh_io_formats.hpp"
#include "mesh/mesh_io_text.hpp"
#include "mesh/polygons.hpp"

namespace trocar::mesh_io {
namespace {

enum class Encoding { Ascii, LittleEndian, BigEndian };

struct Property {
  std::string name;
  NumberType type{};                 // without bytes: `type_name` is not a number type of the format
  std::optional<NumberType> length;  // of a list; the same
  std::string type_name;             // the first that is not known
  std::size_t line = 0;
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::size_t line = 0;
  std::vector<Property> properties;
};

struct Header {
  Encoding encoding = Encoding::Ascii;
  std::vector<Element> elements;
  MeshFacts facts;
};

class HeaderReader {
 public:
  HeaderReader(const Source& source, Lines& lines) : source_(source), lines_(lines) {}

  Header read() {
    std::string_view line;
    if (!lines_.next(line) || take_word(line) != "ply") {
      fail(source_, 1, "the file does not start with 'ply'", "check that it is a PLY file");
    }
    bool has_format = false;
    while (lines_.next(line)) {
      const std::string_view keyword = take_word(line);
      if (keyword == "comment" || keyword == "obj_info") read_comment(line, header_.facts);
      if (keyword == "end_header") {
        if (!has_format) fail(source_, lines_.number(), "the header names no format", kExportAgain);
        return std::move(header_);
      }
      if (keyword == "format") {
        read_format(line);
        has_format = true;
      } else if (keyword == "element") {
        read_element(line);
      } else if (keyword == "property") {
        read_property(line);
      } else if (keyword != "comment" && keyword != "obj_info" && !keyword.empty()) {
        fail(source_, lines_.number(), in_quotes(keyword) + " is not a PLY header keyword",
             "delete the line or start it with 'comment'");
      }
    }
    fail(source_, lines_.number(), "the header has no end", "the file is incomplete, copy or export it again");
  }

 private:
  void read_format(std::string_view line) {
    const std::string_view name = take_word(line);
    if (name == "ascii") {
      header_.encoding = Encoding::Ascii;
    } else if (name == "binary_little_endian") {
      header_.encoding = Encoding::LittleEndian;
    } else if (name == "binary_big_endian") {
      header_.encoding = Encoding::BigEndian;
    } else {
      fail(source_, lines_.number(), "the format is " + in_quotes(name),
           "save the mesh as ascii, binary_little_endian or binary_big_endian");
    }
  }

  void read_element(std::string_view line) {
    Element element;
    element.name = take_word(line);
    element.line = lines_.number();
    const std::int64_t count = integer(source_, lines_.number(), take_word(line), "an element count");
    if (count < 0) fail(source_, lines_.number(), "an element count is negative", kExportAgain);
    element.count = static_cast<std::uint64_t>(count);
    header_.elements.push_back(element);
  }

  void read_property(std::string_view line) {
    if (header_.elements.empty())
      fail(source_, lines_.number(), "a property comes before the first element", kExportAgain);
    Property property;
    property.line = lines_.number();
    std::string_view type = take_word(line);
    if (type == "list") {
      property.length = type_named(take_word(line), property);
      type = take_word(line);
    }
    property.type = type_named(type, property);
    property.name = take_word(line);
    if (property.name.empty()) fail(source_, lines_.number(), "a property has no name", kExportAgain);
    header_.elements.back().properties.push_back(property);
  }

  // A property that the mesh does not need may have any type.
  static NumberType type_named(std::string_view name, Property& property) {
    if (const NumberType* type = ply_type(name)) return *type;
    if (property.type_name.empty()) property.type_name = name;
    return {0, '?'};
  }

  const Source& source_;
  Lines& lines_;
  Header header_;
};

// Rows of text: one line each.
class AsciiRows {
 public:
  AsciiRows(const Source& source, const Lines& lines) : source_(source), lines_(lines) {}

  static constexpr bool kNeedsTypes = false;  // to find the end of a number

  void begin_row(const Element& element, std::uint64_t row) {
    do {
      if (!lines_.next(rest_)) {
        fail(source_, lines_.number(),
             "the file ends after " + std::to_string(row) + " of " + std::to_string(element.count) + " rows of " +
                 in_quotes(element.name),
             "the file is incomplete, copy or export it again");
      }
      word_ = take_word(rest_);
    } while (word_.empty());
  }
  void end_row() {
    if (!word_.empty()) fail(source_, lines_.number(), "the row is longer than the header says", kExportAgain);
  }
  void end() {
    for (std::string_view line; lines_.next(line);) {
      if (!take_word(line).empty())
        fail(source_, lines_.number(), "there are more rows than the header says", kExportAgain);
    }
  }

  double take_coordinate(NumberType, std::size_t) { return coordinate(source_, lines_.number(), advance()); }
  std::int64_t take_integer(NumberType) { return integer(source_, lines_.number(), advance(), "a number of the row"); }
  void skip(NumberType) {
    if (advance().empty()) fail(source_, lines_.number(), "the row is shorter than the header says", kExportAgain);
  }
  [[noreturn]] void refuse(std::uint64_t, const std::string& what) {
    fail(source_, lines_.number(), what, kExportAgain);
  }
  std::size_t bytes_left() const { return source_.bytes.size() - lines_.offset(); }

 private:
  std::string_view advance() {
    const std::string_view word = word_;
    word_ = take_word(rest_);
    return word;
  }

  const Source& source_;
  Lines lines_;
  std::string_view rest_, word_;
};

// Rows of binary numbers without separators.
class BinaryRows {
 public:
  BinaryRows(const Source& source, std::size_t offset, bool big_endian)
      : source_(source), offset_(offset), big_endian_(big_endian) {}

  static constexpr bool kNeedsTypes = true;

  void begin_row(const Element& element, std::uint64_t row) {
    element_ = &element;
    row_ = row;
  }
  void end_row() {}
  void end() {
    if (source_.bytes.find_first_not_of(" \t\r\n", offset_) != std::string_view::npos) {
      fail(source_, "there is more data than the header says", kExportAgain);
    }
  }

  double take_coordinate(NumberType type, std::size_t vertex) {
    const double value = number_of(take(type), type);
    check_coordinate(source_, value, vertex);
    return value;
  }
  std::int64_t take_integer(NumberType type) { return integer_of(take(type), type); }
  void skip(NumberType type) { take(type); }
  [[noreturn]] void refuse(std::uint64_t row, const std::string& what) {
    fail(source_, "row " + std::to_string(row) + " of " + in_quotes(element_->name) + ": " + what, kExportAgain);
  }
  std::size_t bytes_left() const { return source_.bytes.size() - offset_; }

 private:
  std::uint64_t take(NumberType type) {
    if (bytes_left() < type.bytes) {
      fail(source_,
           "the file ends after " + std::to_string(row_) + " of " + std::to_string(element_->count) + " rows of " +
               in_quotes(element_->name),
           "the file is incomplete, copy or export it again");
    }
    offset_ += type.bytes;
    return bits_of(source_.bytes.data() + offset_ - type.bytes, type.bytes, big_endian_);
  }

  const Source& source_;
  std::size_t offset_;
  bool big_endian_;
  const Element* element_ = nullptr;
  std::uint64_t row_ = 0;
};

// Reads the body, in the same way for every encoding.
template <class Rows>
class BodyReader {
 public:
  BodyReader(const Source& source, const Header& header, Rows rows)
      : source_(source), header_(header), rows_(std::move(rows)) {}

  FileMesh read() {
    for (const Element& element : header_.elements) {
      if (element.name == "vertex") vertex_count_ = element.count;
    }
    mesh_.facts = header_.facts;
    bool complete = true;
    for (std::size_t k = 0; k < header_.elements.size() && complete; ++k) {
      const Element& element = header_.elements[k];
      if (element.properties.empty()) continue;
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (is_faces(element)) {
        if (element.count > 0) read_faces(element);
      } else {
        complete = skip_rows(element, k + 1);
      }
    }
    if (complete) rows_.end();
    polygons_.split(mesh_);
    return std::move(mesh_);
  }

 private:
  static bool is_faces(const Element& element) { return element.name == "face" || element.name == "tristrips"; }

  [[noreturn]] void refuse_type(const Property& property) {
    fail(source_, property.line, in_quotes(property.type_name) + " is not a PLY number type", kExportAgain);
  }

  void read_vertices(const Element& element) {
    if (!mesh_.points.empty()) fail(source_, element.line, "there is a second vertex element", kExportAgain);
    const std::size_t axes[3] = {scalar(element, "x"), scalar(element, "y"), scalar(element, "z")};
    mesh_.points.reserve(std::min<std::uint64_t>(element.count, rows_.bytes_left()));
    for (std::uint64_t row = 0; row < element.count; ++row) {
      rows_.begin_row(element, row);
      glm::dvec3 point(0.0);
      for (std::size_t p = 0; p < element.properties.size(); ++p) {
        const std::size_t* axis = std::find(axes, axes + 3, p);
        if (axis == axes + 3) {
          skip(element.properties[p], row);
        } else {
          point[static_cast<int>(axis - axes)] = rows_.take_coordinate(element.properties[p].type, row);
        }
      }
      rows_.end_row();
      mesh_.points.push_back(point);
    }
  }

  std::size_t scalar(const Element& element, const char* name) {
    for (std::size_t p = 0; p < element.properties.size(); ++p) {
      const Property& property = element.properties[p];
      if (property.name != name || property.length) continue;
      if (!property.type_name.empty()) refuse_type(property);
      return p;
    }
    fail(source_, element.line, std::string("the vertices have no coordinate '") + name + "'", kExportAgain);
  }

  void read_faces(const Element& element) {
    const std::size_t list = corner_list(element);
    mesh_.faces.reserve(std::min<std::uint64_t>(element.count, rows_.bytes_left()));
    for (std::uint64_t row = 0; row < element.count; ++row) {
      rows_.begin_row(element, row);
      for (std::size_t p = 0; p < element.properties.size(); ++p) {
        if (p == list) {
          read_corners(element.properties[p], row, element.name == "tristrips");
        } else {
          skip(element.properties[p], row);
        }
      }
      rows_.end_row();
    }
  }

  std::size_t corner_list(const Element& element) {
    for (std::size_t p = 0; p < element.properties.size(); ++p) {
      const Property& property = element.properties[p];
      if (!property.length || (property.name != "vertex_indices" && property.name != "vertex_index")) continue;
      if (!property.type_name.empty()) refuse_type(property);
      if (property.length->kind == 'f') fail(source_, property.line, "a list has a fractional length", kExportAgain);
      if (property.type.kind == 'f')
        fail(source_, element.line, "the faces' vertex numbers are fractions", kExportAgain);
      return p;
    }
    fail(source_, element.line, "the faces have no list 'vertex_indices'", kExportAgain);
  }

  // A row of strips may hold several strips, separated by -1.
  void read_corners(const Property& property, std::uint64_t row, bool strips) {
    const std::int64_t length = list_length(property, row);
    corners_.clear();
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t vertex = rows_.take_integer(property.type);
      if (strips && vertex == -1) {
        add_strip(corners_, mesh_.faces);
        corners_.clear();
        continue;
      }
      if (vertex < 0 || static_cast<std::uint64_t>(vertex) >= vertex_count_) {
        rows_.refuse(row, "a face uses vertex " + std::to_string(vertex) + ", the file has " +
                              std::to_string(vertex_count_) + " counted from 0");
      }
      corners_.push_back(static_cast<std::uint32_t>(vertex));
    }
    if (strips) {
      add_strip(corners_, mesh_.faces);
    } else if (length < 3) {
      rows_.refuse(row, "a face has " + std::to_string(length) + " corners but needs 3");
    } else {
      polygons_.add(corners_, mesh_.faces);
    }
  }

  std::int64_t list_length(const Property& property, std::uint64_t row) {
    const std::int64_t length = rows_.take_integer(*property.length);
    if (length < 0) rows_.refuse(row, "a list has a negative length");
    return length;
  }

  void skip(const Property& property, std::uint64_t row) {
    if (Rows::kNeedsTypes && !property.type_name.empty()) refuse_type(property);
    const std::int64_t length = property.length ? list_length(property, row) : 1;
    for (std::int64_t i = 0; i < length; ++i) rows_.skip(property.type);
  }

  // Skips the rows of an element that the mesh does not need. A row of text may contain anything. Returns false where
  // the length of binary rows is not known and no needed element follows.
  bool skip_rows(const Element& element, std::size_t following) {
    const auto needed = [](const Element& e) { return e.name == "vertex" || is_faces(e); };
    const auto odd = [](const Property& p) { return !p.type_name.empty() || (p.length && p.length->kind == 'f'); };
    const auto found = std::find_if(element.properties.begin(), element.properties.end(), odd);
    if (Rows::kNeedsTypes && found != element.properties.end()) {
      const auto first = header_.elements.begin() + static_cast<std::ptrdiff_t>(following);
      if (std::none_of(first, header_.elements.end(), needed)) return false;
      if (found->type_name.empty()) fail(source_, found->line, "a list has a fractional length", kExportAgain);
      refuse_type(*found);
    }
    for (std::uint64_t row = 0; row < element.count; ++row) {
      rows_.begin_row(element, row);
      if (!Rows::kNeedsTypes) continue;
      for (const Property& property : element.properties) skip(property, row);
      rows_.end_row();
    }
    return true;
  }

  const Source& source_;
  const Header& header_;
  Rows rows_;
  std::uint64_t vertex_count_ = 0;
  std::vector<std::uint32_t> corners_;
  Polygons polygons_;
  FileMesh mesh_;
};

}  // namespace

FileMesh read_ply(const Source& source) {
  Lines lines(source.bytes);
  const Header header = HeaderReader(source, lines).read();
  if (header.encoding == Encoding::Ascii) {
    return BodyReader<AsciiRows>(source, header, AsciiRows(source, lines)).read();
  }
  const bool big_endian = header.encoding == Encoding::BigEndian;
  return BodyReader<BinaryRows>(source, header, BinaryRows(source, lines.offset(), big_endian)).read();
}

}  // namespace trocar::mesh_io
