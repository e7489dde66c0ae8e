// Burns blocks: after every burn the surface is closed and consistent with the voxels, and other faces are unchanged.
// Also tests holes and loose parts.
#include "deform/cut/sculpt.hpp"

#include "tests/deform/sculpt_support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar {
namespace {

// Coarse voxels: what these tests check does not depend on their size.
constexpr SculptParams kCoarse{.voxels_per_cell = 3};

struct Organ {
  TriangleMesh mesh;
  TissueModel model;
  SteppedTissue state;
  Sculpture sculpture;

  explicit Organ(TriangleMesh shape, const SculptParams& params = kCoarse, std::span<const Attachment> attachments = {})
      : mesh(std::move(shape)),
        model(make_tissue(mesh.view(), {}, attachments)),
        state(rest_state(model)),
        sculpture(make_sculpture(mesh.view(), model, params)) {}

  const SculptChange& burn(const HotSegment& hot) { return trocar::burn(sculpture, model, state, hot); }
  double mass() const {
    double sum = 0.0;
    for (const float m : model.mass) sum += static_cast<double>(m);
    return sum;
  }
};

const glm::vec3 kBlock(0.056f, 0.04f, 0.032f);  // whole cells

// Burns along a line of points at intervals of one millimetre.
void burn_line(Organ& organ, const glm::vec3& from, const glm::vec3& to, float radius) {
  const int steps = static_cast<int>(std::ceil(glm::distance(from, to) / 0.001f));
  for (int i = 0; i <= steps; ++i) {
    const glm::vec3 at = glm::mix(from, to, static_cast<float>(i) / static_cast<float>(std::max(steps, 1)));
    organ.burn({at, at, radius});
    ASSERT_EQ(test::open_edges(faces(organ.sculpture)), 0u);
  }
}

// Burns blocks of twelve faces at random, in states at rest, shaken and turned inside out.
TEST(Sculpt, ClosedAfterEveryBurn) {
  for (const std::uint32_t seed : {31u, 32u, 33u, 34u}) {
    // The last one: a thin wire in fine voxels.
    const bool thin = seed == 34u;
    std::printf("seed %u\n", seed);
    test::Wander wander(seed);
    const Attachment end{glm::vec3(0.f), 0.02f};
    Organ organ(test::block(kBlock), {.voxels_per_cell = thin ? 8 : seed == 33u ? 2 : 3}, {&end, 1});
    std::vector<glm::vec3> positions = organ.mesh.positions;
    int changed = 0;
    for (int i = 0; i < 400 && !faces(organ.sculpture).empty(); ++i) {
      if (i % 40 == 0)
        for (std::size_t n = 0; n < organ.state.x.size(); ++n)
          organ.state.x[n] = organ.model.rest[n] + 0.004f * static_cast<float>(i / 40 % 5) * wander.somewhere();
      positions.resize(organ.sculpture.rest.size());
      embed_surface(organ.model, organ.state.x, positions);
      const HotSegment hot = wander.next(organ.sculpture, positions, thin ? 0.00145f : 0.004f);
      const test::Witness witness(organ.sculpture, organ.model);
      changed += !organ.burn(hot).nothing();
      witness.check(organ.sculpture, organ.model);
      test::check_carried(organ.sculpture, organ.model);
      ASSERT_EQ(test::open_edges(faces(organ.sculpture)), 0u) << "burn " << i;
    }
    // The wall follows the heat, the voxels count whole: the difference is at most a fifth of a voxel over the wall.
    double area = 0.0;
    for (std::size_t slot = 0; slot < organ.sculpture.faces.size(); ++slot)
      if (organ.sculpture.faces.kind[slot] != FaceKind::Skin) {
        const Triangle t = triangle_of(organ.sculpture.rest, faces(organ.sculpture)[slot]);
        area += 0.5 * glm::length(glm::cross(t.b - t.a, t.c - t.a));
      }
    const double volume = test::enclosed_volume(organ.sculpture), voxels = test::voxel_volume(organ.sculpture);
    std::printf("%d burns changed something; volume %.2f ml, voxels %.2f ml, a wall of %.1f cm^2\n", changed,
                volume * 1e6, voxels * 1e6, area * 1e4);
    EXPECT_GT(changed, 100);
    EXPECT_NEAR(volume, voxels, 0.2 * organ.sculpture.voxels.size * area);
    EXPECT_NEAR(organ.mass() / (1060.0 * voxels), 1.0, 1e-3);
  }
}

TEST(Sculpt, CraterHasTheVolumeOfTheHeat) {
  Organ organ(test::block({0.064f, 0.064f, 0.032f}), {.voxels_per_cell = 4});
  const double before = test::enclosed_volume(organ.sculpture);
  organ.burn({{0.031f, 0.033f, 0.032f}, {0.031f, 0.033f, 0.032f}, 0.012f});
  const double crater = before - test::enclosed_volume(organ.sculpture);
  EXPECT_NEAR(crater / (2.0 / 3.0 * 3.14159265 * std::pow(0.012, 3)), 1.0, 0.06);
  EXPECT_EQ(test::euler_characteristic(faces(organ.sculpture)), 2);
  // All wall vertices are near the sphere: smooth, without stairs or spikes.
  for (std::size_t slot = 0; slot < organ.sculpture.faces.size(); ++slot)
    if (organ.sculpture.faces.kind[slot] == FaceKind::Wall)
      for (int i = 0; i < 3; ++i) {
        const glm::vec3 p = organ.sculpture.rest[faces(organ.sculpture)[slot][i]];
        EXPECT_NEAR(glm::distance(p, glm::vec3(0.031f, 0.033f, 0.032f)), 0.012f, 0.0004f);
      }
}

TEST(Sculpt, HoleThroughAThickAndAThinBlock) {
  Organ thick(test::block(kBlock));
  EXPECT_EQ(test::euler_characteristic(faces(thick.sculpture)), 2);
  burn_line(thick, {0.027f, 0.019f, -0.004f}, {0.027f, 0.019f, 0.036f}, 0.006f);
  EXPECT_EQ(test::euler_characteristic(faces(thick.sculpture)), 0);
  burn_line(thick, {-0.004f, 0.019f, 0.016f}, {0.060f, 0.019f, 0.016f}, 0.006f);
  // Two crossing channels make a ball with four openings, which has three handles.
  EXPECT_EQ(test::euler_characteristic(faces(thick.sculpture)), -4);

  Organ thin(test::block({0.06f, 0.04f, 0.004f}));
  burn_line(thin, {0.03f, 0.02f, 0.008f}, {0.03f, 0.02f, -0.004f}, 0.006f);
  EXPECT_EQ(test::euler_characteristic(faces(thin.sculpture)), 0);
}

TEST(Sculpt, CutOffEndFalls) {
  const Attachment wall{{0.f, 0.012f, 0.012f}, 0.02f};
  Organ bar(test::block({0.088f, 0.024f, 0.024f}), {.voxels_per_cell = 3, .fall = {0.f, 0.f, -9.81f}}, {&wall, 1});
  std::vector<std::uint32_t> loose;
  for (float y = 0.f; y <= 0.0241f; y += 0.003f)
    for (float z = 0.f; z <= 0.0241f; z += 0.003f) {
      const SculptChange& change = bar.burn({{0.041f, y, z}, {0.041f, y, z + 0.002f}, 0.004f});
      ASSERT_TRUE(loose.empty() || change.loose.empty());
      if (!change.loose.empty()) loose = change.loose;
      ASSERT_EQ(test::open_edges(faces(bar.sculpture)), 0u);
    }
  ASSERT_FALSE(loose.empty());
  EXPECT_EQ(test::euler_characteristic(faces(bar.sculpture)), 4);

  // The mass of the two parts equals that of their voxels. The falling part shares no node with the other.
  double fallen = 0.0, held = 0.0, fallen_voxels = 0.0, held_voxels = 0.0;
  for (std::size_t node = 0; node < bar.model.mass.size(); ++node) {
    const bool falls = bar.model.gravity[node] == glm::vec3(0.f, 0.f, -9.81f);
    EXPECT_TRUE(falls || bar.model.gravity[node] == glm::vec3(0.f));
    (falls ? fallen : held) += static_cast<double>(bar.model.mass[node]);
  }
  for (std::uint32_t v = 0; v < bar.sculpture.voxels.kind.size(); ++v)
    if (bar.sculpture.voxels.kind[v] == Voxel::Tissue)
      (bar.sculpture.voxels.centre(bar.sculpture.voxels.at(v)).x > 0.041 ? fallen_voxels : held_voxels) +=
          1060.0 * std::pow(bar.sculpture.voxels.size, 3);
  std::printf("falls %.2f g, stays %.2f g\n", fallen * 1e3, held * 1e3);
  EXPECT_NEAR(fallen / fallen_voxels, 1.0, 1e-3);
  EXPECT_NEAR(held / held_voxels, 1.0, 1e-3);
  EXPECT_GT(fallen_voxels, 0.7 * 1060.0 * 0.043 * 0.024 * 0.024);

  // The loose part falls, the other does not.
  for (int frame = 0; frame < 12; ++frame) step(bar.model, bar.state, {}, 1.f / 60.f);
  double drop = 0.0;
  for (const std::uint32_t cell : loose)
    for (const std::uint32_t node : bar.model.lattice.cells[cell].node)
      drop = std::min(drop, static_cast<double>(bar.state.x[node].z - bar.model.rest[node].z));
  EXPECT_LT(drop, -0.05);
  for (std::size_t node = 0; node < bar.model.mass.size(); ++node)
    if (bar.model.gravity[node] == glm::vec3(0.f)) {
      ASSERT_LT(glm::distance(bar.state.x[node], bar.model.rest[node]), 1e-4f);
    }
}

// The hook moves through the block as in the program, with contacts: it burns its path free, and no node jerks.
TEST(Sculpt, HookBurnsItsPathFree) {
  const Attachment floor{{0.028f, 0.02f, 0.f}, 0.03f};
  Organ organ(test::block(kBlock), kCoarse, {&floor, 1});
  std::vector<glm::vec3> positions = organ.mesh.positions;
  ContactList list;
  glm::dvec3 before(0.01, 0.02, 0.036);
  float hardest = 0.f;
  for (int frame = 0; frame <= 120; ++frame) {
    const glm::dvec3 tip(0.01 + 0.0003 * frame, 0.02, 0.036 - std::min(0.0003 * frame, 0.006));
    const ToolStep tool{tip + glm::dvec3(-0.05, 0.0, 0.2), before, tip, 0.0025};
    before = tip;
    const glm::vec3 hot(tip), along(glm::normalize(tool.pivot - tip));
    if (!organ.burn({hot, hot + 0.02f * along, 0.0045f}).nothing()) {
      positions.resize(organ.sculpture.rest.size());
      embed_surface(organ.model, organ.state.x, positions);
      list = {};
    }
    // In this test contacts identify faces by slot.
    const std::vector<Touch> touches = test::touches_of(tool, {positions, faces(organ.sculpture)});
    test::contacts_of(tool, touches, faces(organ.sculpture), positions, list);
    const glm::vec3 force = step(organ.model, organ.state, {{&tool, 1}, list.contacts, {}}, 1.f / 60.f);
    embed_surface(organ.model, organ.state.x, positions);
    hardest = std::max(hardest, glm::length(force));
  }
  for (std::size_t node = 0; node < organ.state.x.size(); ++node)
    ASSERT_LT(glm::distance(organ.state.x[node], organ.model.rest[node]), 0.002f);
  std::printf("%zu voxels burnt, at most %.3f N\n",
              static_cast<std::size_t>(
                  std::count(organ.sculpture.voxels.kind.begin(), organ.sculpture.voxels.kind.end(), Voxel::Burnt)),
              static_cast<double>(hardest));
  EXPECT_LT(hardest, 0.3f);
}

TEST(Sculpt, FloatingOrganKeepsItsLargestPart) {
  Organ bar(test::block({0.088f, 0.024f, 0.024f}));
  std::vector<std::uint32_t> cells;
  for (std::uint32_t c = 0; c < bar.model.lattice.cells.size(); ++c)
    if (bar.model.lattice.cells[c].at.x == 3) cells.push_back(c);
  const SculptChange& change = remove_cells(bar.sculpture, bar.model, cells);
  EXPECT_EQ(change.burnt_voxels, 9u * 27u);
  EXPECT_EQ(change.cells, cells);
  ASSERT_EQ(change.loose.size(), 27u);
  for (const std::uint32_t c : change.loose) EXPECT_LT(bar.model.lattice.cells[c].at.x, 3);
  EXPECT_EQ(test::open_edges(faces(bar.sculpture)), 0u);
  EXPECT_NEAR(test::enclosed_volume(bar.sculpture), 10.0 * 9.0 * std::pow(0.008, 3), 3e-8);
}

TEST(Sculpt, OrganFallsWhenItsAttachmentIsBurnt) {
  const Attachment wall{{0.f, 0.02f, 0.016f}, 0.01f};
  Organ organ(test::block(kBlock), kCoarse, {&wall, 1});
  const SculptChange& change = organ.burn({wall.centre, wall.centre, 0.021f});
  EXPECT_FALSE(change.loose.empty());
  EXPECT_EQ(test::open_edges(faces(organ.sculpture)), 0u);
}

TEST(Sculpt, EverythingBurns) {
  Organ organ(test::block(kBlock));
  const SculptChange& change = organ.burn({{0.f, 0.f, 0.f}, kBlock, 0.1f});
  EXPECT_EQ(change.faces.removed.size(), 12u);
  EXPECT_TRUE(faces(organ.sculpture).empty());
  EXPECT_EQ(test::tissue_voxels(organ.sculpture), 0u);
  EXPECT_EQ(organ.mass(), 0.0);
  EXPECT_TRUE(organ.burn({{0.f, 0.f, 0.f}, kBlock, 0.1f}).nothing());
  for (int frame = 0; frame < 3; ++frame) step(organ.model, organ.state, {}, 1.f / 60.f);
}

TEST(Sculpt, InvalidOrDistantHeatBurnsNothing) {
  Organ organ(test::block(kBlock));
  const std::uint64_t before = test::hash_of(organ.sculpture, organ.model);
  const glm::vec3 middle = 0.5f * kBlock;
  const float nan = std::nanf(""), endless = INFINITY;
  for (const HotSegment& hot :
       {HotSegment{glm::vec3(0.2f), glm::vec3(0.3f), 0.004f}, HotSegment{glm::vec3(nan), middle, 0.004f},
        HotSegment{middle, {0.f, nan, 0.f}, 0.004f}, HotSegment{middle, middle, nan},
        HotSegment{middle, middle, endless}, HotSegment{middle, glm::vec3(endless), 0.004f},
        HotSegment{middle, middle, 0.f}, HotSegment{middle, middle, -1.f}})
    EXPECT_TRUE(organ.burn(hot).nothing());
  const std::vector<std::uint32_t> nowhere = {1000000u};
  EXPECT_TRUE(remove_cells(organ.sculpture, organ.model, nowhere).nothing());
  EXPECT_TRUE(remove_cells(organ.sculpture, organ.model, {}).nothing());
  EXPECT_EQ(test::hash_of(organ.sculpture, organ.model), before);
}

TEST(Sculpt, ParametersOutOfRange) {
  const TriangleMesh mesh = test::block(kBlock);
  const TissueModel model = make_tissue(mesh.view(), {}, {});
  const auto sentence = [&](const SculptParams& params) {
    return test::sentence_of([&] { make_sculpture(mesh.view(), model, params); });
  };
  EXPECT_NE(sentence({.voxels_per_cell = 0}).find("choose 1 to 8"), std::string::npos);
  EXPECT_NE(sentence({.voxels_per_cell = 9}).find("choose 1 to 8"), std::string::npos);
  EXPECT_NE(sentence({.smallest_piece = -1}).find("choose 0 or more"), std::string::npos);
  EXPECT_NE(sentence({.fall = glm::vec3(std::nanf(""))}).find("not a finite"), std::string::npos);
}

// The same voxels burn, however a groove is divided into calls.
TEST(Sculpt, VoxelsDoNotDependOnHowTheBurnIsDivided) {
  Organ once(test::block(kBlock), {.voxels_per_cell = 3, .smallest_piece = 0}), often = once, backwards = once;
  const glm::vec3 from(0.01f, 0.02f, 0.031f), to(0.045f, 0.022f, 0.03f);
  once.burn({from, to, 0.004f});
  for (int i = 0; i < 16; ++i) {
    const auto at = [&](int k) { return glm::mix(from, to, static_cast<float>(k) / 16.f); };
    often.burn({at(i), at(i + 1), 0.004f});
    backwards.burn({at(16 - i), at(15 - i), 0.004f});
  }
  EXPECT_GT(once.sculpture.change.burnt_voxels, 50u);
  EXPECT_EQ(once.sculpture.voxels.kind, often.sculpture.voxels.kind);
  EXPECT_EQ(once.sculpture.voxels.kind, backwards.sculpture.voxels.kind);
}

TEST(Sculpt, SameBurnsSameBits) {
  std::uint64_t hash[2];
  for (std::uint64_t& h : hash) {
    test::Wander wander(41);
    Organ organ(test::block(kBlock));
    for (int i = 0; i < 150; ++i) organ.burn(wander.next(organ.sculpture, organ.sculpture.rest, 0.004f));
    h = test::hash_of(organ.sculpture, organ.model);
  }
  EXPECT_EQ(hash[0], hash[1]);
}

TEST(Sculpt, FrameWithoutNewBurnsDoesNotAllocate) {
  Organ organ(test::block(kBlock));
  const HotSegment hot{{0.02f, 0.02f, 0.03f}, {0.03f, 0.02f, 0.034f}, 0.005f};
  EXPECT_FALSE(organ.burn(hot).nothing());
  const std::uint64_t before = allocations_so_far();
  EXPECT_TRUE(organ.burn(hot).nothing());
  EXPECT_EQ(allocations_so_far(), before);
}

}  // namespace
}  // namespace trocar
