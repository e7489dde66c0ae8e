// Holds the golden hashes of the tests in this folder, which are the same on every machine. After a change that alters
// results on purpose, run the tests and copy the hashes that they print. Other hashes of tissue or state need a higher
// kModelVersion (deform/model_version.hpp), which must be copied here too.
#pragma once

#include <cstdint>

namespace trocar::golden {

constexpr int kOfModelVersion = 12;
constexpr std::uint64_t kTissue = 0xcb54277133a6e816;
constexpr std::uint64_t kQuery = 0x04e040e10ef6afe9;

struct Performance {
  std::uint64_t state, score;
};
constexpr Performance kLift{0xa0d91bd76cfcd462, 0x058ff5b0ab5702e6};
constexpr Performance kBurn{0x63dc202622e7200a, 0x666ea340034934db};
constexpr Performance kCamera{0xf4441f411de26fcd, 0xc89ec5d8f14ff729};

}  // namespace trocar::golden
