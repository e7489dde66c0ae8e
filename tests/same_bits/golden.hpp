// Holds the golden hashes of the tests in this folder, which are the same on every machine. After a change that alters
// results on purpose, run the tests and copy the hashes that they print. Other hashes of tissue or state need a higher
// kModelVersion (deform/model_version.hpp), which must be copied here too.
#pragma once

#include <cstdint>

namespace trocar::golden {

constexpr int kOfModelVersion = 13;
constexpr std::uint64_t kTissue = 0x9c00fb6430795d16;
constexpr std::uint64_t kQuery = 0x04e040e10ef6afe9;

struct Performance {
  std::uint64_t state, score;
};
constexpr Performance kLift{0x7d57d7c8b6caa8ce, 0xb4ff3848c8f55535};
constexpr Performance kBurn{0xb013287fb3751a81, 0xf3c80c2056808f92};
constexpr Performance kCamera{0xf4441f411de26fcd, 0xc89ec5d8f14ff729};

}  // namespace trocar::golden
