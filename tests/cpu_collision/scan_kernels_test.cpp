// Tests that every vector version of the scan's inner loops returns the same bits as the plain one, and that the
// widened float planes never exclude a point that the exact planes include.
#include "cpu_collision/scan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "tests/cpu_collision/scan_support.hpp"

namespace trocar {
namespace {

using Dice = test::ScanDice;

constexpr std::uint32_t kSeed = 20250611;
constexpr std::uint32_t kPatches = 5, kSlots = kPatches * kPatchVertices;

struct Patched {
  std::vector<float> positions;       // one float of padding for the vector versions
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

TEST(ScanKernels, VectorPatchesMatchPlain) {
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

TEST(ScanKernels, VectorCodesMatchPlain) {
  Dice dice(kSeed + 1);
  for (int round = 0; round < 400; ++round) {
    Patched patched = random_patches(dice);
    take(plain_scan_kernels(), patched);
    const PlaneLanes<float> planes = scan_planes(test::random_planes(dice, dice.pick(kMaxPlanes + 1)), 0.3f).out;
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
        EXPECT_EQ(box_codes[p] & common, box_codes[p])
            << "a box is outside a plane that its vertices are not outside of";
      }
    }
  }
}

TEST(ScanKernels, VectorVerdictsMatchPlain) {
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
    const ScanPlanes planes = scan_planes(test::random_planes(dice, dice.pick(kMaxPlanes + 1)), 0.3f);
    std::vector<FaceVerdict> verdicts(listed.size()), fast(listed.size());
    plain_scan_kernels().classify_faces(planes, patched.xyz(), faces.data(), listed, verdicts.data());
    for (const FaceVerdict verdict : verdicts) ++seen[static_cast<int>(verdict)];
    for (const ScanKernels* kernels : test::all_kernels()) {
      kernels->classify_faces(planes, patched.xyz(), faces.data(), listed, fast.data());
      EXPECT_EQ(verdicts, fast) << kernels->name << ", seed " << kSeed + 2;
    }
  }
  for (const int count : seen) EXPECT_GT(count, 100);
}

// Points as close to a plane as float allows: outside the outward-moved plane means outside the exact plane, inside the
// inward-moved plane means inside.
TEST(ScanKernels, MovedPlanesAgreeWithExactPlanes) {
  Dice dice(kSeed + 3);
  for (int round = 0; round < 20000; ++round) {
    const double extent = std::pow(10.0, dice.uniform(-4.0, 4.0));
    ToolVolume tool = test::random_planes(dice, 1);
    const glm::vec3 point(dice.in_cube(extent));
    const double height = glm::dot(glm::dvec3(tool.planes[0]), glm::dvec3(point));
    tool.planes[0].w = static_cast<float>(-height);
    const double exact = height + tool.planes[0].w;
    PatchPositions patch;
    for (std::size_t i = 0; i < std::size(patch.xyz); ++i) patch.xyz[i] = point[i % 3];
    std::array<PlaneCode, kPatchVertices> codes;
    const ScanPlanes planes = scan_planes(tool, static_cast<float>(extent));
    PlaneLanes<float> inward = planes.out;
    std::copy(std::begin(planes.in_d), std::end(planes.in_d), std::begin(inward.d));
    const ScanKernels& plain = plain_scan_kernels();
    EXPECT_TRUE(plain.vertex_codes(planes.out, patch.xyz, codes.data()) == 0 || exact < 0.0) << "seed " << kSeed + 3;
    EXPECT_TRUE(plain.vertex_codes(inward, patch.xyz, codes.data()) != 0 || exact >= 0.0) << "seed " << kSeed + 3;
  }
}

// Tests corners on and next to the planes, where the vector versions must switch from float to double.
TEST(ScanKernels, VectorVerdictsMatchPlainOnPlanes) {
  Dice dice(kSeed + 4);
  for (int round = 0; round < 2000; ++round) {
    PatchPositions patch{};
    ToolVolume tool = test::random_planes(dice, 1 + dice.pick(kMaxPlanes));
    for (std::uint32_t v = 0; v < kPatchVertices; ++v) {
      const glm::vec4 plane = tool.planes[dice.pick(tool.plane_count)];
      const glm::dvec3 normal(plane), point = dice.in_cube(0.2);
      const glm::vec3 near(point - normal * (glm::dot(normal, point) + plane.w + dice.uniform(-1e-8, 1e-8)));
      for (int axis = 0; axis < 3; ++axis) patch.xyz[3 * v + axis] = near[axis];
    }
    const ScanPlanes planes = scan_planes(tool, 1.f);
    std::array<ScanFace, 40> faces;
    std::array<std::uint32_t, 40> listed;
    std::array<FaceVerdict, 40> verdicts, fast;
    for (std::uint32_t f = 0; f < faces.size(); ++f) {
      const auto slot = [&] { return static_cast<std::uint32_t>(dice.pick(kPatchVertices)); };
      faces[f] = {{slot(), slot(), slot()}, f};
      listed[f] = f;
    }
    plain_scan_kernels().classify_faces(planes, patch.xyz, faces.data(), listed, verdicts.data());
    for (const ScanKernels* kernels : test::all_kernels()) {
      kernels->classify_faces(planes, patch.xyz, faces.data(), listed, fast.data());
      EXPECT_EQ(verdicts, fast) << kernels->name << ", seed " << kSeed + 4;
    }
  }
}

TEST(ScanKernels, BestIsTheLastAvailable) { EXPECT_EQ(&best_scan_kernels(), test::all_kernels().back()); }

}  // namespace
}  // namespace trocar
