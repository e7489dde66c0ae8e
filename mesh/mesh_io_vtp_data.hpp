// Reads the numbers of one VTP data array: ascii, base64 or raw, inline or appended, compressed or not. Internal to
// mesh/. Every length is compared with the file's size before memory is allocated. Tested against VTK's writer in
// tests/mesh/mesh_io_twins_test.cpp
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/mesh_io_text.hpp"

namespace trocar::mesh_io {

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

// Reads exactly `count` numbers. Throws InputError when the array has another length.
std::vector<double> vtp_coordinates(const Source& source, const VtpEncoding& encoding, const VtpArray& array,
                                    std::uint64_t count);
std::vector<std::int64_t> vtp_integers(const Source& source, const VtpEncoding& encoding, const VtpArray& array,
                                       std::uint64_t count);

}  // namespace trocar::mesh_io
