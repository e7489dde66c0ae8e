// Reads STL, ascii and binary. Each facet has its own three corners; they are welded by exact position.
#include <bit>
#include <cstring>

#include "mesh/mesh_io_formats.hpp"
#include "mesh/weld.hpp"

namespace trocar::mesh_io {
namespace {

constexpr std::size_t kHeaderBytes = 84;  // 80 bytes of free text, 4 of facet count
constexpr std::size_t kFacetBytes = 50;   // normal and three corners in float, 2 of attributes

static_assert(std::endian::native == std::endian::little, "the binary STL reader needs a little-endian machine");

FileMesh welded(const std::vector<glm::dvec3>& corners) {
  const Weld welding = weld(std::span<const glm::dvec3>(corners));
  FileMesh mesh;
  mesh.points.reserve(welding.point_of.size());
  for (std::uint32_t point : welding.point_of) mesh.points.push_back(corners[point]);
  mesh.faces.reserve(corners.size() / 3);
  for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
    mesh.faces.emplace_back(welding.vertex_of[i], welding.vertex_of[i + 1], welding.vertex_of[i + 2]);
  }
  return mesh;
}

std::uint64_t facet_count(std::string_view bytes) {
  std::uint32_t count = 0;
  std::memcpy(&count, bytes.data() + 80, sizeof count);
  return count;
}

bool is_binary(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return false;
  if (kHeaderBytes + kFacetBytes * facet_count(bytes) == bytes.size()) return true;
  // A binary file of the wrong length may start with "solid", but its count or first facet contains a zero byte.
  return bytes.substr(0, kHeaderBytes + kFacetBytes).find('\0') != std::string_view::npos;
}

FileMesh read_binary(const Source& source) {
  const std::uint64_t count = facet_count(source.bytes);
  const std::uint64_t expected = kHeaderBytes + kFacetBytes * count, size = source.bytes.size();
  // Some programs add padding or data of their own.
  if (size < expected || (count == 0 && size > expected)) {
    fail(source,
         "the header says " + std::to_string(count) + " facets, which is " + std::to_string(expected) +
             " bytes, but the file has " + std::to_string(size),
         "the file is incomplete or damaged, copy or export it again");
  }
  std::vector<glm::dvec3> corners;
  corners.reserve(3 * count);
  for (std::uint64_t facet = 0; facet < count; ++facet) {
    float values[12];
    std::memcpy(values, source.bytes.data() + kHeaderBytes + kFacetBytes * facet, sizeof values);
    for (int corner = 1; corner < 4; ++corner) {
      const float* v = values + 3 * corner;
      for (int axis = 0; axis < 3; ++axis) check_coordinate(source, v[axis], corners.size());
      corners.emplace_back(v[0], v[1], v[2]);
    }
  }
  FileMesh mesh = welded(corners);
  read_comment(source.bytes.substr(0, kHeaderBytes - 4), mesh.facts);
  if (size > expected)
    mesh.facts.notes.push_back(std::to_string(size - expected) + (size - expected == 1 ? " byte" : " bytes") +
                               " after the last of " + std::to_string(count) + " facets are ignored");
  return mesh;
}

// Reads the ascii grammar: solid NAME { facet normal N outer loop { vertex V } x 3 endloop endfacet } endsolid NAME.
class AsciiReader {
 public:
  explicit AsciiReader(const Source& source) : source_(source), words_(source.bytes) {}

  FileMesh read() {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      if (!equal_ignoring_case(word, "solid")) unexpected(word, "solid");
      read_comment(words_.rest_of_line(), facts_);
      read_solid();
    }
    FileMesh mesh = welded(corners_);
    mesh.facts = std::move(facts_);
    return mesh;
  }

 private:
  void read_solid() {
    for (;;) {
      const std::string_view word = words_.next();
      if (equal_ignoring_case(word, "facet")) {
        read_facet();
      } else if (equal_ignoring_case(word, "endsolid")) {
        words_.rest_of_line();
        return;
      } else {
        unexpected(word, "facet or endsolid");
      }
    }
  }

  // The normal is not used: some programs write arbitrary values, including "nan".
  void read_facet() {
    expect("normal");
    for (int axis = 0; axis < 3; ++axis) {
      if (words_.next().empty()) unexpected("", "a normal");
    }
    expect("outer");
    expect("loop");
    for (int corner = 0; corner < 3; ++corner) {
      expect("vertex");
      glm::dvec3 point;
      for (int axis = 0; axis < 3; ++axis) {
        const std::string_view word = words_.next();
        if (word.empty()) unexpected("", "a coordinate");
        point[axis] = coordinate(source_, words_.line(), word);
      }
      corners_.push_back(point);
    }
    expect("endloop");
    expect("endfacet");
  }

  void expect(const char* keyword) {
    const std::string_view word = words_.next();
    if (!equal_ignoring_case(word, keyword)) unexpected(word, keyword);
  }

  [[noreturn]] void unexpected(std::string_view word, const char* wanted) {
    if (word.empty()) {
      fail(source_, words_.line(), std::string("the file ends where '") + wanted + "' is expected",
           "the file is incomplete, copy or export it again");
    }
    fail(source_, words_.line(), std::string("expected '") + wanted + "', found " + in_quotes(word),
         "this is not a triangle STL, export the mesh again");
  }

  const Source& source_;
  Words words_;
  std::vector<glm::dvec3> corners_;
  MeshFacts facts_;
};

}  // namespace

FileMesh read_stl(const Source& source) {
  if (is_binary(source.bytes)) return read_binary(source);
  std::string_view start = source.bytes;
  if (!equal_ignoring_case(take_word(start), "solid")) {
    fail(source, "neither a binary STL (shorter than the header) nor an ascii STL (does not start with 'solid')",
         "check that it is a complete STL file");
  }
  return AsciiReader(source).read();
}

}  // namespace trocar::mesh_io
