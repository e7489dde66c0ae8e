// Names the number types of PLY, legacy VTK and VTP files and converts the numbers of binary data. Internal to
// the readers in mesh/.   Tested through tests/mesh/mesh_io_test.cpp and mesh_io_errors_test.cpp
#pragma once

#include <cstdint>
#include <string_view>

namespace trocar::mesh_io {

struct NumberType {
  std::size_t bytes = 0;
  char kind = 'i';  // 'i' signed, 'u' unsigned, 'f' floating
};

// Return the type of that name; null when the format has none. Legacy VTK ignores case.
const NumberType* ply_type(std::string_view name);
const NumberType* vtk_type(std::string_view name);
const NumberType* vtp_type(std::string_view name);

// Returns the bits of a number of `count` bytes in the file.
std::uint64_t bits_of(const char* bytes, std::size_t count, bool big_endian);
std::int64_t integer_of(std::uint64_t bits, NumberType type);  // of type 'i' or 'u'
double number_of(std::uint64_t bits, NumberType type);

// Returns the value of a base64 digit, 0 to 63; -1 for another character.
int base64_digit(char c);

}  // namespace trocar::mesh_io
