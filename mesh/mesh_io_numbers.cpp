#include "mesh/mesh_io_numbers.hpp"

#include <bit>

#include "mesh/mesh_io_text.hpp"

namespace trocar::mesh_io {
namespace {

// A name that a format does not have is empty. PLY has an old and a new name for each type, legacy VTK up to three.
struct Row {
  NumberType type;
  std::string_view ply, new_ply, vtk, fixed_vtk, vtk_id, vtp;
};

constexpr Row kRows[] = {{{1, 'i'}, "char", "int8", "char", "", "", "Int8"},
                         {{1, 'u'}, "uchar", "uint8", "unsigned_char", "", "", "UInt8"},
                         {{2, 'i'}, "short", "int16", "short", "", "", "Int16"},
                         {{2, 'u'}, "ushort", "uint16", "unsigned_short", "", "", "UInt16"},
                         {{4, 'i'}, "int", "int32", "int", "vtktypeint32", "vtkidtype", "Int32"},
                         {{4, 'u'}, "uint", "uint32", "unsigned_int", "vtktypeuint32", "", "UInt32"},
                         {{8, 'i'}, "", "", "long", "vtktypeint64", "", "Int64"},
                         {{8, 'u'}, "", "", "unsigned_long", "vtktypeuint64", "", "UInt64"},
                         {{4, 'f'}, "float", "float32", "float", "", "", "Float32"},
                         {{8, 'f'}, "double", "float64", "double", "", "", "Float64"}};

// Further names: of PLY files, and of arrays in legacy VTK files.
struct Alias {
  std::string_view name;
  NumberType type;
};
constexpr Alias kPlyAliases[] = {{"long", {8, 'i'}},  {"int64", {8, 'i'}},  {"longlong", {8, 'i'}},
                                 {"ulong", {8, 'u'}}, {"uint64", {8, 'u'}}, {"ulonglong", {8, 'u'}},
                                 {"bool", {1, 'u'}}};
constexpr Alias kVtkAliases[] = {
    {"signed_char", {1, 'i'}},    {"vtktypeint8", {1, 'i'}},     {"vtktypeuint8", {1, 'u'}},
    {"vtktypeint16", {2, 'i'}},   {"vtktypeuint16", {2, 'u'}},   {"vtktypefloat32", {4, 'f'}},
    {"vtktypefloat64", {8, 'f'}}, {"long_long", {8, 'i'}},       {"unsigned_long_long", {8, 'u'}},
    {"__int64", {8, 'i'}},        {"unsigned___int64", {8, 'u'}}};

template <class Matches>
const NumberType* find_type(std::string_view name, Matches matches) {
  if (name.empty()) return nullptr;
  for (const Row& row : kRows)
    if (matches(row)) return &row.type;
  return nullptr;
}

}  // namespace

const NumberType* ply_type(std::string_view name) {
  for (const Alias& alias : kPlyAliases)
    if (alias.name == name) return &alias.type;
  return find_type(name, [name](const Row& row) { return row.ply == name || row.new_ply == name; });
}

const NumberType* vtk_type(std::string_view name) {
  for (const Alias& alias : kVtkAliases)
    if (equal_ignoring_case(alias.name, name)) return &alias.type;
  return find_type(name, [name](const Row& row) {
    return equal_ignoring_case(row.vtk, name) || equal_ignoring_case(row.fixed_vtk, name) ||
           equal_ignoring_case(row.vtk_id, name);
  });
}

const NumberType* vtp_type(std::string_view name) {
  return find_type(name, [name](const Row& row) { return row.vtp == name; });
}

std::uint64_t bits_of(const char* bytes, std::size_t count, bool big_endian) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i)
    bits = bits << 8 | static_cast<unsigned char>(bytes[big_endian ? i : count - 1 - i]);
  return bits;
}

std::int64_t integer_of(std::uint64_t bits, NumberType type) {
  if (type.kind == 'u') return static_cast<std::int64_t>(bits);
  const int unused = 64 - 8 * static_cast<int>(type.bytes);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double number_of(std::uint64_t bits, NumberType type) {
  if (type.kind != 'f') return static_cast<double>(integer_of(bits, type));
  return type.bytes == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                         : std::bit_cast<double>(bits);
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace trocar::mesh_io
