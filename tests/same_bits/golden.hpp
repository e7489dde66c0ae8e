// Holds the golden hashes of the tests in this folder, which are the same on every machine. After a change that alters
// results on purpose, run the tests and copy the hashes that they print. Other hashes of tissue or state need a higher
// kModelVersion (deform/model_version.hpp), which must be copied here too.
#pragma once

#include <cstdint>

namespace trocar::golden {

constexpr int kOfModelVersion = 18;
constexpr std::uint64_t kTissue = 0x3bdd8217f6327fbc;
constexpr std::uint64_t kQuery = 0x04e040e10ef6afe9;

struct Performance {
  std::uint64_t state, score;
};
constexpr Performance kLift{0x4a2ac687f17c3518, 0xf4651ee30d1e3de0};
constexpr Performance kBurn{0x270455d7bf7fe3d3, 0xe3f7252d7af4fb03};
constexpr Performance kCamera{0x93abbf60a38d1939, 0xa852d173dca1abd0};

}  // namespace trocar::golden
