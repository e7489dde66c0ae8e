// Reads Wavefront OBJ: vertices and polygons. Texture and normal references are ignored, so they never split a vertex.
#include <algorithm>
#include <array>
#include <limits>

#include "mesh/mesh_io_formats.hpp"
#include "mesh/polygons.hpp"

namespace trocar::mesh_io {
namespace {

// Statements of the format without polygons.
constexpr std::array<std::string_view, 40> kIgnored = {
    "vt",        "vn",    "vp",    "cstype",   "deg",      "bmat",   "step",   "curv",   "curv2",  "surf",
    "parm",      "trim",  "hole",  "scrv",     "sp",       "end",    "con",    "p",      "l",      "g",
    "s",         "mg",    "o",     "bevel",    "lod",      "usemtl", "mtllib", "usemap", "maplib", "shadow_obj",
    "trace_obj", "ctech", "stech", "c_interp", "d_interp", "call",   "csh",    "bzp",    "bsp",    "res"};

// Other programs add statements of their own, in words of three letters or more, such as "newmtl". Anything else may be
// a damaged 'v' or 'f'.
bool is_foreign(std::string_view keyword) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return keyword.size() >= 3 && std::all_of(keyword.begin(), keyword.end(), is_letter);
}

class ObjReader {
 public:
  explicit ObjReader(const Source& source) : source_(source), lines_(source.bytes) {}

  FileMesh read() {
    for (std::string_view rest; next_statement(rest);) {
      const std::string_view keyword = take_word(rest);
      if (keyword.empty()) continue;
      if (keyword.front() == '#') {
        read_comment({keyword.data(), static_cast<std::size_t>(rest.data() + rest.size() - keyword.data())},
                     mesh_.facts);
        continue;
      }
      if (keyword == "v") {
        read_vertex(rest);
      } else if (keyword == "f" || keyword == "fo") {
        read_face(rest);
      } else if (std::find(kIgnored.begin(), kIgnored.end(), keyword) == kIgnored.end() && !is_foreign(keyword)) {
        fail(source_, line_, in_quotes(keyword) + " is not an OBJ statement",
             "repair the line or export the mesh again");
      }
    }
    check_forward_references();
    polygons_.split(mesh_);
    return std::move(mesh_);
  }

 private:
  // Reads a line, joined with those that continue it after a backslash. Returns false at the end.
  bool next_statement(std::string_view& rest) {
    if (!lines_.next(rest)) return false;
    line_ = lines_.number();
    if (rest.empty() || rest.back() != '\\') return true;
    joined_.clear();
    for (;;) {
      const bool continued = !rest.empty() && rest.back() == '\\';
      joined_ += continued ? rest.substr(0, rest.size() - 1) : rest;
      joined_ += ' ';
      if (!continued || !lines_.next(rest)) break;
    }
    rest = joined_;
    return true;
  }

  // Numbers after the third are a weight or a colour.
  void read_vertex(std::string_view rest) {
    glm::dvec3 point;
    for (int axis = 0; axis < 3; ++axis) point[axis] = coordinate(source_, line_, take_word(rest));
    mesh_.points.push_back(point);
  }

  void read_face(std::string_view rest) {
    corners_.clear();
    for (std::string_view word = take_word(rest); !word.empty() && word.front() != '#'; word = take_word(rest)) {
      corners_.push_back(corner(word));
    }
    if (corners_.size() < 3) {
      fail(source_, line_, "a face has " + std::to_string(corners_.size()) + " corners but needs 3",
           "repair or delete the line");
    }
    polygons_.add(corners_, mesh_.faces);
  }

  // "7", "7/1", "7//2", "7/1/2"; negative numbers count back from the newest vertex.
  std::uint32_t corner(std::string_view word) {
    const std::string_view vertex = word.substr(0, word.find('/'));
    const std::string_view others = word.substr(vertex.size());
    if (others.find_first_not_of("/-0123456789") != others.npos) {
      fail(source_, line_, "a face has the corner " + in_quotes(word), "write it as v, v/vt, v//vn or v/vt/vn");
    }
    const std::int64_t index = integer(source_, line_, vertex, "a vertex number of a face");
    const std::int64_t count = static_cast<std::int64_t>(mesh_.points.size());
    const bool usable = index > 0 ? index < std::numeric_limits<std::uint32_t>::max() : index < 0 && -index <= count;
    if (!usable) refuse_index(line_, index, mesh_.points.size());
    if (index < 0) return static_cast<std::uint32_t>(count + index);
    if (index > count && index > farthest_) {
      farthest_ = index;
      farthest_line_ = line_;
    }
    return static_cast<std::uint32_t>(index - 1);
  }

  // A face may use a vertex that is defined later in the file.
  void check_forward_references() {
    if (farthest_ > static_cast<std::int64_t>(mesh_.points.size())) {
      refuse_index(farthest_line_, farthest_, mesh_.points.size());
    }
  }

  [[noreturn]] void refuse_index(std::size_t line, std::int64_t index, std::size_t count) {
    fail(source_, line, "a face uses vertex " + std::to_string(index) + ", the file has " + std::to_string(count),
         index == 0 ? "OBJ counts vertices from 1, export the mesh again" : "export the mesh again");
  }

  const Source& source_;
  Lines lines_;
  std::size_t line_ = 0;
  std::string joined_;
  std::vector<std::uint32_t> corners_;
  std::int64_t farthest_ = 0;
  std::size_t farthest_line_ = 0;
  Polygons polygons_;
  FileMesh mesh_;
};

}  // namespace

FileMesh read_obj(const Source& source) { return ObjReader(source).read(); }

}  // namespace trocar::mesh_io
