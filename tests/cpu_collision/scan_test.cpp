// Tests that the scan query equals its definition (scan_volume) face for face, and the reference on all faces that are
// not borderline (1 micrometre).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "cpu_collision/reference.hpp"
#include "cpu_collision/scan.hpp"
#include "geometry/refine.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/cpu_collision/scan_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::scan_test {
namespace {

using Dice = test::ScanDice;
using test::face_numbers;

constexpr std::uint32_t kSeed = 20250612;

std::vector<std::uint32_t> volume_answer(TouchQuery& query, const ToolVolume& tool) {
  return face_numbers(query.touched({&tool, 1}, TouchSet::Volume).touches);
}

// Returns the number of faces that both touch.
std::uint64_t expect_agreement(TouchQuery& query, const MeshView& mesh, const ToolVolume& tool, TouchSet set,
                               std::uint32_t seed) {
  const TouchList answer = query.touched({&tool, 1}, set);
  const Agreement agreement = compare_with_reference(reference_touched(mesh, tool, set), answer.touches);
  EXPECT_EQ(agreement.disagreements, 0u) << "seed " << seed;
  return agreement.in_both;
}

// Returns a strip of n - 2 faces over n vertices; fewer than three vertices share one degenerate face.
TriangleMesh strip(std::uint32_t vertices) {
  TriangleMesh mesh;
  for (std::uint32_t v = 0; v < vertices; ++v)
    mesh.positions.push_back(glm::vec3(0.004f * float(v) - 0.1f, v % 2 ? 0.01f : -0.01f, 0.f));
  for (std::uint32_t v = 0; v + 2 < vertices; ++v) mesh.faces.push_back({v, v + 1, v + 2});
  if (mesh.faces.empty()) mesh.faces.push_back({0, vertices - 1, 0});
  return mesh;
}

// Compares the query with its definition on one mesh, at rest and moved, for every kind of tool and every kernel.
// Returns the number of touched faces.
std::size_t expect_as_defined(const TriangleMesh& mesh, Dice& dice, int tools) {
  std::size_t touched = 0;
  for (const ScanKernels* kernels : test::all_kernels()) {
    const auto query = make_scan_query(*kernels);
    query->rebuild(mesh.view());
    std::vector<glm::vec3> positions = mesh.positions;
    for (int t = 0; t < tools; ++t) {
      const ToolVolume tool =
          dice.pick(3) ? test::random_tool(dice) : test::random_planes(dice, dice.pick(kMaxPlanes + 1));
      const auto defined = face_numbers(scan_volume({positions, mesh.faces}, tool));
      EXPECT_EQ(volume_answer(*query, tool), defined) << kernels->name << ", tool " << t << ", seed " << kSeed;
      touched += defined.size();
      positions = test::moved(mesh.positions, dice, 0.003);
      positions.shrink_to_fit();
      query->update(positions);
    }
  }
  return touched;
}

TEST(Scan, MatchesDefinitionOnManyShapes) {
  Dice dice(kSeed);
  for (const TriangleMesh& mesh : {shapes::icosphere(4), shapes::torus(60, 30), shapes::grid(40, 25), shapes::cube(),
                                   shapes::random_soup(11, 800), shapes::random_soup(12, 300, 0.2f, 0.2f)})
    EXPECT_GT(expect_as_defined(mesh, dice, 60), 50u) << mesh.faces.size() << " faces";
}

TEST(Scan, MatchesDefinitionForEveryVertexCountAroundAPatch) {
  Dice dice(kSeed + 1);
  std::size_t touched = 0;
  for (std::uint32_t vertices = 1; vertices <= 70; ++vertices) touched += expect_as_defined(strip(vertices), dice, 12);
  EXPECT_GT(touched, 1000u);
}

TEST(Scan, MatchesDefinitionWithDegenerateFaces) {
  Dice dice(kSeed + 2);
  TriangleMesh mesh = shapes::random_soup(13, 400);
  for (std::size_t f = 0; f < mesh.faces.size(); f += 3) mesh.faces[f].z = mesh.faces[f].x;
  for (std::size_t f = 1; f < mesh.faces.size(); f += 3) mesh.faces[f].y = mesh.faces[f].z = mesh.faces[f].x;
  EXPECT_GT(expect_as_defined(mesh, dice, 60), 500u);
}

TEST(Scan, AgreesWithTheReference) {
  Dice dice(kSeed + 3);
  const TriangleMesh mesh = shapes::joined(shapes::icosphere(3), shapes::random_soup(14, 400));
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::uint64_t in_volume = 0, exact = 0;
  for (int t = 0; t < 60; ++t) {
    const ToolVolume tool = test::random_tool(dice);
    in_volume += expect_agreement(*query, mesh.view(), tool, TouchSet::Volume, kSeed + 3);
    const ToolVolume capsule = swept_volume(tool.step, Cover::Capsule);
    exact += expect_agreement(*query, mesh.view(), capsule, TouchSet::Exact, kSeed + 3);
  }
  EXPECT_GT(in_volume, 100u);
  EXPECT_GT(exact, 100u);
}

TEST(Scan, AnswersEveryToolInTurn) {
  Dice dice(kSeed + 4);
  const TriangleMesh mesh = shapes::icosphere(4);
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::vector<ToolVolume> tools;
  for (int t = 0; t < 9; ++t) tools.push_back(test::random_tool(dice));
  const TouchList all = query->touched(tools, TouchSet::Volume);
  ASSERT_EQ(all.first.size(), tools.size() + 1);
  EXPECT_EQ(all.first.back(), all.touches.size());
  EXPECT_GT(all.touches.size(), 20u);
  for (std::size_t t = 0; t < tools.size(); ++t)
    EXPECT_EQ(face_numbers(all.of_tool(t)), face_numbers(scan_volume(mesh.view(), tools[t])));
  EXPECT_EQ(query->touched({}, TouchSet::Volume).first.size(), 1u);
}

TEST(Scan, ExactTouchesCarryTheirRecord) {
  Dice dice(kSeed + 5);
  const TriangleMesh mesh = shapes::icosphere(4);
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::size_t touches = 0;
  for (int t = 0; t < 50; ++t) {
    const ToolVolume tool = swept_volume(test::random_step(dice), Cover::Capsule);
    const std::vector<FaceId> candidates = scan_volume(mesh.view(), tool);
    std::vector<Touch> own(candidates.size());
    own.resize(refine_touches(tool.step, mesh.view(), candidates, own));
    const TouchList answer = query->touched({&tool, 1}, TouchSet::Exact);
    ASSERT_EQ(answer.touches.size(), own.size()) << "seed " << kSeed + 5;
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(answer.touches[i].face, own[i].face);
      EXPECT_EQ(answer.touches[i].point, own[i].point);
      EXPECT_EQ(answer.touches[i].normal, own[i].normal);
      EXPECT_EQ(answer.touches[i].depth, own[i].depth);
      EXPECT_EQ(answer.touches[i].time, own[i].time);
    }
    touches += own.size();
  }
  EXPECT_GT(touches, 100u) << "seed " << kSeed + 5;
}

