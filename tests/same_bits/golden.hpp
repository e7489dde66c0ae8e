// Holds the golden hashes of the tests in this folder, which are the same on every machine. After a change that alters
// results on purpose, run the tests and copy the hashes that they print. Other hashes of tissue or state need a higher
// kModelVersion (deform/model_version.hpp), which must be copied here too.
#pragma once

#include <cstdint>

namespace trocar::golden {

constexpr int kOfModelVersion = 14;
constexpr std::uint64_t kTissue = 0x82ebb62b006a45f9;
constexpr std::uint64_t kQuery = 0x04e040e10ef6afe9;

struct Performance {
  std::uint64_t state, score;
};
constexpr Performance kLift{0x42d7d96ea89da1b1, 0x3dc8f9bcbfee4075};
constexpr Performance kBurn{0x7aad74e4fc13db75, 0x5609283644b88f52};
constexpr Performance kCamera{0xf4441f411de26fcd, 0xc89ec5d8f14ff729};

}  // namespace trocar::golden
