// Tests the scan against its definition and the reference, and the reference against closed forms.
#include <cstring>

#include "cpu_collision/reference.hpp"
#include "cpu_collision/scan.hpp"
#include "geometry/refine.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/cpu_collision/scan_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::scan_test {
namespace {

// Tests that the scan query equals its definition (scan_volume) face for face, and the reference on all faces that are
// not borderline (1 micrometre).

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
                                   shapes::torus(40, 20), shapes::random_soup(7, 500)})
    expect_sound(make_scan_layout(mesh.view()), mesh);
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

namespace reference_test {

// Tests the reference itself by closed forms, dense sampling, and duality (a best point and a best mix of planes must
// agree).

constexpr unsigned kSeed = 20260714;

using Random = std::mt19937;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

glm::dvec3 random_point(Random& random, double size) {
  return {uniform(random, -size, size), uniform(random, -size, size), uniform(random, -size, size)};
}

// Corners on a coarse grid give many parallel, coplanar, touching and degenerate cases.
glm::dvec3 grid_point(Random& random) {
  std::uniform_int_distribution<int> step(-2, 2);
  return glm::dvec3(step(random), step(random), step(random)) * 0.01;
}

Triangle random_triangle(Random& random, double size) {
  return {random_point(random, size), random_point(random, size), random_point(random, size)};
}

Triangle grid_triangle(Random& random) { return {grid_point(random), grid_point(random), grid_point(random)}; }

glm::dvec3 mix(const Triangle& t, double u, double v) { return t.a + u * (t.b - t.a) + v * (t.c - t.a); }

// Returns an axis-aligned box as a tool volume.
ToolVolume box_volume(const glm::vec3& low, const glm::vec3& high) {
  ToolVolume tool;
  tool.plane_count = 6;
  for (int k = 0; k < 3; ++k) {
    glm::vec3 n(0.f);
    n[k] = 1.f;
    tool.planes[2 * k] = glm::vec4(n, -low[k]);
    tool.planes[2 * k + 1] = glm::vec4(-n, high[k]);
  }
  return tool;
}

ToolVolume random_volume(Random& random, int plane_count) {
  ToolVolume tool;
  tool.plane_count = plane_count;
  for (int i = 0; i < plane_count; ++i) {
    const glm::dvec3 n = glm::normalize(random_point(random, 1.0));
    tool.planes[i] = glm::vec4(glm::vec3(n), float(uniform(random, -0.01, 0.05)));
  }
  return tool;
}

// Returns the largest plane distance, over the corners, of a mix of planes: never below the margin. Returns the
// smallest over all mixes that make one, two or three corners equal. This is the dual of the reference's margin.
double dual_margin(const ToolVolume& tool, const Triangle& face) {
  std::vector<glm::dvec3> rows;
  for (int i = 0; i < tool.plane_count; ++i) {
    const glm::dvec3 n(tool.planes[i]);
    const double d = tool.planes[i].w;
    rows.push_back({glm::dot(n, face.a) + d, glm::dot(n, face.b) + d, glm::dot(n, face.c) + d});
  }
  double best = 1e30;
  const auto offer = [&](const glm::dvec3& row) { best = std::min(best, std::max({row.x, row.y, row.z})); };
  const std::size_t n = rows.size();
  for (std::size_t i = 0; i < n; ++i) {
    offer(rows[i]);
    for (std::size_t j = i + 1; j < n; ++j) {
      for (int k = 0; k < 3; ++k) {
        const int l = (k + 1) % 3;
        const double at_i = rows[i][k] - rows[i][l], at_j = rows[j][k] - rows[j][l];
        const double t = at_i / (at_i - at_j);
        if (t > 0.0 && t < 1.0) offer((1.0 - t) * rows[i] + t * rows[j]);
      }
      for (std::size_t k = j + 1; k < n; ++k) {
        const auto columns = [&](int c) { return glm::dvec3(rows[i][c], rows[j][c], rows[k][c]); };
        const glm::dvec3 w = glm::cross(columns(0) - columns(1), columns(0) - columns(2));
        const glm::dvec3 y = w / (w.x + w.y + w.z);
        if (y.x >= 0.0 && y.y >= 0.0 && y.z >= 0.0) offer(y.x * rows[i] + y.y * rows[j] + y.z * rows[k]);
      }
    }
  }
  return best;
}

double sampled_margin(const ToolVolume& tool, const Triangle& face, int steps) {
  double best = -1e30;
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; i + j <= steps; ++j) {
      const glm::dvec3 x = mix(face, double(i) / steps, double(j) / steps);
      double smallest = 1e30;
      for (int p = 0; p < tool.plane_count; ++p)
        smallest = std::min(smallest, glm::dot(glm::dvec3(tool.planes[p]), x) + tool.planes[p].w);
      best = std::max(best, smallest);
    }
  return best;
}

