// Defines the code that all fuzz targets share. A target receives the bytes of one file or stream. It returns when they
// were read, or refused with an error sentence; in all other cases it aborts the program. The same targets are linked
// with libFuzzer (`./run fuzz`, coverage-guided, with sanitizers) and with replay_main.cpp (in the test suite: the
// corpus, then random changes of it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "geometry/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace trocar::fuzz {

using Bytes = std::span<const std::uint8_t>;

// Aborts the program: an accepted input violates a required property.
[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "fuzz target: %s\n", what);
  std::abort();
}

inline void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

// Requires a sentence for users: not empty, at most 1,200 bytes (including paths), no control characters.
inline void check_sentence(std::string_view text) {
  require(!text.empty() && text.size() <= 1200, "the error is empty or longer than 1,200 bytes");
  for (const char c : text)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "the error contains a control character");
}

// Runs `body`. InputError and RunError are valid results; every other exception is a defect.
template <typename Body>
bool accepted(const Body& body) {
  try {
    body();
    return true;
  } catch (const InputError& error) {
    check_sentence(error.what());
  } catch (const RunError& error) {
    check_sentence(error.what());
  }
  return false;
}

// The targets of text_fuzz.cpp.
void fuzz_attempt(const std::uint8_t* data, std::size_t size);
void fuzz_curriculum(const std::uint8_t* data, std::size_t size);
void fuzz_plan(const std::uint8_t* data, std::size_t size);
void fuzz_scene(const std::uint8_t* data, std::size_t size);
void fuzz_trajectory(const std::uint8_t* data, std::size_t size);

// Writes the input to a file in memory, one per process, and returns its path.
std::filesystem::path as_file(Bytes bytes, std::string_view extension);

}  // namespace trocar::fuzz
