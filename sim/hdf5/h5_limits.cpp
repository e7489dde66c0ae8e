#include "sim/hdf5/h5_limits.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>

namespace trocar {
namespace {

// Deflate has the highest compression ratio of the usual filters, 1032 : 1.
constexpr std::uint64_t kDensest = 1100;
// HDF5 keeps a whole chunk in memory; the recorder's chunks have 64 KiB, or one row.
constexpr std::uint64_t kLargestChunk = std::uint64_t{256} << 20;  // bytes

struct Properties {
  hid_t id;
  ~Properties() { H5Pclose(id); }
};

// Computes the number of bytes of all cells; false when it exceeds 64 bits.
bool product(const std::vector<unsigned long long>& shape, std::size_t cell_bytes, std::uint64_t& bytes) {
  bytes = cell_bytes;
  for (const std::uint64_t count : shape)
    if (__builtin_mul_overflow(bytes, count, &bytes)) return false;
  return true;
}

std::string fault_of_chunks(hid_t properties, std::size_t dimensions, std::size_t cell_bytes) {
  std::vector<hsize_t> chunk(dimensions);
  if (H5Pget_chunk(properties, static_cast<int>(dimensions), chunk.data()) != static_cast<int>(dimensions))
    return "has chunks of another shape";
  std::uint64_t bytes = 0;
  return product(chunk, cell_bytes, bytes) && bytes <= kLargestChunk ? "" : "has chunks larger than 256 MiB";
}

}  // namespace

std::string fault_of_links(std::int64_t file, const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != 1; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    H5L_info_t link{};
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return fmt::format("has no {}", part);
    if (H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
      return fmt::format("{} is a link to another object or another file", part);
    if (end == std::string::npos) break;
  }
  return {};
}

std::string fault_of_table(std::int64_t table, const std::vector<unsigned long long>& shape, std::size_t cell_bytes,
                           std::uint64_t file_bytes) {
  const Properties properties{H5Dget_create_plist(table)};
  const H5D_layout_t layout = H5Pget_layout(properties.id);
  if (layout == H5D_VIRTUAL) return "is a virtual dataset with data in other files";
  if (H5Pget_external_count(properties.id) != 0) return "has its data in other files";
  if (layout == H5D_CHUNKED)
    if (std::string fault = fault_of_chunks(properties.id, shape.size(), cell_bytes); !fault.empty()) return fault;
  const bool packed = layout == H5D_CHUNKED && H5Pget_nfilters(properties.id) > 0;
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(table), file_bytes);
  std::uint64_t bytes = 0;
  if (!product(shape, cell_bytes, bytes) || bytes / (packed ? kDensest : 1) > stored)
    return "claims more rows than its file can hold";
  // Rows without cells need no storage, so their number needs its own limit.
  if (bytes == 0 && shape.front() > file_bytes) return "claims more rows than its file can hold";
  return {};
}

}  // namespace trocar