TEST(ReferenceMargin, ClosedForms) {
  const ToolVolume box = box_volume({-1, -1, -1}, {1, 1, 1});
  const Triangle above{{-9, -9, 2}, {9, -9, 2}, {0, 9, 2}};
  EXPECT_DOUBLE_EQ(reference_margin(box, above), -1.0);
  const Triangle through{{-9, -9, 0.25}, {9, -9, 0.25}, {0, 9, 0.25}};
  EXPECT_DOUBLE_EQ(reference_margin(box, through), 0.75);
  const Triangle point{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  EXPECT_DOUBLE_EQ(reference_margin(box, point), 1.0);
  // A segment that passes the edge x = y = 1 at the diagonal distance: planes must move out by 0.5.
  const Triangle past_edge{{3, 0, 0}, {0, 3, 0}, {0, 3, 0}};
  EXPECT_DOUBLE_EQ(reference_margin(box, past_edge), -0.5);
  const Triangle touching{{1, 0, 0}, {5, 1, 0}, {5, -1, 0}};
  EXPECT_DOUBLE_EQ(reference_margin(box, touching), 0.0);
}

TEST(ReferenceMargin, EqualsItsDualAndBoundsSampling) {
  Random random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (int trial = 0; trial < 20000; ++trial) {
    const ToolVolume tool = random_volume(random, 1 + trial % kMaxPlanes);
    const Triangle face = trial % 2 ? random_triangle(random, 0.05) : grid_triangle(random);
    const double margin = reference_margin(tool, face);
    ASSERT_NEAR(margin, dual_margin(tool, face), 1e-12) << "trial " << trial;
    if (trial % 20 == 0) {
      const double sampled = sampled_margin(tool, face, 64);
      ASSERT_GE(margin, sampled - 1e-12) << "trial " << trial;
      ASSERT_LE(margin, sampled + 0.2 / 64) << "trial " << trial;
    }
  }
}

// Tests nearly parallel planes, such as far and cap of a sweep.
TEST(ReferenceMargin, EqualsItsDualWhenPlanesAreNearlyParallel) {
  Random random(kSeed + 1);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1);
  for (int trial = 0; trial < 5000; ++trial) {
    ToolVolume tool = random_volume(random, 4);
    for (int i = 0; i < 4; ++i) {
      const double tilt = std::pow(10.0, uniform(random, -9.0, -2.0));
      const glm::dvec3 n = glm::normalize(glm::dvec3(tool.planes[i]) + tilt * random_point(random, 1.0));
      tool.planes[4 + i] = glm::vec4(glm::vec3(n), tool.planes[i].w + float(uniform(random, -1e-6, 1e-6)));
    }
    tool.plane_count = 8;
    const Triangle face = random_triangle(random, 0.05);
    ASSERT_NEAR(reference_margin(tool, face), dual_margin(tool, face), 1e-9) << "trial " << trial;
  }
}

TEST(ReferenceDistance, ClosedForms) {
  const Triangle floor{{-1, -1, 0}, {3, -1, 0}, {-1, 3, 0}};
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{0, 0, 2}, {0, 1, 3}, {1, 0, 4}}), 2.0);        // corner over face
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{0, 0, 2}, {0, 0, -2}, {5, 5, 5}}), 0.0);       // crossing
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{0, 0, 0}, {9, 9, 9}, {9, 9, 8}}), 0.0);        // touching
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{-4, -5, 0}, {-4, -5, 0}, {-4, -5, 0}}), 5.0);  // a point in its plane
  EXPECT_DOUBLE_EQ(reference_distance(floor, {{-3, -9, 1}, {-3, 9, 1}, {-3, 9, 1}}),
                   std::sqrt(5.0));  // parallel segment
  const Triangle along_x{{-1, 0, 0}, {1, 0, 0}, {0, 0, 0}}, along_y{{0, -1, 3}, {0, 1, 3}, {0, 0, 3}};
  EXPECT_DOUBLE_EQ(reference_distance(along_x, along_y), 3.0);  // crossing segments
  const Triangle point{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  EXPECT_DOUBLE_EQ(reference_distance(point, point), 0.0);
  EXPECT_DOUBLE_EQ(reference_distance(point, {{1, 2, 7}, {1, 2, 7}, {1, 2, 7}}), 4.0);
}

