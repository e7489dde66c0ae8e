// Holds the golden hashes of the tests in this folder, which are the same on every machine. After a change that alters
// results on purpose, run the tests and copy the hashes that they print. Other hashes of tissue or state need a higher
// kModelVersion (deform/model_version.hpp), which must be copied here too.
#pragma once

#include <cstdint>

namespace trocar::golden {

constexpr int kOfModelVersion = 2;
constexpr std::uint64_t kTissue = 0x60d33a632ca0c8e5;
constexpr std::uint64_t kQuery = 0x04e040e10ef6afe9;

struct Performance {
  std::uint64_t state, score;
};
constexpr Performance kLift{0x2afcdf94a9372650, 0xdede18bf866a1612};
constexpr Performance kBurn{0x7909fbd080a4272a, 0xcfc54e3a18533cf2};
constexpr Performance kCamera{0x96109eb3a87cbbc3, 0xda7075433a504a95};

}  // namespace trocar::golden
