// Tests coagulation: the dose follows its law, the pale zone grows with the root of time, tissue chars, none is
// removed, and only cells near the metal have doses.
#include "deform/cut/sculpt.hpp"

#include "tests/deform/sculpt_support.hpp"

namespace trocar {
namespace {

const glm::vec3 kBlock(0.05f, 0.04f, 0.03f);

// A wire that stands 1 mm deep in the upper side of a block.
struct SearedBlock {
  TriangleMesh mesh = test::block(kBlock);
  TissueModel model = make_tissue(mesh.view(), {}, {});
  SteppedTissue state = rest_state(model);
  Sculpture sculpture = make_sculpture(mesh.view(), model);
  HotSegment wire{{0.024f, 0.021f, 0.0295f}, {0.027f, 0.021f, 0.0295f}, 0.00045f};
  SearParams params;
  SearBox box;

  const SculptChange& hold(float seconds) {
    return cauterise(sculpture, model, state, {std::span(&wire, 1), {}, params, seconds}, box);
  }
  float dose(const glm::vec3& p) const { return dose_at(sculpture, model.lattice, p); }
  float look(const glm::vec3& p) const { return look_at(sculpture, model.lattice, p); }
  // Distance of a point from the surface of the wire, from the definition: the nearest of many points of its axis.
  double distance(const glm::dvec3& p) const {
    double nearest = INFINITY;
    for (int k = 0; k <= 3000; ++k)
      nearest = std::min(nearest, glm::distance(p, glm::mix(glm::dvec3(wire.from), glm::dvec3(wire.to), k / 3000.0)));
    return nearest - static_cast<double>(wire.radius);
  }
};

TEST(Sear, DoseFollowsItsLaw) {
  SearedBlock block;
  const double time = 2.5;
  for (int frame = 0; frame < 150; ++frame) block.hold(static_cast<float>(time / 150));
  const Voxels& voxels = block.sculpture.voxels;
  double largest = 0.0;
  int inside = 0;
  for (std::uint32_t voxel = 0; voxel < voxels.kind.size(); ++voxel) {
    const glm::dvec3 centre = voxels.centre(voxels.at(voxel));
    if (voxels.cell_of(block.model.lattice, voxels.at(voxel)) < 0) continue;
    const double away = block.distance(centre);
    if (std::abs(away - block.params.deepest) < 1e-6) continue;
    const double near = std::max(away, 3e-4),
                 expected = away > block.params.deepest
                                ? 0.0
                                : std::min(time * std::pow(block.params.spread / near, 2.0), 16.0);
    const double error = std::abs(static_cast<double>(block.dose(glm::vec3(centre))) - expected);
    largest = std::max(largest, error / std::max(expected, 1.0));
    inside += expected > 0.0;
  }
  std::printf("%d voxels, largest relative error %.1e\n", inside, largest);
  EXPECT_GT(inside, 60);
  EXPECT_LT(largest, 2e-3);
}

// The depth at which tissue is pale is spread * sqrt(time), up to the limit; nothing gets paler again or is removed.
TEST(Sear, PaleZoneGrowsWithTheRootOfTime) {
  SearedBlock block;
  const std::size_t tissue = test::tissue_voxels(block.sculpture);
  const double volume = test::enclosed_volume(block.sculpture);
  const glm::vec3 under{0.0255f, 0.021f, block.wire.from.z - block.wire.radius};
  const auto pale_depth = [&] {
    float depth = 0.f;
    while (depth < 0.01f && block.dose(under - glm::vec3(0.f, 0.f, depth)) >= 1.f) depth += 2e-5f;
    return static_cast<double>(depth);
  };
  double elapsed = 0.0, before = 0.0;
  for (const double time : {1.0, 2.0, 4.0, 8.0, 12.0, 24.0}) {
    block.hold(static_cast<float>(time - elapsed));
    elapsed = time;
    const double depth = pale_depth(), expected = std::min(7.5e-4 * std::sqrt(time), 0.003);
    std::printf("%4.0f s: pale %.2f mm deep, law %.2f mm\n", time, depth * 1e3, expected * 1e3);
    EXPECT_NEAR(depth, expected, 0.5 * block.sculpture.voxels.size);
    EXPECT_GE(depth, before);
    before = depth;
  }
  EXPECT_EQ(test::tissue_voxels(block.sculpture), tissue);
  EXPECT_NEAR(test::enclosed_volume(block.sculpture), volume, 1e-6 * volume);
  EXPECT_EQ(test::open_edges(faces(block.sculpture)), 0u);
  EXPECT_EQ(block.look(under), 1.f) << "charred at the metal";
  EXPECT_EQ(block.look({0.005f, 0.005f, 0.03f}), 0.f);
}

TEST(Sear, LookGoesFromIntactToPaleToCharred) {
  SearedBlock block;
  const glm::vec3 at(block.sculpture.voxels.centre(block.sculpture.voxels.containing({0.0255f, 0.021f, 0.0275f})));
  float before = block.look(at);
  EXPECT_EQ(before, 0.f);
  for (int frame = 0; frame < 4000; ++frame) {
    block.hold(1.f / 60.f);
    const float dose = block.dose(at), look = block.look(at);
    EXPECT_GE(look, before);
    EXPECT_EQ(look < 0.5f, dose < 1.f) << "frame " << frame;
    EXPECT_EQ(look < 1.f, dose < 8.f) << "frame " << frame;
    before = look;
  }
  EXPECT_EQ(before, 1.f);
}

TEST(Sear, NothingHappensWithoutTimeOrMetal) {
  SearedBlock block;
  EXPECT_TRUE(block.hold(0.f).nothing());
  EXPECT_TRUE(block.hold(NAN).nothing());
  EXPECT_TRUE(block.box.empty());
  block.wire.from.x = INFINITY;
  EXPECT_TRUE(block.hold(1.f).nothing());
  block.wire = {{0.f, 0.f, 1.f}, {0.f, 0.f, 1.f}, 0.00045f};
  EXPECT_TRUE(block.hold(1.f).nothing());
  EXPECT_TRUE(block.box.empty());
  EXPECT_TRUE(cauterise(block.sculpture, block.model, block.state, {{}, {}, {}, 1.f}, block.box).nothing());
  EXPECT_TRUE(block.sculpture.seared.dose.empty());
  EXPECT_EQ(block.look({0.02f, 0.02f, 0.03f}), 0.f);
}

TEST(Sear, OnlyCellsNearTheMetalHaveDoses) {
  SearedBlock block;
  block.hold(1.f);
  const int n = block.sculpture.voxels.per_cell;
  const std::size_t cells = block.sculpture.seared.dose.size() / static_cast<std::size_t>(n * n * n);
  EXPECT_GE(cells, 1u);
  EXPECT_LE(cells, 12u);
  const SculptChange& change = block.hold(1.f);
  EXPECT_EQ(block.sculpture.seared.dose.size(), cells * static_cast<std::size_t>(n * n * n));
  EXPECT_EQ(change.burnt_voxels, 0u);
}

}  // namespace
}  // namespace trocar