// Returns the distance of two triangles by sampling: never too small.
double sampled_distance(const Triangle& f, const Triangle& g, int steps) {
  double best = 1e30;
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; i + j <= steps; ++j) {
      const glm::dvec3 x = mix(f, double(i) / steps, double(j) / steps);
      for (int k = 0; k <= steps; ++k)
        for (int l = 0; k + l <= steps; ++l)
          best = std::min(best, glm::distance(x, mix(g, double(k) / steps, double(l) / steps)));
    }
  return best;
}

TEST(ReferenceDistance, BoundsSampling) {
  Random random(kSeed + 2);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2);
  for (int trial = 0; trial < 3000; ++trial) {
    const bool grid = trial % 3 == 0;
    const Triangle f = grid ? grid_triangle(random) : random_triangle(random, 0.02);
    Triangle g = grid ? grid_triangle(random) : random_triangle(random, 0.02);
    const glm::dvec3 shift = grid ? grid_point(random) * 2.0 : random_point(random, 0.05);
    g = {g.a + shift, g.b + shift, g.c + shift};
    const double distance = reference_distance(f, g), sampled = sampled_distance(f, g, 12);
    ASSERT_LE(distance, sampled + 1e-12) << "trial " << trial;
    ASSERT_GE(distance, sampled - 0.2 / 12) << "trial " << trial;
    ASSERT_NEAR(distance, reference_distance(g, f), 1e-12) << "trial " << trial;
  }
}

// Tests two triangles built around a known closest pair: each lies behind its own plane at the gap.
TEST(ReferenceDistance, RecoversAConstructedDistance) {
  Random random(kSeed + 3);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 3);
  for (int trial = 0; trial < 20000; ++trial) {
    const glm::dvec3 u = glm::normalize(random_point(random, 1.0)), at = random_point(random, 0.2);
    const double distance = std::pow(10.0, uniform(random, -6.0, -1.0));
    // A point of each body is the closest one; 1, 2 or 3 corners lie on its plane around that point.
    const auto body = [&](const glm::dvec3& contact, double side) {
      const glm::dvec3 t = glm::normalize(glm::cross(u, random_point(random, 1.0))), b = glm::cross(u, t);
      const double size = std::pow(10.0, uniform(random, -4.0, -1.0));
      const auto behind = [&] { return contact + random_point(random, size) * 0.5 + u * (side * size); };
      const auto kind = std::uniform_int_distribution<int>(1, 3)(random);
      if (kind == 1) return Triangle{contact, behind(), behind()};
      if (kind == 2) return Triangle{contact - size * t, contact + 2.0 * size * t, behind()};
      return Triangle{contact - size * t - size * b, contact + size * t - size * b, contact + size * b};
    };
    const Triangle f = body(at, -1.0), g = body(at + u * distance, 1.0);
    ASSERT_NEAR(reference_distance(f, g), distance, 1e-11) << "trial " << trial;
  }
}

TEST(ReferenceTouched, BoxVolumeOverAGrid) {
  // A strip of unit squares along x, two faces each, and a volume that contains squares 3 to 5 and touches 2 and 6.
  std::vector<glm::vec3> positions;
  std::vector<glm::uvec3> faces;
  for (unsigned i = 0; i < 10; ++i) {
    positions.push_back({float(i), 0.f, 0.f});
    positions.push_back({float(i), 1.f, 0.f});
    if (i == 0) continue;
    faces.push_back({2 * i - 2, 2 * i, 2 * i - 1});
    faces.push_back({2 * i - 1, 2 * i, 2 * i + 1});
  }
  const ReferenceAnswer answer =
      reference_touched({positions, faces}, box_volume({3.f, -1.f, -1.f}, {6.f, 2.f, 1.f}), TouchSet::Volume);
  const std::vector<FaceId> touched{FaceId(4), FaceId(5),  FaceId(6),  FaceId(7),  FaceId(8),
                                    FaceId(9), FaceId(10), FaceId(11), FaceId(12), FaceId(13)};
  EXPECT_EQ(answer.touched, touched);
  EXPECT_EQ(answer.borderline, (std::vector<FaceId>{FaceId(4), FaceId(5), FaceId(12), FaceId(13)}));
}

