// Reads the superblock (the first bytes) of an HDF5 file, version 2 or 3, to decide whether the writer closed the file.
// Computes the superblock of a closed file. Layout: HDF5 File Format Specification 3.0, II.A; checksum: Bob Jenkins'
// lookup3.   Tested in tests/sim/recording_bytes_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace trocar {

// The flag that a writer keeps in the file while the file is open.
enum class WriterMark {
  None,      // the writer closed the file
  Starting,  // the writer has the file open; readers must not open it
  Appending  // the writer has the file open and appends (SWMR); readers may open it
};

struct Superblock {
  static constexpr std::size_t kBytes = 48;
  std::array<std::byte, kBytes> bytes{};

  // Returns nothing when the bytes are not an intact superblock of these versions.
  static std::optional<Superblock> read(std::span<const std::byte> start);

  WriterMark mark() const;
  // Returns the superblock without a writer for a file of `size` bytes; h5clear writes the same after a kill.
  Superblock closed(std::uint64_t size) const;
};

// Returns true when the file begins with an HDF5 superblock older than version 2: its metadata have no checksums, so
// HDF5 cannot detect that they are damaged. `start`: at least the first 9 bytes.
bool lacks_checksums(std::span<const std::byte> start);

// Returns the hash that HDF5 appends to its metadata.
std::uint32_t lookup3(std::span<const std::byte> bytes);

}  // namespace trocar
