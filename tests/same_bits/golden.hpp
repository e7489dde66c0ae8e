// Holds the golden hashes of the tests in this folder, which are the same on every machine. After a change that alters
// results on purpose, run the tests and copy the hashes that they print. Other hashes of tissue or state need a higher
// kModelVersion (deform/model_version.hpp), which must be copied here too.
#pragma once

#include <cstdint>

namespace trocar::golden {

constexpr int kOfModelVersion = 12;
constexpr std::uint64_t kTissue = 0xa4bbb98d46d29704;
constexpr std::uint64_t kQuery = 0x04e040e10ef6afe9;

struct Performance {
  std::uint64_t state, score;
};
constexpr Performance kLift{0xb058f0efa591c0ee, 0xcc4d4673f643364e};
constexpr Performance kBurn{0xbd23cfdd7e69c9f0, 0x40cf8b5c34269088};
constexpr Performance kCamera{0x1bf94e2f55ee1a9c, 0x9bfaaeed086f649e};

}  // namespace trocar::golden