TEST(ReferenceTouched, EmptyMesh) {
  const ToolVolume box = box_volume({-1, -1, -1}, {1, 1, 1});
  EXPECT_TRUE(reference_touched({}, box, TouchSet::Volume).touched.empty());
  EXPECT_TRUE(reference_touched({}, box, TouchSet::Exact).touched.empty());
}

// The answer over a mesh, with its early outs, equals the plain definition per face.
TEST(ReferenceTouched, EarlyOutsChangeNothing) {
  Random random(kSeed + 4);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 4);
  std::vector<glm::vec3> positions;
  std::vector<glm::uvec3> faces;
  for (unsigned f = 0; f < 3000; ++f) {
    const glm::dvec3 centre = random_point(random, 0.1);
    for (int k = 0; k < 3; ++k) positions.push_back(glm::vec3(centre + random_point(random, f % 2 ? 0.004 : 0.05)));
    faces.push_back({3 * f, 3 * f + 1, 3 * f + 2});
  }
  for (int trial = 0; trial < 30; ++trial) {
    ToolVolume tool = random_volume(random, 5 + trial % 4);
    tool.step = {random_point(random, 0.2), random_point(random, 0.1), random_point(random, 0.1), 0.005};
    if (trial % 3 == 0) tool.step.tip_after = tool.step.tip_before;
    const Triangle sweep{tool.step.pivot, tool.step.tip_before, tool.step.tip_after};
    std::vector<FaceId> in_volume, in_exact;
    for (unsigned f = 0; f < faces.size(); ++f) {
      const Triangle face = triangle_of(positions, faces[f]);
      if (reference_margin(tool, face) >= 0.0) in_volume.push_back(FaceId(f));
      if (reference_distance(face, sweep) <= tool.step.radius) in_exact.push_back(FaceId(f));
    }
    ASSERT_EQ(reference_touched({positions, faces}, tool, TouchSet::Volume).touched, in_volume) << "trial " << trial;
    ASSERT_EQ(reference_touched({positions, faces}, tool, TouchSet::Exact).touched, in_exact) << "trial " << trial;
  }
}

std::vector<Touch> touches_of(std::initializer_list<unsigned> faces) {
  std::vector<Touch> touches;
  for (unsigned face : faces) touches.push_back({.face = FaceId(face)});
  return touches;
}

void expect_agreement(const Agreement& a, unsigned in_both, unsigned borderline, unsigned disagreements) {
  EXPECT_EQ(a.in_both, in_both);
  EXPECT_EQ(a.borderline, borderline);
  EXPECT_EQ(a.disagreements, disagreements);
}

TEST(CompareWithReference, CountsAgreement) {
  const ReferenceAnswer reference{{FaceId(2), FaceId(5), FaceId(7)}, {FaceId(3), FaceId(5)}};
  expect_agreement(compare_with_reference(reference, touches_of({2, 5, 7})), 3, 0, 0);
  expect_agreement(compare_with_reference(reference, touches_of({2, 7})), 2, 1, 0);           // 5 missed, borderline
  expect_agreement(compare_with_reference(reference, touches_of({2, 3, 5, 7})), 3, 1, 0);     // 3 extra, borderline
  expect_agreement(compare_with_reference(reference, touches_of({5, 7})), 2, 0, 1);           // 2 missed
  expect_agreement(compare_with_reference(reference, touches_of({0, 2, 5, 7, 9})), 3, 0, 2);  // 0 and 9 extra
  expect_agreement(compare_with_reference(reference, {}), 0, 1, 2);
  expect_agreement(compare_with_reference({}, touches_of({1})), 0, 0, 1);
  expect_agreement(compare_with_reference({}, {}), 0, 0, 0);
}

TEST(CompareWithReference, OrderAndRepetitionAreDisagreements) {
  const ReferenceAnswer reference{{FaceId(2), FaceId(5), FaceId(7)}, {}};
  expect_agreement(compare_with_reference(reference, touches_of({2, 2, 5, 7})), 3, 0, 1);
  EXPECT_GT(compare_with_reference(reference, touches_of({5, 2, 7})).disagreements, 0u);
}

}  // namespace reference_test

}  // namespace
}  // namespace trocar::scan_test