TEST(Scan, AcceptsAMeshWithoutFaces) {
  Dice dice(kSeed + 6);
  const ToolVolume tool = test::random_tool(dice);
  const auto query = make_scan_query(best_scan_kernels());
  EXPECT_TRUE(query->touched({&tool, 1}, TouchSet::Exact).touches.empty()) << "before any rebuild";
  query->rebuild({});
  query->update({});
  EXPECT_TRUE(query->touched({&tool, 1}, TouchSet::Exact).touches.empty());
  const TriangleMesh mesh = shapes::cube();
  query->rebuild(mesh.view());
  EXPECT_EQ(volume_answer(*query, test::random_planes(dice, 0)).size(), mesh.faces.size()) << "all of space";
}

TEST(Scan, IgnoresVerticesWithoutAFace) {
  Dice dice(kSeed + 7);
  TriangleMesh mesh = shapes::icosphere(3);
  mesh.positions.push_back(glm::vec3(std::numeric_limits<float>::quiet_NaN()));
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::size_t touched = 0;
  for (int t = 0; t < 20; ++t) {
    const ToolVolume tool = test::random_tool(dice);
    const auto defined = face_numbers(scan_volume(mesh.view(), tool));
    EXPECT_EQ(volume_answer(*query, tool), defined) << "seed " << kSeed + 7;
    touched += defined.size();
  }
  EXPECT_GT(touched, 20u);
}

