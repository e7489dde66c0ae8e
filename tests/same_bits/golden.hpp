// Holds the golden hashes of the tests in this folder, which are the same on every machine. After a change that alters
// results on purpose, run the tests and copy the hashes that they print. Other hashes of tissue or state need a higher
// kModelVersion (deform/model_version.hpp), which must be copied here too.
#pragma once

#include <cstdint>

namespace trocar::golden {

constexpr int kOfModelVersion = 7;
constexpr std::uint64_t kTissue = 0xd1818fb01d7d4f1d;
constexpr std::uint64_t kQuery = 0x04e040e10ef6afe9;

struct Performance {
  std::uint64_t state, score;
};
constexpr Performance kLift{0x3c7c74fec8f96c03, 0x2d603eacdc8a734b};
constexpr Performance kBurn{0x039c5400763a7d7d, 0xf793ea5e31a7765a};
constexpr Performance kCamera{0xca41a5db1f3b1174, 0xbba8e7790cfc32bb};

}  // namespace trocar::golden
