// Reads the subset of XML that VTK's files use: elements, attributes and text, in order, checked for nesting. Internal
// to mesh/. Tested through tests/mesh/mesh_io_test.cpp, mesh_io_errors_test.cpp and mesh_io_vtp_fuzz_test.cpp
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "mesh/mesh_io_text.hpp"

namespace trocar::mesh_io {

class Xml {
 public:
  enum class Kind { Start, End, Text, Comment, Done };
  struct Item {
    Kind kind = Kind::Done;
    std::string_view name;     // Start, End
    std::string_view content;  // Start: its attributes; Text, Comment: the text
    std::size_t offset = 0;    // of the content in the file
    bool empty = false;        // Start: <a/>, which has no End
  };

  explicit Xml(const Source& source) : source_(source) {}
  // Returns the next start tag, end tag, comment, or text that is not blank. Skips declarations.
  Item next();
  // Returns the value of a start tag's attribute; empty when it does not have this attribute.
  std::string_view attribute(const Item& start, std::string_view name) const;
  std::size_t offset() const { return offset_; }  // of the first unread byte
  std::size_t line_of(std::size_t offset) const;

 private:
  Item tag();
  std::size_t end_of_tag(std::size_t begin) const;
  std::size_t find(std::string_view text, std::size_t from) const;
  [[noreturn]] void refuse(std::size_t offset, const std::string& what) const;

  const Source& source_;
  std::size_t offset_ = 0;
  std::vector<std::string_view> open_;
};

}  // namespace trocar::mesh_io
