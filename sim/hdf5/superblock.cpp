#include "sim/hdf5/superblock.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trocar {
namespace {

// Offsets in the superblock, bytes.
constexpr std::size_t kVersion = 8, kSizeOfOffsets = 9, kFlags = 11, kBaseAddress = 12, kEndOfFile = 28, kChecksum = 44;
constexpr unsigned kWriting = 1, kSwmrWriting = 4;  // of kFlags

constexpr unsigned char kSignature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value = 0;
  for (std::size_t k = 0; k < sizeof(T); ++k)
    value |= static_cast<T>(static_cast<T>(std::to_integer<unsigned>(bytes[at + k])) << (8 * k));
  return value;
}

template <typename T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
  for (std::size_t k = 0; k < sizeof(T); ++k) bytes[at + k] = static_cast<std::byte>((value >> (8 * k)) & 0xff);
}

struct Hash {
  std::uint32_t a, b, c;

  void mix() {
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }

  void finish() {
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
  }

  void add(std::span<const std::byte> block) {
    std::array<std::byte, 12> whole{};
    std::copy(block.begin(), block.end(), whole.begin());
    a += get<std::uint32_t>(whole, 0);
    b += get<std::uint32_t>(whole, 4);
    c += get<std::uint32_t>(whole, 8);
  }
};

}  // namespace

bool lacks_checksums(std::span<const std::byte> start) {
  return std::memcmp(start.data(), kSignature, sizeof kSignature) == 0 && get<std::uint8_t>(start, kVersion) < 2;
}

std::uint32_t lookup3(std::span<const std::byte> bytes) {
  const std::uint32_t start = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  Hash hash{start, start, start};
  if (bytes.empty()) return hash.c;
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    hash.add(bytes.first(12));
    hash.mix();
  }
  hash.add(bytes);
  hash.finish();
  return hash.c;
}

std::optional<Superblock> Superblock::read(std::span<const std::byte> start) {
  if (start.size() < kBytes || std::memcmp(start.data(), kSignature, sizeof kSignature) != 0) return {};
  Superblock block;
  std::copy_n(start.begin(), kBytes, block.bytes.begin());
  const auto version = std::to_integer<unsigned>(block.bytes[kVersion]);
  const bool known = (version == 2 || version == 3) && std::to_integer<unsigned>(block.bytes[kSizeOfOffsets]) == 8 &&
                     get<std::uint64_t>(block.bytes, kBaseAddress) == 0;
  if (!known || get<std::uint32_t>(block.bytes, kChecksum) != lookup3(std::span(block.bytes).first(kChecksum)))
    return {};
  return block;
}

WriterMark Superblock::mark() const {
  const auto flags = std::to_integer<unsigned>(bytes[kFlags]);
  if (flags & kSwmrWriting) return WriterMark::Appending;
  return flags & kWriting ? WriterMark::Starting : WriterMark::None;
}

Superblock Superblock::closed(std::uint64_t size) const {
  Superblock block = *this;
  block.bytes[kFlags] = std::byte{0};
  put(block.bytes, kEndOfFile, size);
  put(block.bytes, kChecksum, lookup3(std::span<const std::byte>(block.bytes).first(kChecksum)));
  return block;
}

}  // namespace trocar