TEST(Scan, WorksFarFromTheOrigin) {
  Dice dice(kSeed + 8);
  const glm::vec3 far(800.f, -300.f, 20.f);
  TriangleMesh mesh = shapes::icosphere(3);
  for (glm::vec3& position : mesh.positions) position += far;
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::size_t touched = 0;
  for (int t = 0; t < 50; ++t) {
    ToolStep step = test::random_step(dice);
    for (glm::dvec3* point : {&step.pivot, &step.tip_before, &step.tip_after}) *point += glm::dvec3(far);
    const ToolVolume tool = swept_volume(step, Cover::Capsule);
    const auto defined = face_numbers(scan_volume(mesh.view(), tool));
    EXPECT_EQ(volume_answer(*query, tool), defined) << "seed " << kSeed + 8;
    touched += defined.size();
  }
  EXPECT_GT(touched, 50u);
}

TEST(Scan, AgreesWithTheReferenceOnAScannedLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "the OpenHELP liver is absent";
  const TriangleMesh mesh = load_mesh(*file);
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  Dice dice(kSeed + 9);
  std::uint64_t touched = 0;
  for (int t = 0; t < 6; ++t) {
    ToolStep step{{0.02, -0.06, 0.26}, {}, {}, 0.0025};
    step.tip_before = glm::dvec3(-0.0433, 0.0667, 0.1456) + dice.in_cube(0.03);
    step.tip_after = step.tip_before + dice.in_cube(0.005);
    const ToolVolume tool = swept_volume(step, Cover::Capsule);
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact})
      touched += expect_agreement(*query, mesh.view(), tool, set, kSeed + 9);
  }
  EXPECT_GT(touched, 100u);
}

// Tests the layout: it holds every face once, with its own number, in the patch or the seam of its corners.

std::set<std::uint32_t> patches_of(const ScanFace& face) {
  return {face.corner[0] / kPatchVertices, face.corner[1] / kPatchVertices, face.corner[2] / kPatchVertices};
}

void expect_sound(const ScanLayout& layout, const TriangleMesh& mesh) {
  ASSERT_EQ(layout.faces.size(), mesh.faces.size());
  ASSERT_EQ(layout.source.size(), std::size_t{layout.patch_count} * kPatchVertices);
  std::vector<int> seen(mesh.faces.size(), 0);
  for (const ScanFace& face : layout.faces) {
    ++seen[face.face];
    for (int i = 0; i < 3; ++i) EXPECT_EQ(layout.source[face.corner[i]], 3 * mesh.faces[face.face][i]);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(mesh.faces.size()));

  std::uint32_t next_face = 0;
  const auto expect_next = [&](const FaceRange& range, const std::set<std::uint32_t>& patches) {
    EXPECT_EQ(range.first, next_face);
    next_face = range.last;
    std::set<std::uint32_t> reached;
    for (std::uint32_t f = range.first; f < range.last; ++f) reached.merge(patches_of(layout.faces[f]));
    EXPECT_TRUE(reached.empty() || reached == patches);
  };
  ASSERT_EQ(layout.within.size(), layout.patch_count);
  for (std::uint32_t patch = 0; patch < layout.patch_count; ++patch) expect_next(layout.within[patch], {patch});
  for (const Seam& seam : layout.seams)
    expect_next(seam.faces, std::set<std::uint32_t>(std::begin(seam.patch), std::end(seam.patch)));
  EXPECT_EQ(next_face, layout.faces.size());
}

TEST(ScanLayout, IsSoundOnClosedOpenAndTornMeshes) {
  for (const TriangleMesh& mesh : {shapes::icosphere(0), shapes::icosphere(4), shapes::grid(30, 7), shapes::cube(),
                                   shapes::torus(40, 20), shapes::random_soup(7, 500)}) {
    expect_sound(make_scan_layout(mesh.view()), mesh);
  }
}

TEST(ScanLayout, AcceptsAMeshWithoutFaces) {
  EXPECT_EQ(make_scan_layout({}).patch_count, 0u);
  const TriangleMesh points{{glm::vec3(1.f), glm::vec3(2.f)}, {}};
  const ScanLayout layout = make_scan_layout(points.view());
  EXPECT_EQ(layout.patch_count, 0u);
  EXPECT_EQ(layout.vertex_count, 2u);
}

