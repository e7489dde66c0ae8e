// Reads and writes VTP (VTK XML polydata). The reader is ours, because that of VTK 9.1 trusts damaged lengths, reads
// beyond its buffers and divides by such lengths. The writer is VTK's.
#include <vtkDataCompressor.h>
#include <vtkLZ4DataCompressor.h>
#include <vtkLZMADataCompressor.h>
#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkXMLPolyDataWriter.h>
#include <vtkZLibDataCompressor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/base64.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "mesh/mesh_io_text.hpp"
#include "mesh/polygons.hpp"
#include "mesh/vtk_surface.hpp"

namespace trocar::mesh_io {
namespace {

// Reads the subset of XML that VTK's files use: elements, attributes and text, in order, checked for nesting. Internal
// to mesh/. Tested through tests/mesh/mesh_io_test.cpp and mesh_io_vtk_test.cpp
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

constexpr std::string_view kBlank = " \t\r\n";

std::string_view without_blanks_in_front(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlank), text.size()));
}

std::size_t Xml::line_of(std::size_t offset) const { return 1 + count_line_ends(source_.bytes.substr(0, offset)); }

void Xml::refuse(std::size_t offset, const std::string& what) const {
  fail(source_, line_of(offset), what, "the file is incomplete or damaged, copy or export it again");
}

std::size_t Xml::find(std::string_view text, std::size_t from) const {
  const std::size_t found = source_.bytes.find(text, from);
  if (found == std::string_view::npos) refuse(from, "the file ends within a tag");
  return found;
}

Xml::Item Xml::next() {
  while (offset_ < source_.bytes.size()) {
    const std::string_view rest = source_.bytes.substr(offset_);
    if (rest.starts_with("<?")) {
      offset_ = find("?>", offset_) + 2;
    } else if (rest.starts_with("<!--")) {
      const std::size_t end = find("-->", offset_);
      const Item comment{Kind::Comment, {}, rest.substr(0, end - offset_), offset_, false};
      offset_ = end + 3;
      return comment;
    } else if (rest.starts_with("<![CDATA[")) {
      const std::size_t end = find("]]>", offset_);
      const Item text{Kind::Text, {}, rest.substr(9, end - offset_ - 9), offset_, false};
      offset_ = end + 3;
      return text;
    } else if (rest.starts_with("<!")) {
      offset_ = find(">", offset_) + 1;
    } else if (rest.front() == '<') {
      return tag();
    } else {
      const Item text{Kind::Text, {}, rest.substr(0, rest.find('<')), offset_, false};
      offset_ += text.content.size();
      if (!without_blanks_in_front(text.content).empty()) return text;
    }
  }
  if (!open_.empty()) refuse(offset_, "the file ends within the element " + in_quotes(open_.back()));
  return {};
}

// A value in quotes may contain the character that ends a tag.
std::size_t Xml::end_of_tag(std::size_t begin) const {
  char quote = '\0';
  for (std::size_t at = begin; at < source_.bytes.size(); ++at) {
    const char c = source_.bytes[at];
    if (quote == '\0' && c == '>') return at;
    if (quote != '\0' ? c == quote : c == '"' || c == '\'') quote = quote == '\0' ? c : '\0';
  }
  refuse(begin, "the file ends within a tag");
}

Xml::Item Xml::tag() {
  const std::size_t begin = offset_ + 1, end = end_of_tag(begin);
  std::string_view inside = source_.bytes.substr(begin, end - begin);
  offset_ = end + 1;
  Item item;
  if (inside.starts_with('/')) {
    std::string_view name = inside.substr(1);
    item = {Kind::End, take_word(name), {}, begin, false};
    if (open_.empty() || open_.back() != item.name)
      refuse(begin, "the end tag " + in_quotes(item.name) + " has no matching start tag");
    open_.pop_back();
    return item;
  }
  item.kind = Kind::Start;
  item.empty = inside.ends_with('/');
  if (item.empty) inside.remove_suffix(1);
  item.name = take_word(inside);
  item.content = inside;
  item.offset = begin;
  if (item.name.empty()) refuse(begin, "a tag has no name");
  if (!item.empty) open_.push_back(item.name);
  return item;
}

std::string_view Xml::attribute(const Item& start, std::string_view name) const {
  std::string_view rest = without_blanks_in_front(start.content);
  while (!rest.empty()) {
    const std::size_t equals = rest.find('=');
    if (equals == rest.npos) refuse(start.offset, "an attribute of " + in_quotes(start.name) + " has no value");
    std::string_view key = rest.substr(0, equals);
    const std::string_view found = take_word(key);
    rest = without_blanks_in_front(rest.substr(equals + 1));
    const bool quoted = rest.starts_with('"') || rest.starts_with('\'');
    const std::size_t end = quoted ? rest.find(rest.front(), 1) : rest.npos;
    if (end == rest.npos) refuse(start.offset, "an attribute of " + in_quotes(start.name) + " is not in quotes");
    if (found == name) return rest.substr(1, end - 1);
    rest = without_blanks_in_front(rest.substr(end + 1));
  }
  return {};
}

