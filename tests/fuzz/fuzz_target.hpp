// What every fuzz target shares. A target takes the bytes of one file or stream; it returns when they were read or
// refused with a sentence, and stops the program on everything else. The same targets are linked with libFuzzer (`./run
// fuzz`, coverage-guided, with sanitizers) and with replay_main.cpp (in the test suite: the corpus, then random changes
// of it).
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

// Stops the program: what follows from an input that was accepted does not hold.
[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "fuzz target: %s\n", what);
  std::abort();
}

inline void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

// A sentence for a user: not empty, at most 1,200 bytes (paths included), no control characters.
inline void check_sentence(std::string_view text) {
  require(!text.empty() && text.size() <= 1200, "the error is empty or longer than 1,200 bytes");
  for (const char c : text)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "the error holds a control character");
}

// Runs `body`; InputError and RunError are answers, every other exception is a defect.
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

// Writes the input to a file in memory, one per process, and returns where it is.
std::filesystem::path as_file(Bytes bytes, std::string_view extension);

}  // namespace trocar::fuzz
