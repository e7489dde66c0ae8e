#include "mesh/mesh_io_vtp_data.hpp"

#include <vtkDataCompressor.h>
#include <vtkLZ4DataCompressor.h>
#include <vtkLZMADataCompressor.h>
#include <vtkSmartPointer.h>
#include <vtkZLibDataCompressor.h>

#include "mesh/mesh_io_numbers.hpp"

namespace trocar::mesh_io {
namespace {

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
    int digits[4], used = 0;
    for (int& digit : digits) {
      while (!text_.empty() && text_.front() <= ' ') text_.remove_prefix(1);
      if (text_.empty()) return false;
      digit = base64_digit(text_.front());
      const bool padding = text_.front() == '=' && &digit - digits >= 2;
      if (digit < 0 && !padding) return false;
      if (digit >= 0) used = static_cast<int>(&digit - digits) + 1;
      digit = std::max(digit, 0);
      text_.remove_prefix(1);
    }
    const int bits = digits[0] << 18 | digits[1] << 12 | digits[2] << 6 | digits[3];
    for (int i = 0; i < used - 1; ++i) pending_ += static_cast<char>(bits >> (16 - 8 * i) & 0xFF);
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

}  // namespace

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

}  // namespace trocar::mesh_io