// Reads the numbers of one VTP data array: ascii, base64 or raw, inline or appended, compressed or not. Internal to
// mesh/. Every length is compared with the file's size before memory is allocated.

// The encoding that all arrays of a file share.
struct VtpEncoding {
  bool big_endian = false;
  std::size_t header_bytes = 4;  // size of each length before binary data
  std::string_view compressor;   // empty: none
  std::string_view appended;     // from after the underscore to the end
  bool appended_is_raw = false;  // else base64
};

struct VtpArray {
  std::string_view type;    // Float32, Int64, ...
  std::string_view format;  // ascii, binary or appended
  std::string_view offset;  // of appended data, in `VtpEncoding::appended`
  std::string_view text;    // inline data
  std::size_t line = 0;     // of the element
  std::size_t text_line = 0;
};

// No compressor of the format exceeds this ratio; a higher one means a damaged length.
constexpr std::uint64_t kBestCompression = 8192;

constexpr std::uint64_t kLargestLength = 0x7FFFFFFF;  // of a block count and block size: their product fits 64 bits

[[noreturn]] void refuse(const Source& source, const VtpArray& array, const std::string& what) {
  fail(source, array.line, what, "the file is incomplete or damaged, copy or export it again");
}

const NumberType type_of(const Source& source, const VtpArray& array) {
  if (const NumberType* type = vtp_type(array.type)) return *type;
  refuse(source, array, in_quotes(array.type) + " is not a number type of a data array");
}

// A stream of bytes. Base64 has groups of four digits; a group with padding ends a piece, and the next piece follows
// it.
class Bytes {
 public:
  Bytes(std::string_view text, bool raw) : text_(text), raw_(raw) {}

  // Returns an upper bound of the remaining bytes.
  std::uint64_t left() const { return raw_ ? text_.size() : text_.size() / 4 * 3 + pending_.size(); }

  // Reads bytes. Returns false when the data end too early.
  bool take(std::size_t count, std::string& out) {
    if (count > left()) return false;
    if (raw_) {
      out.append(text_.substr(0, count));
      text_.remove_prefix(count);
      return true;
    }
    while (pending_.size() < count) {
      if (!decode_group()) return false;
    }
    out.append(pending_, 0, count);
    pending_.erase(0, count);
    return true;
  }

 private:
  bool decode_group() {
    char group[4];
    for (char& digit : group) {
      while (!text_.empty() && text_.front() <= ' ') text_.remove_prefix(1);
      if (text_.empty()) return false;
      digit = text_.front();
      text_.remove_prefix(1);
    }
    const auto bytes = decoded_base64(std::string_view(group, 4));
    if (!bytes || bytes->empty()) return false;
    pending_ += *bytes;
    return true;
  }

  std::string_view text_;
  bool raw_;
  std::string pending_;
};

// Reads one binary array: its lengths, then its uncompressed bytes.
class BinaryArray {
 public:
  BinaryArray(const Source& source, const VtpEncoding& encoding, const VtpArray& array)
      : source_(source), encoding_(encoding), array_(array), bytes_(start()) {}

  std::string read(std::uint64_t expected) {
    if (expected / kBestCompression > source_.bytes.size())
      refuse(source_, array_, "a data array announces more data than the file holds");
    return encoding_.compressor.empty() ? plain(expected) : uncompressed(expected);
  }

 private:
  Bytes start() {
    if (array_.format == "binary") return Bytes(array_.text, false);
    const std::int64_t offset = integer(source_, array_.line, array_.offset, "the offset of appended data");
    if (offset < 0 || static_cast<std::uint64_t>(offset) >= encoding_.appended.size()) {
      refuse(source_, array_, "the offset of appended data lies outside of it");
    }
    return Bytes(encoding_.appended.substr(static_cast<std::size_t>(offset)), encoding_.appended_is_raw);
  }

  std::uint64_t take_length() {
    std::string bytes;
    if (!bytes_.take(encoding_.header_bytes, bytes)) refuse(source_, array_, "the data end within their length");
    return bits_of(bytes.data(), encoding_.header_bytes, encoding_.big_endian);
  }

  [[noreturn]] void refuse_length(std::uint64_t found, std::uint64_t expected) {
    refuse(source_, array_,
           "a data array has " + std::to_string(found) + " bytes but needs " + std::to_string(expected));
  }

  std::string plain(std::uint64_t expected) {
    const std::uint64_t length = take_length();
    if (length != expected) refuse_length(length, expected);
    std::string result;
    if (!bytes_.take(length, result)) refuse(source_, array_, "the file ends within a data array");
    return result;
  }

