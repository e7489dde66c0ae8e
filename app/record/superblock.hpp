// The first bytes of an HDF5 file of superblock version 2 or 3: whether its writer closed it, and the bytes as they
// would be if it had. The layout is that of the HDF5 File Format Specification 3.0, II.A; the checksum is Bob Jenkins'
// lookup3. Tested in tests/app/recording_bytes_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace trocar {

// What a writer leaves in the file while it has it open.
enum class WriterMark {
  None,      // it closed the file
  Starting,  // it has the file open, readers must stay away
  Appending  // it has the file open and appends (SWMR): readers may look in
};

struct Superblock {
  static constexpr std::size_t kBytes = 48;
  std::array<std::byte, kBytes> bytes{};

  // Nothing for bytes that are not such a superblock, or a damaged one.
  static std::optional<Superblock> read(std::span<const std::byte> start);

  WriterMark mark() const;
  // With no writer, and the file ending at `size`: what h5clear writes into a file that a killed process left behind.
  Superblock closed(std::uint64_t size) const;
};

// Whether the file begins with an HDF5 superblock older than version 2: its metadata carry no checksums, so HDF5 cannot
// notice that they are damaged. `start`: at least 9 bytes.
bool lacks_checksums(std::span<const std::byte> start);

// The hash that HDF5 puts behind its metadata.
std::uint32_t lookup3(std::span<const std::byte> bytes);

}  // namespace trocar