TEST(ScanLayout, AcceptsFacesThatUseOneVertexTwice) {
  TriangleMesh mesh = shapes::grid(20, 20);
  mesh.faces.push_back({3, 3, 3});
  mesh.faces.push_back({0, 200, 0});
  expect_sound(make_scan_layout(mesh.view()), mesh);
}

TEST(ScanLayout, OmitsVerticesWithoutAFace) {
  TriangleMesh mesh = shapes::icosphere(3);
  mesh.positions.insert(mesh.positions.begin(), glm::vec3(std::numeric_limits<float>::quiet_NaN()));
  for (glm::uvec3& face : mesh.faces) face += 1u;
  mesh.positions.push_back(glm::vec3(std::numeric_limits<float>::infinity()));
  const ScanLayout layout = make_scan_layout(mesh.view());
  expect_sound(layout, mesh);
  EXPECT_EQ(std::count(layout.source.begin(), layout.source.end(), 0u), 0);
  EXPECT_EQ(std::count(layout.source.begin(), layout.source.end(), 3 * (mesh.positions.size() - 1)), 0);
}

TEST(ScanLayout, KeepsNeighboursTogether) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const ScanLayout layout = make_scan_layout(mesh.view());
  double mean = 0.0;
  for (std::uint32_t patch = 0; patch < layout.patch_count; ++patch) {
    glm::vec3 low(1.f), high(-1.f);
    for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
      const glm::vec3 position = mesh.positions[layout.source[patch * kPatchVertices + i] / 3];
      low = glm::min(low, position);
      high = glm::max(high, position);
    }
    mean += glm::length(high - low) / layout.patch_count;
  }
  // There are 161 patches on a sphere of radius 0.1 m; a round patch would span 0.032 m.
  EXPECT_LT(mean, 0.06);
}

// Tests that every vector version of the scan's inner loops returns the same bits as the plain one, and that the
// widened float planes never exclude a point that the exact planes include.

namespace scan_kernels_test {

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

}  // namespace scan_kernels_test

// Tests that the scan filters as tightly as specified: the slack of its planes, and the numbers of patches and faces
// that it tests, against a twin. A weaker filter gives the same answer later. The kernels must agree.

