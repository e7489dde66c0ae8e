// The numbers of one VTP data array: ascii, base64 or raw, in the element or appended, compressed or not. Internal to
// mesh/. Every length is compared with what the file can hold before memory is taken. Tested against VTK's writer in
// tests/mesh/mesh_io_twins_test.cpp
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/mesh_io_text.hpp"

namespace trocar::mesh_io {

// What the file says once for all its arrays.
struct VtpEncoding {
  bool big_endian = false;
  std::size_t header_bytes = 4;  // of each length in front of binary data
  std::string_view compressor;   // empty: none
  std::string_view appended;     // behind the underscore, to its end
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

// Exactly `count` numbers; anything else is an InputError.
std::vector<double> vtp_coordinates(const Source& source, const VtpEncoding& encoding, const VtpArray& array,
                                    std::uint64_t count);
std::vector<std::int64_t> vtp_integers(const Source& source, const VtpEncoding& encoding, const VtpArray& array,
                                       std::uint64_t count);

}  // namespace trocar::mesh_io