  // Decompresses the blocks. The header holds these lengths: number of blocks, bytes of a full block, bytes of a
  // partial last block, compressed bytes of each block.
  std::string uncompressed(std::uint64_t expected) {
    const std::uint64_t blocks = take_length(), full = take_length(), last = take_length();
    if (blocks > bytes_.left() || blocks > kLargestLength || full > kLargestLength || last > full) {
      refuse(source_, array_, "the lengths of a compressed data array do not fit together");
    }
    const std::uint64_t total = blocks == 0 ? 0 : last == 0 ? blocks * full : (blocks - 1) * full + last;
    if (total != expected) refuse_length(total, expected);
    std::vector<std::uint64_t> packed;
    for (std::uint64_t i = 0; i < blocks; ++i) packed.push_back(take_length());
    std::string result(expected, '\0');
    char* out = result.data();
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t size = i + 1 == blocks && last != 0 ? last : full;
      unpack(packed[i], out, size);
      out += size;
    }
    return result;
  }

  void unpack(std::uint64_t packed, char* out, std::size_t size) {
    std::string block;
    if (!bytes_.take(packed, block)) refuse(source_, array_, "the file ends within a data array");
    const auto* from = reinterpret_cast<const unsigned char*>(block.data());
    const std::size_t done = compressor()->Uncompress(from, block.size(), reinterpret_cast<unsigned char*>(out), size);
    if (done != size) refuse(source_, array_, "a compressed data array cannot be decompressed");
  }

  vtkDataCompressor* compressor() {
    if (compressor_) return compressor_;
    if (encoding_.compressor == "vtkZLibDataCompressor") compressor_ = vtkSmartPointer<vtkZLibDataCompressor>::New();
    if (encoding_.compressor == "vtkLZ4DataCompressor") compressor_ = vtkSmartPointer<vtkLZ4DataCompressor>::New();
    if (encoding_.compressor == "vtkLZMADataCompressor") compressor_ = vtkSmartPointer<vtkLZMADataCompressor>::New();
    if (!compressor_) refuse(source_, array_, "the compressor " + in_quotes(encoding_.compressor) + " is not known");
    return compressor_;
  }

  const Source& source_;
  const VtpEncoding& encoding_;
  const VtpArray& array_;
  Bytes bytes_;
  vtkSmartPointer<vtkDataCompressor> compressor_;
};

// Numbers as text: `read` converts one word.
template <class Number, class Read>
std::vector<Number> ascii(const Source& source, const VtpArray& array, std::uint64_t count, Read read) {
  if (count > array.text.size()) refuse(source, array, "a data array has fewer numbers than announced");
  Words words(array.text);
  std::vector<Number> numbers;
  numbers.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view word = words.next();
    numbers.push_back(read(array.text_line + words.line() - 1, word));
  }
  if (!words.next().empty()) refuse(source, array, "a data array has more numbers than announced");
  return numbers;
}

// Numbers as bytes: `read` converts the bits of one.
template <class Number, class Read>
std::vector<Number> binary(const Source& source, const VtpEncoding& encoding, const VtpArray& array,
                           std::uint64_t count, const NumberType type, Read read) {
  if (count > UINT64_MAX / type.bytes) refuse(source, array, "a data array announces more data than the file holds");
  const std::string bytes = BinaryArray(source, encoding, array).read(count * type.bytes);
  std::vector<Number> numbers;
  numbers.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    numbers.push_back(read(bits_of(bytes.data() + i * type.bytes, type.bytes, encoding.big_endian)));
  }
  return numbers;
}

bool is_ascii(const Source& source, const VtpArray& array) {
  if (array.format == "ascii") return true;
  if (array.format == "binary" || array.format == "appended") return false;
  refuse(source, array, in_quotes(array.format) + " is not a data array format");
}

// Reads exactly `count` numbers. Throws InputError when the array has another length.
std::vector<double> vtp_coordinates(const Source& source, const VtpEncoding& encoding, const VtpArray& array,
                                    std::uint64_t count) {
  const NumberType type = type_of(source, array);
  if (is_ascii(source, array)) {
    return ascii<double>(source, array, count,
                         [&](std::size_t line, std::string_view word) { return coordinate(source, line, word); });
  }
  return binary<double>(source, encoding, array, count, type,
                        [type](std::uint64_t bits) { return number_of(bits, type); });
}

std::vector<std::int64_t> vtp_integers(const Source& source, const VtpEncoding& encoding, const VtpArray& array,
                                       std::uint64_t count) {
  const NumberType type = type_of(source, array);
  if (type.kind == 'f') refuse(source, array, "the vertex numbers are fractions");
  if (is_ascii(source, array)) {
    return ascii<std::int64_t>(source, array, count, [&](std::size_t line, std::string_view word) {
      return integer(source, line, word, "a vertex number or offset");
    });
  }
  return binary<std::int64_t>(source, encoding, array, count, type,
                              [type](std::uint64_t bits) { return integer_of(bits, type); });
}

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
