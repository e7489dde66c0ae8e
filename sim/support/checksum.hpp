// Computes a checksum against accidental damage: FNV-1a of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trocar {

inline constexpr std::uint64_t kEmptyChecksum = 14695981039346656037ull;

// Returns the checksum of the bytes before, whose checksum is `sum`, and these.
inline std::uint64_t checksum_of(std::span<const std::byte> bytes, std::uint64_t sum = kEmptyChecksum) {
  for (const std::byte byte : bytes) sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211ull;
  return sum;
}

}  // namespace trocar
