// Burns an organ with seams, as in files with texture coordinates or hard edges. After many random burns it equals the
// same organ without seams, is closed, has no degenerate or duplicate faces, and has the same volume.
#include "mesh/mesh_report.hpp"
#include "tests/deform/sculpt_support.hpp"

namespace trocar {
namespace {

// Gives a corner its own vertex with probability `share`; one face in ten gets three of its own.
TriangleMesh with_seams(TriangleMesh mesh, double share, std::mt19937& random) {
  std::bernoulli_distribution corner_apart(share), face_apart(0.1);
  for (glm::uvec3& face : mesh.faces) {
    const bool whole = face_apart(random);
    for (int corner = 0; corner < 3; ++corner) {
      if (!whole && !corner_apart(random)) continue;
      mesh.positions.push_back(glm::vec3(mesh.positions[face[corner]]));
      face[corner] = static_cast<std::uint32_t>(mesh.positions.size() - 1);
    }
  }
  return mesh;
}

struct Organ {
  TissueModel model;
  SteppedTissue state;
  Sculpture sculpture;

  Organ(const TriangleMesh& mesh, const Attachment& hold)
      : model(make_tissue(mesh.view(), {}, {&hold, 1})),
        state(rest_state(model)),
        sculpture(make_sculpture(mesh.view(), model)) {}
  MeshReport report() const { return mesh_report({sculpture.rest, faces(sculpture)}, {.find_crossings = false}); }
};

void expect_whole(const MeshReport& report, int burn, std::uint32_t seed) {
  ASSERT_EQ(report.solid.open_edges + report.solid.unbalanced_edges + report.solid.inconsistent_edges, 0u)
      << "burn " << burn << ", seed " << seed << ": " << report.solid.fault;
  ASSERT_EQ(report.degenerate_faces(), 0u) << "burn " << burn << ", seed " << seed;
  ASSERT_EQ(report.duplicate_faces, 0u) << "burn " << burn << ", seed " << seed;
}

// Returns the number of burns that changed the surface.
int burn_twins(const TriangleMesh& mesh, std::uint32_t seed, int burns) {
  test::Wander wander(seed);
  const Attachment hold{mesh.positions[0], 0.01f};
  Organ twin(mesh, hold), seamed(with_seams(mesh, 0.05 + 0.1 * (seed % 4), wander.random), hold);
  EXPECT_GT(seamed.report().repeated_positions, 0u);
  std::vector<glm::vec3> positions = mesh.positions;
  int changed = 0;
  for (int i = 0; i < burns && !faces(twin.sculpture).empty(); ++i) {
    positions.resize(twin.sculpture.rest.size());
    embed_surface(twin.model, twin.state.x, positions);
    const HotSegment hot = wander.next(twin.sculpture, positions, 0.004f);
    const test::Witness witness(seamed.sculpture, seamed.model);
    const bool nothing = burn(twin.sculpture, twin.model, twin.state, hot).nothing();
    EXPECT_EQ(burn(seamed.sculpture, seamed.model, seamed.state, hot).nothing(), nothing);
    if (nothing) continue;
    ++changed;
    witness.check(seamed.sculpture, seamed.model);
    expect_whole(twin.report(), i, seed);
    expect_whole(seamed.report(), i, seed);
    if (::testing::Test::HasFatalFailure()) return changed;
    EXPECT_EQ(faces(seamed.sculpture).size(), faces(twin.sculpture).size()) << "burn " << i << ", seed " << seed;
    EXPECT_NEAR(seamed.report().volume, twin.report().volume, 1e-12) << "burn " << i << ", seed " << seed;
  }
  test::check_carried(seamed.sculpture, seamed.model);
  return changed;
}

// Seeds 74, 99, 106 and 159 are difficult: some of the strips of faces that close the rim of a burn have no area, or
// coincide, in opposite orientation, with faces of the skin, of the burn's wall or of another strip.
TEST(SculptSeams, BurnsLikeTheWeldedTwin) {
  int changed = 0;
  for (const std::uint32_t seed : {61u, 62u, 63u, 64u, 65u, 74u, 99u, 106u, 159u, 201u, 202u, 203u}) {
    const float depth = 0.04f + 0.001f * static_cast<float>(seed % 5);
    const TriangleMesh mesh = seed % 2 ? shapes::icosphere(3, 0.03f) : test::block({0.056f, depth, 0.032f});
    const int now = burn_twins(mesh, seed, 60);
    std::printf("seed %u: %d burns changed the surface\n", seed, now);
    changed += now;
    if (HasFatalFailure()) break;
  }
  EXPECT_GT(changed, 300);
}

}  // namespace
}  // namespace trocar
