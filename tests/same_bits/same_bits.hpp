// Computes the hash of the golden-hash tests and selects the kernels.
// After a change that alters results on purpose: run the tests, copy the printed hashes into golden.hpp, and mention it
// in the commit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <glm/glm.hpp>

#include "deform/model_version.hpp"
#include "geometry/machine.hpp"
#include "geometry/touch.hpp"
#include "tests/same_bits/golden.hpp"

namespace trocar::test {

// FNV-1a over the bits of the values, never over padding.
class Hash {
 public:
  template <std::integral Whole>
  void add(Whole whole) {
    auto bits = static_cast<std::uint64_t>(whole);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) value_ = (value_ ^ (bits & 0xff)) * 1099511628211ull;
  }
  void add(double value) {
    add(std::isnan(value) ? std::uint64_t{0x7ff8000000000000} : std::bit_cast<std::uint64_t>(value));
  }
  void add(const glm::vec3& v) { add(double(v.x)), add(double(v.y)), add(double(v.z)); }
  void add(const glm::dvec3& v) { add(v.x), add(v.y), add(v.z); }
  void add(const Touch& touch) {
    add(index(touch.face));
    add(touch.point), add(touch.normal), add(double(touch.depth)), add(double(touch.time));
  }
  template <typename Value>
  void add_all(const Value& values) {
    for (const auto& value : values) add(value);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ull;
};

inline void expect_golden(const char* run, const Hash& hash, std::uint64_t golden) {
  std::printf("golden hash of the %s: 0x%016llx\n", run, static_cast<unsigned long long>(hash.value()));
  EXPECT_EQ(hash.value(), golden) << run;
}

// Does the same for a hash of tissue: recordings tell the bits of one model from those of another by its version.
inline void expect_golden_model(const char* run, const Hash& hash, std::uint64_t golden) {
  expect_golden(run, hash, golden);
  EXPECT_EQ(golden::kOfModelVersion, kModelVersion)
      << "golden.hpp holds the hashes of another model version; copy the printed hashes and the version";
  if (hash.value() != golden && golden::kOfModelVersion == kModelVersion)
    ADD_FAILURE() << "the bits of the tissue have changed: raise kModelVersion in deform/model_version.hpp";
}

class SameBits : public ::testing::Test {
 protected:
  void SetUp() override {
    static constexpr const char* kNames[] = {"plain", "avx2", "avx512"};
    const char* wanted = std::getenv("TROCAR_INSTRUCTIONS");
    const char* used = kNames[static_cast<int>(instructions())];
    if (wanted && std::strcmp(wanted, used) != 0)
      GTEST_SKIP() << "SKIPPED: this processor has no " << wanted << " instructions";
    std::printf("instructions: %s\n", used);
  }
};

}  // namespace trocar::test
