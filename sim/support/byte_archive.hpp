// Writes values into a block of bytes and reads them back, field by field in the same order. A type is described once
// by a function fields(archive, value) that serves both directions. Numbers are little-endian, and counts have 64 bits.
// Throws InputError when a block ends too early, or holds a count that does not fit in it or a truth value other than
// 0 and 1.
// Tested in tests/sim/session/saved_session_test.cpp
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <glm/glm.hpp>
#include <span>
#include <type_traits>
#include <vector>

#include "geometry/error.hpp"

namespace trocar {

// Computes a checksum against accidental damage: FNV-1a of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).

inline constexpr std::uint64_t kEmptyChecksum = 14695981039346656037ull;

// Returns the checksum of the bytes before, whose checksum is `sum`, and these.
inline std::uint64_t checksum_of(std::span<const std::byte> bytes, std::uint64_t sum = kEmptyChecksum) {
  for (const std::byte byte : bytes) sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211ull;
  return sum;
}

static_assert(std::endian::native == std::endian::little, "blocks of bytes are little-endian");

// Types that are stored as they lie in memory: they have no padding.
template <typename T>
struct IsPlain : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T>> {};
template <glm::length_t N, typename T, glm::qualifier Q>
struct IsPlain<glm::vec<N, T, Q>> : std::true_type {};

class ByteWriter {
 public:
  static constexpr bool kReads = false;

  void raw(const void* from, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + bytes);
  }
  std::uint64_t count(std::uint64_t value, std::size_t) {
    raw(&value, sizeof value);
    return value;
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  static constexpr bool kReads = true;

  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}
  void raw(void* to, std::size_t bytes) {
    if (bytes > left_.size()) throw InputError("the saved session is cut short; save it again");
    if (bytes > 0) std::memcpy(to, left_.data(), bytes);
    left_ = left_.subspan(bytes);
  }
  // Number of elements of at least `element_bytes` each.
  std::uint64_t count(std::uint64_t, std::size_t element_bytes) {
    std::uint64_t value = 0;
    raw(&value, sizeof value);
    if (value > left_.size() / element_bytes) throw InputError("the saved session is damaged; save it again");
    return value;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

template <typename Archive, typename T>
void field(Archive& archive, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    auto byte = static_cast<std::uint8_t>(value);
    archive.raw(&byte, sizeof byte);
    if (byte > 1) throw InputError("the saved session is damaged; save it again");
    value = byte != 0;
  } else if constexpr (IsPlain<T>::value) {
    archive.raw(&value, sizeof value);
  } else {
    fields(archive, value);
  }
}

// Returns the bytes of the smallest value of a type: one whose lists are empty.
template <typename T>
std::size_t least_bytes() {
  T smallest{};
  ByteWriter out;
  field(out, smallest);
  return out.take().size();
}

template <typename Archive, typename T>
void field(Archive& archive, std::vector<T>& list) {
  static const std::size_t element_bytes = least_bytes<T>();
  const std::uint64_t count = archive.count(list.size(), element_bytes);
  if constexpr (Archive::kReads) list.resize(count);
  if constexpr (IsPlain<T>::value) {
    archive.raw(list.data(), list.size() * sizeof(T));
  } else {
    for (T& element : list) field(archive, element);
  }
}

template <typename Archive, typename... Fields>
void all(Archive& archive, Fields&... values) {
  (field(archive, values), ...);
}

}  // namespace trocar