namespace scan_cost_test {

constexpr std::uint32_t kSeed = 365;
constexpr float kRoundings = 8.f * 0x1p-23f;

TEST(ScanCost, PlanesMoveByTheirRounding) {
  test::ScanDice dice(kSeed);
  for (const int count : {0, 1, 5, 8}) {
    const ToolVolume volume = test::random_planes(dice, count);
    for (const float largest : {0.f, 0.25f, 800.f}) {
      const ScanPlanes planes = scan_planes(volume, largest);
      for (int p = 0; p < kMaxPlanes; ++p) {
        const glm::vec4 plane = p < count ? volume.planes[p] : glm::vec4(0.f, 0.f, 0.f, 1.f);
        const float margin = kRoundings * (3.f * largest + std::abs(plane.w));
        EXPECT_EQ(glm::vec3(planes.out.x[p], planes.out.y[p], planes.out.z[p]), glm::vec3(plane));
        EXPECT_EQ(glm::vec3(planes.exact.x[p], planes.exact.y[p], planes.exact.z[p]), glm::vec3(plane));
        EXPECT_EQ(planes.exact.d[p], double(plane.w));
        EXPECT_FLOAT_EQ(planes.out.d[p], plane.w + margin);
        EXPECT_FLOAT_EQ(planes.in_d[p], plane.w - margin);
      }
    }
  }
}

// The twin of the planes' codes, in float and in the order of the definition.
unsigned code_of(const ScanPlanes& planes, const glm::vec3& low, const glm::vec3& high) {
  unsigned code = 0;
  for (int p = 0; p < kMaxPlanes; ++p) {
    const auto part = [](float n, float from, float to) { return std::max(n, 0.f) * to + std::min(n, 0.f) * from; };
    const float height = ((part(planes.out.x[p], low.x, high.x) + part(planes.out.y[p], low.y, high.y)) +
                          part(planes.out.z[p], low.z, high.z)) +
                         planes.out.d[p];
    code |= height < 0.f ? 1u << p : 0u;
  }
  return code;
}

// A face survives when its corners' codes share no bit. A patch outside a plane stands for its vertices.
std::uint64_t survivors(const TriangleMesh& mesh, const ScanLayout& layout, const ToolVolume& tool) {
  float largest = 0.f;
  for (const glm::vec3& p : mesh.positions) largest = std::max({largest, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  const ScanPlanes planes = scan_planes(tool, largest);
  const auto position = [&](std::size_t slot) { return mesh.positions[layout.source[slot] / 3]; };
  std::vector<unsigned> codes(layout.source.size());
  for (std::size_t first = 0; first < codes.size(); first += kPatchVertices) {
    glm::vec3 low = position(first), high = low;
    for (std::size_t slot = first; slot < first + kPatchVertices; ++slot)
      low = glm::min(low, position(slot)), high = glm::max(high, position(slot));
    const unsigned of_patch = code_of(planes, low, high);
    for (std::size_t slot = first; slot < first + kPatchVertices; ++slot)
      codes[slot] = of_patch != 0 ? of_patch : code_of(planes, position(slot), position(slot));
  }
  std::uint64_t count = 0;
  for (const ScanFace& face : layout.faces)
    count += (codes[face.corner[0]] & codes[face.corner[1]] & codes[face.corner[2]]) == 0;
  return count;
}

TEST(ScanCost, TestsThePatchesAndFacesOfTheTwin) {
  test::ScanDice dice(kSeed + 1);
  for (const TriangleMesh& mesh : {shapes::icosphere(4), shapes::torus(60, 30), shapes::random_soup(kSeed, 900)}) {
    const ScanLayout layout = make_scan_layout(mesh.view());
    std::vector<std::unique_ptr<TouchQuery>> queries;
    for (const ScanKernels* kernels : test::all_kernels()) {
      queries.push_back(make_scan_query(*kernels));
      queries.back()->rebuild(mesh.view());
      EXPECT_EQ(queries.back()->counters().updated_nodes, layout.patch_count);
    }
    std::uint64_t all = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const ToolVolume tools[] = {test::random_tool(dice), test::random_planes(dice, 4)};
      const std::uint64_t expected = survivors(mesh, layout, tools[0]) + survivors(mesh, layout, tools[1]);
      all += expected;
      for (const auto& query : queries) {
        query->touched(tools, TouchSet::Volume);
        ASSERT_EQ(query->counters().face_tests, expected) << "trial " << trial << ", seed " << kSeed + 1;
        ASSERT_EQ(query->counters().volume_tests, 2 * layout.patch_count);
        ASSERT_EQ(query->counters().updated_nodes, layout.patch_count);
      }
    }
    EXPECT_GT(all, 1000u);
  }
}

// Positions that move: the slack follows the largest coordinate of the last update.
TEST(ScanCost, SlackFollowsTheUpdate) {
  test::ScanDice dice(kSeed + 2);
  TriangleMesh mesh = shapes::icosphere(3);
  const ScanLayout layout = make_scan_layout(mesh.view());
  for (const ScanKernels* kernels : test::all_kernels()) {
    const auto query = make_scan_query(*kernels);
    query->rebuild(mesh.view());
    for (const glm::vec3& away : {glm::vec3(300.f, 0.f, 0.f), glm::vec3(0.f, -700.f, 0.f), glm::vec3(0.f, 0.f, 0.3f)}) {
      TriangleMesh moved = mesh;
      for (glm::vec3& p : moved.positions) p += away;
      query->update(moved.positions);
      ToolStep step = test::random_step(dice);
      for (glm::dvec3* at : {&step.pivot, &step.tip_before, &step.tip_after}) *at += glm::dvec3(away);
      const ToolVolume tool = swept_volume(step, Cover::Capsule);
      query->touched(std::span(&tool, 1), TouchSet::Exact);
      EXPECT_EQ(query->counters().face_tests, survivors(moved, layout, tool)) << kernels->name;
    }
  }
}

}  // namespace scan_cost_test

}  // namespace
}  // namespace trocar::scan_test
