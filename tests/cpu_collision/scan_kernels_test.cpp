// Every vector version of the scan's inner loops answers bit for bit as the plain one, and the widened float planes
// never put outside what the exact ones keep.
#include "cpu_collision/scan_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/cpu_collision/scan_support.hpp"

namespace trocar {
namespace {

using test::Dice;

constexpr std::uint32_t kSeed = 20250611;
constexpr std::uint32_t kPatches = 5, kSlots = kPatches * kPatchVertices;

struct Patched {
  std::vector<float> positions;       // one float more than the last vertex has, as the vector versions need
  std::vector<std::uint32_t> source;  // [slot]
  std::vector<PatchPositions> patches = std::vector<PatchPositions>(kPatches);
  std::vector<PatchBox> boxes = std::vector<PatchBox>(kPatches);
  const float* xyz() const { return patches.front().xyz; }
  PatchBox all{{1e30f, 1e30f, 1e30f, 0.f}, {-1e30f, -1e30f, -1e30f, 0.f}};
};

Patched random_patches(Dice& dice) {
  Patched patched;
  const int vertices = 1 + dice.pick(400);
  for (int v = 0; v < vertices; ++v) {
    const glm::vec3 point(dice.in_cube(0.3));
    patched.positions.insert(patched.positions.end(), {point.x, point.y, point.z});
  }
  patched.positions.push_back(0.f);
  for (std::uint32_t s = 0; s < kSlots; ++s) patched.source.push_back(3 * dice.pick(vertices));
  return patched;
}

void take(const ScanKernels& kernels, Patched& patched) {
  kernels.take_patches(patched.positions.data(), patched.source.data(), kPatches, patched.patches.front().xyz,
                       patched.boxes.data(), patched.all);
}

bool same_box(const PatchBox& a, const PatchBox& b) {
  return std::memcmp(a.low, b.low, 3 * sizeof(float)) == 0 && std::memcmp(a.high, b.high, 3 * sizeof(float)) == 0;
}

TEST(ScanKernels, TakeAlike) {
  Dice dice(kSeed);
  for (int round = 0; round < 50; ++round) {
    Patched plain = random_patches(dice);
    take(plain_scan_kernels(), plain);
    for (const ScanKernels* kernels : test::all_kernels()) {
      Patched fast{plain.positions, plain.source};
      take(*kernels, fast);
      EXPECT_EQ(std::memcmp(plain.xyz(), fast.xyz(), 3 * kSlots * sizeof(float)), 0) << kernels->name;
      for (std::uint32_t p = 0; p < kPatches; ++p)
        EXPECT_TRUE(same_box(plain.boxes[p], fast.boxes[p])) << kernels->name << ", seed " << kSeed;
      EXPECT_TRUE(same_box(plain.all, fast.all)) << kernels->name << ", seed " << kSeed;
    }
  }
}

TEST(ScanKernels, GiveTheSameCodes) {
  Dice dice(kSeed + 1);
  for (int round = 0; round < 400; ++round) {
    Patched patched = random_patches(dice);
    take(plain_scan_kernels(), patched);
    const PlaneLanes<float> planes = widened_lanes(test::random_planes(dice, dice.pick(kMaxPlanes + 1)), 0.3f);
    std::array<PlaneCode, kPatches> box_codes, fast_box_codes;
    plain_scan_kernels().box_codes(planes, patched.boxes.data(), kPatches, box_codes.data());
    for (const ScanKernels* kernels : test::all_kernels()) {
      kernels->box_codes(planes, patched.boxes.data(), kPatches, fast_box_codes.data());
      EXPECT_EQ(box_codes, fast_box_codes) << kernels->name << ", seed " << kSeed + 1;
      for (std::uint32_t p = 0; p < kPatches; ++p) {
        std::array<PlaneCode, kPatchVertices> codes, fast_codes;
        const float* xyz = patched.xyz() + 3 * p * kPatchVertices;
        const PlaneCode common = plain_scan_kernels().vertex_codes(planes, xyz, codes.data());
        EXPECT_EQ(common, kernels->vertex_codes(planes, xyz, fast_codes.data())) << kernels->name;
        EXPECT_EQ(codes, fast_codes) << kernels->name << ", seed " << kSeed + 1;
        EXPECT_EQ(box_codes[p] & common, box_codes[p]) << "a box is outside what its vertices are not";
      }
    }
  }
}

TEST(ScanKernels, JudgeAlike) {
  Dice dice(kSeed + 2);
  int seen[3] = {0, 0, 0};
  for (int round = 0; round < 400; ++round) {
    Patched patched = random_patches(dice);
    take(plain_scan_kernels(), patched);
    std::vector<ScanFace> faces;
    std::vector<std::uint32_t> listed;
    for (std::uint32_t f = 0; f < 100; ++f) {
      const auto slot = [&] { return static_cast<std::uint32_t>(dice.pick(kSlots)); };
      faces.push_back({{slot(), slot(), slot()}, f});
      if (dice.pick(2)) listed.push_back(f);
    }
    const PlaneLanes<double> planes = exact_lanes(test::random_planes(dice, dice.pick(kMaxPlanes + 1)));
    std::vector<FaceVerdict> verdicts(listed.size()), fast(listed.size());
    plain_scan_kernels().judge_faces(planes, patched.xyz(), faces.data(), listed, verdicts.data());
    for (const FaceVerdict verdict : verdicts) ++seen[static_cast<int>(verdict)];
    for (const ScanKernels* kernels : test::all_kernels()) {
      kernels->judge_faces(planes, patched.xyz(), faces.data(), listed, fast.data());
      EXPECT_EQ(verdicts, fast) << kernels->name << ", seed " << kSeed + 2;
    }
  }
  for (const int count : seen) EXPECT_GT(count, 100);
}

// Points as close to a plane as floats come: none that the exact plane keeps may get a bit.
TEST(ScanKernels, WidenedPlanesKeepWhatExactPlanesKeep) {
  Dice dice(kSeed + 3);
  for (int round = 0; round < 20000; ++round) {
    const double reach = std::pow(10.0, dice.uniform(-4.0, 4.0));
    ToolVolume tool = test::random_planes(dice, 1);
    const glm::dvec3 point = dice.in_cube(reach);
    const glm::vec3 rounded(point);
    const double height = glm::dot(glm::dvec3(tool.planes[0]), glm::dvec3(rounded));
    tool.planes[0].w = static_cast<float>(-height);
    const double exact = height + tool.planes[0].w;
    std::array<float, 3 * kPatchVertices> xyz;
    for (std::size_t i = 0; i < xyz.size(); ++i) xyz[i] = rounded[i % 3];
    std::array<PlaneCode, kPatchVertices> codes;
    const auto planes = widened_lanes(tool, static_cast<float>(reach));
    const PlaneCode common = plain_scan_kernels().vertex_codes(planes, xyz.data(), codes.data());
    EXPECT_TRUE(common == 0 || exact < 0.0) << "height " << exact << ", seed " << kSeed + 3;
  }
}

TEST(ScanKernels, BestIsTheLastAvailable) { EXPECT_EQ(&best_scan_kernels(), test::all_kernels().back()); }

}  // namespace
}  // namespace trocar
